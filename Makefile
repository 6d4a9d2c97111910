# Every target sets itself up: system packages, .venv, packages as requirements.lock has them (versions and hashes),
# the C extensions. What is there already is left alone. `make PYTHON=/path/to/python3 ...` makes .venv with another Python.

VENV   := .venv
BIN    := $(VENV)/bin

PAGE   := wholebody/operator/page
BUILT  := $(addsuffix .abi3.so,$(subst .,/,$(shell sed -n 's/^name = "\(wholebody\..*\)"/\1/p' pyproject.toml)))
C      := $(shell find wholebody -name '*.[ch]')
BUILD  := $(BIN)/python -W ignore -c "import setuptools; setuptools.setup()" -q

BUNDLE := $(PAGE)/static/page.js

EXPERIMENTS := $(wildcard experiments/*.py)

unexport PYTHONDONTWRITEBYTECODE    # or every process would compile every module anew
.NOTPARALLEL:    # one environment, one pip at a time, whatever -j says
.DELETE_ON_ERROR:
.PHONY: help demo page wheel wheel-aarch64 deb test test-all sanitize bench lint torture faults experiments docs pictures lock clean FORCE

help:            ## this list
	@sed -n 's/^\([a-z0-9-]*\): .*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 22

demo: $(VENV)/.demo $(BUILT)    ## see it work: film, pictures and report in out/demo
	@$(BIN)/wholebody demo

page: $(VENV)/.core $(BUILT) $(BUNDLE)    ## build the operator page, for wholebody page

wheel: $(VENV)/.wheel $(BUNDLE)    ## a wheel with the operator page in it, in dist
	@tools/wheel $(BIN) x86_64

wheel-aarch64: $(VENV)/.wheel $(BUNDLE)    ## the same for 64-bit ARM, cross-compiled
	@tools/wheel $(BIN) aarch64

deb: $(VENV)/.wheel $(BUILT) $(BUNDLE)    ## a Debian package with the wheel, a service and completion, in dist
	@tools/wheel $(BIN) x86_64
	@$(BIN)/python -m wholebody.cli completion > build/completion
	@$(BIN)/python -c "import sys; sys.path.insert(0, 'tools'); import installing, pathlib; \
	    print('\n'.join(installing.locked(pathlib.Path(), ['all']).values()))" > build/requirements.txt
	@tools/deb dist/*x86_64.whl build/requirements.txt build/completion

test: $(VENV)/.dev $(BUILT) $(BUNDLE)    ## run the tests: laws, and one short behaviour of each kind
	@$(BIN)/pytest -q -n 2 --dist loadfile -m "not slow"

test-all: $(VENV)/.dev $(BUILT) $(BUNDLE)    ## run all tests, the slow ones too
	@$(BIN)/pytest -q -n 2 --dist loadfile

sanitize: $(VENV)/.dev    ## run the tests of kernels under gcc's address and undefined-behaviour sanitizers
	@tools/sanitize $(BIN)

bench: $(VENV)/.bench $(BUILT)    ## measure the channels, beside other ways to talk between processes
	@$(BIN)/wholebody bench channels

lint: $(VENV)/.dev    ## check style, format, types and C warnings
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@gcc -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -DPy_LIMITED_API=0x030B0000 -I. \
	    -I$$($(BIN)/python -c "import sysconfig; print(sysconfig.get_path('include'))") $(filter-out %/octave/wholebody_channel.c,$(filter %.c,$(C)))

torture: $(VENV)/.dev $(BUILT)    ## five minutes of killed writers and readers on the channels
	@$(BIN)/python tests/torture/run.py --seconds 300

faults: $(VENV)/.dev $(BUILT)    ## inject every fault there is a declaration of; writes docs/faults.md
	@PYTHONPATH=tests/rigs $(BIN)/python tests/faults/table.py

experiments: $(if $(EXPERIMENTS),$(VENV)/.dev $(BUILT))    ## repeat the tables of the documents
	@$(if $(EXPERIMENTS),,echo "there are no experiments yet")
	@for each in $(basename $(notdir $(EXPERIMENTS))); do echo "$$each"; $(BIN)/python -m "experiments.$$each" || exit 1; done

docs: $(VENV)/.python    ## write anew what is generated: architecture, coverage, public names
	@$(BIN)/python tools/architecture.py
	@$(BIN)/python tools/specification.py
	@$(BIN)/python tools/public_names.py

pictures: $(BUILT)    ## draw every robot anew into docs/robots
	@$(BIN)/python tools/robot_pictures.py

lock: $(VENV)/.python    ## write requirements.lock anew from pyproject.toml (UPGRADE=1: newest of all)
	@$(BIN)/python -m pip -q --disable-pip-version-check install uv
	@$(BIN)/uv pip compile --quiet --generate-hashes $(if $(UPGRADE),--upgrade) --universal --all-extras --python-version 3.11 \
	    --fork-strategy fewest --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	    --output-file requirements.lock pyproject.toml

clean:           ## remove .venv, builds and caches
	@rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis $(BUILT)
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The steps of the set-up, each a file in .venv that is touched only when the step had work to do.

$(VENV)/.python: FORCE
	@tools/virtualenv $(VENV) $(PYTHON)

$(VENV)/.core: $(VENV)/.python pyproject.toml requirements.lock
	@tools/system-packages $(BIN)/python
	@rm -f $(BUILT)
	@$(BIN)/python tools/installing.py
	@rm -rf wholebody.egg-info    # it would hide the entry points of what is installed
	@touch $@

$(BUILT) &: $(C) | $(VENV)/.core
	@[ -z "$$(for each in $(BUILT); do find $(C) -newer $$each 2>&1; done)" ] || { echo "building the C extensions"; \
	    tools/system-packages $(BIN)/python && $(BUILD) build_ext --inplace; }
	@touch $(BUILT)

$(BUNDLE): $(wildcard $(PAGE)/source/*.js) $(PAGE)/source/package-lock.json | $(VENV)/.python
	@tools/system-packages $(BIN)/python npm
	@if command -v npm >/dev/null; then echo "bundling the page"; cd $(PAGE)/source && npm ci --silent --no-audit --no-fund && npm run --silent build -- --log-level=error; \
	    else echo "wholebody: no npm, so no page; everything else works" >&2; fi

$(VENV)/.dev: EXTRAS := net film log motion plot screen dart ros foxglove wheel dev
$(VENV)/.dev: COMMANDS := chromium
$(VENV)/.bench: EXTRAS := net bench
$(VENV)/.wheel: EXTRAS := wheel
$(VENV)/.demo: EXTRAS := film
$(VENV)/.dev $(VENV)/.bench $(VENV)/.wheel $(VENV)/.demo: $(VENV)/.core
	@$(if $(COMMANDS),tools/system-packages $(BIN)/python $(COMMANDS))
	@$(BIN)/python tools/installing.py $(EXTRAS)
	@touch $@
