# What the rules share: the validated settings, where files lie, and how a stage is called.
import json
import os
import re
import shlex
import sys
from pathlib import Path

from snakemake.utils import update_config

from optok import owner, plan
from optok.config import as_in_a_file, validate
from optok.corpora.fetch import archive_path
from optok.errors import UserError


def stop(message):
    """One line for whoever started this, and no trace of the Snakefile's inside."""
    print(f"optok: error: {message}", file=sys.stderr)
    sys.exit(2)


def as_json(settings):
    """The slice of the settings that a stage reads, as its command's --settings, in the order of the configuration."""
    return json.dumps(settings, ensure_ascii=False)


update_config(config, as_in_a_file(dict(workflow.config_settings.config)))
try:
    SETTINGS = validate(config, "configuration")
except UserError as error:
    stop(error)

RESULTS = Path(SETTINGS.results)
TABLE_SETTINGS = as_json(plan.table_settings(SETTINGS))
# `optok` in a rule is the command of the environment that Snakemake itself runs in.
shell.prefix(f"set -euo pipefail; export PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH; ")


def finish():
    """Shows the table of what was asked for, with the runs that failed, and frees the results folder."""
    if not workflow.dag_settings.targets:
        shell("optok table --settings {TABLE_SETTINGS:q} --results {RESULTS:q} --print || true")
    owner.release(RESULTS)


if workflow.deployment_settings.deployment_method:
    stop("optok runs in the environment that Snakemake runs in (environment.yml): leave --sdm out")

if workflow.is_main_process:
    living = owner.clear_after_death(RESULTS, Path(".snakemake"))
    if living is not None:
        print(f"{RESULTS} is being written by {living}", file=sys.stderr)


onstart:
    owner.take(RESULTS)


onsuccess:
    finish()


onerror:
    finish()


RUN = "{corpus}/{direction}/{system}/seed{seed}"
ALL_RUNS = list(plan.runs(SETTINGS))
TABLE_FILES = [RESULTS / name for name in plan.TABLE_FILES]
CONFIGURATION = [os.path.relpath(path) for path in workflow.overwrite_configfiles or ["config/config.yaml"]]
ARCHIVES = {
    str(archive_path(archive["archive"], Path(SETTINGS.data))): archive
    for archive in map(plan.fetch_settings, SETTINGS.corpora.values())
    if archive is not None
}


wildcard_constraints:
    corpus="|".join(map(re.escape, SETTINGS.corpora)),
    direction=r"[A-Za-z0-9_]+-[A-Za-z0-9_]+",
    system="|".join(map(re.escape, SETTINGS.systems)),
    seed=r"\d+",


def run_of(wildcards):
    return plan.Run(wildcards.corpus, wildcards.direction, wildcards.system, int(wildcards.seed))


def translator_of(run):
    """The files of a run's translator."""
    return [RESULTS / run.folder / "translator" / name for name in plan.TRANSLATOR_FILES]


def systems_of(stage):
    """A pattern of the systems that a stage builds; one that matches nothing where there are none."""
    return "|".join(re.escape(name) for name in SETTINGS.systems if plan.kind_of(name, SETTINGS) == stage) or "$^"


def tag_of(wildcards):
    return plan.corpus_of_language(SETTINGS, wildcards.corpus, wildcards.language)


def archive_of(wildcards):
    """The archive that a corpus comes from, if it comes from one."""
    archive = plan.fetch_settings(SETTINGS.corpora[wildcards.corpus])
    return [] if archive is None else [str(archive_path(archive["archive"], Path(SETTINGS.data)))]


def tokenizer_files(wildcards):
    """The tokenizers of both sides, source first."""
    tokenizer = SETTINGS.systems[wildcards.system].tokenizer
    folder = RESULTS / wildcards.corpus / "tokenizers" / tokenizer
    return [folder / f"{language}.model" for language in plan.languages(wildcards.direction)]


def base_files(wildcards):
    """The translator and the record of the system that this one starts from."""
    run = run_of(wildcards)
    base = plan.Run(run.corpus, run.direction, SETTINGS.systems[run.system].base, run.seed)
    return [*translator_of(base), RESULTS / base.folder / "run.json"]
