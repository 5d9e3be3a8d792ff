"""EVERFLOW_DEBUG=passes."""

import everflow as tf
from everflow.runtime.passes.showing import changes


def network():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.matmul(tf.identity(x, name="same"), tf.ones([3, 2], name="w"), name="product") + tf.constant([1.0, 2.0], name="b")
    return x, tf.identity(y, name="y")


def test_each_pass_that_changes_a_plan_is_shown(session, monkeypatch, capfd):
    x, y = network()
    monkeypatch.setenv("EVERFLOW_DEBUG", "passes")
    assert session.run(y, {x: [[1, 2, 3]]}).tolist() == [[7, 8]]
    shown = capfd.readouterr().err
    first, *others = shown.split("-- ")[1:]
    assert first.splitlines()[:2] == ["plan for y", "x = _Feed(): float32[?, 3]"]
    assert "product = MatMul(same, w): float32[?, 2]" in first.splitlines()
    by_pass = {part.partition(":")[0]: part.splitlines() for part in others}
    assert "drop_identities" in by_pass and "pool_before_relu" not in by_pass
    fused = by_pass["fuse_biases"]
    assert "- product = MatMul(x, w): float32[?, 2]" in fused and "- add = AddV2(product, b): float32[?, 2]" in fused
    assert "+ add = _MatMulBias(x, w, b): float32[?, 2]" in fused
    assert "  b = Const([1.0, 2.0]): float32[2]" in fused


def test_nothing_is_shown_unless_asked_for(session, monkeypatch, capfd):
    x, y = network()
    monkeypatch.setenv("EVERFLOW_DEBUG", "something")
    session.run(y, {x: [[1, 2, 3]]})
    assert capfd.readouterr().err == ""


def test_lines_far_from_a_change_are_left_out():
    before = list("abcdefghijkl")
    assert changes(before, [*before[:6], "new", *before[7:]]) == ["  e", "  f", "- g", "+ new", "  h", "  i"]
    assert changes(["x", *before], [*before, "y"]) == ["- x", "  a", "  b", "  ...", "  k", "  l", "+ y"]
