"""GraphDefs become operations of the default graph."""

import time

import numpy as np
import pytest
from google.protobuf import text_format

import everflow as tf
from everflow import errors
from everflow.proto import graph_pb2, op_def_pb2


def graph_def(text, producer=134):
    proto = graph_pb2.GraphDef()
    text_format.Merge(text, proto)
    proto.versions.producer = producer
    return proto


def placeholder(name, dtype="DT_FLOAT"):
    return f"node {{ name: '{name}' op: 'Placeholder' attr {{ key: 'dtype' value {{ type: {dtype} }} }} }}"


def unary(name, source, op="Neg", dtype="DT_FLOAT"):
    return f"node {{ name: '{name}' op: '{op}' input: '{source}' attr {{ key: 'T' value {{ type: {dtype} }} }} }}"


def names():
    return [op.name for op in tf.get_default_graph().get_operations()]


TWO = "node { name: 'A' op: 'NoOp' } node { name: 'B' op: 'NoOp' input: '^A' }"


def test_nodes_go_below_the_scope_import():
    tf.import_graph_def(graph_def(TWO))
    assert names() == ["import/A", "import/B"]
    assert [c.name for c in tf.get_default_graph().get_operation_by_name("import/B").control_inputs] == ["import/A"]


def test_an_empty_name_leaves_names_alone_and_numbers_those_that_are_taken():
    for _ in range(3):
        tf.import_graph_def(graph_def(TWO + "node { name: 'A_1' op: 'NoOp' }"), name="")
    assert names() == ["A", "B", "A_1", "A_2", "B_1", "A_1_1", "A_3", "B_2", "A_1_2"]


def test_new_ops_do_not_take_the_names_of_imported_ones():
    tf.import_graph_def(graph_def(TWO), name="")
    assert tf.no_op(name="A").name == "A_1"


def test_nodes_may_come_before_what_they_need():
    text = """
        node { name: 'C' op: 'NoOp' input: '^B' }
        node { name: 'B' op: 'NoOp' input: '^A' }
        node { name: 'D' op: 'NoOp' }
        node { name: 'A' op: 'NoOp' }
    """
    tf.import_graph_def(graph_def(text), name="")
    assert names() == ["D", "A", "B", "C"]


def test_the_input_map_puts_tensors_in_the_place_of_nodes():
    given = tf.constant([1.0, 2.0])
    y, a = tf.import_graph_def(graph_def(placeholder("A") + unary("B", "A")), input_map={"A:0": given}, return_elements=["B:0", "A:0"])
    assert y.op.inputs[0] is given
    assert a is given
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(y), [-1, -2])


def test_values_of_the_input_map_are_converted():
    (b,) = tf.import_graph_def(graph_def(placeholder("A") + unary("B", "A")), input_map={"A": 3.0}, return_elements=["B"])
    assert b.inputs[0].name == "import/_inputs/Const:0"


def test_scopes_around_add_control_inputs_and_devices():
    before = tf.no_op(name="before")
    with tf.control_dependencies([before]), tf.device("/job:w"):
        (b,) = tf.import_graph_def(graph_def("node { name: 'B' op: 'NoOp' device: '/device:CPU:1' }"), return_elements=["B"])
    assert b.control_inputs == [before]
    assert b.device == "/job:w/device:CPU:1"


def test_colocation_follows_the_new_names_and_takes_the_device():
    text = """
        node { name: 'A' op: 'NoOp' device: '/device:CPU:1' }
        node { name: 'B' op: 'NoOp' attr { key: '_class' value { list { s: 'loc:@A' } } } }
    """
    a, b = tf.import_graph_def(graph_def(text), return_elements=["A", "B"])
    assert b.colocation_groups() == [b"loc:@import/A"]
    assert b.device == a.device == "/device:CPU:1"


def test_output_shapes_narrow_what_shape_rules_know():
    text = placeholder("A")[:-2] + " attr { key: '_output_shapes' value { list { shape { dim { size: 2 } } } } } }"
    (a,) = tf.import_graph_def(graph_def(text), return_elements=["A"])
    assert a.outputs[0].shape.as_list() == [2]
    assert "_output_shapes" not in a.node_def.attr


def test_defaults_are_filled_in():
    (a,) = tf.import_graph_def(graph_def("node { name: 'A' op: 'OpWithDefaultAttr' }"), return_elements=["A"])
    assert a.get_attr("default_float") == 123.0


def test_attributes_that_only_the_producer_knows_are_dropped_where_they_have_its_default():
    producer = op_def_pb2.OpList()
    text_format.Merge("op { name: 'NoOp' attr { name: 'new' type: 'int' default_value { i: 4 } } }", producer)
    text = "node { name: 'A' op: 'NoOp' attr { key: 'new' value { i: %d } } }"
    tf.import_graph_def(graph_def(text % 4), producer_op_list=producer)
    with pytest.raises(ValueError, match="NodeDef mentions attr 'new' not in Op<name=NoOp; signature= -> >"):
        tf.import_graph_def(graph_def(text % 5), producer_op_list=producer)


