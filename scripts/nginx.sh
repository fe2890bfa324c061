#!/usr/bin/env bash
# Installs nginx for benchmarks/throughput.py if it is missing, or says how to.
set -euo pipefail
if command -v nginx >/dev/null || [ -x /usr/sbin/nginx ]; then
  exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends nginx-light >/dev/null
  exit 0
fi
echo "benchmarks/throughput.py needs nginx, which is not installed." >&2
echo "hint: install it with your package manager (apt-get install nginx-light, dnf install nginx, brew install nginx)" >&2
exit 1
