"""Element-wise nodes that run as one."""

import numpy as np
import pytest
import torch
from planning import compiled, random, same, types

import everflow as tf
from everflow.runtime.passes import elementwise_groups
from everflow.runtime.passes.elementwise_groups import group_elementwise

pytestmark = pytest.mark.processor


def grouped(fetches, feeds, *arguments):
    """The same but for the last digits: chains have their own tanh and sigmoid."""
    return same(fetches, feeds, group_elementwise, *arguments, tolerance=1e-5)


def placeholders(count, *dims):
    return [tf.placeholder(tf.float32, dims) for _ in range(count)]


def test_a_chain_is_one_node():
    x, y = placeholders(2, 3, 4)
    after = grouped([tf.tanh(x * y + 1.0) - tf.sigmoid(x)], [x, y], random(3, 4), random(3, 4))
    assert after == ["_Elementwise"]


def test_what_lies_between_stays_where_it_can():
    x, y = placeholders(2, 3, 4)
    a = tf.square(x)
    total = tf.reduce_sum(a)
    before = tf.reduce_max(y)
    b = tf.nn.relu(a - y)
    c = tf.negative(b) * a
    after = grouped([total, before, c], [x, y], random(3, 4), random(3, 4))
    assert after == ["Max", "_Elementwise"]


def test_what_depends_on_a_result_in_between_is_another_group():
    x, y = placeholders(2, 2, 2)
    a = tf.tanh(x) * y + x
    b = tf.tanh(tf.matmul(a, a) * x)
    after = grouped([b], [x, y], random(2, 2), random(2, 2))
    assert after == ["_Elementwise", "MatMul", "_Elementwise"]


def test_steps_of_a_network_written_out_are_a_group_each():
    x, y = placeholders(2, 2, 2)
    h = x
    for _ in range(5):
        h = tf.tanh(tf.matmul(h, y) * x) + h
    after = grouped([h], [x, y], random(2, 2), random(2, 2))
    assert after == ["MatMul", "_Elementwise"] * 5


def test_branches_of_the_same_depth_are_in_one_group():
    x, y = placeholders(2, 2, 2)
    left, right = (tf.tanh(tf.matmul(t, t) + 1.0) for t in (x, y))
    after = grouped([left, tf.matmul(right, left), tf.sigmoid(right * left)], [x, y], random(2, 2), random(2, 2))
    assert after == ["MatMul", "MatMul", "_Elementwise", "MatMul"]


def test_parts_of_a_split_and_of_a_concatenation_need_no_copies():
    x, y = placeholders(1, 3, 8)[0], placeholders(1, 3, 4)[0]
    left, right = tf.split(x, 2, axis=1)
    joined = tf.concat([tf.sigmoid(left) * y, tf.tanh(right) - y], axis=1)
    after = grouped([joined], [x, y], random(3, 8), random(3, 4))
    assert after == ["_Elementwise"]


def test_sums_of_many_and_results_used_outside():
    x, y, z = placeholders(3, 5)
    total = tf.add_n([x, y, z])
    after = grouped([total, total * total, tf.negative(total) / 3.0], [x, y, z], random(5), random(5), random(5))
    assert after == ["_Elementwise"]


def test_other_types_stay_as_they_are():
    x = tf.placeholder(tf.float64, [2, 2])
    after = grouped([tf.tanh(tf.square(x) - 0.5 * x)], [x], np.ones([2, 2]))
    assert "_Elementwise" not in after


def test_sizes_that_are_not_known_before_running_are_looked_at_when_they_come():
    x, y, row = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [4])
    z = tf.tanh(x * y + row) - 0.5 * y
    for n in (1, 3, 700):
        assert grouped([z], [x, y, row], random(n, 4), random(n, 4) + 1.0, random(4)) == ["_Elementwise"]
    assert grouped([z], [x, y, row], random(0, 4), random(0, 4), random(4)) == ["_Elementwise"]


def test_tensors_of_unknown_sizes_that_turn_out_to_broadcast_do():
    x, y = placeholders(2, None, None)
    z = tf.sigmoid(x + y) * x
    for left, right in [((3, 4), (3, 4)), ((1, 4), (3, 4)), ((3, 1), (1, 4)), ((3, 4), (3, 1))]:
        assert grouped([z], [x, y], random(*left), random(*right)) == ["_Elementwise"]
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        sess.run(z, {x: random(3, 4), y: random(2, 4)})


