"""Variables of both kinds: what they add to the graph, and what they hold in a session."""

import copy

import numpy as np
import pytest

import everflow as tf
from everflow.ops.core.registry import apply
from everflow.ops.variables.assigning import variable_op
from everflow.proto import variable_pb2


@pytest.fixture(params=[False, True], ids=["reference", "resource"])
def use_resource(request):
    return request.param


def started():
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


def names(graph):
    return [(op.name, op.type) for op in graph.get_operations()]


def test_a_reference_variable_is_four_ops(graph):
    tf.Variable([1.0, 2.0], name="v")
    assert names(graph) == [("v/initial_value", "Const"), ("v", "VariableV2"), ("v/Assign", "Assign"), ("v/read", "Identity")]


def test_a_resource_variable_is_five_ops(graph):
    tf.Variable([1.0, 2.0], name="v", use_resource=True)
    assert names(graph) == [
        ("v/Initializer/initial_value", "Const"),
        ("v", "VarHandleOp"),
        ("v/IsInitialized/VarIsInitializedOp", "VarIsInitializedOp"),
        ("v/Assign", "AssignVariableOp"),
        ("v/Read/ReadVariableOp", "ReadVariableOp"),
    ]


def test_ops_of_an_initial_value_function_stand_beside_the_variable(graph, use_resource):
    v = tf.Variable(lambda: tf.constant([1.0]) * 2, name="v", use_resource=use_resource)
    inside = [op for op in graph.get_operations() if op.name.startswith("v/Initializer/")]
    assert [op.type for op in inside] == ["Const", "Const", "Mul"]
    assert all(op.get_attr("_class") == [b"loc:@v"] for op in inside)
    with started() as session:
        np.testing.assert_array_equal(session.run(v), [2])


def test_assignments(use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    with started() as session:
        np.testing.assert_array_equal(session.run(v.assign([5.0, 6.0])), [5, 6])
        np.testing.assert_array_equal(session.run(v.assign_add([1.0, 1.0])), [6, 7])
        np.testing.assert_array_equal(session.run(tf.assign_sub(v, [2.0, 0.0])), [4, 7])
        assert session.run(v.assign([0.0, 0.0], read_value=False)) is None
        np.testing.assert_array_equal(session.run(v), [0, 0])
        v.load([8.0, 9.0], session)
        np.testing.assert_array_equal(v.eval(session), [8, 9])


def test_a_value_taken_before_an_assignment_keeps_the_old_value(use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    before = tf.identity(v.read_value()) * 1.0
    with tf.control_dependencies([before]):
        done = v.assign([7.0, 7.0])
    with started() as session:
        old, new = session.run([before, done])
    np.testing.assert_array_equal(old, [1, 2])
    np.testing.assert_array_equal(new, [7, 7])


def test_a_variable_can_be_assigned_a_view_of_itself(use_resource):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=use_resource)
    with started() as session:
        np.testing.assert_array_equal(session.run(v.assign(tf.transpose(v))), [[1, 3], [2, 4]])
        np.testing.assert_array_equal(session.run(v.assign_add(tf.transpose(v))), [[2, 5], [5, 8]])


def test_fetched_arrays_do_not_change_with_the_variable(use_resource):
    v = tf.Variable([1.0], use_resource=use_resource)
    with started() as session:
        fetched = session.run(v)
        session.run(v.assign([2.0]))
    assert fetched == [1]


def test_operators_work_on_the_value(use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    with started() as session:
        np.testing.assert_array_equal(session.run([v + 1.0, 3.0 - v, -v, v[1:], v * v][3]), [2])
        np.testing.assert_array_equal(session.run(3.0 - v), [2, 1])
        np.testing.assert_array_equal(session.run(v > 1.5), [False, True])


def test_a_slice_of_a_variable_can_be_assigned(use_resource):
    v = tf.Variable([1, 2, 3], use_resource=use_resource)
    with started() as session:
        np.testing.assert_array_equal(session.run(v[1:].assign([8, 9])), [1, 8, 9])


def test_string_variables(use_resource):
    v = tf.Variable(["a", "b"], use_resource=use_resource)
    with started() as session:
        assert session.run(v).tolist() == [b"a", b"b"]
        assert session.run(v.assign(["c", "d"])).tolist() == [b"c", b"d"]


def test_reading_an_uninitialized_reference_variable_names_it():
    v = tf.Variable(1.0, name="v")
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
        session.run(v)


def test_reading_an_uninitialized_resource_variable_names_it():
    v, w = (tf.Variable(1.0, name=name, use_resource=True) for name in "vw")
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="resource variable v .*Container localhost does not exist"):
            session.run(v)
        session.run(w.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError, match="Resource localhost/v/N10tensorflow3VarE does not exist"):
            session.run(v)
        with pytest.raises(tf.errors.NotFoundError, match="Resource localhost/v/N10tensorflow3VarE does not exist"):
            session.run(v.assign_add(1.0))


def test_initialized_value_is_the_initial_value_until_there_is_one(use_resource):
    v = tf.Variable(3.0, use_resource=use_resource)
    value = v.initialized_value()
    with tf.Session() as session:
        assert session.run(value) == 3
        session.run(v.initializer)
        session.run(v.assign(4.0))
        assert session.run(value) == 4


def test_an_initial_value_may_depend_on_a_variable_that_is_not_initialized_yet(graph):
    v = tf.Variable(3.0, name="v")
    w = tf.Variable(v * 2.0, name="w")
    assert w.initializer.inputs[1].name == "mul_w:0"
    with tf.Session() as session:
        session.run(w.initializer)
        assert session.run(w) == 6


def test_sessions_have_values_of_their_own(use_resource):
    v = tf.Variable(1, use_resource=use_resource)
    with started() as one, started() as other:
        one.run(v.assign(5))
        assert (one.run(v), other.run(v)) == (5, 1)


def test_assigning_another_shape_is_an_error_unless_it_is_allowed():
    v = tf.Variable([1.0, 2.0])
    value = tf.placeholder(tf.float32)
    with started() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"lhs shape= \[2\] rhs shape= \[3\]"):
            session.run(tf.assign(v, value), {value: [1, 2, 3]})
        session.run(tf.assign(v, value, validate_shape=False), {value: [1, 2, 3]})
        assert session.run(v).shape == (3,)


