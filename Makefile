# `make demo` and `make test` set up everything they need in .venv; a second run installs nothing.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := -m pip install --quiet --disable-pip-version-check
DEMO := -e '.[viz,label,neural]'
PAGE := src/unseen/explorer/page
NODE := $(VENV)/node/node_modules/.bin
DEV := -e '.[dev]' -e ./paper
STAMPED := pyproject.toml paper/pyproject.toml constraints.txt src/unseen/__init__.py

# $(call install,what): pip's own lines go to a log, which is shown if it fails
define install
	@test -n "$(PYTHON)" || { echo "unseen needs Python 3.11 or newer: make PYTHON=/path/to/python ..." >&2; exit 1; }
	@echo "Setting up .venv (about 2 minutes the first time) ..." >&2
	@test -x $(BIN)/pip || "$(PYTHON)" -m venv $(VENV) || \
		{ rm -rf $(VENV); echo "cannot create a virtual environment: install Python's venv and pip" >&2; exit 1; }
	@PIP_CONSTRAINT=constraints.txt $(BIN)/python $(PIP) $(1) >$(VENV)/install.log 2>&1 || \
		{ cat $(VENV)/install.log >&2; exit 1; }
endef

.PHONY: help demo test quick matrix docs release test-oldest coverage mutants hostile lint types pytest clean

help:         ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.demo         ## set up everything and find hidden classes in a bundled graph
	@$(BIN)/unseen demo

test: lint types pytest     ## set up everything and run all checks: ruff, prettier, tsc, mypy, pytest

quick: $(VENV)/.dev         ## run the tests that need no browser, no data and little time
	env -u UNSEEN_DATA OMP_NUM_THREADS=1 $(BIN)/pytest -q -m "not slow and not browser and not processes"

matrix: $(VENV)/.dev        ## run every command on every kind of graph, in all combinations
	UNSEEN_MATRIX=full OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2 tests/scenarios/test_matrix.py

docs: $(VENV)/.dev          ## build the documentation into site/index.html; warnings are errors
	$(BIN)/python tools/build_docs.py site

release: docs               ## build wheels, sdists and the site into dist/, check them, and run README's commands from the wheel
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python -m build --no-isolation --outdir dist paper
	cd site && "$(abspath $(BIN))/python" -m zipfile -c ../dist/site.zip .
	$(BIN)/twine check --strict dist/*.whl dist/*.tar.gz
	CI=true UNSEEN_DIST=dist $(BIN)/pytest -q tests/test_distribution.py

test-oldest: tools/oldest.py pyproject.toml   ## run the quick tests with the oldest supported versions, without torch
	"$(PYTHON)" -m venv .venv-oldest
	"$(PYTHON)" tools/oldest.py > .venv-oldest/oldest.txt
	.venv-oldest/bin/python $(PIP) -c .venv-oldest/oldest.txt -r .venv-oldest/oldest.txt -e .
	.venv-oldest/bin/python $(PIP) --no-deps -e ./paper
	env -u UNSEEN_DATA OMP_NUM_THREADS=1 .venv-oldest/bin/python -m pytest -q -m "not slow and not browser and not processes" tests

coverage: $(VENV)/.dev      ## measure the branch coverage of both distributions
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2 --dist worksteal --cov=src --cov=paper/src --cov-branch --cov-report=json
	$(BIN)/python tools/coverage_report.py

mutants: $(VENV)/.dev       ## change the core in 30 places, one at a time; the quick tests must notice
	$(BIN)/python tools/mutants.py

hostile: $(VENV)/.dev       ## read 10,000 hostile files and update the app 300 times; rewrites the table of the notes
	OMP_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python tests/hostile/run.py 10500 --out paper/docs/notes/hostile.md
	OMP_NUM_THREADS=1 UNSEEN_HOSTILE_UPDATES=300 $(BIN)/pytest -q tests/hostile

lint: $(VENV)/.dev $(VENV)/.node   ## check the code with ruff, and JavaScript and styles with prettier and tsc
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@test ! -x $(NODE)/tsc || { cd $(PAGE) && set -x && $(CURDIR)/$(NODE)/prettier --check '*.js' '*.css' '*.ts' '*.json' && \
		$(CURDIR)/$(NODE)/tsc -p jsconfig.json && ! grep -nE '.{101,}' *.js *.css; }

types: $(VENV)/.dev         ## check the types with mypy
	$(BIN)/mypy

pytest: $(VENV)/.dev        ## run all tests
	$(BIN)/python tools/fetch_axe.py
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal --durations=15

$(VENV)/.demo: $(STAMPED)
	$(call install,$(DEMO))
	@touch $@

$(VENV)/.dev: $(STAMPED)
	$(call install,$(DEV))
	@touch $@ $(VENV)/.demo

# node and npm are not Python's: without them the JavaScript of the page is not checked
$(VENV)/.node: $(PAGE)/package.json $(PAGE)/package-lock.json | $(VENV)/.dev
	@mkdir -p $(VENV)/node && cp $^ $(VENV)/node
	@if command -v npm >/dev/null; then (cd $(VENV)/node && npm ci --silent --no-audit --no-fund) && touch $@; \
		else echo "no npm here: the JavaScript of the page is not checked" >&2; fi

clean:        ## delete the environment and everything that was built
	rm -rf $(VENV) dist site .pytest_cache .mypy_cache .ruff_cache
