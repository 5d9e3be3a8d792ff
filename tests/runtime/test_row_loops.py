"""Loops that take the rows of a batch natively through all iterations give what iterations one by one give."""

import numpy as np
import pytest

import everflow as tf
from everflow.runtime import row_loops

CELLS = {
    "basic": lambda: tf.nn.rnn_cell.BasicRNNCell(5),
    "relu": lambda: tf.nn.rnn_cell.BasicRNNCell(5, activation=tf.nn.relu),
    "gru": lambda: tf.nn.rnn_cell.GRUCell(17),
    "lstm": lambda: tf.nn.rnn_cell.LSTMCell(33),
    "peepholes": lambda: tf.nn.rnn_cell.LSTMCell(7, use_peepholes=True),
    "projection": lambda: tf.nn.rnn_cell.LSTMCell(9, num_proj=4),
    "basic lstm": lambda: tf.nn.rnn_cell.BasicLSTMCell(16),
    "two layers": lambda: tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(6), tf.nn.rnn_cell.LSTMCell(5)]),
    "residual": lambda: tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.GRUCell(4)),
}


def values(*shape, seed=0):
    return np.random.RandomState(seed).randn(*shape).astype(np.float32)


def bodies(sess):
    """For each loop that ran, the body that runs by rows, or None."""
    return [steps.rows for loop in sess._context.loops.values() for steps in loop.compiled.values()]


def both_ways(fetches, feed, monkeypatch):
    """What a run gives by rows, and one iteration after the other; and how often rows were taken through iterations."""
    ran = []
    original = row_loops.Iterations.run
    monkeypatch.setattr(row_loops.Iterations, "run", lambda self: (original(self), ran.append(self.steps))[0])
    found = []
    for may_take in (row_loops.RowBody.may_take, lambda self, values: False):
        with monkeypatch.context() as patch, tf.Session() as sess:
            patch.setattr(row_loops.RowBody, "may_take", may_take)
            tf.set_random_seed(3)
            sess.run(tf.global_variables_initializer())
            found.append([sess.run(fetches, feed), sess.run(fetches, feed)])
    (by_rows, again), (one_by_one, _) = found
    for a, b, c in zip(by_rows, again, one_by_one):
        # MKL adds up in another order where a matrix begins elsewhere in memory.
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(a, c, rtol=2e-4, atol=2e-5)
    return ran


def network(cell, x, **options):
    """Outputs, last states, and the gradients for everything that there is."""
    tf.set_random_seed(3)
    outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, **options)
    loss = tf.reduce_sum(outputs * outputs) + sum(tf.reduce_sum(tf.sin(t)) for t in tf.contrib.framework.nest.flatten(state))
    return [outputs, *tf.contrib.framework.nest.flatten(state), *tf.gradients(loss, [x, *tf.trainable_variables()])]


@pytest.mark.parametrize("rows", [1, 3, 14])
@pytest.mark.parametrize("cell", CELLS)
def test_recurrent_networks(cell, rows, monkeypatch):
    x = tf.placeholder(tf.float32, [None, None, 4])
    ran = both_ways(network(CELLS[cell](), x), {x: values(rows, 6, 4)}, monkeypatch)
    # Forward and backward, in two runs.
    assert ran == [6] * 4


@pytest.mark.parametrize("cell", ["basic", "gru", "lstm", "two layers"])
def test_sequences_of_different_lengths(cell, monkeypatch):
    x, lengths = tf.placeholder(tf.float32, [None, None, 4]), tf.placeholder(tf.int32, [None])
    fetches = network(CELLS[cell](), x, sequence_length=lengths)
    assert both_ways(fetches, {x: values(5, 6, 4), lengths: [3, 0, 6, 1, 5]}, monkeypatch) == [6] * 4


def test_many_iterations_run_in_portions(monkeypatch):
    monkeypatch.setattr(row_loops, "MOST_STEPS", 4)
    x = tf.placeholder(tf.float32, [None, None, 4])
    assert both_ways(network(CELLS["lstm"](), x), {x: values(3, 10, 4)}, monkeypatch) == [4, 4, 2] * 4


