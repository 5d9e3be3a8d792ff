"""Sessions: what `run` takes and gives, which session is the default one, and what ends with a session."""

import collections
import threading
import warnings

import numpy as np
import pytest

import everflow as tf
from everflow import errors

Pair = collections.namedtuple("Pair", "first second")
Other = collections.namedtuple("Other", "first second")


# -- fetches


def test_a_scalar_is_numpys_number_and_a_tensor_an_array(session):
    found = session.run(tf.constant(2.5))
    assert type(found) is np.float32 and found == 2.5
    assert type(session.run(tf.constant([1, 2]))) is np.ndarray
    assert session.run(tf.constant("text")) == b"text"


def test_an_operation_gives_none(session):
    assert session.run(tf.no_op()) is None
    assert session.run([tf.constant(1), tf.no_op(), tf.constant(2)]) == [1, None, 2]


def test_structures_come_back_as_they_are(session):
    a, b = tf.constant(1), tf.constant(2)
    assert session.run([a, (b, [a])]) == [1, (2, [1])]
    assert session.run({"x": a, "y": [b, b]}) == {"x": 1, "y": [2, 2]}
    assert session.run(Pair(a, {"k": b})) == Pair(1, {"k": 2})
    ordered = session.run(collections.OrderedDict([("z", a), ("a", b)]))
    assert type(ordered) is collections.OrderedDict and list(ordered.items()) == [("z", 1), ("a", 2)]
    assert session.run([]) == [] and session.run(()) == () and session.run({}) == {}


def test_tuples_of_different_types_are_told_apart(session):
    a, b = tf.constant(1), tf.constant(2)
    for structure in (Pair(a, b), Other(a, b), (a, b), [a, b], [Pair(a, b)], [(a, b)], ([a, b],)):
        for _ in range(2):
            found = session.run(structure)
            assert type(found) is type(structure)
            assert type(found[0]) is (np.int32 if isinstance(structure[0], tf.Tensor) else type(structure[0]))


def test_names_are_fetched_as_what_they_name(session):
    tf.constant(3, name="three")
    assert session.run("three:0") == session.run(b"three:0") == 3
    assert session.run("three") is None


def test_a_fetch_handler_takes_structures_apart_and_builds_them_again(graph):
    from everflow.internals import attribute

    handler_of = attribute("python.client.session", "_FetchHandler")
    x = tf.placeholder(tf.float32, [])
    y, done = x * 2.0, tf.no_op()
    handler = handler_of(graph, {"a": [x, y, y], "b": done}, {x: 3.0})
    assert handler.fetches() == [y] and handler.targets() == [done]
    assert handler.build_results(None, [6.0]) == {"a": [3.0, 6.0, 6.0], "b": None}
    with pytest.raises(TypeError, match="invalid type"):
        handler_of(graph, [3], {})


def test_the_same_element_twice_is_one_array(session):
    a = tf.constant([1.0])
    first, second = session.run([a, a])
    assert first is second


def test_variables_and_sparse_tensors_and_slices_are_fetched_as_their_values(session):
    v = tf.Variable([1.0, 2.0])
    session.run(v.initializer)
    assert list(session.run(v)) == [1, 2]
    sparse = session.run(tf.SparseTensor([[0, 1]], [5.0], [2, 2]))
    assert type(sparse) is tf.SparseTensorValue and sparse.values.tolist() == [5]
    slices = session.run(tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([3])))
    assert type(slices).__name__ == "IndexedSlicesValue" and slices.indices.tolist() == [3] and slices.dense_shape is None


def test_objects_of_a_registered_type(session):
    class Doubled:
        def __init__(self, x):
            self.twice = x * 2

    from everflow.runtime.fetches import EXPANSIONS, register_session_run_conversion_functions

    register_session_run_conversion_functions(
        Doubled, lambda d: ([d.twice], lambda parts: ("doubled", parts[0])), lambda d, value: [(d.twice, value)], lambda d: [d.twice]
    )
    try:
        d = Doubled(tf.constant(3))
        assert session.run([d]) == [("doubled", 6)]
        assert session.run(d.twice + 1, {d: 10}) == 11
        handle = session.partial_run_setup([d], [])
        assert session.partial_run(handle, d) == ("doubled", 6)
        with pytest.raises(ValueError, match="already been registered"):
            register_session_run_conversion_functions(Doubled, lambda d: ([d.twice], tuple))
    finally:
        EXPANSIONS[:] = [e for e in EXPANSIONS if e.kind is not Doubled]


@pytest.mark.parametrize(
    "fetch, error, text",
    [
        (None, TypeError, "Fetch argument None has invalid type <class 'NoneType'>"),
        ([None], TypeError, "Fetch argument None has invalid type"),
        (5, TypeError, r"must be a string or Tensor. \(Can not convert a int into a Tensor or Operation.\)"),
        ("nope:0", ValueError, "The operation, 'nope', does not exist in the graph"),
        ("nope", ValueError, "refers to an Operation not in the graph"),
        ("one:7", ValueError, "exists but only has 1 outputs"),
    ],
)
def test_what_can_not_be_fetched(session, fetch, error, text):
    tf.constant(1, name="one")
    with pytest.raises(error, match=text):
        session.run(fetch)


