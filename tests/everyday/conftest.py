"""What people type every day: names without a folder, in an empty working folder, with the defaults."""
import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An empty working folder and an empty default graph."""
    monkeypatch.chdir(tmp_path)
    tf.reset_default_graph()
    yield tmp_path
    tf.reset_default_graph()
