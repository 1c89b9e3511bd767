# make demo: install tenfold, train an adder until it is proved, add a million digits.
# make test: also install the tools of development, run the quick tests (under five minutes on two cores).
# make test-all: every test there is.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
STAMP := .venv/.installed
# What the demo needs is part of what the tests need.
DEMO := $(or $(wildcard $(STAMP)),.venv/.demo)

.PHONY: demo test test-all chaos minimum peers check bench results clean

demo: $(DEMO)
	$(BIN)/tenfold demo

test: $(STAMP)
	$(BIN)/pytest -n 2 --dist worksteal -m "not full"

test-all: $(STAMP)
	$(BIN)/pytest -n 2 --dist worksteal

# Kills, power loss, damage, signals, fuzzed commands, disturbed sweeps; N=1000 is the full size of each, see docs/reliability.md.
N ?= 100
SEED ?= 0
chaos: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.chaos --count $(N) --seed $(SEED)

# The quick tests with the earliest versions of the core dependencies that pyproject.toml allows. An early torch brings
# CUDA packages along; TORCH=2.13.0 takes this version of torch instead.
minimum: .venv-minimum/.installed
	.venv-minimum/bin/python -m pytest -W ignore --doctest-ignore-import-errors -m "not full" tests --ignore tests/peers --ignore tests/hf

.venv-minimum/.installed: pyproject.toml
	test -x .venv-minimum/bin/python || $(PYTHON) -m venv .venv-minimum
	$(PYTHON) tests/minimum.py $(TORCH) > .venv-minimum/requirements.txt
	.venv-minimum/bin/python -m pip install --quiet --disable-pip-version-check -r .venv-minimum/requirements.txt
	.venv-minimum/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	touch $@

# Our encodings against other libraries' own.
peers: .venv-peers/.installed
	.venv-peers/bin/python -m pytest tests/peers --confcutdir tests/peers

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Some compare with other libraries, which live apart; others need the newest transformers.
bench: $(STAMP) .venv-peers/.installed
	.venv-peers/bin/python -m benchmarks $(SIZE) step time_to_accuracy encodings decoding sweep
	$(BIN)/python -m benchmarks $(SIZE) probe load

results: $(STAMP)
	$(BIN)/tenfold reproduce symmetry
	$(BIN)/python -m tenfold.papers.certified.seeds
	$(BIN)/python -m tenfold.papers.certified.rivals

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) -e '.[dev]'
	touch $@

.venv/.demo: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) -e .
	touch $@

# transformers 4.57.6 is the last with BERT's relative keys; it lives apart and is only compared with.
.venv-peers/.installed: pyproject.toml constraints.txt
	test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[peers]'
	touch $@

clean:
	rm -rf .venv .venv-minimum .venv-peers runs demo
