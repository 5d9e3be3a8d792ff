"""What people type every day: names without a folder, in an empty working folder, with the defaults."""

import pytest


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
