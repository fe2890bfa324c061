# One command each. Everything is set up on the way; nothing outside this folder is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The locks are complete, so pip installs them with --no-deps: resolving again, older versions of pip refuse a pinned
# package that another one asks for with an extra (aiohttp-socks, python-socks) once a newer release exists.
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: help demo test check format lint types docs bench hostile peers lock clean

help: ## what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

demo: $(VENV)/.ready-run ## set up and run a real crawl of the embedded web, no network needed
	$(BIN)/scenthound demo
	@echo "Open it at the desk, in the browser: $(BIN)/scenthound desk demo"

test: $(VENV)/.ready-dev ## set up and run all tests
	@scripts/chromium.sh
	@scripts/searx.sh
	$(BIN)/python -m pytest -n 2 --dist loadfile

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
	scripts/nginx.sh

bench: peers ## our live crawl beside its peers: a quarter of an hour
	$(BIN)/python benchmarks/throughput.py

hostile: $(VENV)/.ready-dev ## the long forms of the tests in docs/reliability.md: about an hour; HOSTILE=--quick for a look
	$(BIN)/python benchmarks/hostile.py $(HOSTILE)

lock: $(VENV)/.ready-dev ## pin all dependencies anew
	scripts/lock.sh $(BIN)

$(VENV)-peers/.ready: requirements/peers.lock $(VENV)/.ready-venv
	$(BIN)/python -m venv $(VENV)-peers
	$(VENV)-peers/bin/python -m pip --quiet --disable-pip-version-check install --no-deps -r requirements/peers.lock
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
	rm -rf $(VENV) $(VENV)-peers build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis demo
