# One command each. Everything is set up on the way. Nothing outside this folder is touched, except that `make test` and
# `make bench` install programs with apt-get if root runs them; scripts/system_tools.sh says which before it does.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Three workers for two cores, because tests also wait: for servers, time-outs, disks. Idle workers take tests from busy
# ones.
WORKERS ?= $(shell echo $$(( ($$(getconf _NPROCESSORS_ONLN) * 3 + 1) / 2 )))
# Tests start hundreds of processes, and each of three workers reads all tests: that takes half the time if Python may
# keep what it has compiled (in __pycache__, which git ignores).
unexport PYTHONDONTWRITEBYTECODE
PYTEST = -m pytest -n $(WORKERS) --maxprocesses 16 --dist worksteal
PINNED := tests/test_trails.py tests/test_golden.py tests/lab/test_golden.py tests/lab/generate tests/text/test_row_products.py
# The locks are complete, so pip installs them with --no-deps: resolving again, older versions of pip refuse a pinned
# package that another one asks for with an extra (aiohttp-socks, python-socks) once a newer release exists.
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: help demo test portable check format lint types docs bench hostile clients peers lock clean

help: ## what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

demo: $(VENV)/.ready-run ## set up and run a real crawl of the embedded web, no network needed
	$(BIN)/scenthound demo
	@echo "Open it at the desk, in the browser: $(BIN)/scenthound desk demo"

test: $(VENV)/.ready-dev ## set up and run all tests
	@scripts/system_tools.sh chromium searx
	$(BIN)/python $(PYTEST) --durations 20 -r fEs

portable: $(VENV)/.ready-dev ## the tests of pinned results with the numerics of a plainer CPU
	$(BIN)/python scripts/other_numerics.py $(BIN)/python $(PYTEST) $(PINNED)

check: format-check lint types test docs-check ## everything that CI checks

format: $(VENV)/.ready-dev ## put the source in shape
	$(BIN)/ruff format . && $(BIN)/ruff check --fix .

format-check: $(VENV)/.ready-dev
	$(BIN)/ruff format --check .

lint: $(VENV)/.ready-dev ## look for mistakes
	$(BIN)/ruff check .

types: $(VENV)/.ready-dev ## strict types
	$(BIN)/mypy

docs: $(VENV)/.ready-dev ## write the generated parts of docs/reference
	$(BIN)/python scripts/reference.py

docs-check: $(VENV)/.ready-dev
	$(BIN)/python scripts/reference.py --check

peers: $(VENV)/.ready-dev $(VENV)-peers/.ready ## install the crawlers that benchmarks compare with, and nginx
	@scripts/system_tools.sh nginx

bench: peers ## our live crawl beside its peers: a quarter of an hour
	$(BIN)/python benchmarks/throughput.py

hostile: $(VENV)/.ready-dev ## the long forms of the tests in docs/reliability.md: about an hour; HOSTILE=--quick for a look
	$(BIN)/python benchmarks/hostile.py $(HOSTILE)

clients: $(VENV)/.ready-dev $(VENV)-clients/.ready ## open our exports with other programs, and print who reads what
	@scripts/system_tools.sh chromium
	@scripts/replaywebpage.sh
	$(BIN)/python benchmarks/clients.py $(CLIENTS)

lock: $(VENV)/.ready-dev ## pin all dependencies anew
	scripts/lock.sh $(BIN)

$(VENV)-peers/.ready: requirements/peers.lock $(VENV)/.ready-venv
	$(BIN)/python -m venv $(VENV)-peers
	$(VENV)-peers/bin/python -m pip --quiet --disable-pip-version-check install --no-deps -r requirements/peers.lock
	@touch $@

$(VENV)-clients/.ready: requirements/clients.lock $(VENV)/.ready-venv
	@echo "installing the clients into $(VENV)-clients (800 MB; a minute or two) …" >&2
	$(BIN)/python -m venv $(VENV)-clients
	$(VENV)-clients/bin/python -m pip --quiet --disable-pip-version-check install --no-deps -r requirements/clients.lock
	@touch $@

$(VENV)/.ready-venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "scenthound needs Python 3.11 or newer; this is $$($(PYTHON) --version)."; \
	    echo "hint: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.ready-run: $(VENV)/.ready-venv requirements/run.lock pyproject.toml
	@echo "setting up (a minute the first time) …" >&2
	$(PIP) install --no-deps -r requirements/run.lock
	$(PIP) install --no-deps -e .
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready-run requirements/dev.lock
	@echo "setting up what tests and checks need …" >&2
	$(PIP) install --no-deps -r requirements/dev.lock
	@touch $@

clean: ## remove everything that was made here
	rm -rf $(VENV) $(VENV)-peers $(VENV)-clients .clients build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis demo