def test_loops_that_do_not_run_at_all(monkeypatch):
    x, w, count = tf.placeholder(tf.float32, [3, 4]), tf.placeholder(tf.float32, [4, 4]), tf.placeholder(tf.int32, [])
    y = tf.while_loop(lambda i, h: i < count, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w))), [0, x])[1]
    assert both_ways([y, *tf.gradients(y, [x, w])], {x: values(3, 4), w: values(4, 4), count: 0}, monkeypatch) == []


def test_what_stays_the_same_may_be_a_row_for_all_a_number_for_each_or_a_constant(monkeypatch):
    x, w = tf.placeholder(tf.float32, [None, 4]), tf.constant(values(4, 4, seed=1))
    row, column = tf.placeholder(tf.float32, [4]), tf.placeholder(tf.float32, [None, 1])

    def body(i, h):
        return i + 1, tf.tanh(tf.matmul(h, w) * column + row * 0.5 + tf.constant([1.0, 2.0, 3.0, 4.0]) - h)

    y = tf.while_loop(lambda i, h: i < 5, body, [0, x])[1]
    feed = {x: values(6, 4), row: values(4, seed=2), column: values(6, 1, seed=3)}
    assert both_ways([y, *tf.gradients(y, [x, row, column, w])], feed, monkeypatch)[0] == 5


def test_two_products_of_one_state(monkeypatch):
    x, v, w = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [4, 3]), tf.placeholder(tf.float32, [3, 4])
    y = tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(tf.matmul(tf.sigmoid(tf.matmul(h, v)), w)) + h), [0, x])[1]
    assert both_ways([y, *tf.gradients(y, [x, v, w])], {x: values(5, 4), v: values(4, 3), w: values(3, 4)}, monkeypatch) == [3] * 4


def test_two_variables_that_become_the_same_differ_at_first(monkeypatch):
    x, w = tf.placeholder(tf.float32, [3, 4]), tf.placeholder(tf.float32, [4, 4])

    def body(i, g, h):
        new = tf.tanh(tf.matmul(g, w) + 2.0 * h)
        return i + 1, new, new

    y = tf.while_loop(lambda i, g, h: i < 3, body, [0, x, x * x])[1]
    both_ways([y, *tf.gradients(y, [x, w])], {x: values(3, 4), w: values(4, 4)}, monkeypatch)


def test_counters_may_go_down_and_be_used(monkeypatch):
    x, w = tf.placeholder(tf.float32, [7, 3, 4]), tf.placeholder(tf.float32, [4, 4])
    y = tf.while_loop(lambda i, h: i >= 0, lambda i, h: (i - 1, tf.tanh(x[i] + tf.matmul(h, w))), [6, tf.zeros([3, 4])])[1]
    ran = both_ways([y, *tf.gradients(y, [w])], {x: values(7, 3, 4), w: values(4, 4)}, monkeypatch)
    assert ran == [7] * 4


def test_a_condition_that_looks_at_the_rows_is_asked_in_each_iteration(session):
    x, w = tf.placeholder(tf.float32, [2, 2]), tf.eye(2) * 2.0
    y = tf.while_loop(lambda h: tf.reduce_max(h) < 20.0, lambda h: (tf.matmul(h, w),), [x])
    assert session.run(y, {x: [[1, 2], [3, 4]]}).tolist() == [[8, 16], [24, 32]]
    assert bodies(session) == [None]


def test_rows_that_see_each_other_do_not_run_alone(session):
    x = tf.placeholder(tf.float32, [2, 2])
    y = tf.while_loop(lambda i, h: i < 2, lambda i, h: (i + 1, tf.nn.relu(h) - tf.reduce_mean(h, 0)), [0, x])[1]
    assert session.run(y, {x: [[1, 2], [3, 4]]}).tolist() == [[0, 0], [1, 1]]
    assert bodies(session) == [None]


