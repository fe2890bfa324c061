#!/usr/bin/env bash
# Makes sure there is a searx for the test of seed sources with a real search engine. It is a tool of that test only, under
# the AGPL. Never fails: without it the test is skipped, and says so.
set -u
command -v searx-run >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing searx for a test of seed sources …" >&2
  apt-get install -y -qq --no-install-recommends searx >/dev/null 2>&1 ||
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends searx >/dev/null; } 2>/dev/null
fi
if ! command -v searx-run >/dev/null; then
  echo "note: there is no searx, so the test of seed sources with a real search engine will be skipped." >&2
  echo "hint: Debian 12 has it (apt-get install searx)" >&2
fi
exit 0
