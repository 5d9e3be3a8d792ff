"""Which instructions the native kernels use."""

import os
import subprocess
import sys

import pytest

from everflow import _native


def asked_for(kind):
    program = "from everflow import _native; print(_native.processor())"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "EVERFLOW_CPU": kind})


@pytest.mark.parametrize("kind", _native.processors())
def test_a_lesser_kind_can_be_asked_for(kind):
    assert asked_for(kind).stdout.strip() == kind


@pytest.mark.parametrize("kind", ["", "avx512"])
def test_a_better_one_than_there_is_is_not_used(kind):
    assert asked_for(kind).stdout.strip() == _native.processors()[-1]


def test_an_unknown_one_is_refused_with_the_choices():
    assert "EVERFLOW_CPU must be baseline, avx2 or avx512, not sse5." in asked_for("sse5").stderr
