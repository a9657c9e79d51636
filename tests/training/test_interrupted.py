"""`optok train` as a process: Ctrl-C, a kill and a full disk, then the same command again ends with the same bytes."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from optok import plan
from tests.chain import Benchmark

UPDATES = 100  # enough that a signal finds the process at work
WAIT = 60.0  # seconds; a process that takes longer to get somewhere hangs


@pytest.fixture(scope="module")
def configfile(prepared: Benchmark) -> Path:
    training = {"updates": UPDATES, "validate_every": 20, "log_every": 10}
    path = prepared.folder / "interrupted.yaml"
    prepared.configured(training=training).rename(path)
    return path


def start(configfile: Path, output: Path, before: Callable[[], None] | None = None) -> subprocess.Popen[str]:
    named = ["--configfile", configfile, "--corpus", "own", "--direction", "en-zh_CN", "--system", "optok"]
    command = [sys.executable, "-m", "optok", "train", *named, "--output", output]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=before)


def finish(configfile: Path, output: Path, before: Callable[[], None] | None = None) -> tuple[int, str]:
    process = start(configfile, output, before)
    _, error = process.communicate(timeout=10 * WAIT)
    return process.returncode, error


def files_of(output: Path) -> dict[str, bytes]:
    return {name: (output / "translator" / name).read_bytes() for name in plan.TRANSLATOR_FILES}


def checkpoints_of(output: Path) -> list[int]:
    return sorted(int(path.stem) for path in output.glob("checkpoints/*/*.safetensors") if path.stem.isdigit())


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + WAIT
    while not condition():
        assert process.poll() is None, process.stderr and process.stderr.read()
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture(scope="module")
def whole(configfile: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    output = tmp_path_factory.mktemp("whole") / "optok" / "seed1"
    assert finish(configfile, output)[0] == 0
    return files_of(output)


def test_ctrl_c_and_a_kill_lose_nothing(configfile: Path, whole: dict[str, bytes], tmp_path: Path):
    output = tmp_path / "optok" / "seed1"
    process = start(configfile, output)
    wait_for(lambda: bool(checkpoints_of(output)), process)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=WAIT)
    assert process.returncode == 130
    assert error.splitlines()[-1] == "optok: interrupted; the same command goes on"
    assert "Traceback" not in error
    assert not (output / "run.json").exists()
    (reached,) = checkpoints_of(output)
    process = start(configfile, output)
    wait_for(lambda: max(checkpoints_of(output), default=0) > reached, process)
    process.kill()
    process.communicate()
    assert finish(configfile, output)[0] == 0
    assert files_of(output) == whole


def test_a_full_disk_is_one_line_and_training_goes_on_when_there_is_room(
    configfile: Path, whole: dict[str, bytes], tmp_path: Path
):
    output = tmp_path / "optok" / "seed1"
    process = start(configfile, output)
    wait_for(lambda: bool(checkpoints_of(output)), process)
    process.kill()
    process.communicate()
    (path,) = output.glob("checkpoints/*/[0-9]*.safetensors")
    kept = path.read_bytes()

    def no_room() -> None:
        """Files larger than half a checkpoint cannot be written, as if the disk were full by then."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(kept) // 2, len(kept) // 2))

    code, error = finish(configfile, output, no_room)
    assert code == 2
    *_, last = error.splitlines()
    assert last.startswith("optok: error: ")
    assert "could not be written" in last
    assert "make room and start again, training goes on" in last
    assert "Traceback" not in error
    assert path.read_bytes() == kept
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert finish(configfile, output)[0] == 0
    assert files_of(output) == whole


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_small_file_system_that_fills_up_is_one_line_too(configfile: Path, whole: dict[str, bytes], tmp_path: Path):
    mounted = tmp_path / "small"
    mounted.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(mounted)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine allows no mount")
    try:
        code, error = finish(configfile, mounted)
        assert code == 2
        assert error.splitlines()[-1].startswith("optok: error: ")
        assert "Traceback" not in error
        subprocess.run(["mount", "-o", "remount,size=64m", str(mounted)], check=True)
        assert finish(configfile, mounted)[0] == 0
        assert files_of(mounted) == whole
    finally:
        subprocess.run(["umount", str(mounted)], check=True)
