"""Python's collector stands still while graphs are made, planned and differentiated."""

import gc

import pytest

import everflow as tf
from everflow.cycles import uncollected
from everflow.runtime import passes


def test_the_collector_stands_still_and_goes_on():
    assert gc.isenabled()
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), uncollected():
        1 / 0  # noqa: B018
    assert gc.isenabled()


def test_who_has_stopped_it_finds_it_stopped():
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_planning_and_differentiating_do_not_collect(monkeypatch):
    seen, run = [], passes.run
    monkeypatch.setattr(passes, "run", lambda *args: (seen.append(gc.isenabled()), run(*args))[1])

    @tf.custom_gradient
    def watched(x):
        return x * 2.0, lambda dy: (seen.append(gc.isenabled()), dy * 2.0)[1]

    x = tf.placeholder(tf.float32, [])
    dx = tf.gradients(watched(x), x)[0]
    with tf.Session() as sess:
        assert sess.run(dx, {x: 3.0}) == 2.0
    assert len(seen) >= 2 and not any(seen)
    assert gc.isenabled()
