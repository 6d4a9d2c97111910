"""Every test has shared memory of its own."""

import shutil
import tempfile
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def channels_folder(monkeypatch):
    folder = Path(tempfile.mkdtemp(prefix="wholebody-test-", dir="/dev/shm"))
    monkeypatch.setenv("WHOLEBODY_CHANNELS", str(folder))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
