#!/usr/bin/env bash
# Makes sure there is a Chromium for the tests of the desk. Never fails: without one these tests are skipped, and say so.
set -u
for name in chromium chromium-browser google-chrome; do
  command -v "$name" >/dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing Chromium for the tests of the desk …" >&2
  apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1 ||
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; } 2>/dev/null
fi
if ! command -v chromium >/dev/null; then
  echo "note: there is no Chromium, so the tests of the desk in a browser will be skipped." >&2
  echo "hint: install it with your package manager (apt-get install chromium, dnf install chromium, brew install chromium)" >&2
fi
exit 0
