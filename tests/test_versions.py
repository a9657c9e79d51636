"""A run's record names what it was made with."""

import json
import platform
import subprocess
import sys

from optok import versions as module
from optok.versions import RECORDED, commit, machine, versions


def test_every_library_that_decides_a_result_has_the_version_that_pip_knows():
    listed = subprocess.run([sys.executable, "-m", "pip", "list", "--format=json"], capture_output=True, check=True)
    installed = {entry["name"].lower(): entry["version"] for entry in json.loads(listed.stdout)}
    assert versions() == {"python": platform.python_version(), **{name: installed[name] for name in RECORDED}}


def test_the_machine_is_told_without_its_name():
    assert machine() == {"system": platform.system(), "release": platform.release(), "processor": platform.machine()}
    assert platform.node() not in machine().values()


def test_the_commit_is_the_one_that_git_knows_and_none_outside_of_a_checkout(tmp_path, monkeypatch):
    def git(*arguments):
        name = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        return subprocess.run(
            ["git", *name, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout

    (tmp_path / "optok").mkdir()
    (tmp_path / "optok" / "versions.py").write_text("")
    monkeypatch.setattr(module, "__file__", str(tmp_path / "optok" / "versions.py"))
    assert commit() is None
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "Begin")
    assert commit() == git("rev-parse", "HEAD").strip()
    (tmp_path / "optok" / "versions.py").write_text("changed")
    assert commit() == git("rev-parse", "HEAD").strip() + "-dirty"
