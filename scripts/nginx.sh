#!/usr/bin/env bash
# Makes sure there is an nginx for benchmarks/throughput.py; says what to do where it can't install one.
set -euo pipefail
if command -v nginx >/dev/null || [ -x /usr/sbin/nginx ]; then
  exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends nginx-light >/dev/null
  exit 0
fi
echo "benchmarks/throughput.py serves its pages by nginx, and there is none on this machine." >&2
echo "hint: install it with your package manager (apt-get install nginx-light, dnf install nginx, brew install nginx)" >&2
exit 1
