"""Mistakes in programs give TensorFlow's errors: the type, what is wrong, which op it was and where the program made it."""

import numpy as np
import pytest

import everflow as tf
from everflow import errors


def test_a_placeholder_that_is_not_fed(session):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with pytest.raises(errors.InvalidArgumentError) as raised:
        session.run(tf.identity(x))
    message = raised.value.message
    assert message.startswith("You must feed a value for placeholder tensor 'x' with dtype float and shape [?,3]\n\t [[node x (defined at ")
    assert raised.value.op is x.op and raised.value.node_def.name == "x"
    assert "Original stack trace for 'x':" in str(raised.value) and __file__ in str(raised.value)


def test_errors_name_the_line_that_made_the_op_and_its_inputs(session):
    x = tf.placeholder(tf.float32, name="x")
    y = tf.matmul(x, tf.ones([3, 3]), name="y")
    with pytest.raises(errors.InvalidArgumentError) as raised:
        session.run(y, {x: np.zeros([2, 2])})
    line = test_errors_name_the_line_that_made_the_op_and_its_inputs.__code__.co_firstlineno
    assert f"[[node y (defined at {__file__}:{line + 2}) ]]" in raised.value.message
    assert f"Input Source operations connected to node y:\n x (defined at {__file__}:{line + 1})" in raised.value.message


def test_shapes_that_do_not_fit_at_construction():
    with pytest.raises(ValueError) as raised:
        tf.add([1, 2], [1, 2, 3], name="sum")
    assert str(raised.value) == "Dimensions must be equal, but are 2 and 3 for 'sum' (op: 'Add') with input shapes: [2], [3]."
    assert "sum" not in [op.name for op in tf.get_default_graph().get_operations()]


def test_shapes_that_do_not_fit_at_run_time(session):
    x = tf.placeholder(tf.float32)
    with pytest.raises(errors.InvalidArgumentError, match=r"Incompatible shapes: \[2\] vs. \[3\]"):
        session.run(x + tf.ones([3]), {x: [1.0, 2.0]})


def test_types_that_do_not_fit():
    with pytest.raises(TypeError, match="Input 'y' of 'Mul' Op has type int32 that does not match type float32 of argument 'x'"):
        tf.multiply(tf.constant(1.0), tf.constant(1))
    with pytest.raises(TypeError, match="Value passed to parameter 'x' has DataType string not in list of allowed values"):
        tf.exp(tf.constant("a"))


def test_a_tensor_of_another_graph(session):
    with tf.Graph().as_default():
        stranger = tf.constant(1.0)
    with pytest.raises(ValueError, match="must be from the same graph as"):
        tf.constant(1.0) + stranger
    with pytest.raises(ValueError, match="is not an element of this graph"):
        session.run(stranger)


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_variable_that_is_not_initialized(session, use_resource):
    v = tf.Variable(1.0, name="v", use_resource=use_resource)
    resource = "Error while reading resource variable v from Container: localhost"
    text = resource if use_resource else "Attempting to use uninitialized value v"
    for fetch in (v, v + 1, tf.identity(v)):
        with pytest.raises(errors.FailedPreconditionError, match=text):
            session.run(fetch)


def test_a_finalized_graph():
    graph = tf.get_default_graph()
    graph.finalize()
    for add in (lambda: tf.constant(1), lambda: tf.placeholder(tf.float32), lambda: graph.add_to_collection("a", 1)):
        with pytest.raises(RuntimeError, match="Graph is finalized and cannot be modified"):
            add()


def test_a_variable_that_exists_already():
    tf.get_variable("w", [2])
    with pytest.raises(ValueError, match="Variable w already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE"):
        tf.get_variable("w", [2])
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        with pytest.raises(ValueError, match="Variable u does not exist, or was not created with"):
            tf.get_variable("u", [2])


def test_integer_division_by_zero(session):
    for divide in (tf.div, tf.floordiv, tf.floormod):
        with pytest.raises(errors.InvalidArgumentError, match="Integer division by zero"):
            session.run(divide(tf.constant([1, 2]), tf.placeholder_with_default([1, 0], [2])))


