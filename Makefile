# `make run` starts the dashboard, `make test` runs the tests; each sets up .venv first. Needs Python, pip and make.

PYTHON ?= python3
# What numba supports according to its package metadata, from the oldest that pyproject.toml allows.
SUPPORTED := 3.11 3.12 3.13 3.14 3.15
VENV_PYTHON := .venv/bin/python
# A file's tests share servers and builds, so they stay in one process.
# Three for two cores: the tests in a browser wait half of their time.
PYTEST := $(VENV_PYTHON) -m pytest -n 3 --dist loadfile
# A virtual environment made without pip is filled by the pip of $(PYTHON).
INSTALL = $(VENV_PYTHON) -m pip --version >/dev/null 2>&1 && pip="$(VENV_PYTHON) -m pip" \
	|| pip="$(PYTHON) -m pip --python $(VENV_PYTHON)"; \
	$$pip --disable-pip-version-check install -qq --editable

.PHONY: run test test-full lint clean

run: .venv/.installed
	@.venv/bin/labseq app

test: lint
	@$(PYTEST) -m "not slow and not packaging"

test-full: lint
	@$(PYTEST)

lint: .venv/.installed-for-tests
	@$(VENV_PYTHON) -m ruff check --quiet .
	@$(VENV_PYTHON) -m ruff format --check --quiet .

clean:
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.created:
	@version=$$($(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])') \
	  || { echo "No Python found as '$(PYTHON)': install Python or name one, as in 'make PYTHON=python3.13 run'." >&2; exit 1; }; \
	case " $(SUPPORTED) " in *" $$version "*) ;; *) \
	  echo "LabSeq needs Python $(firstword $(SUPPORTED)) to $(lastword $(SUPPORTED)) but '$(PYTHON)' is $$version: name another, as in 'make PYTHON=python3.13 run'." >&2; exit 1;; \
	esac
	@echo "Creating the virtual environment .venv ..."
	@# Debian without python3-venv cannot put pip into an environment, but can make one.
	@$(PYTHON) -m venv --clear .venv >/dev/null 2>&1 || $(PYTHON) -m venv --clear --without-pip .venv
	@touch $@

.venv/.installed: pyproject.toml | .venv/.created
	@echo "Installing packages (about a minute the first time) ..."
	@$(INSTALL) .
	@touch $@

.venv/.installed-for-tests: pyproject.toml | .venv/.created
	@echo "Installing packages and test tools (about a minute the first time) ..."
	@$(INSTALL) '.[test]'
	@touch .venv/.installed $@
