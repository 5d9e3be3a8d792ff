"""Functions of a graph's library: Defun, captures, FunctionDefs, calls and their gradients."""

import numpy as np
import pytest

import everflow as tf
from everflow import errors
from everflow.graph.defun import Declare, Defun, from_library, get_extra_args, get_extra_inputs, get_extra_vars
from everflow.graph.func_graph import FuncGraph
from everflow.graph.function_defs import function_def_to_graph, graph_to_function_def
from everflow.graph.functions import inline
from everflow.graph.stacks import has_global_graph
from everflow.proto import function_pb2
from running import run


def square_plus(name=None, **kwargs):
    @Defun(tf.float32, tf.float32, func_name=name, **kwargs)
    def SquarePlus(x, y):
        return x * x + y

    return SquarePlus


def test_a_call_is_an_op_named_after_the_function(graph):
    f = square_plus("Foo")
    assert f([1.0], [2.0]).op.name == "Foo"
    assert f([1.0], [2.0]).op.name == "Foo_1"
    call = f([3.0], [1.0], name="mine")
    assert (call.op.name, call.op.type) == ("mine", "Foo")
    np.testing.assert_array_equal(run(call), [10.0])


def test_a_function_without_a_name_gets_one_from_its_content():
    assert square_plus().name == square_plus().name
    assert square_plus().name.startswith("SquarePlus_")

    @Defun(tf.float32)
    def SquarePlus(x):
        return x * x

    assert SquarePlus.name != square_plus().name


def test_tensors_from_outside_become_further_inputs(graph):
    w = tf.constant(3.0)

    @Defun(tf.float32)
    def scaled(x):
        y = w * x + w
        assert get_extra_inputs() == [w]
        assert [t.op.type for t in get_extra_args()] == ["Placeholder"]
        return y

    y = scaled(2.0)
    assert scaled.captured_inputs == [w]
    assert y.op.inputs[1] is w
    assert run(y) == 9.0


def test_captures_reach_through_nested_functions(graph):
    w = tf.constant(3.0)

    @Defun(tf.float32)
    def outer(x):
        @Defun(tf.float32)
        def inner(z):
            return z * w

        return inner(x) + 1.0

    assert run(outer(2.0)) == 7.0


def test_capturing_by_value_copies_what_is_used():
    w = tf.constant(3.0) * 2.0

    @Defun(tf.float32, capture_by_value=True)
    def scaled(x):
        return x * w

    assert run(scaled(2.0)) == 12.0
    assert scaled.captured_inputs == []


def test_a_stateful_op_is_not_captured_by_value():
    noise = tf.random_uniform([2])

    @Defun(capture_by_value=True)
    def f():
        return noise + 1.0

    with pytest.raises(ValueError, match="Cannot capture a stateful node"):
        f()


def test_variables_are_made_around_the_function():
    @Defun(tf.float32)
    def dense(x):
        w = tf.get_variable("w", [2, 2], initializer=tf.ones_initializer())
        y = tf.matmul(x, w)
        assert [v.name for v in get_extra_vars()] == ["layer/w:0"]
        return y

    with tf.variable_scope("layer"):
        y = dense([[1.0, 2.0]])
    assert [v.name for v in tf.global_variables()] == ["layer/w:0"]
    np.testing.assert_array_equal(run(y), [[3.0, 3.0]])


def test_argument_types_follow_the_call_where_none_are_given():
    @Defun()
    def twice(x):
        return x * 2

    assert twice(tf.constant(3)).dtype == tf.int32
    assert twice(tf.constant(3.5)).dtype == tf.float32
    assert run([twice(tf.constant(3)), twice(tf.constant(3.5))]) == [6, 7.0]


def test_a_call_differentiates_through_the_body():
    x, y = tf.constant(3.0), tf.constant(5.0)
    assert run(tf.gradients(square_plus()(x, y), [x, y])) == [6.0, 1.0]


