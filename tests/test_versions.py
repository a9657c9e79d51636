"""A run's record names what it was made with."""

import json
import platform
import subprocess
import sys

from optok.versions import RECORDED, machine, versions


def test_every_library_that_decides_a_result_has_the_version_that_pip_knows():
    listed = subprocess.run([sys.executable, "-m", "pip", "list", "--format=json"], capture_output=True, check=True)
    installed = {entry["name"].lower(): entry["version"] for entry in json.loads(listed.stdout)}
    assert versions() == {"python": platform.python_version(), **{name: installed[name] for name in RECORDED}}


def test_the_machine_is_told_without_its_name():
    assert machine() == {"system": platform.system(), "release": platform.release(), "processor": platform.machine()}
    assert platform.node() not in machine().values()
