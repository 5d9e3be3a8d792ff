"""Element-wise nodes that run as one."""
import numpy as np
import pytest
import torch

import everflow as tf
from everflow._native import ELEMENTWISE, ElementwiseChain
from everflow.runtime.passes.elementwise_groups import group_elementwise
from tests.runtime.test_passes import compiled, values

pytestmark = pytest.mark.processor


def given(*dims):
    return np.random.RandomState(len(dims)).randn(*dims).astype(np.float32)


def types(step):
    return [call.node.type for call in step.calls]


def same_with_and_without(fetches, feeds, rewrite, *arguments):
    """The same but for the last digits: chains have their own tanh and sigmoid."""
    plain, rewritten = compiled(fetches, feeds, ()), compiled(fetches, feeds, (rewrite,))
    for a, b in zip(values(plain, *arguments), values(rewritten, *arguments)):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    return plain, rewritten


def placeholders(count, *dims):
    return [tf.placeholder(tf.float32, dims) for _ in range(count)]


def test_a_chain_is_one_node():
    x, y = placeholders(2, 3, 4)
    _, after = same_with_and_without([tf.tanh(x * y + 1.0) - tf.sigmoid(x)], [x, y], group_elementwise, given(3, 4), given(3, 4))
    assert types(after) == ["_Elementwise"]


def test_what_lies_between_waits_or_goes_first():
    x, y = placeholders(2, 3, 4)
    a = tf.square(x)
    total = tf.reduce_sum(a)
    before = tf.reduce_max(y)
    b = tf.nn.relu(a - y)
    c = tf.negative(b) * a
    _, after = same_with_and_without([total, before, c], [x, y], group_elementwise, given(3, 4), given(3, 4))
    assert types(after) == ["Max", "_Elementwise", "Sum"]


def test_what_depends_on_a_result_in_between_stays_out():
    x, y = placeholders(2, 2, 2)
    a = tf.tanh(x) * y + x
    b = tf.tanh(tf.matmul(a, a) * x)
    _, after = same_with_and_without([b], [x, y], group_elementwise, given(2, 2), given(2, 2))
    assert types(after) == ["_Elementwise", "MatMul", "Mul", "Tanh"]


def test_parts_of_a_split_and_of_a_concatenation_need_no_copies():
    x, y = placeholders(1, 3, 8)[0], placeholders(1, 3, 4)[0]
    left, right = tf.split(x, 2, axis=1)
    joined = tf.concat([tf.sigmoid(left) * y, tf.tanh(right) - y], axis=1)
    _, after = same_with_and_without([joined], [x, y], group_elementwise, given(3, 8), given(3, 4))
    assert types(after) == ["_Elementwise"]


def test_sums_of_many_and_results_used_outside():
    x, y, z = placeholders(3, 5)
    total = tf.add_n([x, y, z])
    _, after = same_with_and_without(
        [total, total * total, tf.negative(total) / 3.0], [x, y, z], group_elementwise, given(5), given(5), given(5))
    assert types(after) == ["_Elementwise"] and len(after.calls[0].node.outputs) == 3


@pytest.mark.parametrize("dims,dtype", [((None, 2), tf.float32), ((2, 2), tf.float64), ((300, 300), tf.float32)])
def test_other_shapes_and_types_stay_as_they_are(dims, dtype):
    x = tf.placeholder(dtype, dims)
    value = np.ones([d or 3 for d in dims], dtype.as_numpy_dtype)
    _, after = same_with_and_without([tf.tanh(tf.square(x) - 0.5 * x)], [x], group_elementwise, value)
    assert "_Elementwise" not in types(after)


def test_effects_keep_their_place():
    v = tf.Variable(tf.ones([2, 2]), use_resource=True)
    before = v.read_value() * 2.0
    with tf.control_dependencies([before]):
        write = v.assign_add(tf.ones([2, 2]))
    with tf.control_dependencies([write]):
        after = tf.tanh(v.read_value() * 0.0 + before) * 0.0 + v.read_value() + before
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(after).tolist() == [[4, 4], [4, 4]]


def test_tensors_that_do_not_fit_or_lie_elsewhere_take_the_kernels_way():
    x = tf.placeholder(tf.float32, [2, 3])
    y = tf.placeholder(tf.float32, [None, 3])
    total = tf.add_n([x, y])
    total.set_shape([2, 3])
    z = tf.tanh(total * 2.0) - x
    with tf.Session() as sess:
        a, b = given(2, 3), given(2, 3)[:, ::-1]
        np.testing.assert_allclose(sess.run(z, {x: a, y: b}), np.tanh((a + b) * 2) - a, rtol=1e-5, atol=1e-6)
        with pytest.raises(tf.errors.InvalidArgumentError, match="must have the same size and shape"):
            sess.run(z, {x: a, y: given(3, 3)})
        np.testing.assert_allclose(sess.run(z, {x: a, y: b}), np.tanh((a + b) * 2) - a, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", sorted(ELEMENTWISE))
def test_each_instruction_agrees_with_its_op(name):
    special = [0.0, -0.0, 1e-4, -1e-4, 20.0, -20.0, 90.0, -90.0, np.inf, -np.inf, np.nan]
    x = np.array([*special, *given(600) * 3], np.float32)
    y = np.array([*[1.0] * len(special), *given(600)[::-1] + 0.1], np.float32)
    out = torch.empty(x.size)
    a, b = torch.from_numpy(x), torch.from_numpy(y)
    ElementwiseChain(1, x.size, [(0, 0, x.size), (1, 0, x.size)], [], [(name, 0, 1)], [(2, 0, x.size)]).run(
        a.data_ptr(), b.data_ptr(), out.data_ptr())
    function = getattr(tf.raw_ops, name)
    arguments = [x] if len(function.__signature__.parameters) == 2 else [x, y]
    with tf.Graph().as_default(), tf.Session() as sess:
        names = list(function.__signature__.parameters)
        expected = sess.run(function(**dict(zip(names, arguments))))
    # Where x is near 1, what is left of 1 - x * x depends on whether the product is rounded first, which processors decide.
    rounding = np.nan_to_num(np.abs(x * x * y) * 2e-7, posinf=0) if name == "TanhGrad" else 1e-37
    # Infinities and NaNs alone must be the same ones; numpy 1.26 has no tolerance for each element.
    finite = np.isfinite(expected)
    close = np.where(finite, np.abs(out.numpy() - np.where(finite, expected, 0)) <= rounding + 5e-7 * np.abs(expected),
                     (out.numpy() == expected) | np.isnan(out.numpy()) & np.isnan(expected))
    assert close.all(), list(zip(x[~close], y[~close], out.numpy()[~close], expected[~close]))


def test_instructions_must_be_sound():
    with pytest.raises(ValueError, match="no loop for Gather"):
        ElementwiseChain(1, 4, [(0, 0, 4)], [], [("Gather", 0, 0)], [(1, 0, 4)])
    with pytest.raises(ValueError, match="before its operands"):
        ElementwiseChain(1, 4, [(0, 0, 4)], [], [("Add", 0, 5)], [(1, 0, 4)])
    chain = ElementwiseChain(1, 4, [(0, 0, 4)], [], [("Add", 0, 0)], [(1, 0, 4)])
    with pytest.raises(ValueError, match="a pointer for each tensor"):
        chain.run(0)
