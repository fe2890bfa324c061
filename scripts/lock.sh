#!/usr/bin/env bash
# Pins every dependency with its hashes: run.lock for users, dev.lock for tests and checks, peers.lock for benchmarks,
# clients.lock for `make clients` (those two are installed separately, so that our dependencies do not constrain theirs).
set -euo pipefail
bin=${1:?usage: scripts/lock.sh VENV/bin}
"$bin"/python -m pip --quiet install pip-tools
compile() {
  "$bin"/pip-compile --quiet --upgrade --no-header --strip-extras --allow-unsafe --no-emit-index-url --no-emit-find-links \
    --no-emit-trusted-host --no-annotate --generate-hashes "$@"
}
compile --extra desk --output-file requirements/run.lock pyproject.toml
compile --all-extras --constraint requirements/run.lock --output-file requirements/dev.lock pyproject.toml requirements/dev.in
compile --output-file requirements/peers.lock requirements/peers.in
compile --output-file requirements/clients.lock requirements/clients.in