def test_loops_close_over_their_back_edges():
    text = f"""
        {placeholder("start", "DT_INT32")}
        {unary("enter", "start", "Enter", "DT_INT32")[:-2]} attr {{ key: 'frame_name' value {{ s: 'f' }} }} }}
        {unary("merge", "enter", "Merge", "DT_INT32")[:-2]} input: 'next' attr {{ key: 'N' value {{ i: 2 }} }} }}
        {unary("next", "merge", "NextIteration", "DT_INT32")}
    """
    merge, next_iteration = tf.import_graph_def(graph_def(text), return_elements=["merge", "next"])
    assert merge.inputs[1] is next_iteration.outputs[0]
    assert merge in next_iteration.outputs[0].consumers()


def test_nothing_is_left_of_an_import_that_fails():
    tf.no_op(name="mine")
    with pytest.raises(ValueError, match="was passed float from import/A:0 incompatible with expected int32"):
        tf.import_graph_def(graph_def(placeholder("A") + unary("B", "A", dtype="DT_INT32")))
    assert names() == ["mine"]


@pytest.mark.parametrize(
    "text, error, message",
    [
        ("node { name: 'A' op: 'Nope' }", errors.NotFoundError, "Op type not registered 'Nope'"),
        ("node { name: 'A' op: 'NoOp' } node { name: 'A' op: 'NoOp' }", ValueError, "Node 'A' is not unique"),
        ("node { name: 'A b' op: 'NoOp' }", ValueError, "Node 'A b': Node name contains invalid characters"),
        ("node { name: 'A' op: 'NoOp' input: '^B' } node { name: 'B' op: 'NoOp' input: '^A' }", ValueError, "2 nodes in a cycle"),
        (unary("B", "A"), ValueError, "Node 'B': Unknown input node 'A'"),
        (unary("B", "A:B:0"), ValueError, "Node 'B': Unknown input node 'A:B:0'"),
        (placeholder("A") + unary("B", "A:1"), ValueError, "Connecting to invalid output 1 of source node A which has 1 outputs"),
        (
            placeholder("A", "DT_INT32") + unary("B", "A"),
            ValueError,
            "Input 0 of node import/B was passed int32 from import/A:0 incompatible with expected float.",
        ),
        (
            placeholder("A", "DT_STRING") + unary("B", "A", dtype="DT_STRING"),
            ValueError,
            "Value for attr 'T' of string is not in the list of allowed values: bfloat16, half, float",
        ),
        (
            "node { name: 'A' op: 'Placeholder' }",
            ValueError,
            "NodeDef missing attr 'dtype' from Op<name=Placeholder; signature= -> output:dtype",
        ),
        (
            "node { name: 'A' op: 'Placeholder' attr { key: 'dtype' value { i: 3 } } }",
            ValueError,
            "AttrValue had value with type 'int' when 'type' expected",
        ),
        (
            "node { name: 'B' op: 'NoOp' attr { key: '_class' value { list { s: 'loc:@A' } } } }",
            ValueError,
            "Node 'B' expects to be colocated with unknown node 'A'",
        ),
    ],
)
def test_errors_say_what_is_wrong(text, error, message):
    with pytest.raises(error) as caught:
        tf.import_graph_def(graph_def(text))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"return_elements": ["C"]}, ValueError, "Requested return node 'C' not found in graph def"),
        ({"return_elements": ["A:1"]}, ValueError, "Invalid return output 1 of node 'A', which has 1 output(s)"),
        ({"return_elements": ["a:b:c"]}, ValueError, "Cannot convert 'a:b:c' to a tensor name."),
        ({"return_elements": [7]}, TypeError, "return_elements must be a list of strings."),
        ({"input_map": [1]}, TypeError, "input_map must be a dictionary mapping strings to Tensor objects."),
        ({"input_map": {"C:0": 1.0}}, ValueError, "Attempted to map inputs that were not found in graph_def: [C:0]"),
        ({"input_map": {"A:0": 1.0}, "name": ""}, ValueError, "requires a non-empty `name`"),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error) as caught:
        tf.import_graph_def(graph_def(placeholder("A")), **arguments)
    assert message in str(caught.value)


def test_versions_of_producers_and_consumers_are_respected():
    tf.import_graph_def(graph_def(TWO, producer=40))
    assert tf.get_default_graph().graph_def_versions.producer == 40
    new = graph_def(TWO)
    new.versions.min_consumer = 1 << 30
    with pytest.raises(ValueError, match="GraphDef min consumer version 1073741824 above current version 134"):
        tf.import_graph_def(new)


def test_an_exported_graph_imports_as_it_was():
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    y = tf.identity(x * 2.0, name="y")
    exported = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default() as again:
        tf.import_graph_def(exported, name="")
        assert again.as_graph_def() == exported
        assert again.get_tensor_by_name(y.name).shape.as_list() == [2, 3]


def test_five_thousand_nodes_import_in_about_a_second():
    text = placeholder("n0") + "".join(unary(f"n{i + 1}", f"n{i}") for i in range(5000))
    proto = graph_def(text)
    start = time.process_time()
    tf.import_graph_def(proto)
    assert time.process_time() - start < 3