def test_second_derivatives_of_calls():
    x, y = tf.constant(3.0), tf.constant(5.0)
    (dx,) = tf.gradients(square_plus()(x, y), x)
    assert run(tf.gradients(dx, x)) == [2.0]


def test_the_gradient_of_a_captured_tensor():
    w = tf.constant(3.0)

    @Defun(tf.float32)
    def f(x):
        return x * w * w

    assert run(tf.gradients(f(2.0), w)) == [12.0]


def test_a_function_may_bring_its_own_gradient():
    @Defun(tf.float32, tf.float32, tf.float32)
    def wild(x, y, dy):
        return x + dy, y - dy

    x, y = tf.constant(3.0), tf.constant(5.0)
    assert run(tf.gradients(square_plus(grad_func=wild)(x, y), [x, y])) == [4.0, 4.0]
    python = square_plus("P", python_grad_func=lambda op, dy: [op.inputs[0] * 10.0, dy])
    assert run(tf.gradients(python(x, y), [x, y])) == [30.0, 1.0]


def test_a_gradient_function_must_return_one_result_an_input():
    @Defun(tf.float32, tf.float32, tf.float32)
    def short(x, y, dy):
        return dy

    x, y = tf.constant(3.0), tf.constant(5.0)
    with pytest.raises(errors.InvalidArgumentError, match="SymGrad expects to return 2.*but get 1.*instead"):
        run(tf.gradients(square_plus(grad_func=short)(x, y), [x, y]))


def test_a_graph_def_holds_the_functions_and_brings_them_along(graph):
    x, y = tf.constant(3.0), tf.constant(5.0)
    z = square_plus("Foo")(x, y)
    dx = tf.gradients(z, x)[0]
    exported = graph.as_graph_def()
    assert [f.signature.name for f in exported.library.function] == ["Foo"]
    assert exported.versions.min_consumer == 12
    with tf.Graph().as_default():
        found = tf.import_graph_def(exported, return_elements=[z.name, dx.name])
        with tf.Session() as session:
            assert session.run(found) == [14.0, 6.0]
        # The same functions may come twice.
        tf.import_graph_def(exported)


def test_two_functions_of_one_name_must_be_the_same(graph):
    square_plus("Foo")([1.0], [1.0])

    @Defun(tf.float32, func_name="Foo")
    def other(x):
        return x

    with pytest.raises(errors.InvalidArgumentError, match="Cannot add function 'Foo' because a different function"):
        other([1.0])


def test_the_signature_names_arguments_and_results():
    definition = square_plus("Foo", out_names=["z"]).definition
    assert [a.name for a in definition.signature.input_arg] == ["x", "y"]
    assert [a.name for a in definition.signature.output_arg] == ["z"]
    assert definition.node_def[0].input == ["x", "x"]


def test_output_names_must_be_as_many_as_outputs():
    with pytest.raises(errors.InvalidArgumentError, match="output names size = 2 outputs size = 1"):
        square_plus("Foo", out_names=["z", "w"])([1.0], [1.0])


def test_a_function_def_makes_a_graph_again():
    definition = square_plus("Foo").definition
    body = function_def_to_graph(definition, input_shapes=[tf.TensorShape([2]), None])
    assert isinstance(body, FuncGraph)
    assert [t.name for t in body.inputs] == ["x:0", "y:0"]
    with tf.Session(graph=body) as session:
        np.testing.assert_array_equal(session.run(body.outputs[0], {"x:0": [2.0, 3.0], "y:0": 1.0}), [5.0, 10.0])
    with pytest.raises(ValueError, match="Length of input_shapes"):
        function_def_to_graph(definition, input_shapes=[None])


def test_ops_may_wait_for_arguments():
    @Defun(tf.float32, func_name="Foo")
    def f(x):
        with tf.control_dependencies([x]):
            return tf.constant(3.0, name="y")

    body = function_def_to_graph(f.definition)
    assert [c.name for c in body.get_operation_by_name("y").control_inputs] == ["x"]
    assert run(f(1.0)) == 3


