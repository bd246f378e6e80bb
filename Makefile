# auditbook: `make book` and `make test` do all set-up they need on a bare Debian 12 machine.
SHELL := /bin/bash
PROFILE ?= standard
COHORT ?= data/cohorts/texas-twin.toml
BIN := .venv/bin
# Two workers, one thread each; a file stays with one worker, so that what its tests share is made once.
PYTEST = OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
LINT = $(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy src
# Style and types are checked while the tests begin; both have to be in order.
TESTS = { $(LINT); } & $(PYTEST) $(1); tests=$$?; wait $$! || { echo "style or types: see above"; exit 1; }; exit $$tests
# Jupyter refuses to start for root unless it is told to.
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

.DEFAULT_GOAL := help
.PHONY: help setup setup-test book test test-all quick-test lint lab bench lock clean

help:  ## Say what can be made
	@echo "auditbook: make one of"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "Settings: PROFILE=smoke|quick|standard|full (now $(PROFILE)), COHORT=file.toml (now $(COHORT))"

setup:  ## Install what the book needs into .venv (done by the other targets when needed)
	@tools/setup.sh book

setup-test:
	@tools/setup.sh test

book: setup  ## Audit the cohort, run the chapters, build the book: runs/<name>/html/index.html
	$(BIN)/auditbook run $(COHORT) --profile $(PROFILE)

test: setup-test  ## Check style, types, all but the slow tests, a small book in a browser (about 13 min)
	@$(call TESTS)

test-all: setup-test  ## Run every test, the slow ones too: before each release
	@$(call TESTS,-m "")

quick-test: setup  ## Run the tests that need neither a book nor minutes
	$(PYTEST) -m "not slow and not book"

lint: setup  ## Check format, style and types
	$(LINT)

lab: setup  ## Open the chapters in JupyterLab
	$(BIN)/jupyter lab --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/notebooks $(AS_ROOT)

bench: setup  ## Print the benchmarks
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file; done

# Left out: a library for several graphics cards, and one that checks the syntax of web addresses, which nothing
# here asks for and which costs every process that reads a notebook two seconds, and a second driver of browsers.
lock: setup  ## Resolve the dependencies anew into requirements.lock
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --python-version 3.11 pyproject.toml --extra lab --extra test --extra cluster --extra postgresql --no-emit-package nvidia-nccl-cu12 \
	    --no-emit-package rfc3987-syntax --no-emit-package lark --no-emit-package playwright --no-emit-package greenlet \
	    --no-emit-index-url --no-header --no-annotate --quiet --output-file requirements.lock

clean:  ## Remove the runs (the environment stays)
	rm -rf runs
