"""What patterns match, and what becomes of the nodes."""

from planning import compiled, same, types

import everflow as tf
from everflow.runtime.passes.patterns import P, Rules, V
from everflow.runtime.plan import fused, remade


def drop(pattern):
    """A pass that puts the value `x` in the place of what matches."""
    return Rules("drop", "", (pattern, lambda node, x, **_: x))


def test_a_value_takes_the_place_of_a_node():
    x = tf.placeholder(tf.float32, [2])
    assert same([tf.exp(x * 1.0)], [x], drop(P("Mul", V("x"), V(number=1.0))), [1.0, 2.0]) == ["Exp"]
    assert same([tf.exp(x * 2.0)], [x], drop(P("Mul", V("x"), V(number=1.0))), [1.0, 2.0]) == ["Mul", "Exp"]


def test_inputs_may_come_in_either_order_only_if_that_is_said():
    x = tf.placeholder(tf.float32, [2])
    assert types(compiled([1.0 * x], [x], (drop(P("Mul", V("x"), V(number=1.0))),))) == ["Mul"]
    assert types(compiled([tf.exp(1.0 * x)], [x], (drop(P("Mul", V("x"), V(number=1.0), swaps=True)),))) == ["Exp"]


def test_a_name_that_comes_twice_is_one_value():
    x, y = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    pattern = P("Maximum", V("x"), V("x"))
    assert types(compiled([tf.exp(tf.maximum(x, x))], [x], (drop(pattern),))) == ["Exp"]
    assert types(compiled([tf.exp(tf.maximum(x, y))], [x, y], (drop(pattern),))) == ["Maximum", "Exp"]


def test_ops_are_matched_by_name_by_kind_and_by_fact():
    x = tf.placeholder(tf.float32, [2])
    sums = [tf.raw_ops.Add(x=x, y=x), tf.raw_ops.AddV2(x=x, y=x)]
    assert types(compiled([tf.exp(t) for t in sums], [x], (drop(P("AddV2", V("x"))),))) == ["Add", "Exp", "Exp"]
    assert types(compiled([tf.exp(t) for t in sums], [x], (drop(P("addition", V("x"))),))) == ["Exp", "Exp"]
    assert types(compiled([tf.exp(tf.identity(x))], [x], (drop(P((), V("x"), has="forwards")),))) == ["Exp"]


def test_facts_of_values():
    x, n = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [None, None])
    y = tf.exp(x)

    def matches(value, fetches, feeds):
        return "Neg" not in types(compiled(fetches, feeds, (drop(P("Neg", value)),)))

    assert matches(V("x", once=True), [tf.sin(-y)], [x]) and not matches(V("x", once=True), [tf.sin(-y), y], [x])
    assert matches(V("x", rank=1), [tf.sin(-x)], [x]) and not matches(V("x", rank=1), [tf.sin(-n)], [n])
    assert matches(V("x", dtype=("float32",)), [tf.sin(-x)], [x]) and not matches(V("x", dtype=("float64",)), [tf.sin(-x)], [x])
    assert matches(V("x", fresh=True), [tf.sin(-y)], [x]) and not matches(V("x", fresh=True), [tf.sin(-x)], [x])
    assert matches(V("x", where=lambda v: v.dims == (2,)), [tf.sin(-x)], [x])


def test_nodes_that_read_reference_variables_are_left_alone():
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    total = tf.raw_ops.AddV2(x=v._ref(), y=tf.constant([0.0, 0.0]))
    assert types(compiled([tf.exp(total)], [], (drop(P("AddV2", V("x"))),))) == ["AddV2", "Exp"]


def test_every_input_and_attributes():
    x, y = tf.placeholder(tf.float32, [2, 2]), tf.placeholder(tf.float32, [2, 2])
    rule = Rules(
        "sum",
        "",
        (
            P("AddN", every=P("MatMul", once=True, attrs={"transpose_a": True}), least=2),
            lambda node: fused("_SumOfProducts", node, [v.node.inputs[i] for i in (0, 1) for v in node.inputs]),
        ),
    )
    turned, straight = tf.matmul(x, y, transpose_a=True), tf.matmul(x, y)
    again = tf.matmul(y, x, transpose_a=True)
    given = [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]
    assert same([tf.add_n([turned, again])], [x, y], rule, *given) == ["_SumOfProducts"]
    assert same([tf.add_n([turned, straight])], [x, y], rule, *given) == ["MatMul", "MatMul", "AddN"]


def test_rules_are_tried_again_on_what_they_made():
    x = tf.placeholder(tf.float32, [2])
    rules = Rules(
        "twice", "", (P("Neg", P("Neg", V("x"))), lambda node, x: x), (P("Exp", P("Exp", V("x"))), lambda node, x: remade(node, [x]))
    )
    y = x
    for _ in range(4):
        y = tf.negative(y)
    assert types(compiled([tf.sin(y)], [x], (rules,))) == ["Sin"]
    assert types(compiled([tf.exp(tf.exp(tf.exp(tf.exp(x))))], [x], (rules,))) == ["Exp"]


def test_several_nodes_are_replaced_each_where_it_stood():
    x = tf.placeholder(tf.float32, [2])
    y = tf.exp(x)
    between, z = tf.sin(x), tf.nn.relu(y)

    def replace(node, inner):
        new = remade(inner, inner.inputs)
        return {inner: new, node: new.outputs[0]}

    step = compiled([z, between], [x], (Rules("early", "", (P("Relu", P("Exp", name="inner", once=True)), replace)),))
    assert types(step) == ["Exp", "Sin"]
