# The two commands of the README are `make demo` and `make test`; both need only Python >= 3.10, make and a package index.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
NIGHTLY_STAMP := $(VENV)/.installed-nightly
COMPILED_STAMP := $(VENV)/.compiled
GENERATOR_STAMP := $(VENV)/.installed-generator
DOCS_STAMP := $(VENV)/.installed-docs
# Compiled tests are kept: reading them takes half as long the second time.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest
# Four for two cores: tests wait a part of their time (for a limit to pass, a server to start, a lock to end), and each
# worker has servers of its own.
WORKERS ?= 4
BY_FILE := -n $(WORKERS) --dist loadfile --no-loadscope-reorder --max-worker-restart=2

.PHONY: demo docs quick test test-long test-clients test-browser pictures test-majors test-citus coverage mutation nightly bench lint lock sbom clean

$(VENV)/pyvenv.cfg:
	$(PYTHON) -m venv $(VENV)

$(RUN_STAMP): pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing dpproxy into $(VENV) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e .
	@touch $@

$(DEV_STAMP): pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing dpproxy and its tests into $(VENV) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e '.[dev]'
	@touch $@ $(RUN_STAMP)

# A generator of clients, in an environment of its own. Without it its tests skip.
$(GENERATOR_STAMP): $(DEV_STAMP) tests/clients/install.py
	$(BIN)/python -m tests.clients.install openapi
	@touch $@

