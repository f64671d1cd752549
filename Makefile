SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
# pytest-xdist workers: far more than cores, since a worker computes for a quarter of its time and waits for the rest.
# JOBS=0 runs everything in one process.
CORES := $(shell getconf _NPROCESSORS_ONLN)
JOBS ?= $(shell echo $$(( 2 * $(CORES) + 4 )))
# Where `make run` serves.
PORT ?= 8000
# Seeds for `make simulate`, and the store: sqlite or postgres.
SEEDS ?= 1-50
STORE ?= sqlite
# Further arguments for pytest, for example ARGS="-k lifecycle --postgres=18,15".
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
# Scripts of a virtual environment name its folder: one that was moved or copied is made again.
# So is one whose packages were installed without a check: pip does not check what is there.
PLACE := $(shell printf '%s' '$(CURDIR)' | cksum | cut -d' ' -f1)$(if $(UNVERIFIED),-unverified)
MADE := $(VENV)/.created-$(PLACE)
READY := $(VENV)/.ready-$(PLACE)
MATCHED := $(VENV)/.matched-$(PLACE)
PAGE := src/hanbeon/server/page/dashboard/index.html

# Tests that need neither a server nor a process, and are collected without importing either.
QUICK := tests/config tests/docs tests/domain tests/tasks tests/surfaces/offices/test_schemas.py tests/surfaces/schedules/test_schemas.py \
	tests/test_architecture.py tests/test_vocabulary.py tests/test_zones.py
PYTEST := $(BIN)/pytest --dist worksteal -n

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start hundreds of processes, each of which would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup run demo test test-slow servers check quick units lint bytecode fmt chaos fuzz docs screenshots bench soak simulate mutants lock wheel sbom audit clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) $(MATCHED) $(PAGE) ## Create .venv with every extra: the files of constraints.txt, by their hashes

$(MADE):
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# Plain pip, because it honours whatever package sources the machine has configured. It refuses files whose hash the list
# lacks, and source archives: building one downloads tools that no hash names. The build backend is in the list, too.
# Dependencies are not looked up, since pip 23 takes those with extras for unpinned ones; `pip check` misses none.
LOCKED := --require-hashes --only-binary :all: --no-deps --requirement constraints.txt
ifneq ($(UNVERIFIED),)
LOCKED := --no-deps --requirement $(VENV)/unverified.txt
endif

# pip would compile with one core, for half a minute. The project itself comes last and brings nothing along.
$(READY): pyproject.toml constraints.txt | $(MADE)
ifneq ($(UNVERIFIED),)
	@echo 'WARNING: UNVERIFIED is set: packages are installed without a check of their hashes.' >&2
	@sed -e '/^ *--hash=/d' -e 's/ \\$$//' constraints.txt >$(VENV)/unverified.txt
endif
	$(BIN)/pip install --quiet --no-compile $(LOCKED)
	$(BIN)/pip install --quiet --no-compile --no-deps --no-build-isolation --editable .
	@$(BIN)/python -W ignore -m compileall -qq -j 0 $(VENV)/lib || true
	@touch $@

# Not part of the installation, since `make lock` mends what it finds.
$(MATCHED): $(READY)
	@$(BIN)/python -m tools.pins
	@$(BIN)/pip check
	@touch $@