def test_parts_of_tensors_with_unknown_rows_need_no_copies():
    x, y = tf.placeholder(tf.float32, [None, 8]), tf.placeholder(tf.float32, [None, 4])
    left, right = tf.split(x, 2, axis=1)
    joined = tf.concat([tf.sigmoid(left) * y, tf.tanh(right) - y], axis=1)
    assert grouped([joined, joined + 1.0], [x, y], random(3, 8), random(3, 4))[0] == "_Elementwise"


def test_exponentials_and_logarithms_hold_at_the_ends_of_their_ranges():
    x = tf.placeholder(tf.float32, [None])
    numbers = [0.0, -0.0, 1e-20, -1e-7, 1e-7, 0.5, -0.5, 1.0, -1.0, 3.0, 20.0, 88.0, 88.9, 200.0, -87.0, -90.0, -103.0, -200.0, 3e38]
    numbers = np.float32([*numbers, -0.999999, np.inf, -np.inf, np.nan, -2.0])
    with tf.Session() as sess, np.errstate(all="ignore"):
        found = sess.run([tf.exp(x * 1.0), tf.log1p(x * 1.0), tf.abs(x * 1.0)], {x: numbers})
        for got, want in zip(found, (np.exp(numbers), np.log1p(numbers), np.abs(numbers))):
            # What has not all its digits is zero.
            np.testing.assert_allclose(got, want, rtol=3e-6, atol=np.finfo(np.float32).tiny)


@pytest.mark.parametrize("threads", [1, 3])
def test_two_ops_on_large_tensors_are_one_in_several_threads(threads):
    x = tf.placeholder(tf.float32, [301, 300])
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        assert grouped([tf.tanh(x * 0.5)], [x], random(301, 300)) == ["_Elementwise"]
    finally:
        torch.set_num_threads(before)


def test_a_row_serves_all_rows_and_what_is_filled_is_a_number():
    x, row = tf.placeholder(tf.float32, [4, 5]), tf.placeholder(tf.float32, [5])
    y = tf.tanh((x + row) * row) - tf.fill([4, 5], 0.25)
    assert grouped([y], [x, row], random(4, 5), random(5)) == ["_Elementwise"]


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
        a, b = random(2, 3), random(2, 3)[:, ::-1]
        np.testing.assert_allclose(sess.run(z, {x: a, y: b}), np.tanh((a + b) * 2) - a, rtol=1e-5, atol=1e-6)
        with pytest.raises(tf.errors.InvalidArgumentError, match="must have the same size and shape"):
            sess.run(z, {x: a, y: random(3, 3)})
        np.testing.assert_allclose(sess.run(z, {x: a, y: b}), np.tanh((a + b) * 2) - a, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("columns", [3, 64, 300, 700])
def test_a_number_for_each_row_and_one_for_all_are_spread(columns):
    x, y = placeholders(2, 37, columns)
    mean, scale, row = tf.placeholder(tf.float32, [37, 1]), tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [columns])
    z = tf.squared_difference(x, mean) * scale + row * y
    given = random(37, columns), random(37, columns), random(37, 1), np.float32(1.5), random(columns)
    assert grouped([z, z - mean], [x, y, mean, scale, row], *given) == ["_Elementwise"]


def test_numbers_for_rows_of_unknown_sizes_are_spread_where_they_fit():
    x = tf.placeholder(tf.float32, [None, 7, 20])
    mean = tf.placeholder(tf.float32, [None, 7, 1])
    z = tf.square(x - mean) / 3.0
    for rows in (4, 1):
        assert grouped([z], [x, mean], random(4, 7, 20), random(rows, 7, 1)) == ["_Elementwise"]


def test_filled_tensors_are_there_where_shapes_are_not_as_they_seemed(session):
    rows, c = tf.placeholder(tf.float32, [None, 300]), tf.placeholder(tf.float32, [2000, 300])
    found = tf.exp(rows * tf.fill([2000, 300], 2.0) + c) - tf.ones([2000, 300]) * rows
    for count in (2000, 1):
        assert session.run(found, {rows: np.zeros((count, 300)), c: np.zeros((2000, 300))}).sum() == 600000


