# Needs Python >= 3.11, git and make. Everything else goes into $(VENV), at the versions that constraints.txt names.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install $(if $(CI),--quiet) --constraint constraints.txt

# The rooms that run inside an agent: every branch of them counts.
CORE   := vocabulary faults policy engine models surface layer telemetry
APART  := $(notdir $(basename $(wildcard tests/apart/requirements/*.txt)))
comma  := ,
space  := $(subst ,, )
INCLUDE := $(subst $(space),$(comma),$(foreach room,$(CORE),otel_toolerrors/$(room)/* otel_toolerrors/$(room).py))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-apart test-real soak fuzz check lint format types imports coverage contracts api docs docs-reference bench notebooks mutation constraints clean

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.demo  ## Decide, record, analyse and re-tune, on loopback, in about a minute (ARGS="--seed 7")
	@$(BIN)/toolerrors demo $(ARGS)

test: $(VENV)/.dev  ## The everyday tests (ARGS="-k breaker", HYPOTHESIS_PROFILE=thorough)
	@$(BIN)/pytest --numprocesses 2 --dist loadscope $(ARGS)

test-real: $(VENV)/.dev  ## The tests against real parts: the collector (built with Go) and Prometheus
	@$(BIN)/pytest -m real tests/real $(ARGS)

test-apart: $(APART:%=test-apart-%)  ## The tests of frameworks that share an environment with none of the others, each in its own

test-apart-%: $(VENV)/apart/%/.installed
	@echo "==> $$(cat tests/apart/requirements/$*.txt)"
	@$(VENV)/apart/$*/bin/python -m pytest tests/apart/test_$*.py $(ARGS)

check: lint types imports docs coverage  ## Every gate: style, types, import contracts, the site, tests, branch coverage
	@echo "==> All gates passed"

lint: $(VENV)/.dev  ## Format and lint rules
	@$(BIN)/ruff format --check --quiet . || { echo "Run 'make format'"; exit 1; }
	@$(BIN)/ruff check --quiet .

format: $(VENV)/.dev  ## Format the code, and fix what can be fixed
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format .

types: $(VENV)/.dev  ## mypy --strict on the package and on the typing tests
	@$(BIN)/mypy

imports: $(VENV)/.dev  ## Who may import whom
	@$(BIN)/lint-imports --no-logo --no-cache

contracts: imports  ## What we promise: imports, public names, docstrings, a core that needs no extra
	@$(BIN)/pytest -m "not real and not soak" tests/house $(ARGS)

coverage: $(VENV)/.dev  ## All tests but the real ones, and at least 95 % of the core's branches
	@$(BIN)/pytest --numprocesses 2 --dist loadscope -m "not real and not soak" --cov --cov-report= $(ARGS)
	@$(BIN)/coverage report --include '$(INCLUDE)' --fail-under 95

api: $(VENV)/.dev  ## Write the snapshot of the public names anew
	@PYTHONPATH=. $(BIN)/python tests/house/public_api.py

docs: $(VENV)/.docs  ## Build the pages as a site into build/site; a warning is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet && echo "==> build/site/index.html"

docs-reference: $(VENV)/.dev  ## Write the generated pages anew: vocabulary, policy keys, envelope schema, tutorial
	@$(BIN)/python -m otel_toolerrors.vocabulary.reference > docs/telemetry.md
	@$(BIN)/python -m otel_toolerrors.policy.reference > docs/policy.md
	@$(BIN)/python -m otel_toolerrors.faults.reference > docs/classification.md
	@$(BIN)/python -c 'import json; from otel_toolerrors import Envelope; print(json.dumps(Envelope.model_json_schema(), indent=2))' > docs/envelope.schema.json
	@$(BIN)/python -m tests.docs.walk

soak: $(VENV)/.dev  ## The tests that take many minutes: a hundred thousand hostile exceptions
	@$(BIN)/pytest -m soak --capture no $(ARGS)

FUZZ_TARGETS := text pasted classify policy catalog rules careful ingest report analyse
FUZZ_SECONDS ?= 60

fuzz: $(VENV)/.dev $(VENV)/.upkeep  ## Fuzz every reader of foreign input with atheris (FUZZ_SECONDS=60 for each)
	@for target in $(FUZZ_TARGETS); do echo "==> $$target"; \
	    $(BIN)/python -m tests.fuzz.run $$target --seconds $(FUZZ_SECONDS) || exit 1; done

bench: $(VENV)/.dev $(VENV)/.upkeep  ## Benchmarks: ratios against a named baseline of the same run
	@for script in benchmarks/bench_*.py; do echo "==> $$script"; $(BIN)/python $$script || exit 1; done

notebooks: $(VENV)/.dev  ## Run the notebooks
	@$(BIN)/pytest --nbmake notebooks $(ARGS)

mutation: $(VENV)/.upkeep  ## Mutation tests of the engine (half an hour)
	@$(BIN)/mutmut run $(ARGS)
	@$(BIN)/mutmut results

constraints: $(VENV)/.upkeep  ## Resolve every version anew
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --upgrade --extra dev --extra docs --extra upkeep \
	    --no-annotate --no-header pyproject.toml --output-file constraints.txt

clean:  ## Remove what was installed, built or cached here
	rm -rf $(VENV) build dist mutants .cache .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# An environment for each framework apart: what it needs, the core, and what the tests need.
$(VENV)/apart/%/.installed: tests/apart/requirements/%.txt pyproject.toml
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --editable . --requirement $< hypothesis pytest pytest-asyncio
	@touch $@

.PRECIOUS: $(VENV)/apart/%/.installed

# A stamp for each set of extras: installed once, and again when the versions change.
$(VENV)/.%: pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	@echo "==> Installing the packages for '$*' into $(VENV)"
	@$(PIP) --editable '.[$*]'
	@touch $@

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python >= 3.11 is needed, and $(PYTHON) is %d.%d: make PYTHON=python3.13 ..." % sys.version_info[:2])'
	@echo "==> Making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)