def test_an_array_that_is_read_and_written_keeps_its_order(session):
    """Each iteration reads what the one before it wrote."""
    w = tf.placeholder(tf.float32, [2, 2])

    def body(i, h, array):
        h = tf.matmul(h, w) + array.read(i)
        return i + 1, h, array.write(i + 1, h)

    array = tf.TensorArray(tf.float32, 4, clear_after_read=False).write(0, tf.ones([3, 2]))
    _, h, array = tf.while_loop(lambda i, h, a: i < 3, body, [0, tf.zeros([3, 2]), array])
    found, all_of_them = session.run([h, array.stack()], {w: np.eye(2) * 2})
    assert found.tolist() == [[9, 9]] * 3
    assert all_of_them[:, 0, 0].tolist() == [1, 1, 3, 9]


def test_one_array_by_two_names_keeps_its_order(session):
    w = tf.placeholder(tf.float32, [2, 2])
    array = tf.TensorArray(tf.float32, 4, clear_after_read=False).unstack(tf.ones([4, 3, 2]))
    handle = array.handle
    other = tf.identity(handle)

    def body(i, h, flow):
        read = tf.raw_ops.TensorArrayReadV3(handle=other, index=i, flow_in=array.flow, dtype=tf.float32)
        read.set_shape([3, 2])
        h = tf.matmul(h, w) + read
        return i + 1, h, tf.raw_ops.TensorArrayWriteV3(handle=handle, index=i + 1, value=h, flow_in=flow)

    _, h, flow = tf.while_loop(lambda i, h, f: i < 3, body, [0, tf.zeros([3, 2]), array.flow])
    with pytest.raises(tf.errors.InvalidArgumentError, match="it has already been written to"):
        session.run([h, flow], {w: np.eye(2)})
    array = tf.TensorArray(tf.float32, 4, clear_after_read=False).write(0, tf.ones([3, 2]))
    handle, other = array.handle, tf.identity(array.handle)
    _, h, flow = tf.while_loop(lambda i, h, f: i < 3, body, [0, tf.zeros([3, 2]), array.flow])
    assert session.run([h, flow], {w: np.eye(2) * 2})[0].tolist() == [[9, 9]] * 3


def test_what_turns_out_to_have_another_shape_is_broadcast(monkeypatch):
    """Elements of an array may be of any shape: here one row for all."""
    x, sequence = tf.placeholder(tf.float32, [3, 2]), tf.placeholder(tf.float32, [4, None, 2])
    array = tf.TensorArray(tf.float32, 4).unstack(sequence)
    y = tf.while_loop(lambda i, h: i < 4, lambda i, h: (i + 1, tf.tanh(h + array.read(i)) * h), [0, x], [tf.TensorShape([]), x.shape])[1]
    found = both_ways([y, *tf.gradients(y, [x])], {x: values(3, 2), sequence: values(4, 1, 2)}, monkeypatch)
    assert found[0] == 4


def test_tensors_that_are_parts_of_others(monkeypatch):
    x, w = tf.placeholder(tf.float32, [3, 5, 4]), tf.placeholder(tf.float32, [4, 4])
    y = tf.while_loop(lambda i, h: i < 5, lambda i, h: (i + 1, tf.tanh(x[:, i, :] + tf.matmul(h, tf.transpose(w)))), [0, x[:, 0, :]])[1]
    assert both_ways([y, *tf.gradients(y, [x, w])], {x: values(3, 5, 4), w: values(4, 4)}, monkeypatch)


@pytest.mark.parametrize("time_major", [True, False])
def test_sequences_whose_rows_lie_apart(time_major, monkeypatch):
    """What is added and chosen from comes from the middle of rows; enough work for two threads."""
    x, w = tf.placeholder(tf.float32, [6, 20, 48] if time_major else [20, 6, 48]), tf.placeholder(tf.float32, [48, 48])
    sequence = x if time_major else tf.transpose(x, [1, 0, 2])
    lengths = tf.constant([i % 7 for i in range(20)])

    def body(i, h):
        new = tf.tanh(tf.matmul(h, w) + sequence[i])
        return i + 1, tf.where(i < lengths, new, sequence[i])

    y = tf.while_loop(lambda i, h: i < 6, body, [0, tf.zeros([20, 48])])[1]
    feed = {x: values(*x.shape.as_list()), w: 0.1 * values(48, 48, seed=1)}
    assert both_ways([y, *tf.gradients(y, [x, w])], feed, monkeypatch)[0] == 6


