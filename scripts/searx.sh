#!/usr/bin/env bash
# Installs searx for the test of seed sources with a real search engine, if it is missing. Only that test uses searx,
# which is under the AGPL. Never fails: without searx the test is skipped.
set -u
command -v searx-run >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing searx for the test of seed sources …" >&2
  apt-get install -y -qq --no-install-recommends searx >/dev/null 2>&1 ||
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends searx >/dev/null; } 2>/dev/null
fi
if ! command -v searx-run >/dev/null; then
  echo "note: searx is not installed, so the test of seed sources with a real search engine will be skipped." >&2
  echo "hint: on Debian 12, apt-get install searx" >&2
fi
exit 0
