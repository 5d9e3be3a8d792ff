"""tf.xla, and the contexts that programs enter while they build graphs."""

import pytest

import everflow as tf
from everflow.internals import module
from running import run


def test_compile_returns_a_list_of_the_tensors(graph):
    assert run(tf.xla.experimental.compile(lambda a, b: (a + b, a * b), [3.0, 4.0])) == [7, 12]


def test_compile_keeps_a_structure(graph):
    found = tf.xla.experimental.compile(lambda x: {"twice": x["a"] * 2, "both": (x["a"], x["b"])}, [{"a": 1.0, "b": 5.0}])
    assert run(found) == {"twice": 2, "both": (1, 5)}


def test_operations_run_with_the_tensors(graph, session):
    v = tf.Variable(1.0, use_resource=True)
    session.run(v.initializer)
    found = tf.xla.experimental.compile(lambda: (tf.constant(2.0), v.assign_add(4.0).op))
    session.run(found)
    assert session.run(v) == 5


def test_without_tensors_there_is_an_operation(graph):
    assert isinstance(tf.xla.experimental.compile(lambda: None), tf.Operation)


def test_operations_may_not_stand_before_tensors(graph):
    with pytest.raises(ValueError, match="followed by zero or more Operations"):
        tf.xla.experimental.compile(lambda: (tf.no_op(), tf.constant(1.0)))


def test_compiled_parts_have_gradients(graph):
    x = tf.constant(3.0)
    assert run(tf.gradients(tf.xla.experimental.compile(lambda x: x**2, [x])[0], x)) == [6]


def test_variables_in_compiled_parts_are_resources(graph):
    tf.xla.experimental.compile(lambda: tf.get_variable("v", [2]) + 1)
    assert tf.global_variables()[0].dtype is tf.float32
    assert not tf.get_variable_scope().use_resource


def test_compile_runs_at_once_in_eager_mode(eager):
    assert [float(x) for x in tf.xla.experimental.compile(lambda x: x + 1, [2.0])] == [3]


def test_a_graph_knows_that_it_is_compiled(graph):
    util = module("python.ops.control_flow_util")
    seen = []

    def inside():
        seen.append(util.GraphOrParentsInXlaContext(tf.get_default_graph()))
        return tf.constant(1.0)

    made = tf.xla.experimental.compile(inside)
    assert seen == [True]
    assert not util.GraphOrParentsInXlaContext(tf.get_default_graph())
    assert util.GetContainingXLAContext(None) is None
    assert made[0].op.inputs[0].op.type == "XlaClusterOutput"


def test_jit_scopes_mark_ops(graph):
    with tf.xla.experimental.jit_scope():
        a = tf.constant(1.0)
        with tf.xla.experimental.jit_scope(compile_ops=lambda node: node.op == "Neg"):
            b, c = tf.negative(a), tf.abs(a)
    with tf.xla.experimental.jit_scope():
        d = tf.constant(1.0)
    assert a.op.get_attr("_XlaCompile") and b.op.get_attr("_XlaCompile") and not c.op.get_attr("_XlaCompile")
    assert [t.op.get_attr("_XlaScope") for t in (a, b, d)] == [b"jit_scope_0", b"jit_scope_0", b"jit_scope_1"]


def test_a_context_hears_of_ops_until_it_is_left(graph):
    class Listening(module("python.ops.control_flow_ops").ControlFlowContext):
        def __init__(self):
            super().__init__()
            self._name, self.heard = "listening", []

        def AddOp(self, op):
            self.heard.append(op.name)

        def to_control_flow_context_def(self, context_def, export_scope=None):
            return super().to_control_flow_context_def(context_def, export_scope)

    context = Listening()
    context.Enter()
    tf.constant(1, name="in")
    context.Exit()
    tf.constant(1, name="out")
    assert context.heard == ["in"]
    assert tf.get_default_graph()._get_control_flow_context() is None
