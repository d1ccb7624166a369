# `make run` starts the dashboard, `make test` runs the tests; each sets up .venv first. Needs Python, pip and make.

PYTHON ?= python3
# What numba supports according to its package metadata, from the oldest that pyproject.toml allows.
SUPPORTED := 3.11 3.12 3.13 3.14 3.15
VENV := .venv
VENV_PYTHON := $(VENV)/bin/python
# A file's tests share what they have trained, so they stay in one process; tests/conftest.py says which files come first.
# Three for two cores: the tests in a browser wait half of their time.
PYTEST := $(VENV_PYTHON) -m pytest -n 3 --dist loadfile --no-loadscope-reorder
# A virtual environment made without pip is filled by the pip of $(PYTHON).
INSTALL = $(VENV_PYTHON) -m pip --version >/dev/null 2>&1 && pip="$(VENV_PYTHON) -m pip" \
	|| pip="$(PYTHON) -m pip --python $(VENV_PYTHON)"; \
	$$pip --disable-pip-version-check install -qq

.PHONY: run test test-full test-unbounded newest breaks coverage lint compiled clean

run: $(VENV)/.installed
	@$(VENV)/bin/labseq app

test: lint compiled
	@$(PYTEST) -m "not slow and not packaging"

test-full: lint compiled
	@$(PYTEST) --hypothesis-profile full

# With the newest numba and streamlit there are, whatever pyproject.toml allows; pip warns that they do not fit.
test-unbounded:
	@$(MAKE) --no-print-directory VENV=.venv-unbounded newest
	@$(MAKE) --no-print-directory VENV=.venv-unbounded test

newest: $(VENV)/.installed-for-tests
	@$(INSTALL) --upgrade numba streamlit

# Whether the quick tests notice deliberate faults; a quarter of an hour on two cores.
breaks: $(VENV)/.installed-for-tests
	@$(VENV_PYTHON) -m tests.breaks --jobs 2

# Compiled code leaves no trace, so tests of compiled routines are run with their Python twins too.
TWINS := $(addprefix tests/,chain features kernels learners losses scoring solvers)
COVERAGE := $(VENV_PYTHON) -m coverage
coverage: compiled
	@$(COVERAGE) erase
	@echo "Compiled routines by their Python twins ..."
	@NUMBA_DISABLE_JIT=1 $(COVERAGE) run -m pytest -n 2 --tb=no -rN -p tests.python_twins -W ignore::RuntimeWarning \
	  -m "not slow and not packaging and not corpus" $(TWINS) | tail -n 1
	@echo "Everything but browsers, as it is ..."
	@$(COVERAGE) run -m pytest -n 2 --dist loadfile --no-loadscope-reorder \
	  -m "not slow and not packaging and not browser"; \
	  tests=$$?; $(COVERAGE) combine -q && $(COVERAGE) report && exit $$tests

lint: $(VENV)/.installed-for-tests
	@$(VENV_PYTHON) -m ruff check --quiet .
	@$(VENV_PYTHON) -m ruff format --check --quiet .
	@$(VENV_PYTHON) -m mypy --no-error-summary

# Once, before the test processes start: each of them would compile the same routines.
compiled: $(VENV)/.installed-for-tests
	@$(VENV_PYTHON) -m labseq_core.cli warm-up

clean:
	rm -rf .venv .venv-unbounded build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis .coverage*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.created:
	@version=$$($(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])') \
	  || { echo "No Python found as '$(PYTHON)': install Python or name one, as in 'make PYTHON=python3.13 run'." >&2; exit 1; }; \
	case " $(SUPPORTED) " in *" $$version "*) ;; *) \
	  echo "LabSeq needs Python $(firstword $(SUPPORTED)) to $(lastword $(SUPPORTED)) but '$(PYTHON)' is $$version: name another, as in 'make PYTHON=python3.13 run'." >&2; exit 1;; \
	esac
	@echo "Creating the virtual environment $(VENV) ..."
	@# Debian without python3-venv cannot put pip into an environment, but can make one.
	@$(PYTHON) -m venv --clear $(VENV) >/dev/null 2>&1 || $(PYTHON) -m venv --clear --without-pip $(VENV)
	@touch $@

$(VENV)/.installed: pyproject.toml | $(VENV)/.created
	@echo "Installing packages (about a minute the first time) ..."
	@$(INSTALL) --editable '.[app]'
	@touch $@

$(VENV)/.installed-for-tests: pyproject.toml | $(VENV)/.created
	@echo "Installing packages and test tools (about a minute the first time) ..."
	@$(INSTALL) --editable '.[test]'
	@touch $(VENV)/.installed $@