$(NIGHTLY_STAMP): $(DEV_STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e '.[dev,nightly]'
	@touch $@

$(DOCS_STAMP): $(DEV_STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e '.[docs]'
	@touch $@

demo: $(RUN_STAMP)
	$(BIN)/dpproxy demo

lint: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The documentation site, in build/docs: tables of the reference come from the code, pictures from docs/site/pictures.py.
docs: $(DOCS_STAMP)
	$(BIN)/python -m docs.site.pictures
	$(BIN)/python -m sphinx -E -W -n -q -b html docs build/docs
	@echo "build/docs/index.html"

# What needs no PostgreSQL, between two edits.
quick: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo
	DPPROXY_PG_BIN=none $(PYTEST) -q -m "not long and not postgres" -n 2 --durations=5 tests/test_doctests.py \
	  tests/policy tests/ledger tests/planner tests/query tests/engine tests/pgwire tests/docs

# The linters run beside the tests, which wait a part of their time. Where they find nothing, they say nothing: the
# last line is then pytest's. The first time one process compiles the tests, or each worker would compile them all.
test: $(DEV_STAMP) $(GENERATOR_STAMP)
	@$(BIN)/python -m tests.test_size
	@log=$$(mktemp); $(MAKE) --no-print-directory lint >"$$log" 2>&1 & linting=$$!; \
	test -e $(COMPILED_STAMP) || { $(PYTEST) -m "not long" --collect-only -qq >/dev/null 2>&1; touch $(COMPILED_STAMP); }; \
	$(PYTEST) -m "not long" $(BY_FILE); tests=$$?; \
	wait $$linting || { cat "$$log"; echo "make lint failed"; tests=1; }; \
	rm -f "$$log"; exit $$tests

# Where the packages of the documentation cannot be had, its tests skip and say so.
test-long: $(DEV_STAMP)
	-@$(MAKE) --no-print-directory $(DOCS_STAMP)
	$(PYTEST) --timeout=0 -m long --ignore=tests/majors

# Real clients, each in an environment of its own (tests/clients/install.py); writes docs/reference/clients.md.
test-clients: $(DEV_STAMP)
	$(BIN)/python -m tests.clients.install
	$(PYTEST) --timeout=0 --bless -rs tests/clients -m "long or not long"
	$(PYTEST) --timeout=0 -rs tests/generated_clients -m "long or not long"

# The console in Chromium, which has to be there (Debian: apt-get install chromium).
test-browser: $(DEV_STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check playwright axe-playwright-python
	$(PYTEST) --timeout=0 -m long -rs tests/servers/http/test_console_browser.py \
	  tests/servers/http/test_admin_console_browser.py tests/servers/http/test_console_pictures.py

# Pictures of README and docs, of the demo's consoles.
pictures: $(DEV_STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check playwright axe-playwright-python
	DPPROXY_PICTURES=docs/pictures/console $(PYTEST) --timeout=0 -m long -rs tests/servers/http/test_console_pictures.py

# On each major of PostgreSQL that can be had: DPPROXY_OTHER_PG_BINS=/one/bin:/other/bin names more.
test-majors: $(DEV_STAMP)
	$(PYTEST) --timeout=0 -m long -rA tests/majors

# On a coordinator with two workers, where Citus is installed for a PostgreSQL of this machine (tests/citus/build_citus.sh).
test-citus: $(DEV_STAMP)
	$(PYTEST) -m long -rs tests/citus

# Branches of the packages that decide about privacy, with a floor for each (tests/coverage_floors.py).
coverage: $(NIGHTLY_STAMP)
	rm -f .coverage .coverage.*
	$(PYTEST) -m "not long and not timed" $(BY_FILE) --cov --cov-report= tests/compiler tests/fifty_queries tests/mechanisms \
	  tests/planner tests/ledger tests/policy tests/engine tests/test_doctests.py tests/databases/test_ledger_*.py \
	  tests/databases/test_users.py \
	  tests/audit/test_made_of_sums.py tests/audit/test_truncated_joins.py tests/audit/test_stored_types.py
	$(BIN)/coverage json -q -o .coverage.json
	$(BIN)/python -m tests.coverage_floors .coverage.json

# Mutants that nobody wrote: of a few functions of mechanisms and planner, others each night (tests/mutation/__main__.py);
# and each condition of three files of the kernel, taken out (tests/mutation/conditions.py).
mutation: $(NIGHTLY_STAMP)
	$(BIN)/python -m tests.mutation
	$(BIN)/python -m tests.mutation.conditions

nightly: $(NIGHTLY_STAMP)
	$(MAKE) lint
	$(MAKE) test-long
	$(MAKE) test-majors
	$(MAKE) coverage
	$(MAKE) mutation

bench: $(DEV_STAMP)
	$(BIN)/python -m tests.bench

# Locks of the image. In an environment of its own, with the Python of the image.
lock:
	$(PYTHON) -m venv .lock
	.lock/bin/python -m pip install --quiet --disable-pip-version-check pip-tools
	cd deploy && for name in requirements build; do \
		from=build.in; test $$name = build || from=../pyproject.toml; \
		{ echo '# Made by `make lock`: what the image installs, each file by its hash. Python 3.11, Linux.'; \
		  echo '# After a change of dependencies make it again, and look at the difference.'; \
		  ../.lock/bin/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras \
			--no-header --no-annotate --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
			--output-file - $$from | grep -v '^# The following' | sed '/^$$/d'; } > $$name.lock.new \
		&& mv $$name.lock.new $$name.lock || exit 1; \
	done

# What the image is made of, from its lock: dist/dpproxy.cdx.json (CycloneDX) and dist/licenses.txt, which fails where a
# dependency has a licence of another kind. In environments of their own: a list names what it was made in.
sbom:
	mkdir -p dist
	set -e; made=$$(mktemp -d); trap 'rm -rf "$$made"' EXIT; \
	$(PYTHON) -m venv $$made/tools; $(PYTHON) -m venv $$made/locked; \
	$$made/tools/bin/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom pip-licenses; \
	$$made/locked/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
		-r deploy/requirements.lock; \
	$$made/tools/bin/cyclonedx-py requirements deploy/requirements.lock --pyproject pyproject.toml \
		--output-reproducible --of JSON -o dist/dpproxy.cdx.json; \
	$$made/tools/bin/pip-licenses --python $$made/locked/bin/python --from=mixed --format=plain --with-urls \
		--partial-match --allow-only='MIT;BSD;Apache;ISC;PSF;LGPL' --output-file=dist/licenses.txt

clean:
	rm -rf $(VENV) .state .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage* mutants build *.egg-info
