"""The README's commands, run as they stand there, in a copy of the project.

Blocks after `<!-- long -->` train for minutes: Snakemake plans them instead. The copy trains for fewer updates
than the quick configuration says, which changes no command.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.chain import pairs

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^(?P<long><!-- long -->\n)?```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_HERE = {"make test": "this is the test suite", "git clone": "the copy is the clone"}
COPIED = ["Makefile", "Snakefile", "README.md", "LICENSE", "pyproject.toml", "constraints.txt", "environment.yml"]
COPIED += ["config", "optok", "workflow", "bench"]


def blocks(language: str, long: bool) -> list[str]:
    return [
        found["code"]
        for found in BLOCK.finditer(README)
        if found["language"] == language and bool(found["long"]) == long
    ]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project that is installed already, with little to train, and some text of its own."""
    folder = tmp_path_factory.mktemp("project")
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, folder / name)
    (folder / ".venv").mkdir()
    for part in ("bin", "lib", "pyvenv.cfg"):
        (folder / ".venv" / part).symlink_to(Path(sys.prefix) / part)
    (folder / ".venv/stamp").touch()
    quick = yaml.safe_load((folder / "config/quick.yaml").read_text(encoding="utf-8"))
    quick["training"] |= {"updates": 4, "warmup": 2, "validate_every": 2}
    quick["systems"]["optok"]["joint"]["start_after"] = 2
    quick["systems"]["optok-post"]["retokenize"]["updates"] = 2
    (folder / "config/quick.yaml").write_text(yaml.safe_dump(quick, sort_keys=False), encoding="utf-8")
    for name, lines in zip(("mine.en", "mine.zh"), pairs(3, 1200), strict=True):
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    for code in blocks("yaml", long=False):
        name = code.splitlines()[0].removeprefix("# ").split(":")[0]
        (folder / name).write_text(code, encoding="utf-8")
    return folder


def run(project: Path, command: str, **environment: str) -> str:
    path = f"{project / '.venv/bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=project,
        env=os.environ | {"PATH": path, "PYTHONPATH": str(project)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_two_commands_come_first():
    first = blocks("console", long=True)[0]
    assert [line.partition("#")[0].strip() for line in first.splitlines()] == ["make demo", "make test"]


@pytest.mark.network
def test_the_short_commands_and_then_the_python_snippets_run_as_written(project: Path):
    # More than half a minute: the stages of one system by hand, each in a process of its own.
    for code in blocks("console", long=False):
        run(project, code)
    for code in blocks("python", long=False):
        (project / "snippet.py").write_text(code, encoding="utf-8")
        assert run(project, "python snippet.py")


@pytest.mark.parametrize("code", blocks("console", long=True))
def test_the_long_commands_can_be_planned(project: Path, code: str):
    for line in code.splitlines():
        command = line.partition("#")[0].strip()
        if not command or any(command.startswith(name) for name in NOT_HERE):
            continue
        if command.startswith("make"):
            run(project, f"{command} SNAKEMAKE_ARGS='--dry-run --quiet'")
        elif command.startswith("snakemake"):
            run(project, f"{command} --dry-run --quiet")
        else:
            raise AssertionError(f"no way to plan {command!r}")


def test_every_file_that_the_readme_links_to_is_there():
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", README) + re.findall(r'src(?:set)?="([^"]+)"', README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