def test_a_group_whose_input_another_group_makes_computes_node_by_node_where_sizes_differ():
    x, y = tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.float32, [None, 4])
    squares = tf.square(y) + 1.0
    rows = tf.tanh(x) * 2.0
    result = tf.sigmoid(squares) * rows + y
    given, many = np.array([[0.5]], np.float32), np.arange(12, dtype=np.float32).reshape(3, 4)
    expected = 1 / (1 + np.exp(-(many**2 + 1))) * (np.tanh(given) * 2) + many
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(result, {x: given, y: many}), expected, rtol=1e-6)
        np.testing.assert_allclose(session.run(result, {x: np.tile(given, (3, 1)), y: many}), expected, rtol=1e-6)


def test_a_group_of_what_is_only_filled_takes_no_input(session):
    x = tf.placeholder(tf.float32, [3000])
    (gradient,) = tf.gradients(-tf.reduce_mean(-x), x)
    filled = tf.fill([3000], 2.0)
    assert session.run(gradient * 3000.0, {x: np.zeros(3000, np.float32)}).tolist() == [1.0] * 3000
    assert grouped([tf.exp(-tf.sqrt(filled) * filled)], []) == ["_Elementwise"]


@pytest.mark.parametrize("dims", [(37, 5), (3, 700), (130, 64), (2, 3, 9), (600,), (1, 1300)])
@pytest.mark.parametrize("reduce", [tf.reduce_sum, tf.reduce_mean])
@pytest.mark.parametrize("keep", [False, True])
def test_sums_of_what_a_group_gives_are_part_of_it(dims, reduce, keep):
    x, y = placeholders(2, *dims)
    z = x * y + 0.5
    axes = [-1, list(range(len(dims) - 1)) or 0, list(range(len(dims)))]
    found = [reduce(z, axis, keepdims=keep) for axis in axes]
    assert grouped([*found, tf.tanh(z)], [x, y], random(*dims), random(*dims)) == ["_Elementwise"]


@pytest.mark.parametrize("threads", [1, 3])
def test_long_sums_stay_exact_in_any_number_of_threads(threads):
    x = tf.placeholder(tf.float32, [None, 5])
    z = x * 1.0 + 0.0
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with tf.Session() as sess:
            columns, everything = sess.run([tf.reduce_sum(z, 0), tf.reduce_mean(z)], {x: np.full([300001, 5], 0.1, np.float32)})
    finally:
        torch.set_num_threads(before)
    np.testing.assert_allclose(columns, 30000.1, rtol=1e-5)
    np.testing.assert_allclose(everything, 0.1, rtol=1e-5)


ROWS = [(6, 40), (1, 7), (37, 3), (2, 3, 5), (67, 513), (4, 1031), (9, 2048)]


@pytest.mark.parametrize("dims", ROWS)
def test_what_needs_the_sum_of_its_row_is_of_the_group(dims):
    x = placeholders(1, *dims)[0]
    weights = tf.exp(x * 0.5 - tf.reduce_max(x, -1, keepdims=True))
    softmax = weights / tf.reduce_sum(weights, -1, keepdims=True)
    entropy = -tf.reduce_sum(softmax * tf.log(softmax), -1, keepdims=True)
    assert grouped([softmax, entropy, softmax - entropy], [x], random(*dims)) == ["_Elementwise"]


def normalized(x):
    """Layer normalization, a loss, and its gradients."""
    scale, offset = (tf.placeholder_with_default(tf.cast(random(int(x.shape[-1])) + i, x.dtype), x.shape[-1:]) for i in (1, 0))
    mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
    y = tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)
    loss = tf.reduce_sum(tf.tanh(y) * y)
    return [y, mean, loss, *tf.gradients(loss, [x, scale, offset])]


