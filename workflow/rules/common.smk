# What the rules share: the validated settings, where files lie, and how a stage is called.
import json
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

from optok import owner, plan
from optok.config import language_code, validate
from optok.errors import UserError

try:
    SETTINGS = validate(config, "configuration")
except UserError as error:
    raise WorkflowError(str(error)) from None

RESULTS = Path(SETTINGS.results)
OPTOK = f"{sys.executable} -m optok"

if workflow.is_main_process:
    living = owner.clear_after_death(RESULTS, Path(".snakemake"))
    if living is not None:
        print(f"{RESULTS} is being written by {living}", file=sys.stderr)


onstart:
    owner.take(RESULTS)


onsuccess:
    owner.release(RESULTS)


onerror:
    owner.release(RESULTS)


RUN = "{corpus}/{direction}/{system}/seed{seed}"
TABLE_FILES = [RESULTS / name for name in plan.TABLE_FILES]


wildcard_constraints:
    corpus="|".join(SETTINGS.corpora),
    direction=r"[A-Za-z0-9_]+-[A-Za-z0-9_]+",
    system="|".join(SETTINGS.systems),
    seed=r"\d+",


def run_of(wildcards):
    return plan.Run(wildcards.corpus, wildcards.direction, wildcards.system, int(wildcards.seed))


def translator_of(run):
    """The files of a run's translator."""
    return [RESULTS / run.folder / "translator" / name for name in plan.TRANSLATOR_FILES]


def as_json(settings):
    """The slice of the settings that a stage reads, as its command's --settings, in the order of the configuration."""
    return json.dumps(settings, ensure_ascii=False)


def systems_of(stage):
    """A pattern of the systems that a stage builds; one that matches nothing where there are none."""
    return "|".join(name for name in SETTINGS.systems if plan.kind_of(name, SETTINGS) == stage) or "$^"
