"""What is known of tensors before anything runs."""

import numpy as np
import pytest

import everflow as tf
from everflow.graph.constants import try_evaluate_constant


def test_sizes_that_were_unpacked():
    _, columns = tf.unstack(tf.shape(tf.zeros([2, 3])))
    assert tf.range(columns).shape.as_list() == [3]


def test_predicates_that_do_not_vary():
    fixed = tf.equal(tf.shape(tf.zeros([2, 3]))[0] * 3, 6)
    assert try_evaluate_constant(fixed.graph._c_graph, fixed._as_tf_output()) == np.True_
    assert try_evaluate_constant(tf.get_default_graph()._c_graph, tf.placeholder(tf.bool, [])._as_tf_output()) is None


def test_sparse_tensors_are_taken_for_slices():
    sparse = tf.SparseTensor([[0]], [1.0], [2])
    assert tf.convert_to_tensor_or_indexed_slices(sparse, tf.float32) is sparse


def test_the_axis_of_softmax_may_be_a_number_of_numpys():
    assert tf.nn.log_softmax(tf.zeros([2, 3]), axis=np.int64(1)).op.type == "LogSoftmax"


def test_shapes_of_shapes(session):
    sizes = tf.placeholder(tf.int32, [None])
    shape = tf.shape(tf.ones(tf.concat([sizes, tf.shape(sizes)], 0)))
    assert session.run(tf.shape(shape), {sizes: [2, 3]}).tolist() == [3]


@pytest.mark.parametrize(
    "size, expected",
    [
        (lambda s: s // 2, [2, 3, 2]),
        (lambda s: tf.cast(tf.ceil(tf.cast(s, tf.float32) / 2.0), tf.int32), [2, 4, 3]),
        (lambda s: tf.reverse(s, [0]), [5, 7, 4]),
        (lambda s: tf.gather(s, [2, 0]), [5, 4]),
        (lambda s: tf.where(s > 4, s, s * 2), [8, 7, 5]),
        (lambda s: tf.boolean_mask(s, [True, False, True]), [4, 5]),
        (lambda s: tf.unique([3, 3, 4]).y, [3, 4]),
        (lambda s: [tf.cast(tf.reduce_sum(tf.cast(s, tf.float32)), tf.int32)], [16]),
    ],
)
def test_static_shapes_follow_from_what_any_op_computes(size, expected):
    x = tf.placeholder(tf.float32, [4, 7, 5])
    assert tf.zeros(size(tf.shape(x))).shape.as_list() == expected


def test_sizes_that_may_be_fed_or_vary_are_not_static():
    assert tf.zeros(tf.negative(tf.placeholder_with_default([-2, -3], [2]))).shape.as_list() == [None, None]
    assert tf.zeros(tf.random_uniform([2], 1, 5, tf.int32)).shape.as_list() == [None, None]
    assert tf.zeros(tf.negative(tf.get_variable("v", initializer=[-2]))).shape.as_list() == [None]


def test_values_used_often_are_computed_once():
    size = tf.constant([1.0])
    for _ in range(30):
        size = tf.sqrt(size) * tf.sqrt(size)
    assert tf.zeros(tf.cast(size, tf.int32)).shape.rank == 1  # two to the thirtieth ways lead to the first


def test_what_can_not_be_computed_is_left_to_the_run():
    sizes = tf.gather([1, 2], tf.identity(7))
    assert tf.zeros([sizes]).shape.as_list() == [None]


def test_permutations_that_follow_from_a_rank_are_known_to_shapes():
    x = tf.placeholder(tf.float32, [None, 1, 4, 3])
    rank = tf.rank(x)
    wrapped = [-1, 0, 2] % rank
    order = tf.concat([wrapped[:1], tf.range(1, rank - 1), wrapped[1:2]], 0)
    assert tf.transpose(x, order).shape.as_list() == [3, 1, 4, None]


def test_values_that_were_computed_are_not_told():
    assert tf.contrib.util.constant_value(tf.range(tf.rank(tf.zeros([2, 3])) - 1)) is None
    assert tf.contrib.util.constant_value(tf.range(3)).tolist() == [0, 1, 2]


def test_sizes_of_what_is_computed_of_constants_are_known_to_shapes():
    words = tf.string_split(["a b c"]).values
    chosen = tf.where(tf.constant([True, False, True]))
    assert words.shape.as_list() == [None]
    assert tf.zeros([tf.size(words) + 1]).shape.as_list() == [4]
    assert tf.zeros([tf.shape(chosen)[0]]).shape.as_list() == [2]
    assert tf.zeros(tf.strings.length(["ab", "cde"])).shape.as_list() == [2, 3]
    assert tf.zeros(tf.cast(tf.shape(chosen), tf.int64)).shape.as_list() == [2, 1]


def test_shapes_that_are_taken_whole_say_what_is_known_statically():
    chosen = tf.where(tf.constant([True, False, True]))
    assert tf.zeros(tf.shape(chosen)).shape.as_list() == [None, 1]
    assert tf.zeros(tf.shape(chosen)[:1]).shape.as_list() == [None]
    assert tf.zeros(tf.concat([tf.shape(chosen), [5]], 0)).shape.as_list() == [None, 1, 5]


def test_branches_compute_no_sizes_of_outer_constants():
    """A branch that is not taken may be wrong for what is known outside."""
    sizes, wrong = tf.constant([2, 3]), tf.constant([4, 4]) * 1
    x, chosen = tf.placeholder(tf.float32, [6]), tf.placeholder(tf.bool)
    found = {}

    def branch():
        found["given"] = tf.reshape(x, sizes).shape.as_list()
        found["computed"] = tf.reshape(tf.placeholder(tf.float32), sizes + 0).shape.as_list()
        return tf.reshape(x, [-1, wrong[0]])

    for never in (chosen, tf.constant(False), tf.less(5, sizes[0])):
        tf.cond(never, branch, lambda: x)
        assert found == {"given": [2, 3], "computed": [None, None]}
    tf.cond(tf.constant(True), lambda: x, branch)
    with pytest.raises(ValueError, match="evenly divisible by 4"):
        tf.cond(tf.constant(True), branch, lambda: x)
    assert found["computed"] == [2, 3]


def test_what_is_known_of_tensors_that_are_stacked_is_told_where_asked():
    unknown = tf.placeholder(tf.int32, [])
    assert tf.get_static_value(tf.stack([1, unknown])) is None
    assert tf.get_static_value(tf.stack([1, unknown, 3]), partial=True).tolist() == [1, None, 3]
    assert tf.get_static_value(tf.stack([[1, 2], [unknown, 3]]), partial=True).tolist() == [[1, 2], [None, 3]]
    assert tf.get_static_value(tf.stack([[1, 2], [3, 4]], axis=1), partial=True) is None
