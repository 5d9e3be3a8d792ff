"""Concrete functions: names of their tensors, and calls by position and by name."""

import collections

import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("eager")


@pytest.fixture
def difference(eager):
    return tf.function(lambda a, b: a - b).get_concrete_function(tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.float32))


def test_tensors_may_come_by_position_or_by_name(difference):
    one, five = tf.constant(1.0), tf.constant(5.0)
    assert difference(one, five).numpy() == difference(b=five, a=one).numpy() == difference(one, b=five).numpy() == -4


@pytest.mark.parametrize(
    ("args", "kwargs", "said"),
    [
        ((1.0,), {}, r"Expected argument names \['a', 'b'\] but got values for \['a'\]. Missing: \['b'\]"),
        ((1.0, 2.0, 3.0), {}, "Expected at most 2 positional arguments"),
        ((1.0,), {"b": 2.0, "c": 3.0}, r"Keyword arguments \['c'\] unknown. Expected \['a', 'b'\]"),
    ],
)
def test_a_call_that_does_not_fit_says_what_was_expected(difference, args, kwargs, said):
    with pytest.raises(TypeError, match=said):
        difference(*map(tf.constant, args), **{k: tf.constant(v) for k, v in kwargs.items()})


def test_only_tensors_are_taken(difference):
    with pytest.raises(ValueError, match=r"the 1-th input \(x\) was not a Tensor"):
        difference(tf.constant(1.0), "x")


def test_inputs_are_named_after_parameters_and_remember_where_they_were():
    Pair = collections.namedtuple("Pair", "a b")
    scalar = tf.TensorSpec([], tf.float32)

    @tf.function
    def f(x, pair, *args, training=False):
        return x + pair.a

    concrete = f.get_concrete_function(tf.TensorSpec([2], tf.float32, name="first"), Pair(scalar, scalar), scalar, training=True)
    assert [t.op.name for t in concrete.inputs] == ["first", "pair", "pair_1", "args_0"]
    (x, pair, rest), named = concrete.structured_input_signature
    assert (x.name, pair.a.name, pair.b.name, rest.name, named) == ("first", "pair/a", "pair/b", "args_0", {"training": True})


def test_other_shapes_than_it_was_traced_with_are_computed_as_well():
    @tf.function
    def double(x):
        return x * 2.0 + 1.0

    @tf.function
    def square(x):
        return double(x) * x

    body = square.get_concrete_function(tf.TensorSpec([2], tf.float32))
    assert body(tf.constant([1.0, 2.0])).numpy().tolist() == [3, 10]
    assert body(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [3, 10, 21]
    assert body(tf.constant(3.0)).numpy() == 21
    x = tf.constant([[1.0, 2.0, 3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = body(x)
    assert tape.gradient(y, x).numpy().tolist() == [[5, 9, 13]]
