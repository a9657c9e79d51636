"""Text files for the tests of this folder."""

from pathlib import Path

import pytest


@pytest.fixture
def write(tmp_path):
    """Writes text or bytes to a file of the test's folder and gives its path."""

    def writer(name: str, content) -> str:
        path = Path(tmp_path) / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return writer
