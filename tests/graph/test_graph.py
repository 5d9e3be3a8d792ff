"""Graphs: adding ops, finding them, control edges, collections, editing, and which graph is the default one."""

import copy
import gc
import threading
import weakref

import pytest

import everflow as tf
from everflow import errors
from everflow.graph.wire import new_node_def


def test_elements_are_found_by_name(graph):
    x = tf.constant(1, name="x")
    assert graph.get_tensor_by_name("x:0") is x
    assert graph.get_operation_by_name("x") is x.op
    assert graph.as_graph_element("x:0") is x and graph.as_graph_element(b"x") is x.op
    assert graph.as_graph_element(x) is x
    assert graph.get_operations() == [x.op]


def test_a_copy_of_a_tensor_stands_for_it(session):
    x = tf.placeholder(tf.float32, [2])
    y = copy.copy(x)
    z = copy.copy(y * 2.0)
    assert y is not x and z.op.inputs[0] is x
    assert [found.tolist() for found in session.run([z, z + 1.0, y], {y: [1, 2]})] == [[2, 4], [3, 5], [1, 2]]
    assert session.run(tf.gradients(z * z, y)[0], {x: [1, 2]}).tolist() == [8, 16]


def test_a_variable_stands_for_a_tensor():
    from everflow.internals import attribute

    stands_for = attribute("python.framework.ops", "_as_graph_element")
    assert stands_for(tf.Variable(1.0)).op.type == "VariableV2"
    assert stands_for(tf.constant(1.0)) is None and stands_for(3) is None


@pytest.mark.parametrize("find, error, text", [
    (lambda g: g.get_tensor_by_name("y:0"), KeyError, "The operation, 'y', does not exist in the graph"),
    (lambda g: g.get_tensor_by_name("x:3"), KeyError, "exists but only has 1 outputs"),
    (lambda g: g.get_tensor_by_name("x"), ValueError, "refers to an Operation, not a Tensor"),
    (lambda g: g.get_tensor_by_name("x:a"), ValueError, "looks a like a Tensor name, but is not a valid one"),
    (lambda g: g.get_operation_by_name("x:0"), ValueError, "appears to refer to a Tensor, not a Operation"),
    (lambda g: g.get_operation_by_name("y"), KeyError, "refers to an Operation not in the graph"),
    (lambda g: g.get_tensor_by_name(3), TypeError, "Tensor names are strings"),
    (lambda g: g.as_graph_element(3), TypeError, "Can not convert a int into a Tensor or Operation"),
    (lambda g: g.as_graph_element("x", False, False), ValueError, "can't both be False"),
])  # fmt: skip
def test_elements_that_are_not_there(graph, find, error, text):
    tf.constant(1, name="x")
    with pytest.raises(error, match=text):
        find(graph)


def test_control_edges():
    a, b, c = tf.constant(1), tf.constant(2), tf.constant(3)
    with tf.control_dependencies([a]):
        with tf.control_dependencies([b, b.op]):
            both = tf.no_op()
            after_a = tf.identity(a)
            # What an op inside the block already leads to needs no edge of its own.
            later = tf.identity(after_a)
        with tf.control_dependencies(None):
            free = tf.no_op()
            with tf.control_dependencies([c]):
                only_c = tf.no_op()
        one = tf.no_op()
    assert both.control_inputs == [a.op, b.op]
    assert after_a.op.control_inputs == [b.op] and later.op.control_inputs == []
    assert free.control_inputs == [] and only_c.control_inputs == [c.op] and one.control_inputs == [a.op]
    with pytest.raises(TypeError, match="Can not convert a int into a Tensor or Operation"):
        tf.control_dependencies([3])


def test_control_edges_are_kept_by_runs():
    v = tf.Variable(1, use_resource=True)
    before = v.read_value()
    with tf.control_dependencies([before]):
        add = v.assign_add(1)
    with tf.control_dependencies([add]):
        after = v.read_value()
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run([after, before]) == [2, 1]


def test_collections(graph):
    graph.add_to_collection("things", 1)
    graph.add_to_collections(["things", "others", "things"], 2)
    assert graph.get_collection("things") == [1, 2] and graph.get_collection("others") == [2]
    graph.get_collection("things").append(3)
    assert tf.get_collection("things") == [1, 2]
    graph.get_collection_ref("things").append(3)
    assert tf.get_collection("things") == [1, 2, 3]
    a, b = tf.constant(1, name="s/a"), tf.constant(1, name="t/b")
    for t in (a, b, "no name"):
        tf.add_to_collection("named", t)
    assert tf.get_collection("named", "s/") == [a]
    graph.clear_collection("named")
    assert tf.get_collection("named") == [] and set(graph.collections) == {"things", "others"}


def test_the_default_graph():
    outer = tf.get_default_graph()
    inner = tf.Graph()
    with inner.as_default() as entered:
        assert entered is inner is tf.get_default_graph()
        with pytest.raises(AssertionError, match="Do not use tf.reset_default_graph"):
            tf.reset_default_graph()
    assert tf.get_default_graph() is outer
    tf.reset_default_graph()
    assert tf.get_default_graph() is not outer


