"""tf.contrib.specs: networks from short texts."""

from __future__ import annotations

import random

import numpy as np
import pytest

import everflow as tf
from everflow import internals
from everflow.contrib.specs import combinators, reading
from everflow.contrib.specs.combinators import Function
from everflow.contrib.specs.layers import Fr, Id, Relu, Shared, Var
from running import run

specs = tf.contrib.specs


def calls(*known, **named):
    """What a function is called with."""
    return Function(lambda x, *args, **kw: (x, args, kw), *known, **named)


def test_layers_in_a_row():
    images = tf.placeholder(tf.float32, [2, 32, 32, 3])
    outputs = specs.create_net("net = (Cr(8, [3, 3]) | Mp([2, 2])) ** depth | Flat | Fs(10)", images, {"depth": 3})
    assert outputs.shape == (2, 10)
    assert outputs.op.type == "Sigmoid"
    assert [v.name for v in tf.trainable_variables()][::2] == [
        "Conv/weights:0", "Conv_1/weights:0", "Conv_2/weights:0", "fully_connected/weights:0",
    ]  # fmt: skip


def test_networks_are_added_multiplied_and_joined():
    x = tf.constant([[1.0, -2.0]])
    assert run(specs.create_net("net = Relu + Id", x)).tolist() == [[2, -2]]
    assert run(specs.create_net("net = Relu * Id", x)).tolist() == [[1, 0]]
    assert run(specs.create_net("net = Conc(1, Relu, Id, Idx())", x)).tolist() == [[1, 0, 1, -2, 1, -2]]
    assert specs.create_net("net = Id ** 0", x) is x


def test_arguments_that_come_later_stand_first():
    assert calls(1, 2, c=3)(4, c=5, d=6).funcall(0) == (0, (4, 1, 2), {"c": 5, "d": 6})


def test_arguments_are_named_by_their_places():
    assert calls(_1=[3, 3])(8).funcall(0) == (0, (8, [3, 3]), {})
    assert calls(1, _0=2).funcall(0) == (0, (1,), {})
    assert calls(_1=2).funcall(0) == (0, (None, 2), {})
    assert specs.get_positional((1, 2), {"_0": 5, "x": 3}, kw_overrides=True) == ([5, 2], {"x": 3})


def test_shared_networks_have_one_set_of_variables():
    first = Shared(Fr(3))
    outputs = (first | first | first).funcall(tf.zeros([2, 3]))
    assert len(tf.trainable_variables()) == 2
    assert outputs.op.name.startswith(first.name + "_2/")
    assert Shared(Id, name="mine").name == "mine"
    with pytest.raises(ValueError, match="name must be None or a string"):
        Shared(Id, name=3)
    with pytest.raises(ValueError, match="scope must be None or a VariableScope"):
        Shared(Id, scope="somewhere")


def test_variables_are_added_to_what_comes_in(session):
    outputs = (Id + Var("b", shape=[3], initializer=tf.ones_initializer())).funcall(tf.zeros([2, 3]))
    session.run(tf.global_variables_initializer())
    assert session.run(outputs).tolist() == [[1, 1, 1]] * 2


def test_texts_do_no_more_than_name_networks():
    x = tf.zeros([2])
    with pytest.raises(ValueError, match="keyword 'import' found in spec"):
        specs.create_net("import os; net = Id", x)
    with pytest.raises(ValueError, match="spec failed to create 'net': nat = Id"):
        specs.create_net("nat = Id", x)
    with pytest.raises(ValueError, match="3: is not callable"):
        specs.create_net("net = Fun(3)", x)
    specs.check_keywords('word = \'import\'; definition = "while \\" def"')


def test_functions_from_elsewhere():
    x = tf.constant([4.0])
    assert run(specs.create_net("f = Import('import everflow as tf; f = tf.sqrt'); net = f | f(name='two')", x)) == np.sqrt(np.float32(2))
    assert run(specs.create_net("k = 3; net = Fun(lambda x: x * k) | Fun(nn.relu)", x)).tolist() == [12]
    assert specs.External("math", "sqrt").funcall(9.0) == 3
    with pytest.raises(ValueError, match='failed to define "f": g = 3'):
        specs.Import("g = 3")


