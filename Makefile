# Two commands do all the set-up: `make demo` and `make test`, in one .venv.
PYTHON ?= python3
PIP_ARGS ?=
SNAKEMAKE_ARGS ?=
CORES ?= all
BIN := .venv/bin

.PHONY: demo quick test lint lock

demo: .venv/stamp  ## the main job: eight directions, from nothing to a table
	$(BIN)/snakemake --cores $(CORES) --rerun-incomplete $(SNAKEMAKE_ARGS)
	@$(BIN)/optok table --configfile config/config.yaml --print

quick: .venv/stamp  ## one direction, its systems, into results-quick/
	$(BIN)/snakemake --cores $(CORES) --rerun-incomplete --configfile config/quick.yaml $(SNAKEMAKE_ARGS)
	@$(BIN)/optok table --configfile config/quick.yaml --print

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