def unstacked(x, **options):
    return tf.TensorArray(tf.float32, x.shape[0], **options).unstack(x)


ORDERS = {
    "forwards": lambda i: i,
    "backwards": lambda i: 5 - i,
    "in between": lambda i: i + 1,
    "there and back": lambda i: tf.abs(2 - i),
    "one alone": lambda i: 3,
}


@pytest.mark.parametrize("order", ORDERS)
def test_arrays_are_read_and_written_in_any_order(order, monkeypatch):
    x = tf.placeholder(tf.float32, [7, 4, 3])
    array, result = unstacked(x, clear_after_read=False), tf.TensorArray(tf.float32, 6)

    def body(i, h, result):
        h = tf.tanh(h * array.read(ORDERS[order](i)) + 1.0)
        return i + 1, h, result.write(i if order == "forwards" else 5 - i, h)

    h, result = tf.while_loop(lambda i, *_: i < 6, body, [0, tf.ones([4, 3]), result])[1:]
    y = result.stack()
    found = both_ways([h, y, *tf.gradients([h, y * y], [x])], {x: values(7, 4, 3)}, monkeypatch)
    assert set(found) == {6}


def test_an_element_is_read_once(session):
    """Also where a loop reads many at once, before or after somebody else does."""
    x = tf.placeholder(tf.float32, [4, 3, 2])

    def loop(array):
        return tf.while_loop(lambda i, h: i < 4, lambda i, h: (i + 1, tf.tanh(h + array.read(i))), [0, tf.zeros([3, 2])])[1]

    array = unstacked(x)
    with tf.control_dependencies([loop(array)]):
        after = array.read(2)
    all_of_them = unstacked(x)
    with tf.control_dependencies([loop(all_of_them)]):
        stacked = all_of_them.stack()
    other = unstacked(x)
    with tf.control_dependencies([other.read(1)]):
        h = tf.zeros([3, 2])
    before = tf.while_loop(lambda i, h: i < 4, lambda i, h: (i + 1, tf.tanh(h + other.read(i))), [0, h])[1]
    for fetch in (after, stacked, before):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not read index . twice"):
            session.run(fetch, {x: values(4, 3, 2)})


