"""Tests here run with the shims in place, and leave libraries as they were."""

import pytest

from everflow import years


@pytest.fixture(autouse=True)
def earlier(monkeypatch):
    monkeypatch.delenv(years.SWITCH, raising=False)
    years.install()
    yield
    years.remove()
