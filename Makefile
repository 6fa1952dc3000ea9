# Each target sets itself up: on a fresh clone `make site` and `make test` need Python 3.11 or later and nothing else.
# Nothing is installed twice: the stamps under .venv are older than pyproject.toml only when it has changed.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.installed-runtime
DEVELOPMENT := $(VENV)/.installed-development
# A peer that has a place of its own: it would put a package called `tests` beside ours.
PYCCO := .cache/pycco/bin/pycco

# The first Python on the path that is new enough; `make PYTHON=/path/to/python3.12 …` chooses another.
NEW_ENOUGH := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	"$$p" -c '$(NEW_ENOUGH)' 2>/dev/null && { echo "$$p"; break; }; done)

# Passed on as they are: `make site ARGS=--strict`, `make serve ARGS='--open -p 9000'`, `make test ARGS='-k mha'`.
ARGS ?=
# One worker a core of two; torch's own threads would only be in the way.
WORKERS ?= 2
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# What is installed is compiled when it is imported, as most of it never is; and what was compiled is kept, whatever
# the environment says, as builds and tests start hundreds of processes.
PIP := $(BIN)/python -m pip install --disable-pip-version-check --no-compile
export PYTHONDONTWRITEBYTECODE :=

# Where the pages are looked at. CHROMIUM=/path/to/it chooses one, CHROMIUM=none leaves the browser tests out.
CHROMIUM ?= $(firstword $(shell command -v chromium chromium-browser google-chrome google-chrome-stable))
NO_BROWSER = $(filter none,$(CHROMIUM))
export CHROMIUM

.PHONY: help site serve test test-all lint format bench verified clean browser

help: ## this list
	@echo 'make …'
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

site: $(RUNTIME) ## build the website into docs/
	@$(BIN)/python -m site_builder build $(ARGS)

serve: $(RUNTIME) ## build it, show it, and rebuild whatever you save
	@$(BIN)/python -m site_builder serve $(ARGS)

test: browser lint ## everything that a change must pass, in a few minutes
	@echo '— pytest: tests, doctests$(if $(NO_BROWSER),; browser tests left out as asked,, browser)'
	@$(PYTEST) -m 'not exhaustive$(if $(NO_BROWSER), and not browser)' $(ARGS)

test-all: browser lint ## the same, and the exhaustive runs over thousands of files
	@echo '— pytest: tests, doctests$(if $(NO_BROWSER),; browser tests left out as asked,, browser), exhaustive runs'
	@$(PYTEST) -m '$(if $(NO_BROWSER),not browser)' $(ARGS)

# All four speak, whichever fails.
lint: $(DEVELOPMENT)
	@failed=; \
	echo '— ruff'; \
	$(BIN)/ruff check || failed+=' ruff check;'; \
	$(BIN)/ruff format --check || failed+=' ruff format;'; \
	echo '— mypy'; \
	$(BIN)/mypy || failed+=' mypy;'; \
	echo '— import-linter'; \
	$(BIN)/lint-imports --no-logo --cache-dir .cache/import_linter || failed+=' import-linter;'; \
	if [ -n "$$failed" ]; then \
		echo "Found something:$${failed%;}. What a machine can mend of ruff's, make format does." >&2; \
		exit 1; \
	fi

browser:
	@if [ -z '$(CHROMIUM)' ]; then \
		echo 'The browser tests need Chromium or Chrome, and none is on the path. Install one' >&2; \
		echo '(apt install chromium · dnf install chromium · brew install chromium), or name yours:' >&2; \
		echo 'make test CHROMIUM=/path/to/chrome. CHROMIUM=none runs everything else.' >&2; \
		exit 1; \
	fi

format: $(DEVELOPMENT) ## let ruff format the code and mend what it can
	@$(BIN)/ruff check --fix-only --quiet
	@$(BIN)/ruff format

bench: $(DEVELOPMENT) $(PYCCO) ## measure against named peers, as ratios: minutes, on a quiet machine
	@for file in benchmarks/*.py; do echo "— $$file"; PYCCO=$(PYCCO) $(BIN)/python "$$file" $(ARGS); done

verified: $(DEVELOPMENT) ## hold the models against others' work, and keep for the pages how near they came
	@$(PYTEST) --verified-write $(ARGS) tests/labml_nn

clean: ## remove what can be made again, but for .venv
	rm -rf docs build dist .cache .site_builder_cache .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find labml_nn site_builder tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@if [ -z '$(PYTHON)' ] || ! '$(PYTHON)' -c '$(NEW_ENOUGH)'; then \
		echo 'Python 3.11 or later, with venv, is needed$(if $(PYTHON),; $(PYTHON) is not that,, and none is on the path).' >&2; \
		echo 'Install one, or name it: make PYTHON=/path/to/python3.12 …' >&2; \
		exit 1; \
	fi
	@echo '— making $(VENV) with $(PYTHON)'
	@'$(PYTHON)' -m venv $(VENV)

$(RUNTIME): pyproject.toml | $(BIN)/python
	@echo '— installing what the site needs (PyTorch is large: the first time takes minutes)'
	@$(PIP) --editable '.[plots]'
	@touch $@

$(PYCCO): | $(BIN)/python
	@$(BIN)/python -m venv .cache/pycco
	@.cache/pycco/bin/python -m pip install --disable-pip-version-check --quiet 'pycco==0.6.0'

$(DEVELOPMENT): pyproject.toml | $(BIN)/python
	@echo '— installing what the site and the tests need (PyTorch is large: the first time takes minutes)'
	@$(PIP) --editable '.[dev,oracles]'
	@touch $@ $(RUNTIME)