def test_an_element_that_is_not_there_names_the_op(session):
    x = tf.placeholder(tf.float32, [4, 3, 2])
    array = unstacked(x)
    y = tf.while_loop(lambda i, h: i < 5, lambda i, h: (i + 1, tf.tanh(h + array.read(i, name="beyond"))), [0, tf.zeros([3, 2])])[1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Tried to read from index 4 but array size is: 4") as caught:
        session.run(y, {x: values(4, 3, 2)})
    assert caught.value.op.name.endswith("beyond")
    assert bodies(session)[0] is not None


def test_what_loops_keep_can_be_looked_at_as_lists(monkeypatch):
    """The lists that a loop fills by rows are read item by item, by another loop and by nobody."""
    monkeypatch.setattr(row_loops, "MOST_STEPS", 3)
    x, w = tf.placeholder(tf.float32, [3, 4]), tf.placeholder(tf.float32, [4, 4])
    items = tf.raw_ops.EmptyTensorList(element_shape=tf.constant([3, 4]), max_num_elements=-1, element_dtype=tf.float32)

    def body(i, h, items):
        h = tf.tanh(tf.matmul(h, w))
        return i + 1, h, tf.raw_ops.TensorListPushBack(input_handle=items, tensor=h)

    for steps in (2, 3, 5):
        h, filled = tf.while_loop(lambda i, *_: i < steps, body, [0, x, items])[1:]  # noqa: B023
        stacked = tf.raw_ops.TensorListStack(input_handle=filled, element_shape=tf.constant([3, 4]), element_dtype=tf.float32)
        shorter, top = tf.raw_ops.TensorListPopBack(input_handle=filled, element_shape=tf.constant([3, 4]), element_dtype=tf.float32)
        longer = tf.raw_ops.TensorListPushBack(input_handle=shorter, tensor=2 * top)
        again = tf.raw_ops.TensorListStack(input_handle=longer, element_shape=tf.constant([3, 4]), element_dtype=tf.float32)
        found = both_ways([h, stacked, again, *tf.gradients([h, stacked], [x, w])], {x: values(3, 4), w: values(4, 4)}, monkeypatch)
        assert sum(found[: len(found) // 2]) >= steps


def test_popping_more_than_there_is_fails(session):
    items = tf.raw_ops.EmptyTensorList(element_shape=tf.constant([2, 2]), max_num_elements=-1, element_dtype=tf.float32)
    items = tf.raw_ops.TensorListPushBack(input_handle=items, tensor=tf.ones([2, 2]))
    w = tf.placeholder(tf.float32, [2, 2])

    def body(i, h, items):
        items, top = tf.raw_ops.TensorListPopBack(input_handle=items, element_shape=tf.constant([2, 2]), element_dtype=tf.float32)
        return i + 1, tf.tanh(tf.matmul(h, w) + top), items

    y = tf.while_loop(lambda i, *_: i < 2, body, [0, tf.zeros([2, 2]), items])[1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Trying to pop from an empty list"):
        session.run(y, {w: np.eye(2)})


def test_a_variable_may_become_what_is_taken_from_a_list(monkeypatch):
    """The list is one that a loop over rows made: nobody else takes its items."""
    w = tf.placeholder(tf.float32, [2, 2])
    empty = tf.raw_ops.EmptyTensorList(element_shape=tf.constant([3, 2]), max_num_elements=-1, element_dtype=tf.float32)

    def push(i, h, items):
        h = tf.tanh(tf.matmul(h, w) + 1.0)
        return i + 1, h, tf.raw_ops.TensorListPushBack(input_handle=items, tensor=h)

    def pop(i, h, last, items):
        items, top = tf.raw_ops.TensorListPopBack(input_handle=items, element_shape=tf.constant([3, 2]), element_dtype=tf.float32)
        return i + 1, tf.tanh(tf.matmul(h, w) + top), top, items

    _, h, items = tf.while_loop(lambda i, *_: i < 4, push, [0, tf.zeros([3, 2]), empty])
    _, h, last, _ = tf.while_loop(lambda i, *_: i < 3, pop, [0, h, tf.zeros([3, 2]), items])
    assert both_ways([h, last], {w: values(2, 2)}, monkeypatch) == [4, 3] * 2


def test_errors_name_the_op(session):
    w = tf.placeholder(tf.float32, [2, 2])
    array = tf.TensorArray(tf.float32, 2).unstack(tf.ones([2, 3, 2]))
    y = tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.matmul(h, w) + array.read(i, name="lesen")), [0, tf.zeros([3, 2])])[1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="lesen"):
        session.run(y, {w: np.eye(2)})
    assert session.run(tf.constant(1)) == 1


def test_a_run_may_be_given_too_little_time():
    w = tf.placeholder(tf.float32, [2, 2])
    y = tf.while_loop(lambda i, h: i < 10**9, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w))), [0, tf.zeros([3, 2])])[1]
    with tf.Session() as sess, pytest.raises(tf.errors.DeadlineExceededError, match="Timed out"):
        sess.run(y, {w: np.eye(2)}, options=tf.RunOptions(timeout_in_ms=50))


def test_second_derivatives(monkeypatch):
    x, w = tf.placeholder(tf.float32, [3, 4]), tf.placeholder(tf.float32, [4, 4])
    y = tf.while_loop(lambda i, h: i < 4, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w))), [0, x])[1]
    first = tf.gradients(y, [w])[0]
    assert both_ways([first, *tf.gradients(first * first, [x, w])], {x: values(3, 4), w: values(4, 4)}, monkeypatch)
