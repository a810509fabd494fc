# Two commands do everything: `make demo` and `make test`. Both create .venv on first use.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test lint bench soak clean

$(VENV)/core: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), f"Enquete needs Python 3.11 or newer, not {sys.version.split()[0]}"'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	@touch $@

$(VENV)/dev: $(VENV)/core
	$(PIP) --editable '.[dev]'
	@touch $@

demo: $(VENV)/core          ## interview a bundled population, no key needed
	$(BIN)/enquete demo

test: $(VENV)/dev           ## the whole suite
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(VENV)/dev           ## style, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/dev          ## CPU per call against a bare client, bytes on disk
	$(BIN)/python -m tests.bench

soak: $(VENV)/dev           ## long kill test, not part of make test
	$(BIN)/python -m pytest -m soak tests -p no:cacheprovider

clean:
	rm -rf $(VENV) demo-out
