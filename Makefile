# Two commands do all the set-up: `make demo` and `make test`, in one .venv.
PYTHON ?= python3
PIP_ARGS ?=
BIN := .venv/bin

.PHONY: test lint lock

.venv/stamp: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install $(PIP_ARGS) -c constraints.txt -e '.[slurm,test]'
	@touch $@

test: .venv/stamp lint  ## the whole test suite
	$(BIN)/python -m pytest -n 2

lint: .venv/stamp  ## format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

lock: .venv/stamp  ## renew constraints.txt from the bounds in pyproject.toml
	$(BIN)/python -m pip install $(PIP_ARGS) --upgrade --upgrade-strategy eager -e '.[slurm,test]'
	$(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu$$//' > constraints.txt
