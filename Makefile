# The two commands of the README are `make demo` and `make test`; both need only Python >= 3.10, make and a package index.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev

.PHONY: demo quick test test-long bench lint clean

$(VENV)/pyvenv.cfg:
	$(PYTHON) -m venv $(VENV)

$(RUN_STAMP): pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing dpproxy into $(VENV) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(DEV_STAMP): pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing dpproxy and its tests into $(VENV) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(RUN_STAMP)

demo: $(RUN_STAMP)
	$(BIN)/dpproxy demo

lint: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# What needs no PostgreSQL: a minute, between two edits.
quick: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo
	DPPROXY_PG_BIN=none $(BIN)/pytest -q -m "not long and not postgres" -n 2 --durations=5 tests/test_doctests.py \
	  tests/policy tests/ledger tests/planner tests/query tests/engine tests/pgwire tests/docs

test: lint
	$(BIN)/pytest -m "not long" -n 2 --dist loadfile --no-loadscope-reorder

test-long: $(DEV_STAMP)
	$(BIN)/pytest -m long

bench: $(DEV_STAMP)
	$(BIN)/python -m tests.bench

clean:
	rm -rf $(VENV) .state .mypy_cache .ruff_cache .hypothesis build *.egg-info