def test_gather_out_of_range(session):
    index = tf.placeholder_with_default([0, 5], [2])
    with pytest.raises(errors.InvalidArgumentError, match=r"indices\[1\] = 5 is not in \[0, 2\)"):
        session.run(tf.gather(tf.constant([1.0, 2.0]), index))


def test_a_device_that_does_not_exist(session):
    with tf.device("/gpu:7"):
        c = tf.constant(1.0, name="far")
    with pytest.raises(errors.InvalidArgumentError) as raised:
        session.run(c)
    message = raised.value.message
    assert message.startswith(f"Cannot assign a device for operation far: node far (defined at {__file__}:")
    assert "was explicitly assigned to /device:GPU:7 but available devices are [ /job:localhost/replica:0/task:0/device:CPU:0" in message
    assert "Make sure the device specification refers to a valid device." in message


def test_a_closed_session():
    c = tf.constant(1.0)
    session = tf.Session()
    handle = session.partial_run_setup([c], [])
    run = session.make_callable(c)
    session.close()
    for use in (lambda: session.run(c), lambda: run(), lambda: session.partial_run(handle, c), lambda: session.partial_run_setup([c], [])):
        with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
            use()


def test_reshape_to_the_wrong_size(session):
    with pytest.raises(ValueError, match=r"Cannot reshape a tensor with 4 elements to shape \[3\] \(3 elements\)"):
        tf.reshape(tf.ones([4]), [3])
    shape = tf.placeholder_with_default([3, 7], [2])
    with pytest.raises(errors.InvalidArgumentError, match="Input to reshape is a tensor with 4 values, but the requested shape has 21"):
        session.run(tf.reshape(tf.ones([4]), shape))


def test_a_cycle_of_control_edges(session):
    x, y = tf.constant(1), tf.constant(2)
    y.op._add_control_input(x.op)
    x.op._add_control_input(y.op)
    with pytest.raises(errors.InvalidArgumentError, match="Graph is invalid, contains a cycle with 2 nodes"):
        session.run(x)


def test_python_asks_a_tensor_for_its_value():
    x = tf.constant([1, 2], name="x")
    for use in (lambda: bool(x), lambda: list(x), lambda: 1 in x):
        with pytest.raises(TypeError, match="is not allowed in Graph execution. Use Eager execution or decorate"):
            use()
    with pytest.raises(TypeError, match=r"len is not well defined for symbolic Tensors. \(x:0\)"):
        len(x)
    with pytest.raises(NotImplementedError, match=r"Cannot convert a symbolic Tensor \(x:0\) to a numpy array"):
        np.array(x)


def test_errors_inside_a_branch_name_the_op_inside(session):
    x = tf.placeholder(tf.float32)
    y = tf.cond(tf.placeholder_with_default(True, []), lambda: tf.matmul(x, x, name="inner"), lambda: x)
    with pytest.raises(errors.InvalidArgumentError) as raised:
        session.run(y, {x: np.ones([2, 3])})
    assert raised.value.op.name == "cond/inner"


def test_exceptions_of_kernels_become_errors_that_name_the_op():
    from everflow.errors import invalid_argument
    from everflow.runtime.failures import explained
    from everflow.runtime.plan import Node

    op = tf.constant(1, name="c").op
    node = Node("Const", "c", {}, [], op, None)
    for raised, expected in (
        (RuntimeError("size mismatch\nmore"), errors.InvalidArgumentError),
        (MemoryError("no"), errors.ResourceExhaustedError),
        (RuntimeError("\"sort\" not implemented for 'Half'"), errors.UnimplementedError),
    ):
        found = explained(raised, node)
        assert type(found) is expected and found.op is op and "more" not in found.message
    own = AssertionError("mine")
    assert explained(own, node) is own
    located = explained(invalid_argument("bad"), node)
    assert located.op is op and located.message.startswith("bad\n\t [[node c (defined at ")


def test_concat_of_a_tensor_that_turns_out_to_be_a_number():
    number = tf.placeholder_with_default(2, shape=None)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="should be a vector|same rank|scalar|concat"):
        session.run(tf.concat([number, [1, 2]], 0))
