"""tf.graph_util: cutting, simplifying and freezing GraphDefs."""

import pytest

import everflow as tf
from everflow.proto import graph_pb2, node_def_pb2


def graph_def(*nodes):
    proto = graph_pb2.GraphDef()
    for op, name, inputs in nodes:
        proto.node.add(op=op, name=name, input=inputs)
    return proto


def test_a_sub_graph_is_what_the_named_nodes_need():
    whole = graph_def(("a", "n1", ["n5"]), ("a", "n2", ["n1:0"]), ("a", "n3", ["^n2"]), ("a", "n4", []), ("a", "n5", ["n1"]))
    assert [n.name for n in tf.graph_util.extract_sub_graph(whole, ["n3"]).node] == ["n1", "n2", "n3", "n5"]
    with pytest.raises(TypeError, match="must be a list"):
        tf.graph_util.extract_sub_graph(whole, "n1")
    with pytest.raises(AssertionError, match="zz is not in graph"):
        tf.graph_util.extract_sub_graph(whole, ["zz"])


def test_checks_and_identities_are_of_no_use_after_training():
    trained = graph_def(
        ("Const", "a", []),
        ("CheckNumerics", "check", ["a"]),
        ("Identity", "i", ["a", "^check"]),
        ("Identity", "j", ["i"]),
        ("Neg", "y", ["j"]),
    )
    assert tf.graph_util.remove_training_nodes(trained) == graph_def(("Const", "a", []), ("Neg", "y", ["a"]))
    kept = tf.graph_util.remove_training_nodes(trained, protected_nodes=["j"])
    assert [n.name for n in kept.node] == ["a", "j", "y"]


def test_an_identity_that_orders_others_stays():
    ordered = graph_def(("Const", "c", ["^i"]), ("Identity", "i", ["base"]), ("Base", "base", []))
    assert tf.graph_util.remove_training_nodes(ordered) == ordered


def test_nodes_for_the_cpu():
    def node(op, attr, dtype):
        found = node_def_pb2.NodeDef(op=op)
        found.attr[attr].type = dtype.as_datatype_enum
        return found

    must = tf.graph_util.must_run_on_cpu
    assert must(node("Const", "dtype", tf.string)) and must(node("Const", "dtype", tf.int32))
    assert not must(node("Const", "dtype", tf.float32))
    assert must(node("DynamicStitch", "T", tf.int32)) and must(node("Cast", "SrcT", tf.int32))
    variable = node("VariableV2", "dtype", tf.float32)
    assert must(variable, pin_variables_on_cpu=True) and not must(variable)


def frozen(build, names=("y",), **options):
    """A graph with its variables as constants."""
    with tf.Graph().as_default() as graph:
        build()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), list(names), **options)


def evaluated(graph_def, name="y:0", feed_dict=None):
    with tf.Graph().as_default():
        tf.import_graph_def(graph_def, name="")
        with tf.Session() as session:
            return session.run(name, feed_dict)


def all_ops(graph_def):
    return {n.op for n in graph_def.node} | {n.op for f in graph_def.library.function for n in f.node_def}


@pytest.mark.parametrize("use_resource", [False, True])
def test_freezing_keeps_what_the_graph_computes(use_resource):
    def build():
        v = tf.get_variable("v", initializer=[2.0, 3.0], use_resource=use_resource)
        tf.get_variable("unused", initializer=1.0, use_resource=use_resource)
        tf.add(tf.gather(v, [1, 0]), v * 10.0, name="y")

    found = frozen(build)
    assert not all_ops(found) & {"VariableV2", "VarHandleOp", "ReadVariableOp", "ResourceGather", "Assign"}
    assert evaluated(found).tolist() == [23.0, 32.0]


def test_only_wanted_variables_are_frozen():
    def build():
        tf.add(tf.get_variable("v", initializer=1.0), tf.get_variable("w", initializer=2.0), name="y")

    kept = {n.name for n in frozen(build, variable_names_whitelist=["v"]).node if n.op == "VariableV2"}
    assert kept == {"w"}
    kept = {n.name for n in frozen(build, variable_names_blacklist=["v"]).node if n.op == "VariableV2"}
    assert kept == {"v"}


@pytest.mark.parametrize("use_resource", [False, True])
def test_freezing_reaches_into_branches_and_loops(use_resource):
    def build():
        v = tf.get_variable("v", initializer=[2.0, 3.0], use_resource=use_resource)
        p = tf.placeholder(tf.bool, [], name="p")
        x = tf.cond(p, lambda: v.read_value() + 1.0, lambda: tf.gather(v, [1, 1]))
        y = tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, x * v.read_value()), [0, x])[1]
        tf.identity(y, name="y")

    found = frozen(build)
    assert not {n.op for n in found.node} & {"VariableV2", "VarHandleOp"}
    assert evaluated(found, feed_dict={"p:0": True}).tolist() == [12.0, 36.0]
    assert evaluated(found, feed_dict={"p:0": False}).tolist() == [12.0, 27.0]


def test_shapes_by_the_name_of_a_node():
    with tf.Graph().as_default() as graph:
        tf.constant([1, 2], name="c")
        assert tf.graph_util.tensor_shape_from_node_def_name(graph, "c").as_list() == [2]
