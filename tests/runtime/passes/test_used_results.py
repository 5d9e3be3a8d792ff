"""Branches and loops compute what is used of them."""

from planning import compiled

import everflow as tf
from everflow.runtime.passes.used_results import ask_for_used_results


def loop():
    tf.enable_control_flow_v2()
    try:
        n = tf.placeholder(tf.int32, [])
        return n, tf.while_loop(lambda i, *_: i < n, lambda i, a, b: (i + 1, a * 2.0, tf.exp(b)), [0, 1.0, 0.0])
    finally:
        tf.disable_control_flow_v2()


def node_of_loop(step):
    return next(call.node for call in step.calls if call.node.meaning is not None and call.node.meaning.loops)


def test_a_loop_is_told_which_results_are_used(session):
    n, (_, a, _) = loop()
    assert session.run(a, {n: 3}) == 8.0
    node = node_of_loop(compiled([a], [n], (ask_for_used_results,)))
    place = a.op.inputs[0].value_index if a.op.type == "Identity" else a.value_index
    assert node.attrs["_used"] == (place,)


def test_inputs_that_used_results_do_not_need_are_not_computed():
    n, (_, a, _) = loop()
    node = node_of_loop(compiled([a], [n], (ask_for_used_results,)))
    assert len(set(node.inputs)) < len(set(node_of_loop(compiled([a], [n], ())).inputs))


def test_all_results_are_asked_for_by_saying_nothing():
    n, results = loop()
    everything = list(results[0].op.inputs[0].op.outputs) if results[0].op.type == "Identity" else list(results[0].op.outputs)
    node = node_of_loop(compiled([t for t in everything if t.dtype.name != "variant"], [n], (ask_for_used_results,)))
    assert "_used" not in node.attrs or len(node.attrs["_used"]) == sum(t.dtype.name != "variant" for t in everything)