@pytest.mark.parametrize("dims", [*ROWS, (11, 1), (2, 5000)])
@pytest.mark.parametrize("unknown", [False, True])
def test_layer_normalization_and_its_gradients_agree_with_float64(dims, unknown, session):
    given = random(*dims)
    found, expected = (
        session.run(normalized(x), {x: given})
        for x in (tf.placeholder(dtype, (None, *dims[1:]) if unknown else dims) for dtype in (tf.float32, tf.float64))
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("dims", [(64, 48), (None, 48), (None, 5, 48)])
def test_layer_normalization_and_its_gradients_are_one_pass_over_the_rows(dims, session):
    x = tf.placeholder(tf.float32, dims)
    kinds = types(session._runner(normalized(x), {x: None}).step)
    assert kinds.count("_Elementwise") == 1 and not {"Mean", "Sum", "Reshape"} & set(kinds)


@pytest.mark.parametrize("threads", [1, 3])
def test_rows_are_shared_among_threads(threads):
    x, row = tf.placeholder(tf.float32, [301, 300]), tf.placeholder(tf.float32, [300])
    norm = x * tf.rsqrt(tf.reduce_sum(tf.square(x), -1, keepdims=True)) * row
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        assert grouped([norm, tf.reduce_sum(norm, 0)], [x, row], random(301, 300), random(300)) == ["_Elementwise"]
    finally:
        torch.set_num_threads(before)


def test_not_a_number_in_a_row_is_the_largest_of_it():
    x = tf.placeholder(tf.float32, [3, 600])
    given = random(3, 600)
    given[1, 550] = np.nan
    given[2] = -np.inf
    grouped([x * 2.0 - tf.reduce_max(x, -1, keepdims=True), tf.reduce_max(x, -1, keepdims=True) + 1.0], [x], given)


def test_a_row_sum_that_is_taken_for_a_row_comes_before():
    x = placeholders(1, 6, 6)[0]
    total = tf.reduce_sum(x * x, -1)
    assert grouped([x * 2.0 + total], [x], random(6, 6)) == ["_Elementwise", "_Elementwise"]


def test_a_few_long_rows_are_summed_up_by_all_threads():
    x = placeholders(1, 2, 5000)[0]
    assert "Sum" in grouped([x * 2.0 / tf.reduce_sum(x, -1, keepdims=True)], [x], random(2, 5000))


def test_numbers_of_rows_that_do_not_fit_take_the_kernels_way():
    x, few = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 1])
    scale = tf.sqrt(tf.reduce_mean(tf.square(x), -1, keepdims=True)) + few
    for rows, numbers in ((3, 3), (3, 1), (1, 3), (700, 700)):
        grouped([x / scale, scale], [x, few], random(rows, 4), random(numbers, 1) ** 2 + 1.0)


def test_a_factor_of_one_changes_nothing():
    x, y = placeholders(2, 5, 6)
    one = tf.ones([5, 6])
    same_x = x * one
    joined = tf.concat([y * 1.0, tf.tanh(x)], 1)
    assert "_Elementwise" in grouped([same_x, same_x + y / 1.0, joined], [x, y], random(5, 6), random(5, 6))


def test_sums_of_sums_and_of_what_is_joined_are_not_of_the_group():
    x = placeholders(1, 6, 6)[0]
    z = tf.square(x) + 1.0
    total = tf.reduce_sum(z, -1, keepdims=True)
    joined = tf.concat([tf.exp(z), tf.tanh(z)], 1)
    fetched = [tf.reduce_sum(total, -1), tf.reduce_sum(joined, -1), tf.concat([total, tf.exp(total)], 1)]
    assert grouped(fetched, [x], random(6, 6)).count("Sum") == 2


def test_sums_along_other_axes_and_of_unknown_axes_are_not_of_the_group():
    x, axis = placeholders(1, 4, 5, 6)[0], tf.placeholder(tf.int32, [])
    z = tf.square(x) + 1.0
    after = grouped([tf.reduce_sum(z, 1), tf.reduce_sum(z, axis), tf.reduce_sum(z, [])], [x, axis], random(4, 5, 6), np.int32(1))
    assert after.count("Sum") == 3


def test_sums_of_unknown_sizes_are_right_for_those_that_come():
    x, mean = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 1])
    z = tf.squared_difference(x, mean) * 2.0
    fetched = [tf.reduce_mean(z, -1), tf.reduce_sum(z, 0), tf.reduce_sum(z)]
    for rows, means in ((3, 3), (700, 700), (3, 1), (1, 3)):
        assert grouped(fetched, [x, mean], random(rows, 4), random(means, 1)) == ["_Elementwise"]
    assert grouped(fetched[1:], [x, mean], random(0, 4), random(0, 1)) == ["_Elementwise"]


