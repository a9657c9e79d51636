"""Snakemake as a user runs it: the project's own Snakefile, in a folder with spaces, on text that trains in seconds."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

from optok import plan
from optok.config import Settings, load, merge
from tests.chain import SETTINGS, new_benchmark

ROOT = Path(__file__).parents[2]
WAIT = 300.0  # seconds; Snakemake that takes longer hangs
SYSTEMS = ("unigram-sampled", "optok", "optok-post", "optok-restricted")
JOB = re.compile(r"^(\w+) +(\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Ended:
    """What Snakemake said before it ended."""

    code: int
    output: str
    error: str

    @property
    def said(self) -> str:
        return self.output + self.error

    @property
    def jobs(self) -> dict[str, int]:
        """How many jobs of each rule there were to do, but for `all`, which does nothing."""
        return {rule: int(count) for rule, count in JOB.findall(self.said) if rule not in ("all", "total")}


@dataclass(frozen=True)
class Workflow:
    """A folder to run Snakemake in; all paths of its configuration are relative to it."""

    folder: Path

    @property
    def configfile(self) -> Path:
        return self.folder / "my config.yaml"

    @property
    def settings(self) -> Settings:
        return load(self.configfile)

    @property
    def results(self) -> Path:
        return self.folder / self.settings.results

    def configure(self, **overrides: object) -> None:
        content = merge(yaml.safe_load(self.configfile.read_text(encoding="utf-8")), overrides)
        self.configfile.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Snakemake in a process group of its own, so that a signal reaches the stages too, as from a terminal."""
        snakemake = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
        return subprocess.Popen(
            [*snakemake, "--cores", "2", "--configfile", self.configfile.name, "--rerun-incomplete", *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str) -> Ended:
        return ended(self.start(*arguments))

    def planned(self, *arguments: str) -> dict[str, int]:
        """The jobs that Snakemake would do."""
        done = self.run("--dry-run", "--quiet", "rules", *arguments)
        assert done.code == 0, done.said
        return done.jobs

    def optok(self, *arguments: str) -> Ended:
        """A stage by hand, in the same folder."""
        command = [sys.executable, "-m", "optok", *arguments]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=WAIT)
        return Ended(done.returncode, done.stdout, done.stderr)

    def table(self) -> str:
        """`table.csv` but for the column that tells the time."""
        rows = [line.split(",") for line in (self.results / "table.csv").read_text(encoding="utf-8").splitlines()]
        clock = rows[0].index("train_seconds")
        return "\n".join(",".join(row[:clock] + row[clock + 1 :]) for row in rows)

    def translators(self) -> dict[str, bytes]:
        """Every file of every run's translator."""
        folders = {run.folder / "translator" for run in plan.runs(self.settings)}
        paths = [folder / name for folder in sorted(folders) for name in plan.TRANSLATOR_FILES]
        return {str(path): (self.results / path).read_bytes() for path in paths}


def ended(process: subprocess.Popen[str]) -> Ended:
    """Waits for the end; one that hangs is killed with its stages and fails the test."""
    try:
        output, error = process.communicate(timeout=WAIT)
    except subprocess.TimeoutExpired:
        signal_all(process, signal.SIGKILL)
        raise
    return Ended(process.returncode, output, error)


def signal_all(process: subprocess.Popen[str], number: signal.Signals) -> None:
    """A signal for Snakemake and every stage it runs."""
    os.killpg(process.pid, number)


def new_workflow(folder: Path) -> Workflow:
    """Two directions and four systems of own text, in `folder`, which is made."""
    folder.mkdir(parents=True)
    benchmark = new_benchmark(folder)
    benchmark.configfile.unlink()
    workflow = Workflow(folder)
    systems = {name: SETTINGS["systems"][name] for name in SYSTEMS}
    content = {**SETTINGS, "results": "my results", "systems": systems}
    workflow.configfile.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return workflow


def copy_of(workflow: Workflow, folder: Path) -> Workflow:
    """Another folder with the same files of the same ages, Snakemake's own records too."""
    return Workflow(Path(shutil.copytree(workflow.folder, folder / "a copy")))