# Bundled by the installation; again when its sources changed. Without the npm registry the page says what is missing.
$(PAGE): $(shell find dashboard/src -type f) $(wildcard dashboard/*.mjs) $(shell find src/hanbeon -name rules.json) dashboard/package-lock.json | $(READY)
	@$(BIN)/python hatch_build.py
	@test ! -e $@ || touch $@

run: setup ## Serve the showcase on http://127.0.0.1:8000; PORT= changes that, EMPTY=1 starts with nothing
	@exec $(BIN)/python examples/showcase/showcase.py --port $(PORT) $(if $(EMPTY),--empty)

demo: setup ## Watch a worker run a graph of jobs
	$(BIN)/hanbeon demo

# ALL=1 has one run, with one collection and one end at which workers wait for the last tests; a full case proves what
# its short one does.
test: setup servers ## Run every check and the tests, with real servers (about 9 minutes on two cores); ALL=1 adds make test-slow
	@$(MAKE) -j2 --output-sync=target lint bytecode units
	$(PYTEST) $(JOBS) -m "not $(if $(ALL),short,slow)" --rerun-timing $(ARGS)

test-slow: setup servers ## Run what make test leaves out: long races and kills, fuzzing, endurance, benchmarks
	$(PYTEST) $(JOBS) -m "slow and not short" --rerun-timing $(ARGS)

# What is no Python package. Installed where that is possible without a question.
servers:
	@tools/system_packages.sh

check: setup ## Run every check and the quick tests, without servers (under a minute)
	@$(MAKE) -j2 --output-sync=target lint quick units

# mypy has one core while it reads everything anew.
quick: setup
	$(PYTEST) $(CORES) -m "not postgres and not slow" $(QUICK) $(ARGS)

# What is pure in the page's scripts, in one process of Node.
units: setup
	@$(BIN)/python -m tools.dashboard_checks test

# In a fresh clone each worker would compile every test module; one process does so while mypy has the other core.
bytecode: setup
	@compgen -G 'tests/__pycache__/conftest.*-pytest-*.pyc' >/dev/null || $(BIN)/pytest --collect-only -q >/dev/null || true

lint: setup ## Check format, style, types and import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@$(BIN)/python -m tools.dashboard_checks lint

fmt: setup ## Format the code and apply the safe fixes
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	@$(BIN)/python -m tools.dashboard_checks fmt

# Without ARGS, the kill tests at length follow: they prove what a run cannot choose, such as the moment of a fault.
chaos: setup ## Run phases of faults under load, then the long kill tests; ARGS="--phases kills --seed 1 --jobs 10000", --help
	$(BIN)/python -m tests.storm.chaos $(ARGS)
	$(if $(ARGS),,HANBEON_CHAOS=long $(BIN)/pytest -m chaos)

fuzz: setup ## Try the whole API with schemathesis at length
	HANBEON_FUZZ=long $(BIN)/pytest tests/server/fuzz $(ARGS)

docs: setup ## Regenerate what is derived from the code: pages of docs/, keywords of the surfaces
	$(BIN)/python -m tools.keywords && $(BIN)/python -m tools.stubs && $(BIN)/python -m tools.client_stubs
	$(BIN)/python -m tools.docs && $(BIN)/python -m tools.dashboard_types

screenshots: setup ## Make screenshots of every page of the dashboard in build/screenshots; ARGS="--keep docs/images" also for the README
	$(BIN)/python -m tools.screenshots $(ARGS)

bench: setup ## Run the benchmarks beside the peers; ARGS=--short for about two minutes
	$(BIN)/python -m bench $(ARGS)

simulate: setup ## Run seeds of the simulation, SEEDS=1-200, STORE=postgres; ARGS=--trace prints all that a seed does
	$(BIN)/python -m tests.simulation $(SEEDS) --store $(STORE) $(ARGS)

mutants: setup ## Run the directed plans of the simulation on broken products, and write down which rules notice; then make docs
	$(BIN)/python -m tests.simulation.directed $(ARGS)

soak: setup ## Run a steady load for twenty minutes: does anything grow? ARGS="--minutes 1" to try
	$(BIN)/python -m bench --only soak --reps 1 $(ARGS)

COMPILE := $(BIN)/uv pip compile --universal --upgrade --generate-hashes --quiet --no-header --no-annotate --no-emit-index-url \
	--no-emit-find-links

lock: $(READY) ## Resolve constraints.txt and the peers of the benchmarks anew, with the hashes of all their files
	$(COMPILE) pyproject.toml --all-extras --output-file constraints.txt
	for peer in bench/peers/*.in; do $(COMPILE) "$$peer" --python-version 3.11 --output-file "$${peer%.in}.txt"; done

wheel: setup ## Build the wheel, with the dashboard, into dist/
	@$(BIN)/python -m tools.wheel

sbom: setup ## Write the bill of materials of what is locked to dist/, as CycloneDX
	$(BIN)/python -m tools.sbom

audit: setup ## Look up advisories for what is locked; says so where no index can be reached, and ARGS=--strict fails then
	@$(BIN)/python -m tools.audit $(ARGS)

clean: ## Remove .venv, caches and build results
	rm -rf $(VENV) .bench/environments build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