def test_debugging_says_what_functions_are_called_with(capsys):
    combinators.debug()
    calls(1, c=2).funcall(5)
    combinators.debug(False)
    calls().funcall(6)
    printed = capsys.readouterr().out
    assert printed.startswith("DEBUG: <function")
    assert printed.endswith(" 5 [1] {'c': 2}\n")


def test_texts_leave_their_environment_as_it_was():
    environment = {"k": 2}
    assert specs.eval_params("x = k + sqrt(4)", environment) == {"k": 2, "x": 4.0}
    assert sorted(specs.eval_spec("x = 3; net = Id", environment)) == ["k", "net", "x"]
    assert environment == {"k": 2}


def test_draws_stay_within_their_bounds():
    random.seed(4)
    assert [specs.Ui(1, 10) for _ in range(4)] == [4, 5, 2, 7]
    draws = specs.eval_params("; ".join(f"i{n} = Li(1, 3); u{n} = Uf(2, 3); f{n} = Lf(1, 100); t{n} = Nt(5, 10, 0.5)" for n in range(50)))
    kinds = {kind: [value for name, value in draws.items() if name[0] == kind] for kind in "iuft"}
    assert {*kinds["i"]} == {1, 2, 3}
    assert 2 <= min(kinds["u"]) <= max(kinds["u"]) <= 3
    assert 1 <= min(kinds["f"]) < 10 < max(kinds["f"]) <= 100
    assert (min(kinds["t"]), max(kinds["t"])) == (0, 10)


def test_words_are_there_within_a_with():
    assert "Cr" not in globals()
    with reading.ops:
        net = Tanh | Sig  # noqa: F821
    assert net.funcall(tf.zeros([2])).op.type == "Sigmoid"
    assert "Tanh" not in globals()
    assert Relu is reading.ops.names["Relu"]
    assert internals.module("contrib.specs.python.specs").ops is reading.ops


def test_the_structure_of_a_network():
    assert specs.tf_spec_structure("net = Cr(64, [5, 5])", input_shape=(1, 18, 19, 5)) == "_ variablev2 conv variablev2 biasadd relu"
    x = tf.placeholder(tf.float32, [2, 3])
    assert specs.tf_structure(tf.identity(x) + tf.identity(x), include_shapes=True) == " [2, 3] _ [2, 3] <> [2, 3] [2, 3] addv2"


def test_a_network_as_a_tree(capsys):
    specs.tf_spec_print("net = Fl(4) | (Id + Id)", input_shape=(2, 3))
    assert capsys.readouterr().out.splitlines() == [
        "add AddV2 [2, 4]",
        "  fully_connected/BiasAdd BiasAdd [2, 4]",
        "    fully_connected/MatMul MatMul [2, 4]",
        "      Placeholder Placeholder [2, 3]",
        "      fully_connected/weights VariableV2 [3, 4]",
        "    fully_connected/biases VariableV2 [4]",
        "  <fully_connected/BiasAdd> BiasAdd [2, 4]",
    ]


def test_the_layers_of_a_network_with_their_parameters(capsys):
    specs.tf_spec_summary("net = Cr(100, [3, 3]) | Flat | Fs(10)", input_shape=(17, 28, 28, 1))
    assert capsys.readouterr().out.splitlines() == [
        "         0 Placeholder          [17, 28, 28, 1]",
        "      1000 Conv                 [17, 28, 28, 100]",
        "         0 Flatten              [17, 78400]",
        "    784010 fully_connected      [17, 10]",
    ]


def test_variables_that_are_resources_count():
    weights = tf.get_variable("w", [3, 4], use_resource=True)
    outputs = tf.matmul(tf.zeros([2, 3]), weights)
    assert specs.tf_num_params(outputs) == 12
    assert [*specs.tf_parameter_iter(outputs)] == [("MatMul", 12, [2, 4]), ("zeros", 0, [2, 3])]
