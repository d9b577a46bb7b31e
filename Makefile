PYTHON ?= python3
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
LOCK := requirements-dev.txt

# pip prints a line as it begins with a package; all that it prints is shown only if it fails.
LOG := $(VENV)/pip.log
PIP := $(BIN)/python -m pip --disable-pip-version-check
install = @{ $(PIP) install $(1) 2>&1 || echo failed; } | tee $(LOG) | { \
        while read -r verb name rest; do \
            name=$${name\#\#*/}; name=$${name%%[<>=!~;[]*}; \
            case $$verb in Collecting | Processing) printf '  %s' $${name%%-[0-9]*}; shown=1 ;; esac; \
        done; [ -z "$$shown" ] || echo; \
    } >&2; \
    [ "$$(tail -n 1 $(LOG))" != failed ] || { tail -n 25 $(LOG); exit 1; } >&2

# Tests of the browser and of programs wait half of the time.
WORKERS ?= $(shell $(PYTHON) -c "import os; print(min(16, 2 * (os.cpu_count() or 1)))")

# Loaded Spack and environment modules set these, and would put their own packages before the locked ones.
unexport PYTHONPATH PYTHONHOME
# Every worker of the tests, and every program that they start, would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: targets run test search shake check format pyz bench clean

targets:
	@echo "make run     start spackscope; options go into ARGS: make run ARGS='find py-build'"
	@echo "make test    run the tests; pytest options go into ARGS: make test ARGS='-k hash -x'"
	@echo "make search  run the exhaustive tests too, and let property tests look for new cases"
	@echo "make shake   run the tests of the browser with answers and frames at random moments"
	@echo "make check   check format, lint, types and import contracts"
	@echo "make format  format the code as make check requires"
	@echo "make pyz     build dist/spackscope.pyz: one file that runs with any Python from 3.10"
	@echo "make bench   measure against references: see benchmarks/README.md"
	@echo "make clean   remove everything that make created"

run: $(VENV)/run.stamp
	@$(BIN)/spackscope $(ARGS)

test: $(VENV)/dev.stamp
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

search: $(VENV)/dev.stamp
	@SPACKSCOPE_HYPOTHESIS=searching $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m '' $(ARGS)

shake: $(VENV)/dev.stamp
	@timing=$${SPACKSCOPE_TIMING:-$$(date +%s)}; echo "SPACKSCOPE_TIMING=$$timing"; \
	    SPACKSCOPE_TIMING=$$timing $(BIN)/python -m pytest -n auto --dist worksteal tests/tui/browser \
	    tests/tui/widgets tests/tui/dialogs tests/tui/keymap tests/tui/settings tests/tui/test_random_keys.py $(ARGS)

check: $(VENV)/dev.stamp
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy -p spackscope.model -p spackscope.tui
	@$(BIN)/mypy tests benchmarks
	@$(BIN)/lint-imports --no-logo

format: $(VENV)/dev.stamp
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

pyz: $(VENV)/dev.stamp
	@$(BIN)/python packaging/pyz/make_pyz.py

clean:
	@rm -rf $(VENV) build dist spackscope.egg-info .hypothesis .import_linter_cache \
	    .mypy_cache .pytest_cache .ruff_cache
	@find model tui sample_data tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || { \
	    echo "spackscope needs Python 3.10 or newer, and $(PYTHON) is not: name one with make PYTHON=python3.12." >&2; \
	    exit 1; }
	@echo "1 of 3: create $(VENV)" >&2
	@$(PYTHON) -m venv --clear $(VENV) >/dev/null 2>&1 || { \
	    rm -rf $(VENV); \
	    echo "$(PYTHON) -m venv failed: on Debian and Ubuntu install the package python3-venv." >&2; \
	    exit 1; }

# The pip that comes with an older Python cannot install a project without a setup.py as editable.
$(VENV)/run.stamp: $(BIN)/python pyproject.toml $(LOCK)
	@echo "2 of 3: update pip" >&2
	$(call install,'pip>=23')
	@echo "3 of 3: install spackscope and the packages that it needs: some 20 seconds" >&2
	$(call install,--constraint $(LOCK) --editable .)
	@touch $@

# Compiling them takes half as long as all else, and most modules are never imported.
$(VENV)/dev.stamp: $(VENV)/run.stamp
	@echo "for development: install the packages of $(LOCK)" >&2
	$(call install,--no-compile --requirement $(LOCK))
	@touch $@

bench: $(VENV)/dev.stamp
	@$(BIN)/python -m benchmarks.run $(ARGS)