def test_an_op_goes_to_the_graph_of_its_inputs(graph):
    with tf.Graph().as_default() as other:
        x = tf.constant(1.0)
    assert tf.exp(x).graph is other and graph.get_operations() == []


def test_operations_are_made_from_node_defs(graph):
    x = tf.constant([[1, 2, 3]])
    op = tf.Operation(new_node_def("Identity", "mine", device="/cpu:0"), graph, [x], [tf.int32], control_inputs=[x.op])
    assert graph.get_operation_by_name("mine") is op and op.device == "/device:CPU:0"
    assert op.inputs == (x,) and op.outputs[0].shape == [1, 3] and op.get_attr("T") is tf.int32
    assert x.consumers() == [op] and op.control_inputs == [x.op]
    assert tf.identity(x, name="mine").op.name == "mine_1"
    assert op.traceback[-1][0] == __file__
    for name in ("", "_invalid", "-invalid", "/invalid", "invalid:0"):
        with pytest.raises(ValueError, match="is not a valid node name"):
            tf.Operation(new_node_def("NoOp", name), graph)
    with pytest.raises(TypeError, match="node_def needs to be a NodeDef"):
        tf.Operation("NoOp", graph)
    with pytest.raises(RuntimeError, match="Op type not registered 'NoSuchOp'"):
        tf.Operation(new_node_def("NoSuchOp", "a"), graph)


def test_consumers_count_each_use():
    x = tf.constant(1.0)
    y = x * x
    assert x.consumers() == [y.op, y.op] and y.consumers() == []


def test_inputs_can_be_replaced():
    x, y = tf.constant(1), tf.constant(2)
    z = x + y
    with tf.Session() as session:
        assert session.run(z) == 3
        z.op._update_input(0, y)
        assert session.run(z) == 4 and x.consumers() == [] and y.consumers() == [z.op, z.op]
        with pytest.raises(errors.InvalidArgumentError, match=r"incompatible shapes: \[2\] and \[\]"):
            z.op._update_input(0, tf.constant([1, 2]))
        with pytest.raises(errors.OutOfRangeError, match=r"Input index \[7\] is greater than the number of total inputs \[2\]"):
            z.op._update_input(7, x)
        with tf.Graph().as_default(), pytest.raises(ValueError, match="must be from the same graph as"):
            z.op._update_input(0, tf.constant(1))


def test_a_graph_with_an_input_of_the_wrong_type_does_not_run():
    x, text = tf.constant(1), tf.constant("")
    z = x + x
    z.op._update_input(0, text)
    with tf.Session() as session:
        with pytest.raises(errors.InvalidArgumentError, match="Input 0 of node add was passed string from Const_1:0 incompatible with"):
            session.run(x)
        z.op._update_input(0, x)
        assert session.run(z) == 2


def test_versions_and_seeds(graph):
    assert graph.version == 0
    tf.constant(1)
    assert graph.version == 1 and graph.as_graph_def().versions.producer == graph.graph_def_versions.producer
    assert len(graph.as_graph_def(from_version=1).node) == 0
    tf.set_random_seed(7)
    assert graph.seed == 7


def test_graphs_are_freed():
    graph = tf.Graph()
    with graph.as_default():
        c = tf.constant(1.0) + 2
    with tf.Session(graph=graph) as session:
        session.run(c)
    gone = weakref.ref(graph)
    del graph, c, session
    gc.collect()
    assert gone() is None


def test_a_graph_takes_over_the_versions_of_what_is_imported(graph):
    proto = tf.GraphDef()
    proto.versions.producer, proto.versions.min_consumer = 21, 3
    tf.import_graph_def(proto)
    assert (graph.graph_def_versions.producer, graph.graph_def_versions.min_consumer) == (21, 3)
    proto.versions.producer, proto.versions.min_consumer = 30, 1
    tf.import_graph_def(proto)
    assert (graph.graph_def_versions.producer, graph.graph_def_versions.min_consumer) == (21, 3)


def test_conversions_to_composite_tensors():
    from everflow.graph.convert import convert_to_tensor_or_composite

    sparse = tf.SparseTensor([[0, 0]], [1.0], [1, 1])
    assert convert_to_tensor_or_composite(sparse) is sparse
    with pytest.raises(ValueError, match="Tensor conversion requested dtype int32"):
        convert_to_tensor_or_composite(sparse, tf.int32)
    assert convert_to_tensor_or_composite([1, 2]).dtype is tf.int32


def test_each_thread_has_a_default_graph_of_its_own():
    found = []

    def build():
        found.append(tf.get_default_graph())
        found.append(tf.get_variable("x", [2]).graph)

    tf.get_variable("x", [3])
    for _ in range(2):
        thread = threading.Thread(target=build)
        thread.start()
        thread.join()
    assert found[0] is found[1] and found[2] is found[3]
    assert len({id(graph) for graph in (tf.get_default_graph(), *found)}) == 3


def test_parts_of_the_inputs_of_an_op_are_lists(graph):
    x, y = tf.constant(1.0), tf.constant(2.0)
    inputs = tf.add_n([x, y, x]).op.inputs
    assert inputs[1:] + [None] == [y, x, None] and inputs[-1] is x
    with pytest.raises(AttributeError, match="'_InputList' object has no attribute 'append'"):
        inputs.append(y)