def test_static_shapes_are_checked_when_the_graph_is_built(use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    with pytest.raises(ValueError, match="are 2 and 3|are incompatible"):
        v.assign([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="initial_value must have a shape specified"):
        tf.Variable(tf.placeholder(tf.float32, [None]))


@pytest.mark.parametrize(
    "arguments, problem",
    [
        ({}, "initial_value must be specified"),
        ({"initial_value": 1, "collections": "a"}, "collections argument to Variable constructor must be a list"),
        ({"initial_value": 1, "constraint": 3}, "`constraint` argument must be a callable"),
        ({"initial_value": 1, "synchronization": 3}, "Invalid variable synchronization mode: 3"),
        ({"initial_value": 1, "aggregation": "x"}, "Invalid variable aggregation mode: x"),
    ],
)
def test_bad_arguments(arguments, problem, use_resource):
    with pytest.raises(ValueError, match=problem):
        tf.Variable(use_resource=use_resource, **arguments)


def test_what_variables_are_not(use_resource):
    v = tf.Variable(1.0, use_resource=use_resource)
    with pytest.raises(TypeError, match="not iterable"):
        iter(v)
    with pytest.raises(ValueError, match="Incompatible type conversion requested to type 'int32'"):
        tf.convert_to_tensor(v, tf.int32)
    with pytest.raises((TypeError, NotImplementedError), match="cannot pickle|only available when eager execution"):
        copy.deepcopy(v)
    assert v == v and v != 1 and v in {v}


def test_resource_variables_refuse_to_be_changed_by_operators():
    v = tf.Variable(1.0, use_resource=True)
    with pytest.raises(RuntimeError, match=r"Variable \+= value not supported"):
        v += 1.0


def test_collections():
    v = tf.Variable(1, name="v")
    w = tf.Variable(1, name="w", trainable=False)
    local = tf.Variable(1, name="l", collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
    assert tf.global_variables() == [v, w]
    assert tf.trainable_variables() == [v]
    assert tf.local_variables() == [local]
    assert tf.global_variables("w") == [w]


def test_uninitialized_variables_are_reported(use_resource):
    v = tf.Variable(1, name="v", use_resource=use_resource)
    tf.Variable(1, name="w", use_resource=use_resource)
    report = tf.report_uninitialized_variables()
    with tf.Session() as session:
        assert session.run(report).tolist() == [b"v", b"w"]
        session.run(v.initializer)
        assert session.run(report).tolist() == [b"w"]
        assert session.run(tf.is_variable_initialized(v))


def test_assert_variables_initialized(use_resource):
    tf.Variable(1, use_resource=use_resource)
    check = tf.assert_variables_initialized()
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
            session.run(check)
        session.run(tf.global_variables_initializer())
        session.run(check)


def test_proto_and_back(use_resource):
    v = tf.Variable([1.0], name="v", use_resource=use_resource, trainable=False)
    proto = v.to_proto()
    assert isinstance(proto, variable_pb2.VariableDef)
    assert (proto.variable_name, proto.initializer_name, proto.is_resource, proto.trainable) == ("v:0", "v/Assign", use_resource, False)
    again = tf.Variable.from_proto(proto)
    assert again.name == v.name and again.initializer is v.initializer and not again.trainable
    with started() as session:
        session.run(again.assign_add([1.0]))
        np.testing.assert_array_equal(session.run(v), [2])


def test_export_scope_takes_the_prefix_away(use_resource):
    with tf.name_scope("a"):
        v = tf.Variable(1.0, name="v", use_resource=use_resource)
    assert v.to_proto("a").variable_name == "v:0"
    assert v.to_proto("b") is None


def test_creators_are_asked_from_the_inside_out():
    asked = []

    def creator(label):
        def create(next_creator, **arguments):
            asked.append(label)
            arguments["name"] = label + (arguments["name"] or "")
            return next_creator(**arguments)

        return create

    with tf.variable_creator_scope(creator("outer")), tf.variable_creator_scope(creator("inner")):
        v = tf.Variable(1.0, name="v")
    assert asked == ["inner", "outer"]
    assert v.name == "outerinnerv:0"


def test_resource_variables_can_be_made_the_default():
    tf.enable_resource_variables()
    try:
        assert tf.Variable(1.0).op.type == "VarHandleOp"
        assert tf.get_variable("v", []).op.type == "VarHandleOp"
    finally:
        tf.disable_resource_variables()
    assert tf.Variable(1.0).op.type == "VariableV2"


def test_counting_stops_at_the_limit(use_resource):
    v = tf.Variable(0, use_resource=use_resource)
    count = v.count_up_to(2)
    with started() as session:
        assert [session.run(count), session.run(count)] == [0, 1]
        with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 2"):
            session.run(count)


def test_a_caching_device_gives_the_read_a_device(use_resource):
    v = tf.Variable(1.0, caching_device="/job:worker", use_resource=use_resource)
    assert v.value().device == "/job:worker"


def test_gradients_with_respect_to_variables(use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    (dense,) = tf.gradients(v * v, v)
    (sparse,) = tf.gradients(tf.gather(v, [1, 1]), v)
    assert isinstance(sparse, tf.IndexedSlices)
    with started() as session:
        np.testing.assert_array_equal(session.run(dense), [2, 4])
        found = session.run(sparse)
        np.testing.assert_array_equal(found.indices, [1, 1])
        np.testing.assert_array_equal(found.values, [1, 1])


def test_many_threads_add_without_losing_any(use_resource):
    import threading

    v = tf.Variable(np.zeros(100), use_resource=use_resource)
    add = v.assign_add(np.ones(100), use_locking=True, read_value=False)
    with started() as session:

        def work():
            for _ in range(50):
                session.run(add)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        np.testing.assert_array_equal(session.run(v), np.full(100, 200.0))


def test_variables_of_the_older_op_may_be_numbers():
    assert variable_op([], tf.float32).shape.as_list() == []
    assert variable_op([2], tf.float32).shape.as_list() == [2]
    assert variable_op([], tf.float32, set_shape=False).shape.rank is None


def test_several_variables_are_handed_out_and_read_at_once(session):
    first, second = apply(
        "_VarHandlesOp", containers=["", ""], shared_names=["a", "b"], N=2, dtypes=[tf.float32, tf.int32], shapes=[[2], []], name="handles"
    )
    read = apply("_ReadVariablesOp", [first, second], dtypes=[tf.float32, tf.int32], name="read")
    assert [t.shape.as_list() for t in read] == [[2], []]
    session.run(apply("AssignVariableOp", first, [1.0, 2.0]))
    with pytest.raises(tf.errors.FailedPreconditionError, match="the following variables were found uninitialized: b"):
        session.run(read)
    session.run(apply("AssignVariableOp", second, 3))
    assert [v.tolist() for v in session.run(read)] == [[1, 2], 3]
    alone = apply("VarHandleOp", dtype=tf.float32, shape=[2], shared_name="a")
    assert session.run(apply("ReadVariableOp", alone, dtype=tf.float32)).tolist() == [1, 2]
