#!/usr/bin/env bash
# Installs Chromium for the browser tests of the desk if it is missing. Never fails: without Chromium they are skipped.
set -u
for name in chromium chromium-browser google-chrome; do
  command -v "$name" >/dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing Chromium for the browser tests of the desk …" >&2
  apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1 ||
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; } 2>/dev/null
fi
if ! command -v chromium >/dev/null; then
  echo "note: Chromium is not installed, so the browser tests of the desk will be skipped." >&2
  echo "hint: install it with your package manager (apt-get install chromium, dnf install chromium, brew install chromium)" >&2
fi
exit 0
