"""`environment.yml`, `pyproject.toml`, `constraints.txt` and `CITATION.cff` say the same."""

import re
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version
from rattler import MatchSpec

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def environment() -> tuple[dict[str, MatchSpec], list[str]]:
    """Conda's specifications by name, and the lines that pip is given."""
    content = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    specs = [MatchSpec(line) for line in content["dependencies"] if isinstance(line, str)]
    (pip,) = [part["pip"] for part in content["dependencies"] if isinstance(part, dict)]
    return {spec.name.normalized: spec for spec in specs}, pip


def pinned() -> dict[str, Version]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    parts = [line.partition("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, _, version in parts}


def test_conda_brings_the_python_that_the_project_asks_for_and_pip():
    specs, _ = environment()
    assert SpecifierSet(str(specs["python"].version)) == SpecifierSet(PROJECT["requires-python"])
    assert "pip" in specs


def test_pip_installs_the_project_with_the_extras_of_the_makefile_in_the_pinned_versions():
    _, pip = environment()
    (constraint,) = [line.split()[1] for line in pip if line.startswith("--constraint")]
    assert (ROOT / constraint).read_bytes() == (ROOT / "constraints.txt").read_bytes()
    (editable,) = [line.split()[1] for line in pip if line.startswith("--editable")]
    (extras,) = re.findall(r"-e '\.(\[.*?\])'\n\t@touch", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert editable == f".{extras}"
    assert set(extras.strip("[]").split(",")) <= set(EXTRAS)


def test_every_dependency_is_bounded_and_its_pin_is_within_the_bounds():
    pins = pinned()
    for line in [*PROJECT["dependencies"], *(line for extra in EXTRAS.values() for line in extra)]:
        requirement = Requirement(line)
        assert requirement.specifier or requirement.name.startswith("types-"), line
        assert pins[canonicalize_name(requirement.name)] in requirement.specifier, line


def test_no_pin_carries_a_local_version():
    # A torch pinned as 2.13.0+cpu could not be installed where there is a GPU.
    assert [name for name, version in pinned().items() if version.local] == []


def test_the_citation_names_the_version_and_licence_of_the_project():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])
