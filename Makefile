# `make demo` and `make test` are all a newcomer needs; both are idempotent. `make quick` is for every save.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
STAMPED := pyproject.toml paper/pyproject.toml constraints.txt src/unseen/__init__.py

.PHONY: demo test quick docs test-oldest coverage mutants hostile lint types pytest clean

demo: $(VENV)/.demo
	$(BIN)/unseen demo

test: lint types pytest

# without what is slow, needs a browser or several processes, or the paper's graphs
quick: $(VENV)/.dev
	env -u UNSEEN_DATA OMP_NUM_THREADS=1 $(BIN)/pytest -q -m "not slow and not browser and not processes"

# the site, in the folder `site`: tutorials are run, warnings are errors, links inside it are checked
docs: $(VENV)/.dev
	$(BIN)/python tools/build_docs.py site

# the quick tests with the lower bounds of pyproject.toml, and without torch
test-oldest: tools/oldest.py pyproject.toml
	$(PYTHON) -m venv .venv-oldest
	$(PYTHON) tools/oldest.py > .venv-oldest/oldest.txt
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -c .venv-oldest/oldest.txt -r .venv-oldest/oldest.txt -e .
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -e ./paper
	env -u UNSEEN_DATA OMP_NUM_THREADS=1 .venv-oldest/bin/python -m pytest -q -m "not slow and not browser and not processes" tests

# branch coverage of both distributions beside that of 0.1.0
coverage: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2 --dist worksteal --cov=src --cov=paper/src --cov-branch --cov-report=json
	$(BIN)/python tools/coverage_report.py

# 30 small changes of the core, each of which the quick tests must notice
mutants: $(VENV)/.dev
	$(BIN)/python tools/mutants.py

# 10,000 files that try to crash, spy or fill the memory, 300 updates of the app; rewrites the table of the notes
hostile: $(VENV)/.dev
	OMP_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python tests/hostile/run.py 10500 --out paper/docs/notes/hostile.md
	OMP_NUM_THREADS=1 UNSEEN_HOSTILE_UPDATES=300 $(BIN)/pytest -q tests/hostile

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

pytest: $(VENV)/.dev
	$(BIN)/python tools/fetch_axe.py
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal --durations=15

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "unseen needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "no virtual environment could be made: install Python's venv and pip" >&2; exit 1; }

$(VENV)/.demo: $(BIN)/python $(STAMPED)
	$(PIP) -e '.[viz]' -e ./paper
	touch $@

$(VENV)/.dev: $(BIN)/python $(STAMPED)
	$(PIP) -e '.[dev]' -e ./paper
	touch $@ $(VENV)/.demo

clean:
	rm -rf $(VENV) dist site .pytest_cache .mypy_cache .ruff_cache
