#!/usr/bin/env bash
# Installs programs that some tests and benchmarks need and that are not Python packages, system-wide. It first says
# what it will install and how to decline.
#
#   scripts/system_tools.sh chromium searx   # for `make test`: without them the tests that need them are skipped
#   scripts/system_tools.sh nginx            # for `make bench`: without it the exit code is 1
#
# Only root on a system with apt-get gets anything installed; everybody else is shown how to do it.
#   BROWSER_TESTS=0, SEARX_TESTS=0   do without this one (its tests are skipped even where it is installed)
#   SYSTEM_INSTALL=0                 install nothing
set -u

is_here() {
  case $1 in
    chromium) command -v chromium || command -v chromium-browser || command -v google-chrome ;;
    searx) command -v searx-run ;;
    nginx) command -v nginx || [ -x /usr/sbin/nginx ] ;;
  esac >/dev/null
}

is_declined() {
  case $1 in
    chromium) [ "${BROWSER_TESTS:-1}" = 0 ] ;;
    searx) [ "${SEARX_TESTS:-1}" = 0 ] ;;
    *) false ;;
  esac
}

use_of() {
  case $1 in
    chromium) echo "for the browser tests of the desk; to do without: BROWSER_TESTS=0" ;;
    searx) echo "for the test of seed sources with a real search engine (AGPL, used by this test only); to do without: SEARX_TESTS=0" ;;
    nginx) echo "for the comparison of live crawlers, whose pages it serves" ;;
  esac
}

package_of() { if [ "$1" = nginx ]; then echo nginx-light; else echo "$1"; fi; }

apt_install() { apt-get install -y -qq --no-install-recommends "$1" >/dev/null 2>&1; }

missing=()
for tool in "$@"; do
  [ -n "$(use_of "$tool")" ] || { echo "$0: unknown tool: $tool" >&2; exit 2; }
  is_declined "$tool" || is_here "$tool" || missing+=("$tool")
done
[ ${#missing[@]} = 0 ] && exit 0

if [ "${SYSTEM_INSTALL:-1}" != 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "You are root, so these programs will be installed system-wide with apt-get:" >&2
  for tool in "${missing[@]}"; do echo "  $(package_of "$tool"): $(use_of "$tool")" >&2; done
  echo "To install nothing: SYSTEM_INSTALL=0" >&2
  if [ -t 0 ] && [ -t 2 ]; then # a person; a machine is not kept waiting
    echo "Starting in 10 seconds; Ctrl-C stops." >&2
    sleep 10 || exit 130
  fi
  for tool in "${missing[@]}"; do
    apt_install "$(package_of "$tool")" || { apt-get update -qq >/dev/null 2>&1 && apt_install "$(package_of "$tool")"; } ||
      echo "note: apt-get could not install $(package_of "$tool")" >&2
  done
fi

failed=0
for tool in "${missing[@]}"; do
  is_here "$tool" && continue
  if [ "$tool" = nginx ]; then
    echo "nginx is not installed; it is needed $(use_of nginx)." >&2
    failed=1
  else
    echo "note: $tool is not installed, so the tests that need it will be skipped: $(use_of "$tool")" >&2
  fi
  echo "hint: install it with your package manager, for example: apt-get install $(package_of "$tool")" >&2
done
exit $failed