def test_any_tensors_may_be_a_functions_inputs(graph):
    x = tf.placeholder(tf.float32, name="x")
    parts = tf.split(tf.reshape(x, [2]), 2)
    y = parts[0] * parts[1]
    definition = graph_to_function_def(graph, [y.op], parts, [y])
    assert len(definition.signature.input_arg) == 2
    assert [n.op for n in definition.node_def] == ["Mul"]


def test_inlining_puts_a_body_into_the_graph(graph):
    body = square_plus("Foo").graph
    (y,) = inline(body, [tf.constant(3.0), tf.constant(1.0)])
    assert y.graph is graph
    assert run(y) == 10.0


def test_a_declared_function_may_be_defined_later():
    declared = Declare("Foo", [("x", tf.float32), ("y", tf.float32)], [("z", tf.float32)])
    y = declared(2.0, 1.0)
    square_plus("Foo").add_to_graph(tf.get_default_graph())
    assert run(y) == 5.0
    with pytest.raises(ValueError, match="Expected number of arguments: 2, received: 1"):
        declared(2.0)


@pytest.mark.parametrize(
    "define, message",
    [
        (lambda: Defun()(lambda x=1: x), "functions with argument defaults or keywords arguments are not supported"),
        (lambda: Defun()(lambda **k: 1), "functions with argument defaults or keywords arguments are not supported"),
        (lambda: Defun(tf.float32)(lambda a, b: a), "specified input types"),
        (lambda: Defun(tf.float32, tf.float32)(lambda a: a), "specified input types"),
        (lambda: Defun()(lambda: (None, None))(), "can not return None"),
        (lambda: Defun(tf.float32)(lambda a: a)(), "Expected number of arguments: 1, received: 0"),
        (lambda: Defun(tf.float32)(lambda a: a)(1.0, device="x"), "Unknown keyword arguments"),
    ],
)
def test_definitions_and_calls_that_are_wrong(define, message):
    with pytest.raises(ValueError, match=message):
        define()


def test_a_library_must_hold_the_gradients_it_names():
    f = square_plus("Foo")
    library = function_pb2.FunctionDefLibrary(function=[f.definition])
    library.gradient.add(function_name="Foo", gradient_func="Bar")
    with pytest.raises(ValueError, match="FunctionDefLibrary missing 'Bar' FunctionDef"):
        from_library(library)
    library.gradient[0].gradient_func = "Foo"
    with pytest.raises(ValueError, match="cyclic gradient functions"):
        from_library(library)


def test_a_function_with_a_random_op_draws_anew_at_each_call():
    @Defun()
    def noise():
        return tf.random_uniform([20])

    a, b = noise(), noise()
    with tf.Session() as session:
        first, second = session.run([a, b])
        assert (first != second).any()
        assert (session.run(a) != first).any()


def test_control_dependencies_may_not_leave_a_function():
    outside = tf.no_op()

    @Defun(tf.float32)
    def f(x):
        with tf.control_dependencies([outside]):
            return x + 1.0

    with pytest.raises(ValueError, match="is not an element of this graph"):
        f(1.0)


def test_a_function_for_any_types_makes_no_graph_before_it_is_called():
    """Libraries define such functions where they are imported; programs enter eager mode after that."""
    tf.reset_default_graph()

    @Defun()
    def double(x):
        return x * 2

    assert not has_global_graph()
    with tf.device("/cpu:0"):
        assert run(double(tf.constant([1, 2]))).tolist() == [2, 4]
    assert has_global_graph()


def test_a_call_in_a_graph_may_be_fed_other_shapes():
    @tf.function
    def f(x):
        return x * 2.0 + 1.0

    body = f.get_concrete_function(tf.TensorSpec([2], tf.float32))
    x = tf.placeholder(tf.float32)
    with tf.Session() as session:
        assert session.run(body(x), {x: [1.0, 2.0, 3.0]}).tolist() == [3, 5, 7]
