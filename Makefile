# Every target that needs Python makes .venv first, and again only when pyproject.toml has changed.
# Needs Python 3.11 or newer and make; `make e2e` also needs Go 1.26 (or KUBEBUILDER_ASSETS).

PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help venv demo test lint e2e fuzz bench bench-full bench-e2e docs format clean

help: ## Show this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) \
		| while IFS='|' read -r name text; do printf '  make %-11s %s\n' "$$name" "$$text"; done

venv: $(READY) ## Make .venv with vcsched (editable) and the tools of its tests

$(READY): pyproject.toml
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer found; install one, or: make PYTHON=/path/to/python3" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

demo: $(READY) ## Show the scheduler at work on an embedded cluster, in under a minute
	@$(BIN)/vcsched demo

test: $(READY) ## Run every test that needs no other program
	$(BIN)/pytest -n 2 -m "not controlplane and not fuzz"

lint: $(READY) ## Check style, types and the floors of the house
	@status=0; for check in "ruff check" "ruff format --check" mypy lint-imports; do \
		echo "$$check"; $(BIN)/$$check || status=1; done; exit $$status

e2e: $(READY) ## Run the tests on a real kube-apiserver and etcd, built once with Go
	$(BIN)/python -m tests.controlplane.build
	$(BIN)/pytest tests/e2e -m controlplane --timeout 600

fuzz: $(READY) ## Run the long random tests
	$(BIN)/pytest -m fuzz

bench: $(READY) ## Measure the speed of the core; writes benchmarks/out/latest.json
	$(BIN)/python -m benchmarks quick

bench-full: $(READY) ## Measure at full size
	$(BIN)/python -m benchmarks full

bench-e2e: $(READY) ## Measure the daemon on a real kube-apiserver and etcd
	$(BIN)/python -m benchmarks e2e

docs: $(READY) ## Write the generated parts of the pages anew
	$(BIN)/python -m tests.docs

format: $(READY) ## Mend style where that needs no thought
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean: ## Remove caches and build results; .venv stays
	rm -rf build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