def test_a_single_op_is_computed_where_its_result_is_used():
    x, y = placeholders(2, 40, 40)
    centred = x - tf.reduce_mean(x, -1, keepdims=True)
    early = y * 2.0
    late = tf.tanh(tf.matmul(centred, y) + 1.0) * early
    assert grouped([late], [x, y], random(40, 40), random(40, 40) + 1.0) == ["_Elementwise", "MatMul", "_Elementwise"]
    assert grouped([late, early], [x, y], random(40, 40), random(40, 40) + 1.0).count("Mul") <= 1


def stored(fetches, feeds):
    """How many tensors groups leave for others, of two axes of which the last is longer than one."""
    step = compiled(fetches, feeds, (group_elementwise,))
    results = [v for call in step.calls if call.node.type == "_Elementwise" for v in call.node.outputs]
    return len([v for v in results if v.dims is not None and len(v.dims) == 2 and v.dims[1] != 1])


def test_what_is_sooner_computed_than_read_is_computed_again():
    x, w = placeholders(2, 70, 70)
    scaled, scale = x * 0.5, tf.rsqrt(tf.reduce_mean(tf.square(x), -1, keepdims=True) + 1.0)
    spread = scale * tf.constant(random(70))
    h = tf.tanh(scaled) * spread
    late = tf.sigmoid(tf.matmul(h, w) + scaled) * spread
    assert grouped([late], [x, w], random(70, 70), random(70, 70) + 1.0) == ["_Elementwise", "MatMul", "_Elementwise"]
    assert stored([late], [x, w]) == 2
    assert grouped([late, spread], [x, w], random(70, 70), random(70, 70) + 1.0) == ["_Elementwise", "MatMul", "_Elementwise"]
    assert stored([late, spread], [x, w]) == 3


def test_of_two_tensors_that_would_have_to_be_kept_their_sum_is():
    x, y, w = placeholders(3, 70, 70)
    total = x + y
    late = tf.tanh(tf.matmul(tf.exp(total), w)) * total
    assert stored([late], [x, y, w]) == 3


def test_one_op_and_the_sum_of_what_it_gives_are_one_pass_over_memory():
    x, y = tf.placeholder(tf.float32, [5, 1]), tf.placeholder(tf.float32, [5, 40])
    assert grouped([tf.reduce_sum(x * y)], [x, y], random(5, 1), random(5, 40)) == ["_Elementwise"]


@pytest.mark.parametrize("rows", [3, None])
def test_angles_roundings_and_slopes_are_in_groups_and_so_are_their_gradients(rows):
    x = tf.placeholder(tf.float32, [rows, 5])
    y = tf.sin(x) * tf.cos(2.0 * x) + tf.atan(x) * tf.nn.softsign(x) - tf.nn.leaky_relu(x * tf.abs(x), 0.3) + tf.asin(tf.sin(x) * 0.5)
    y += tf.floor(x * 3.0) + tf.ceil(x * 2.0) * tf.round(x) + tf.sign(x) * tf.tan(x) + tf.sinh(x) * tf.cosh(x)
    after = grouped([y, *tf.gradients(y, x)], [x], random(3, 5))
    assert set(after) == {"_Elementwise"} if rows else "_Elementwise" in after


def test_powers_are_in_groups_small_whole_ones_as_products():
    x, y = placeholders(2, 40, 5)
    z = x**2 + x**3 * 0.5 + tf.abs(y) ** 0.5 + (tf.abs(x) + 1.0) ** y + (y + 5.0) ** -1 + x**4
    after = grouped([z, *tf.gradients(z, x), x**1.0], [x, y], random(40, 5), random(40, 5) + 0.5)
    assert set(after) == {"Sub", "_Elementwise"}


@pytest.mark.parametrize("dims", [(5,), (3, 4), (37, 5), (3, 700), (2, 3, 1300)])
def test_truths_are_in_groups(dims):
    x, y = placeholders(2, *dims)
    error = tf.abs(x - y)
    huber = tf.where(error < 0.5, 0.5 * tf.square(error), 0.5 * error - 0.125)
    outside = tf.logical_or(tf.logical_not(tf.greater(x, y)), tf.logical_and(tf.is_finite(x), tf.not_equal(y, 0.25)))
    z = (
        huber
        + tf.cast(outside, tf.float32) * tf.clip_by_value(x, -0.2, 0.3)
        + tf.raw_ops.ClipByValue(t=y, clip_value_min=x, clip_value_max=2.0)
    )
    z += tf.where_v2(x >= 0.1, tf.maximum(x, y), -1.0)
    assert grouped([z, tf.gradients(huber, x)[0]], [x, y], random(*dims), random(*dims) + 0.1) == ["_Elementwise"]


