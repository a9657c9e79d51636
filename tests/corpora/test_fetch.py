import hashlib
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from optok.corpora.catalogue import Archive, find_archive
from optok.corpora.fetch import archive_path, entry_path, fetch_entry
from optok.errors import UserError
from tests.corpora.making import wheel


def entry_of(path, requirement="gramps==6.0.8", sha256=None):
    content = path.read_bytes()
    given = find_archive("gramps").model_dump() | {"requirement": requirement, "file": path.name}
    return Archive(**given | {"sha256": sha256 or hashlib.sha256(content).hexdigest(), "bytes": len(content)})


@pytest.fixture(autouse=True)
def local_index(monkeypatch, tmp_path):
    """pip sees the wheels of one folder, and no index."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    (tmp_path / "wheels").mkdir()


def visible(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def test_a_path_is_planned_from_the_catalogue_with_light_imports():
    program = (
        "import sys, pathlib, optok.corpora.fetch as fetch;"
        "print(fetch.archive_path('gramps', pathlib.Path('data')));"
        "print(sorted({'polars', 'numpy', 'torch', 'sentencepiece', 'filelock'} & set(sys.modules)))"
    )
    path, heavy = subprocess.check_output([sys.executable, "-c", program], text=True).splitlines()
    entry = find_archive("gramps")
    assert path == f"data/{entry.sha256[:16]}-gramps-6.0.8-py3-none-any.whl"
    assert heavy == "[]"


def test_an_unknown_archive_is_told_the_nearest_name(tmp_path):
    with pytest.raises(UserError, match="archive 'gramp' is not in the catalogue: did you mean 'gramps'"):
        archive_path("gramp", tmp_path)


@pytest.mark.parametrize(
    ("name", "tag", "requires_python"),
    [
        ("gramps-6.0.8-py3-none-any.whl", "py3-none-any", ">=3.8"),
        ("gramps-6.0.8-cp37-cp37m-win_amd64.whl", "cp37-cp37m-win_amd64", "<3.8"),
    ],
)
def test_a_wheel_is_fetched_once_whatever_python_it_is_for(tmp_path, monkeypatch, name, tag, requires_python):
    source = wheel(tmp_path / "wheels" / name, {"text": b"some"}, tag=tag, requires_python=requires_python)
    entry = entry_of(source)
    path = fetch_entry(entry, tmp_path / "data")
    assert path == entry_path(entry, tmp_path / "data")
    assert path.read_bytes() == source.read_bytes()
    assert visible(tmp_path / "data") == [path.name]
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "nowhere"))
    assert fetch_entry(entry, tmp_path / "data") == path


def test_a_killed_fetch_leaves_nothing_that_the_next_one_trips_over(tmp_path):
    entry = entry_of(wheel(tmp_path / "wheels" / "gramps-6.0.8-py3-none-any.whl"))
    path = entry_path(entry, tmp_path / "data")
    left = tmp_path / "data" / f".{path.name}.fetching"
    left.mkdir(parents=True)
    (left / entry.file).write_bytes(b"half a wh")
    assert fetch_entry(entry, tmp_path / "data") == path
    assert visible(tmp_path / "data") == [path.name]


@pytest.mark.parametrize(
    ("served", "requirement", "fault"),
    [
        (None, "gramps==6.0.8", r"pip could not fetch gramps==6\.0\.8 \(.*[Nn]o matching distribution"),
        ("gramps-6.0.8-py3-none-any.whl", "gramps==6.0.8", r"gramps==6\.0\.8 came with SHA-256 [0-9a-f]{64}"),
        ("gramps-6.0.8-1-py3-none-any.whl", "gramps==6.0.8", r"pip fetched gramps-6\.0\.8-1-py3-none-any\.whl for"),
    ],
)
def test_what_cannot_be_fetched_says_what_belongs_where_and_leaves_nothing(tmp_path, served, requirement, fault):
    wanted = wheel(tmp_path / "elsewhere" / "gramps-6.0.8-py3-none-any.whl", {"text": b"the right one"})
    entry = entry_of(wanted, requirement)
    if served is not None:
        wheel(tmp_path / "wheels" / served, {"text": b"another"})
    with pytest.raises(UserError, match=fault) as raised:
        fetch_entry(entry, tmp_path / "data")
    message = str(raised.value)
    path = entry_path(entry, tmp_path / "data")
    assert entry.sha256 in message
    assert message.endswith(f"put it at {path}")
    assert visible(tmp_path / "data") == []
    # Following the advice works.
    path.write_bytes(wanted.read_bytes())
    assert fetch_entry(entry, tmp_path / "data") == path


def test_no_network_is_one_clear_line(tmp_path, monkeypatch):
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # the discard port: refused
    monkeypatch.setenv("PIP_RETRIES", "0")
    entry = find_archive("gramps")
    with pytest.raises(UserError, match=r"pip could not fetch gramps==6\.0\.8 .*By hand: get that file") as raised:
        fetch_entry(entry, tmp_path / "data")
    assert "\n" not in str(raised.value)
    assert visible(tmp_path / "data") == []


def test_a_damaged_file_is_named_and_kept(tmp_path):
    entry = entry_of(wheel(tmp_path / "wheels" / "gramps-6.0.8-py3-none-any.whl"))
    path = fetch_entry(entry, tmp_path / "data")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(UserError, match=r"has SHA-256 .* damaged or another file; delete it and fetch again"):
        fetch_entry(entry, tmp_path / "data")
    assert path.exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    entry = entry_of(wheel(tmp_path / "wheels" / "gramps-6.0.8-py3-none-any.whl"))
    (tmp_path / "data").write_text("a file")
    with pytest.raises(UserError, match=r"cannot write into .*data"):
        fetch_entry(entry, tmp_path / "data")


def test_two_processes_that_ask_at_once_fetch_once(tmp_path, monkeypatch):
    source = wheel(tmp_path / "served" / "gramps-6.0.8-py3-none-any.whl", {"text": b"some"})
    entry = entry_of(source)
    requests = Counter()

    class Index(BaseHTTPRequestHandler):
        def do_GET(self):
            requests[self.path] += 1
            is_wheel = self.path.endswith(".whl")
            page = f'<!DOCTYPE html><html><body><a href="/{source.name}">{source.name}</a></body></html>'
            body = source.read_bytes() if is_wheel else page.encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/octet-stream" if is_wheel else "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Index)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple")
    program = (
        "import json, pathlib, sys; from optok.corpora.catalogue import Archive;"
        "from optok.corpora.fetch import fetch_entry;"
        "print(fetch_entry(Archive(**json.loads(sys.argv[1])), pathlib.Path(sys.argv[2])))"
    )
    command = [sys.executable, "-c", program, json.dumps(entry.model_dump()), str(tmp_path / "data")]
    try:
        processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        printed = [process.communicate(timeout=120)[0].strip() for process in processes]
    finally:
        server.shutdown()
        server.server_close()
    path = entry_path(entry, tmp_path / "data")
    assert printed == [str(path)] * 2
    assert path.read_bytes() == source.read_bytes()
    assert requests[f"/{source.name}"] == 1
