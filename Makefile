# Two commands do all the set-up: `make demo` and `make test`, in one .venv.
PYTHON ?= python3
PIP_ARGS ?=
SNAKEMAKE_ARGS ?=
CORES ?= all
CONFIG ?= config/config.yaml
PORT ?= 5000
BIN := .venv/bin
SNAKEMAKE = $(BIN)/snakemake --cores $(CORES) --rerun-incomplete --keep-going --quiet host rules reason

.PHONY: demo quick mlflow test lint lock bench check-text

demo: .venv/stamp  ## the main job: eight directions, from nothing to a table
	@$(SNAKEMAKE) --configfile config/config.yaml $(SNAKEMAKE_ARGS)

quick: .venv/stamp  ## one direction, its systems, into results-quick/
	@$(SNAKEMAKE) --configfile config/quick.yaml $(SNAKEMAKE_ARGS)

mlflow: .venv/stamp  ## MLflow's page on 127.0.0.1: PORT=5000, CONFIG=config/quick.yaml for the quick results
	@$(BIN)/optok track --configfile $(CONFIG) --serve --port $(PORT)

.venv/stamp: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install $(PIP_ARGS) -c constraints.txt -e '.[slurm,test]'
	@touch $@

test: .venv/stamp lint  ## the whole test suite
	$(BIN)/python -m pytest -n 2

lint: .venv/stamp  ## format, lint and types, of the workflow too
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

bench: .venv/stamp  ## speed, into results/bench.json
	$(BIN)/python -m bench.lattice

check-text: .venv/stamp  ## the lattice engine against SentencePiece on any text: TEXT=file.tsv[.xz], one column or all
	@test -n "$(TEXT)" || { echo "make check-text needs a text: make check-text TEXT=file.tsv"; exit 2; }
	$(BIN)/python -m bench.check_text "$(TEXT)"

lock: .venv/stamp  ## renew constraints.txt from the bounds in pyproject.toml
	$(BIN)/python -m pip install $(PIP_ARGS) --upgrade --upgrade-strategy eager -e '.[slurm,test]'
	$(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu$$//' > constraints.txt
