# Every target sets itself up: system packages, .venv, packages in the versions of requirements.lock, the C
# extension. What is there already is left alone. `make PYTHON=/path/to/python3 ...` makes .venv with another Python.

VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip -qq --disable-pip-version-check install --no-build-isolation -c requirements.lock

PAGE   := wholebody/collaboration/page
BUILT  := wholebody/channels/_ring.abi3.so wholebody/daemon/_kernels.abi3.so
C      := $(wildcard wholebody/*/*.c wholebody/*/*.h)

BUNDLE := $(PAGE)/static/page.js

EXPERIMENTS := $(wildcard experiments/*.py)

.NOTPARALLEL:    # one environment, one pip at a time, whatever -j says
.DELETE_ON_ERROR:
.PHONY: help demo page wheel test bench lint torture experiments docs pictures lock clean FORCE

help:            ## this list
	@sed -n 's/^\([a-z]*\): .*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 22

demo: $(VENV)/.demo $(BUILT)    ## see it work: film, pictures and report in out/demo
	@$(BIN)/wholebody demo

page: $(VENV)/.page $(BUILT) $(BUNDLE)    ## build the operator page, for wholebody page

wheel: $(VENV)/.core $(BUNDLE)    ## a wheel with the operator page in it, in dist
	@[ -f $(BUNDLE) ] || { echo "wholebody: no npm, so no page, and no wheel without it" >&2; exit 1; }
	@$(BIN)/python -m pip -q --disable-pip-version-check wheel --no-deps --no-build-isolation --wheel-dir dist .

test: $(VENV)/.dev $(BUILT) $(BUNDLE)    ## run the tests
	@$(BIN)/pytest

bench: $(VENV)/.bench $(BUILT)    ## measure the channels, beside other ways to talk between processes
	@$(BIN)/wholebody bench channels

lint: $(VENV)/.dev    ## check style, format, types and C warnings
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only wholebody/channels/ring.c

torture: $(VENV)/.dev $(BUILT)    ## five minutes of killed writers and readers on the channels
	@$(BIN)/python tests/torture/run.py --seconds 300

experiments: $(if $(EXPERIMENTS),$(VENV)/.dev $(BUILT))    ## repeat the tables of the documents
	@$(if $(EXPERIMENTS),,echo "there are no experiments yet")
	@for each in $(basename $(notdir $(EXPERIMENTS))); do echo "$$each"; $(BIN)/python -m "experiments.$$each" || exit 1; done

docs: $(VENV)/.python    ## write docs/architecture.md anew from the docstrings
	@$(BIN)/python tools/architecture.py

pictures: $(BUILT)    ## draw every robot anew into docs/robots
	@$(BIN)/python tools/robot_pictures.py

lock: $(VENV)/.python    ## write requirements.lock anew from pyproject.toml (UPGRADE=1: newest of all)
	@$(PIP) uv
	@$(BIN)/uv pip compile --quiet $(if $(UPGRADE),--upgrade) --universal --all-extras --python-version 3.11 \
	    --fork-strategy fewest --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	    --output-file requirements.lock pyproject.toml

clean:           ## remove .venv, builds and caches
	@rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis $(BUILT)
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The steps of the set-up, each a file in .venv that is touched only when the step had work to do.

$(VENV)/.python: FORCE
	@tools/virtualenv $(VENV) $(PYTHON)

$(VENV)/.core: $(VENV)/.python pyproject.toml requirements.lock
	@echo "installing wholebody and what it needs into $(VENV)"
	@rm -f $(BUILT)
	@$(PIP) setuptools
	@$(PIP) -e .
	@touch $@

$(BUILT) &: $(C) | $(VENV)/.core
	@[ -z "$$(for each in $(BUILT); do find $(C) -newer $$each 2>&1; done)" ] || { echo "building the C extensions"; \
	    $(BIN)/python -W ignore -c "import setuptools; setuptools.setup()" -q build_ext --inplace; }
	@touch $(BUILT)

$(BUNDLE): $(wildcard $(PAGE)/source/*.js) $(PAGE)/source/package-lock.json | $(VENV)/.python
	@tools/system-packages $(BIN)/python npm
	@if command -v npm >/dev/null; then echo "bundling the page"; cd $(PAGE)/source && npm ci --silent --no-audit --no-fund && npm run --silent build -- --log-level=error; \
	    else echo "wholebody: no npm, so no page; everything else works" >&2; fi

$(VENV)/.dev: EXTRAS := net,film,log,motion,plot,page,dart,ros,dev
$(VENV)/.dev: COMMANDS := chromium
$(VENV)/.bench: EXTRAS := net,bench
$(VENV)/.page: EXTRAS := page
$(VENV)/.demo: EXTRAS := film,plot
$(VENV)/.dev $(VENV)/.bench $(VENV)/.page $(VENV)/.demo: $(VENV)/.core
	@$(if $(COMMANDS),tools/system-packages $(BIN)/python $(COMMANDS))
	@echo "installing the packages for $(EXTRAS)"
	@$(PIP) "wholebody[$(EXTRAS)]"
	@$(BIN)/wholebody warmup
	@touch $@