def test_a_fetched_array_is_the_callers_own(session):
    v = tf.Variable([1.0, 2.0])
    session.run(v.initializer)
    before = session.run(v)
    session.run(v.assign_add([1.0, 1.0]))
    assert before.tolist() == [1, 2]
    before[:] = 100
    assert session.run(v).tolist() == [2, 3]
    constant = tf.constant([1, 2])
    session.run(constant)[0] = 9
    assert session.run(constant).tolist() == [1, 2]


def test_a_fed_array_may_be_changed_afterwards(session):
    x = tf.placeholder(tf.float32, [2])
    value = np.array([1, 2], np.float32)
    found = session.run(tf.identity(x), {x: value})
    value[:] = 0
    assert found.tolist() == [1, 2]


# -- feeds in all their forms


def test_any_tensor_can_be_fed(session):
    c = tf.constant(2.0)
    doubled = c * 2
    assert session.run(doubled + 1, {c: 5.0}) == 11
    assert session.run(doubled + 1, {doubled: 5.0}) == 6


def test_keys_may_be_names_and_nested_tuples(session):
    a, b, c = (tf.placeholder(tf.float32, [], name=n) for n in "abc")
    total = a + 10 * b + 100 * c
    assert session.run(total, {"a:0": 1, b: 2, c: 3}) == 321
    assert session.run(total, {(a, (b,)): (1, (2,)), c: 3}) == 321
    with pytest.raises(ValueError, match="Key had 2 elements, but value had 3 elements"):
        session.run(total, {(a, b): (1, 2, 3), c: 3})
    with pytest.raises(ValueError, match="is not unique"):
        session.run(total, {(a, b): (1, 2), a: 5, c: 3})


def test_a_sparse_placeholder_takes_a_value_or_a_tuple(session):
    sparse = tf.sparse_placeholder(tf.float32)
    value = tf.SparseTensorValue([[0, 1]], [4.0], [2, 3])
    for fed in (value, tuple(value), ([[0, 1]], [4.0], [2, 3])):
        assert session.run(tf.identity(sparse.dense_shape), {sparse: fed}).tolist() == [2, 3]


def test_what_is_known_when_the_graph_is_built_can_not_be_fed(session):
    sparse = tf.sparse_placeholder(tf.float32, shape=[7, 9])
    assert session.run(tf.identity(sparse.values), {sparse: ([[0, 1]], [4.0])}).tolist() == [4]
    shape = tf.constant([1, 2])
    tf.contrib.util.constant_value(shape)
    with pytest.raises(ValueError, match="may not be fed"):
        session.run(tf.identity(shape), {shape: [3, 4]})


def test_what_is_marked_can_not_be_fetched(session):
    c = tf.constant(1)
    c.graph.prevent_fetching(c.op)
    with pytest.raises(ValueError, match="has been marked as not fetchable"):
        session.run(c)


def test_torch_tensors_can_be_fed(session):
    torch = pytest.importorskip("torch")
    x = tf.placeholder(tf.float32, [2])
    assert session.run(x * 2, {x: torch.tensor([1, 2])}).tolist() == [2, 4]


# -- callables


def test_a_callable_takes_the_values_of_its_feeds(session):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    run = session.make_callable([a + b, tf.no_op()], [a, b.name])
    assert run(1, 2) == [3, None]
    assert session.make_callable(a * 2, [a])(4) == 8
    with pytest.raises(TypeError, match="`feed_list` must be a list or tuple"):
        session.make_callable(a, a)
    with pytest.raises(TypeError, match="Expected 1 arguments to the callable, got 2"):
        session.make_callable(a * 2, [a])(1, 2)


def test_a_callable_that_accepts_options(session):
    a = tf.placeholder(tf.float32, [])
    metadata = tf.RunMetadata()
    run = session.make_callable(a + 1, [a], accept_options=True)
    assert run(1, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata) == 2
    assert len(metadata.step_stats.dev_stats) == 1


def test_a_callable_from_options_gives_a_list(session):
    from everflow.proto import config_pb2

    a = tf.placeholder(tf.float32, [], name="a")
    v = tf.Variable(0.0)
    session.run(v.initializer)
    options = config_pb2.CallableOptions(feed=["a:0"], fetch=[(a * 2).name], target=[v.assign_add(a).op.name])
    run = session._make_callable_from_options(options)
    assert run(3.0) == [6] and run(4.0) == [8]
    assert session.run(v) == 7


# -- which session, which graph


def test_eval_and_run_use_the_default_session():
    c = tf.constant(3)
    with pytest.raises(ValueError, match="No default session is registered"):
        c.eval()
    with tf.Session():
        assert c.eval() == 3
        c.op.run()
        with tf.Graph().as_default():
            stranger = tf.constant(1)
        with pytest.raises(ValueError, match="the tensor's graph is different from the session's graph"):
            stranger.eval()
    assert tf.get_default_session() is None