def test_the_gradients_of_extremes_are_in_groups(session):
    x, y = placeholders(2, 9, 70)
    z = tf.maximum(tf.sin(x), y) * tf.minimum(x, 0.5)
    a, b = random(9, 70), random(9, 70) + 0.1
    gradient = tf.gradients(z, x)[0]
    assert "_Elementwise" in grouped([gradient], [x, y], a, b)
    expected = (np.sin(a) >= b) * np.cos(a) * np.minimum(a, 0.5) + (a <= 0.5) * np.maximum(np.sin(a), b)
    np.testing.assert_allclose(session.run(gradient, {x: a, y: b}), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("columns", [1, 3, 64, 300, 700, 1300])
@pytest.mark.parametrize("threads", [1, 3])
def test_truths_come_and_go_as_bytes(columns, threads):
    x = tf.placeholder(tf.float32, [37, columns])
    kinds = [(37, columns), (columns,), (37, 1), ()]
    masks = [tf.placeholder(tf.bool, dims) for dims in kinds]
    scaled = x * 2.0
    found = [tf.where_v2(mask, scaled, x + 1.0) for mask in masks]
    peak = tf.reduce_max(scaled, -1, keepdims=True)
    found += [scaled >= peak, tf.greater(peak, 0.5), tf.cast(scaled < 0.25, tf.float32) - peak]
    found += [tf.reduce_sum(tf.cast(tf.greater(x, 0.0), tf.float32), 0), tf.reduce_mean(tf.cast(masks[0], tf.float32) * x)]
    given = [random(37, columns), *[np.random.RandomState(1).rand(*dims) > 0.5 for dims in kinds]]
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        assert "_Elementwise" in grouped(found, [x, *masks], *given)
    finally:
        torch.set_num_threads(before)


def test_truths_of_unknown_sizes_and_conditions_that_choose_rows():
    x, mask = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.bool, [None])
    rows = tf.where(mask, x * 2.0, tf.zeros_like(x))
    chosen = tf.where(tf.equal(x, 0.5), tf.exp(x), tf.ones_like(x) - x)
    for count in (3, 1, 5):
        given = random(count, 3)
        assert grouped([rows], [x, mask], given, np.arange(count) % 2 == 0) == ["_Elementwise", "Select"]
        assert "_Elementwise" in grouped([chosen, *tf.gradients(chosen, x)], [x], given)


def test_what_has_truths_alone_stays_as_it_is():
    x, y = (tf.placeholder(tf.bool, [3, 4]) for _ in range(2))
    after = grouped([tf.logical_and(tf.logical_not(x), y)], [x, y], np.eye(3, 4) > 0, np.eye(3, 4) < 1)
    assert after == ["LogicalNot", "LogicalAnd"]


def test_a_number_where_a_tensor_is_needed_is_still_refused():
    x = tf.placeholder(tf.float32, [None, None])
    y = tf.placeholder(tf.float32, None)
    y.set_shape([None, None])
    z = tf.where(x > 0.0, x * 2.0, y * 1.0)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="must have the same size and shape"):
        session.run(z, {x: random(3, 4), y: random(1, 1)})


def test_members_are_counted_once_for_each_group_that_they_are_tried_in(monkeypatch):
    """Planning a chain takes time that grows with its length, also where it becomes few long groups."""
    added, add = [], elementwise_groups._Group.add
    monkeypatch.setattr(elementwise_groups._Group, "add", lambda group, node: (added.append(node), add(group, node))[1])
    x = y = tf.placeholder(tf.float32, [None, 8])
    for _ in range(100):
        y = tf.tanh(y * 1.5)
    step = compiled([y], [x], [group_elementwise])
    assert types(step) == ["_Elementwise"] * len(step.calls) and len(step.calls) < 4
    assert len(added) <= 4 * 200
