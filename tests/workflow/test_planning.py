"""The Snakefile reads the settings only: planning a large benchmark imports no library that trains or draws."""

import re
import subprocess
import sys
import time

from tests.workflow.running import ROOT

HEAVY = {"torch", "numba", "mlflow", "sacrebleu", "ctranslate2", "altair", "polars", "sentencepiece", "vl_convert"}
IMPORTED = re.compile(r"^import time: .*\| +([\w.]+)$", re.MULTILINE)


def test_five_seeds_of_the_default_are_planned_without_heavy_imports(tmp_path):
    command = [sys.executable, "-X", "importtime", "-m", "snakemake", "--snakefile", ROOT / "Snakefile"]
    command += ["--configfile", ROOT / "config/config.yaml", "--config", "seeds=[1,2,3,4,5]", "--dry-run", "--quiet"]
    began = time.monotonic()
    planned = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    taken = time.monotonic() - began
    assert planned.returncode == 0, planned.stderr[-2000:]
    print(f"planned in {taken:.1f} s")
    imported = {name.partition(".")[0] for name in IMPORTED.findall(planned.stderr)}
    assert "pydantic" in imported
    assert imported & HEAVY == set()