def test_as_default_leaves_the_session_open():
    c = tf.constant(3)
    session = tf.Session()
    with session.as_default():
        assert tf.get_default_session() is session
    assert session.run(c) == 3


def test_a_session_is_not_entered_twice():
    session = tf.Session()
    with pytest.raises(RuntimeError, match="not re-entrant"):
        with session, session:
            pass


def test_default_sessions_are_left_in_the_order_of_a_stack():
    first, second = tf.Session().as_default(), tf.Session().as_default()
    first.__enter__()
    second.__enter__()
    try:
        with pytest.raises(AssertionError, match="Nesting violated"):
            first.__exit__(None, None, None)
    finally:
        second.__exit__(None, None, None)
        first.__exit__(None, None, None)


def test_interactive_sessions_may_be_closed_in_any_order_and_warn_of_each_other():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        first = tf.InteractiveSession()
        assert not seen
        second = tf.InteractiveSession()
        assert "An interactive session is already active" in str(seen[0].message)
    assert tf.get_default_session() is second
    first.close()
    assert tf.get_default_session() is second and tf.constant(1).eval() == 1
    second.close()
    assert tf.get_default_session() is None


def test_an_interactive_session_with_a_graph_makes_it_the_default_one():
    graph = tf.Graph()
    session = tf.InteractiveSession(graph=graph)
    assert tf.get_default_graph() is graph
    session.close()
    assert tf.get_default_graph() is not graph


@pytest.mark.parametrize(
    "arguments, text",
    [
        (dict(target=37), "target must be a string"),
        (dict(graph=37), "graph must be a tf.Graph"),
        (dict(config=37), "config must be a tf.ConfigProto"),
    ],
)
def test_wrong_arguments(arguments, text):
    with pytest.raises(TypeError, match=text):
        tf.Session(**arguments)


def test_a_target_that_nothing_serves():
    with pytest.raises(errors.NotFoundError, match="No session factory registered for the given session options"):
        tf.Session("nowhere://")


def test_an_empty_graph():
    with tf.Session() as session, pytest.raises(RuntimeError, match="The Session graph is empty"):
        session.run([])


def test_the_graph_def_tells_shapes_where_the_session_is_asked_to():
    tf.constant([[1, 2]])
    assert "_output_shapes" not in tf.Session().graph_def.node[0].attr
    config = tf.ConfigProto(graph_options=tf.GraphOptions(infer_shapes=True))
    assert "_output_shapes" in tf.Session(config=config).graph_def.node[0].attr


def test_a_session_sees_what_is_added_to_its_graph(session):
    x = tf.constant(1.0)
    assert session.run(x) == 1
    assert session.run(x + 1) == 2


def test_sessions_have_variables_of_their_own():
    v = tf.Variable(1.0)
    with tf.Session() as first, tf.Session() as second:
        first.run(v.initializer)
        second.run(v.initializer)
        first.run(v.assign(5.0))
        assert (first.run(v), second.run(v)) == (5, 1)


def test_closing_a_session_drops_its_variables():
    v = tf.Variable(1.0)
    session = tf.Session()
    session.run(v.initializer)
    session.close()
    with tf.Session() as other, pytest.raises(errors.FailedPreconditionError, match="uninitialized value Variable"):
        other.run(v)


def test_reset_clears_containers_and_closes_sessions():
    v = tf.Variable(1.0)
    session = tf.Session()
    session.run(v.initializer)
    tf.Session.reset("")
    with pytest.raises(RuntimeError, match="closed Session"):
        session.run(v)


def test_devices_are_listed():
    names = [d.name for d in tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})).list_devices()]
    assert names[:2] == [f"/job:localhost/replica:0/task:0/device:CPU:{i}" for i in (0, 1)]


# -- threads


def test_many_threads_run_the_same_step(session):
    v = tf.Variable(0)
    add = v.assign_add(1)
    session.run(v.initializer)
    failures = []

    def work():
        try:
            for _ in range(50):
                session.run(add)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures and session.run(v) <= 400


def test_a_graph_may_be_built_while_it_runs():
    graph = tf.get_default_graph()
    c = tf.constant(5.0)
    session = tf.Session()
    stop, failures = threading.Event(), []

    def run():
        while not stop.is_set():
            assert session.run([c, c * 2]) == [5, 10]

    def build():
        with graph.as_default():
            for _ in range(5):
                x = tf.placeholder(tf.float32)
                with tf.colocate_with(x):
                    y = tf.square(x)
                z = tf.while_loop(lambda x, y: x < 10.0, lambda x, y: (x + 1, x * y), [x, y])
                tf.gradients(z, [x, y])
                graph.as_graph_def()

    def watched(work):
        def target():
            try:
                work()
            except BaseException as error:
                failures.append(error)

        return threading.Thread(target=target)

    builders, runners = [watched(build) for _ in range(3)], [watched(run) for _ in range(2)]
    for t in builders + runners:
        t.start()
    for t in builders:
        t.join()
    stop.set()
    for t in runners:
        t.join()
    assert not failures
    names = [op.name for op in graph.get_operations()]
    assert len(names) == len(set(names))
