"""Ragged tensors picked, reduced, converted and described; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import computed

import everflow as tf

R = tf.ragged
RT = tf.RaggedTensor


def rows():
    return R.constant([[3, 1], [], [2, 5, 4]])


def deep():
    return R.constant([[[1, 2], [3]], [], [[], [4, 5, 6]]])


def wide():
    return R.constant([[[1, 2], [3, 4]], [], [[5, 6]]], ragged_rank=1)


def short():
    return R.constant([[1], [2]], row_splits_dtype=tf.int32)


def unknown(value):
    return tf.placeholder_with_default(value, None)


def unsized(value):
    return tf.placeholder_with_default(value, [None] * np.ndim(value))


def floats():
    return R.constant([[1.0, 3.0], [], [2.0]])


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.one_hot(wide(), 2, axis=1), [[[[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]], [], [[[0.0, 0.0], [0.0, 0.0]]]]),
        (lambda: tf.one_hot(wide(), 2, axis=-1), [[[[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]], [], [[[0.0, 0.0], [0.0, 0.0]]]]),
        (lambda: tf.one_hot(wide(), 2, axis=-2), [[[[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]], [], [[[0.0, 0.0], [0.0, 0.0]]]]),
        (lambda: tf.one_hot(rows(), 2, axis=-1), [[[0.0, 0.0], [0.0, 1.0]], [], [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]]),
        (lambda: R.stack([[1, 2], [3, 4]]).shape, [2, 2]),
        (lambda: type(R.stack([[1, 2], [3, 4]])).__name__, "Tensor"),
        (lambda: type(R.stack([[[1, 2]], [[3, 4]]])).__name__, "RaggedTensor"),
        (lambda: type(tf.concat([rows(), rows()], 0)).__name__, "RaggedTensor"),
        (lambda: R.stack([[[1, 2]], [[3, 4]]]).shape, [2, None, None]),
    ],
)
def test_numbers_become_vectors(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.gather(deep(), [2, 0]), [[[], [4, 5, 6]], [[1, 2], [3]]]),
        (lambda: tf.gather(deep(), 2), [[], [4, 5, 6]]),
        (lambda: tf.gather(deep(), [[2, 2], [0, 1]]), [[[[], [4, 5, 6]], [[], [4, 5, 6]]], [[[1, 2], [3]], []]]),
        (lambda: tf.gather(wide(), [2, 0, 0]), [[[5, 6]], [[1, 2], [3, 4]], [[1, 2], [3, 4]]]),
        (lambda: tf.gather(rows(), R.constant([[2], [0, 1]])), [[[2, 5, 4]], [[3, 1], []]]),
        (lambda: tf.gather([1, 2, 3], R.constant([[2], [0, 1]])), [[3], [1, 2]]),
        (lambda: tf.gather(R.constant([["a"], ["b", "c"]]), [1]), [[b"b", b"c"]]),
        (lambda: tf.gather(short(), [1]).row_splits.dtype, "int32"),
    ],
)
def test_rows_are_picked_by_number(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.gather_nd(deep(), [[0, 1], [2, 1]]), [[3], [4, 5, 6]]),
        (lambda: tf.gather_nd(deep(), [[0, 1, 0], [2, 1, 2]]), [3, 6]),
        (lambda: tf.gather_nd(deep(), [2, 1]), [4, 5, 6]),
        (lambda: tf.gather_nd(deep(), [[2], [0]]), [[[], [4, 5, 6]], [[1, 2], [3]]]),
        (lambda: tf.gather_nd(wide(), [[0, 1], [2, 0]]), [[3, 4], [5, 6]]),
        (lambda: tf.gather_nd(wide(), [[0, 1, 0], [2, 0, 1]]), [3, 6]),
        (lambda: tf.gather_nd(rows(), [[[0, 1]], [[2, 0]]]), [[1], [2]]),
        (lambda: tf.gather_nd(rows(), R.constant([[[0, 1]], [[2, 0], [2, 2]]], ragged_rank=1)), [[1], [2, 4]]),
        (lambda: tf.gather_nd([[1, 2], [3, 4]], R.constant([[[0, 1]], [[1, 0], [1, 1]]], ragged_rank=1)), [[2], [3, 4]]),
        (lambda: tf.gather_nd(rows(), np.zeros((2, 0), np.int32)), [[[3, 1], [], [2, 5, 4]], [[3, 1], [], [2, 5, 4]]]),
    ],
)
def test_elements_are_picked_by_place(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.batch_gather(rows(), R.constant([[1], [], [2, 0]])), [[1], [], [4, 2]]),
        (lambda: tf.batch_gather([[1, 2], [3, 4]], R.constant([[1], [0, 1]])), [[2], [3, 4]]),
        (lambda: tf.batch_gather(R.constant([[1, 2], [3, 4, 5]]), [[0, 1], [2, 0]]), [[1, 2], [5, 3]]),
        (lambda: tf.batch_gather(rows(), [2, 0]), [[2, 5, 4], [3, 1]]),
        (lambda: tf.batch_gather(deep(), R.constant([[[1], [0, 0]], [], [[], [2]]])), [[[2], [3, 3]], [], [[], [6]]]),
        (lambda: tf.batch_gather(deep(), R.constant([[1], [], [0, 1]])), [[[3]], [], [[], [4, 5, 6]]]),
        (lambda: tf.batch_gather(wide(), R.constant([[1], [], [0, 0]])), [[[3, 4]], [], [[5, 6], [5, 6]]]),
        (
            lambda: tf.batch_gather(R.constant([[[1, 2], [3, 4]], [[5, 6]]]), R.constant([[[1, 0], [0, 0]], [[0, 1]]], ragged_rank=1)),
            [[[2, 1], [3, 3]], [[5, 6]]],
        ),
    ],
)
def test_elements_of_each_row_are_picked_by_number(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.range([0, 5, 8], [3, 3, 8], [1, -1, 1]), [[0, 1, 2], [5, 4], []]),
        (lambda: R.range(3), [[0, 1, 2]]),
        (lambda: R.range([3, 1]).shape, [2, None]),
        (lambda: R.range(3, dtype=tf.float32), [[0.0, 1.0, 2.0]]),
        (lambda: R.range([1.0], [2.0], 0.25), [[1.0, 1.25, 1.5, 1.75]]),
        (lambda: R.range([0], [7], 3), [[0, 3, 6]]),
        (lambda: R.range([7], [0], -3), [[7, 4, 1]]),
        (lambda: R.range([0], [6], 3), [[0, 3]]),
        (lambda: R.range([2], row_splits_dtype=tf.int32).row_splits.dtype, "int32"),
        (lambda: R.range([2, 3], tf.constant([4, 5], tf.int64)), [[2, 3], [3, 4]]),
        (lambda: R.range([2, 3], [4.0, 5.0]), [[2.0, 3.0], [3.0, 4.0]]),
        (lambda: R.range(unsized([2, 3])).shape, [None, None]),
        (lambda: R.range(unknown([2, 3])).shape, [None, None]),
        (lambda: R.range([5], [2]), [[]]),
        (lambda: R.range([2], [5], [-1]), [[]]),
    ],
)
def test_ranges_have_a_row_each(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.reduce_sum(deep(), 0), [[1, 2], [7, 5, 6]]),
        (lambda: tf.reduce_sum(deep(), 1), [[4, 2], [], [4, 5, 6]]),
        (lambda: tf.reduce_sum(deep(), 2), [[3, 3], [], [0, 15]]),
        (lambda: tf.reduce_sum(deep(), -1), [[3, 3], [], [0, 15]]),
        (lambda: tf.reduce_sum(deep(), [0, 1]), [8, 7, 6]),
        (lambda: tf.reduce_sum(deep(), [1, 2]), [6, 0, 15]),
        (lambda: tf.reduce_sum(deep(), [-1, 0]), [3, 18]),
        (lambda: tf.reduce_sum(deep(), [0, 1, 2]), 21),
        (lambda: tf.reduce_sum(deep(), []), [[[1, 2], [3]], [], [[], [4, 5, 6]]]),
        (lambda: tf.reduce_sum(deep(), [2]), [[3, 3], [], [0, 15]]),
        (lambda: tf.reduce_sum(deep(), (1,)), [[4, 2], [], [4, 5, 6]]),
        (lambda: tf.reduce_sum(deep(), tf.constant(1)), [[4, 2], [], [4, 5, 6]]),
        (lambda: tf.reduce_sum(deep(), tf.constant([0, 2])), [3, 18]),
        (lambda: tf.reduce_sum(wide(), 2), [[3, 7], [], [11]]),
        (lambda: tf.reduce_sum(wide(), 1), [[4, 6], [0, 0], [5, 6]]),
        (lambda: tf.reduce_prod(wide(), 0), [[5, 12], [3, 4]]),
        (lambda: tf.reduce_min(deep(), 2), [[1, 3], [], [2147483647, 4]]),
        (lambda: tf.reduce_max(deep(), 2), [[2, 3], [], [-2147483648, 6]]),
        (lambda: tf.reduce_mean(floats(), 0), [1.5, 3.0]),
        (lambda: tf.reduce_mean(floats()), 2.0),
        (lambda: tf.reduce_mean(R.constant([[[1.0], [3.0, 5.0]], [[2.0]]]), 1), [[2.0, 5.0], [2.0]]),
        (lambda: tf.reduce_mean(R.constant([[[1.0], [3.0, 5.0]], [[2.0]]]), [0, 1]), [2.0, 5.0]),
        (lambda: tf.reduce_any(deep() > 5, 2), [[False, False], [], [False, True]]),
        (lambda: tf.reduce_all(deep() > 1, 2), [[False, True], [], [True, True]]),
        (lambda: tf.reduce_any(deep() > 5), True),
        (lambda: tf.reduce_all(deep() > 0), True),
        (lambda: tf.reduce_all(deep() > 1, [1, 2]), [False, True, True]),
        (lambda: tf.reduce_sum(rows(), reduction_indices=1), [4, 0, 11]),
    ],
)
def test_reductions_go_along_rows_and_columns(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.math.unsorted_segment_sum(rows(), [0, 0, 0], 1), [[5, 6, 4]]),
        (lambda: tf.math.unsorted_segment_sum(rows(), [2, 0, 2], 4), [[], [], [5, 6, 4], []]),
        (lambda: tf.math.unsorted_segment_prod(rows(), [1, 0, 1], 2), [[], [6, 5, 4]]),
        (lambda: tf.math.unsorted_segment_min(rows(), [1, 0, 1], 2), [[], [2, 1, 4]]),
        (lambda: tf.math.unsorted_segment_max(rows(), [1, 0, 1], 2), [[], [3, 5, 4]]),
        (lambda: tf.math.unsorted_segment_mean(floats(), [1, 0, 1], 2), [[], [1.5, 3.0]]),
        (lambda: tf.math.unsorted_segment_sqrt_n(floats(), [1, 0, 1], 2), [[], [2.1213, 3.0]]),
        (lambda: tf.math.unsorted_segment_sum(deep(), [1, 0, 1], 2), [[], [[1, 2], [7, 5, 6]]]),
        (lambda: tf.math.unsorted_segment_sum(rows(), R.constant([[0, 1], [], [1, 1, 0]]), 2), [7, 8]),
        (lambda: tf.math.unsorted_segment_mean(floats(), R.constant([[0, 1], [], [1]]), 2), [1.0, 2.5]),
    ],
)
def test_segments_are_reduced_column_by_column(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: RT.from_tensor([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (lambda: RT.from_tensor([[1, 2], [3, 4]]).shape, [2, None]),
        (lambda: RT.from_tensor(unsized([[1, 2], [3, 4]])).shape, [None, None]),
        (lambda: RT.from_tensor([[[1], [2]], [[3], [4]]]).shape, [2, None, 1]),
        (lambda: RT.from_tensor([[[1, 2], [3, 4]]], ragged_rank=2).shape, [1, None, None]),
        (
            lambda: RT.from_tensor(np.arange(16).reshape(2, 2, 2, 2), ragged_rank=3),
            [[[[0, 1], [2, 3]], [[4, 5], [6, 7]]], [[[8, 9], [10, 11]], [[12, 13], [14, 15]]]],
        ),
        (
            lambda: RT.from_tensor(np.arange(16).reshape(2, 2, 2, 2), ragged_rank=2),
            [[[[0, 1], [2, 3]], [[4, 5], [6, 7]]], [[[8, 9], [10, 11]], [[12, 13], [14, 15]]]],
        ),
        (lambda: RT.from_tensor([[[1, 0], [2, 3]], [[0, 0], [4, 0]]], ragged_rank=2, padding=0), [[[1], [2, 3]], [[], [4]]]),
        (lambda: RT.from_tensor([[[1, 0], [0, 0]], [[0, 0], [4, 0]]], padding=[0, 0]), [[[1, 0]], [[0, 0], [4, 0]]]),
        (lambda: RT.from_tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], lengths=([2, 1], [1, 2, 0])), [[[1], [3, 4]], [[]]]),
        (lambda: RT.from_tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], lengths=[[2, 1], [1, 2, 0]]), [[[1], [3, 4]], [[]]]),
        (lambda: RT.from_tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], lengths=([2, 1],)), [[[1, 2], [3, 4]], [[5, 6]]]),
        (lambda: RT.from_tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], lengths=[1, 2, 0, 1], ragged_rank=2), [[[1], [3, 4]], [[], [7]]]),
        (lambda: RT.from_tensor([[1, 2], [3, 4]], lengths=[5, -1]), [[1, 2], []]),
        (lambda: RT.from_tensor([[1, 2], [3, 4]], lengths=[1, 2]).shape, [2, None]),
        (lambda: RT.from_tensor([[1, 2], [3, 4]], row_splits_dtype=tf.int32).row_splits.dtype, "int32"),
        (lambda: RT.from_tensor([["a", ""], ["", "b"]], padding=""), [[b"a"], [b"", b"b"]]),
        (lambda: RT.from_tensor(unknown([[1, 2], [3, 0]]), padding=0), [[1, 2], [3]]),
        (lambda: RT.from_tensor([[1]], lengths=[[1]]), [[1]]),
        (lambda: rows().to_tensor().shape, [3, 3]),
        (lambda: deep().to_tensor(), [[[1, 2, 0], [3, 0, 0]], [[0, 0, 0], [0, 0, 0]], [[0, 0, 0], [4, 5, 6]]]),
        (lambda: deep().to_tensor(9), [[[1, 2, 9], [3, 9, 9]], [[9, 9, 9], [9, 9, 9]], [[9, 9, 9], [4, 5, 6]]]),
        (lambda: wide().to_tensor(9), [[[1, 2], [3, 4]], [[9, 9], [9, 9]], [[5, 6], [9, 9]]]),
        (lambda: wide().to_tensor([8, 9]), [[[1, 2], [3, 4]], [[8, 9], [8, 9]], [[5, 6], [8, 9]]]),
        (lambda: wide().to_tensor().shape, [3, 2, 2]),
        (lambda: R.constant([[True], []]).to_tensor(), [[True], [False]]),
        (lambda: R.constant([["a"], []]).to_tensor(), [[b"a"], [b""]]),
        (lambda: R.constant([], ragged_rank=1).to_tensor(), []),
        (lambda: R.constant([[], []]).to_tensor(), [[], []]),
        (
            lambda: deep().to_sparse(),
            {
                "indices": [[0, 0, 0], [0, 0, 1], [0, 1, 0], [2, 1, 0], [2, 1, 1], [2, 1, 2]],
                "values": [1, 2, 3, 4, 5, 6],
                "dense_shape": [3, 2, 3],
            },
        ),
        (
            lambda: wide().to_sparse(),
            {
                "indices": [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [2, 0, 0], [2, 0, 1]],
                "values": [1, 2, 3, 4, 5, 6],
                "dense_shape": [3, 2, 2],
            },
        ),
        (lambda: R.constant([[], []]).to_sparse(), {"indices": [], "values": [], "dense_shape": [2, 0]}),
        (lambda: rows().to_sparse().indices.shape, [5, 2]),
        (lambda: wide().to_sparse().indices.shape, [6, 3]),
        (lambda: rows().to_sparse().dense_shape.shape, [2]),
        (lambda: RT.from_sparse(tf.SparseTensor([[0, 0], [2, 0], [2, 1]], [1, 2, 3], [4, 2])), [[1], [], [2, 3], []]),
        (lambda: RT.from_sparse(tf.SparseTensor([[0, 0], [2, 0], [2, 1]], [1, 2, 3], [4, 2])).shape, [4, None]),
        (lambda: RT.from_sparse(tf.SparseTensor([[0, 0]], [1], [1, 1]), row_splits_dtype=tf.int32).row_splits.dtype, "int32"),
    ],
)
def test_dense_and_sparse_tensors_come_and_go(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: RT._from_variant(deep()._to_variant(), tf.int32, 2), [[[1, 2], [3]], [], [[], [4, 5, 6]]]),
        (lambda: RT._from_variant(deep()._to_variant(batched_input=True), tf.int32, 2), [[[1, 2], [3]], [], [[], [4, 5, 6]]]),
        (lambda: RT._from_variant(deep()._to_variant(batched_input=True), tf.int32, 2, 1), [[[1, 2], [3]], [], [[], [4, 5, 6]]]),
        (
            lambda: RT._from_variant(tf.stack([rows()._to_variant(), rows()._to_variant()]), tf.int32, 2),
            [[[3, 1], [], [2, 5, 4]], [[3, 1], [], [2, 5, 4]]],
        ),
        (lambda: deep()._to_variant(batched_input=True).shape, [3]),
        (lambda: deep()._to_variant().shape, []),
    ],
)
def test_variants_keep_rows(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: tf.RaggedTensorSpec([2, None], tf.int32)._ragged_rank, 1),
        (lambda: tf.RaggedTensorSpec([2, None, None, 3], tf.int32)._ragged_rank, 3),
        (lambda: tf.RaggedTensorSpec([2, 3], tf.int32, ragged_rank=0).value_type is tf.Tensor, True),
        (
            lambda: repr(tf.RaggedTensorSpec([2, None], tf.int32)._flat_tensor_specs),
            "[TensorSpec(shape=<unknown>, dtype=tf.variant, name=None)]",
        ),
        (lambda: [s.shape for s in tf.RaggedTensorSpec([2, None, 5], tf.int32, 1)._component_specs], [[None, 5], [3]]),
        (lambda: [s.shape for s in tf.RaggedTensorSpec([2, None, None], tf.int32, 2)._component_specs], [[None], [3], [None]]),
        (lambda: [s.shape for s in tf.RaggedTensorSpec(None, tf.int32, 1)._component_specs], [None, [None]]),
        (lambda: [s.dtype for s in tf.RaggedTensorSpec([2, None], tf.float32, 1, tf.int32)._component_specs], ["float32", "int32"]),
        (lambda: [s.shape for s in tf.RaggedTensorSpec([2, 3], tf.int32, 0)._component_specs], [[2, 3]]),
        (
            lambda: repr(tf.RaggedTensorSpec([2, None], tf.int32)),
            "RaggedTensorSpec(TensorShape([Dimension(2), Dimension(None)]), tf.int32, 1, tf.int64)",
        ),
        (lambda: tf.RaggedTensorSpec([2, None], tf.int32).is_compatible_with(tf.RaggedTensorSpec([None, None], tf.int32)), True),
        (lambda: tf.RaggedTensorSpec([2, None], tf.int32).is_compatible_with(tf.RaggedTensorSpec([3, None], tf.int32)), False),
        (lambda: tf.RaggedTensorSpec([2, None], tf.int32).is_compatible_with(tf.RaggedTensorSpec([2, None], tf.int64)), False),
        (lambda: tf.RaggedTensorSpec([2, 3], tf.int32, 0).is_compatible_with(tf.constant([[1, 2, 3], [4, 5, 6]])), False),
        (lambda: tf.RaggedTensorSpec([2, 3], tf.int32, 0).is_compatible_with(tf.TensorSpec([2, 3], tf.int32)), False),
        (lambda: tf.RaggedTensorSpec([2, 3], tf.int32, 0).is_compatible_with(tf.TensorSpec([2, 4], tf.int32)), False),
        (lambda: tf.RaggedTensorSpec([2, 3], tf.int32, 0).is_compatible_with(tf.TensorSpec([2, 3], tf.int64)), False),
        (
            lambda: repr(tf.RaggedTensorSpec.from_value(rows())),
            "RaggedTensorSpec(TensorShape([Dimension(3), Dimension(None)]), tf.int32, 1, tf.int64)",
        ),
        (
            lambda: repr(tf.RaggedTensorSpec([2, None], tf.int32).most_specific_compatible_type(tf.RaggedTensorSpec([3, None], tf.int32))),
            "RaggedTensorSpec(TensorShape([Dimension(None), Dimension(None)]), tf.int32, 1, tf.int64)",
        ),
        (
            lambda: repr(tf.RaggedTensorSpec([None, None], tf.int32)._batch(3)),
            "RaggedTensorSpec(TensorShape([Dimension(3), Dimension(None), Dimension(None)]), tf.int32, 2, tf.int64)",
        ),
        (
            lambda: repr(tf.RaggedTensorSpec([4, None, None], tf.int32)._unbatch()),
            "RaggedTensorSpec(TensorShape([Dimension(None), Dimension(None)]), tf.int32, 1, tf.int64)",
        ),
        (
            lambda: repr(tf.RaggedTensorSpec([4, None], tf.int32)._unbatch()),
            "RaggedTensorSpec(TensorShape([Dimension(None)]), tf.int32, 0, tf.int64)",
        ),
        (lambda: repr(rows()._type_spec), "RaggedTensorSpec(TensorShape([Dimension(3), Dimension(None)]), tf.int32, 1, tf.int64)"),
        (
            lambda: repr(rows()._shape_invariant_to_type_spec(tf.TensorShape([None, None]))),
            "RaggedTensorSpec(TensorShape([Dimension(None), Dimension(None)]), tf.int32, 1, tf.int64)",
        ),
        (
            lambda: repr(tf.data.Dataset.from_tensors(rows()).element_spec),
            "RaggedTensorSpec(TensorShape([Dimension(3), Dimension(None)]), tf.int32, 1, tf.int64)",
        ),
    ],
)
def test_specs_say_what_a_ragged_tensor_is(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.constant([[1, 2], [3]], dtype=tf.float32), [[1.0, 2.0], [3.0]]),
        (lambda: R.constant([[[1, 2], [3, 4]]], inner_shape=(2,)).shape, [1, None, 2]),
        (lambda: R.constant([[[1, 2], [3, 4]]], inner_shape=(2,)).ragged_rank, 1),
        (lambda: R.constant([[[1, 2], [3, 4]]], ragged_rank=1, inner_shape=(2,)).shape, [1, None, 2]),
        (lambda: R.constant([], ragged_rank=2).shape, [0, None, None]),
        (lambda: R.constant([], dtype=tf.int32).dtype, "int32"),
        (lambda: R.constant([]).dtype, "float32"),
        (lambda: R.constant([[], []]).shape, [2, None]),
        (lambda: R.constant([[], []], ragged_rank=2).shape, [2, None, None]),
        (lambda: R.constant([[[], []]], ragged_rank=1).shape, [1, None, 0]),
        (lambda: R.constant(5), 5),
        (lambda: R.constant([1, 2]), [1, 2]),
        (lambda: R.constant([1, 2]).shape, [2]),
        (lambda: R.constant(np.array([[1, 2], [3, 4]])), [[1, 2], [3, 4]]),
        (lambda: R.constant([np.array([1, 2]), np.array([3])]), [[1, 2], [3]]),
        (lambda: R.constant(((1, 2), (3,))), [[1, 2], [3]]),
        (lambda: R.constant([["a", b"b"], []]), [[b"a", b"b"], []]),
        (lambda: R.constant([[1]], name="n").flat_values.name, "n/values:0"),
        (lambda: R.constant([[1]], name="n").row_splits.name, "n/Const:0"),
        (lambda: R.constant([1], name="n").name, "n/Const:0"),
        (lambda: R.constant([[1]]).flat_values.name, "RaggedConstant/values:0"),
        (lambda: R.constant([[]], ragged_rank=1, inner_shape=()), [[]]),
        (lambda: R.constant(5, inner_shape=()), 5),
        (lambda: R.constant_value([1, 2]).tolist(), [1, 2]),
        (lambda: R.constant_value(5).tolist(), 5),
        (lambda: R.constant_value([[1.5], []]).dtype.name, "float64"),
        (lambda: R.constant_value([[1], []], dtype=np.float32).dtype.name, "float32"),
        (lambda: R.constant_value([[], []]).values.dtype.name, "float64"),
        (lambda: R.constant_value([[[1, 2]], []], ragged_rank=1), [[[1, 2]], []]),
    ],
)
def test_nested_lists_become_rows(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.placeholder(tf.int32, 1).shape, None),
        (lambda: R.placeholder(tf.int32, 1, [3]).shape, [None, None, 3]),
        (lambda: R.placeholder(tf.int32, 0, [3]).shape, [3]),
        (lambda: R.placeholder(tf.int32, 2, name="p").flat_values.name, "p/flat_values:0"),
        (lambda: [s.name for s in R.placeholder(tf.int32, 2, name="p").nested_row_splits], ["p/row_splits_0:0", "p/row_splits_1:0"]),
        (lambda: R.placeholder(tf.int32, 2).flat_values.name, "RaggedPlaceholder/flat_values:0"),
    ],
)
def test_placeholders_have_parts_to_be_fed(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: R.row_splits_to_segment_ids([0, 3, 3, 5]), [0, 0, 0, 2, 2]),
        (lambda: R.row_splits_to_segment_ids([0, 3, 3, 5]).dtype, "int64"),
        (lambda: R.row_splits_to_segment_ids([0, 3, 3, 5], out_type=tf.int32).dtype, "int32"),
        (lambda: R.row_splits_to_segment_ids(np.int32([0, 3, 3, 5])).dtype, "int64"),
        (lambda: R.segment_ids_to_row_splits([0, 0, 2]), [0, 2, 2, 3]),
        (lambda: R.segment_ids_to_row_splits([0, 0, 2]).dtype, "int64"),
        (lambda: R.segment_ids_to_row_splits([0, 0, 2], out_type=tf.int32).dtype, "int32"),
        (lambda: R.segment_ids_to_row_splits(np.int32([0, 0, 2])).dtype, "int64"),
        (lambda: R.segment_ids_to_row_splits([0, 0, 2], 4).shape, [5]),
        (lambda: R.segment_ids_to_row_splits([]), [0]),
    ],
)
def test_splits_and_row_numbers_say_the_same(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: rows().row_lengths().op.name, "RaggedRowLengths/sub"),
        (lambda: rows().row_starts(name="s").op.name, "s/strided_slice"),
        (lambda: tf.concat([rows(), rows()], axis=1).flat_values.op.name, "RaggedConcat/RaggedGather/RaggedGather"),
        (lambda: tf.reduce_sum(rows(), axis=1).op.name, "RaggedReduceSum/UnsortedSegmentSum"),
        (lambda: tf.gather(rows(), [0]).flat_values.op.name, "RaggedGather/RaggedGather"),
        (lambda: rows().to_sparse().values.op.name, "RaggedToSparse/RaggedTensorToSparse"),
        (lambda: R.map_flat_values(tf.abs, rows()).flat_values.op.name, "Abs"),
        (lambda: tf.expand_dims(rows(), 0).row_splits.op.name, "RaggedExpandDims/stack"),
        (lambda: R.boolean_mask(rows(), rows() > 1).flat_values.op.name, "RaggedMask/RaggedMask/boolean_mask/GatherV2"),
    ],
)
def test_ops_have_the_names_of_1_15(made, expected):
    assert computed(made()) == expected


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (lambda: tf.one_hot(wide(), 2, axis=0), ValueError, "axis may not be less than indices.ragged_rank."),
        (lambda: tf.one_hot(rows(), 2, axis=0), ValueError, "axis may not be less than indices.ragged_rank."),
        (lambda: rows().with_flat_values(tf.constant([1])), ValueError, "Shapes (5,) and (1,) are incompatible"),
        (lambda: tf.gather(rows(), unknown([0])), ValueError, "indices.shape.ndims must be known statically"),
        (lambda: tf.gather(rows(), [0], axis=1), ValueError, "axis != 0 is not supported for ragged gather yet."),
        (lambda: tf.gather(rows(), [0], batch_dims=1), ValueError, "batch_dims != 0 is not supported for ragged gather yet."),
        (lambda: tf.gather(rows(), [3]), tf.errors.InvalidArgumentError, "indices[0] = 3 is not in [0, 3)"),
        (lambda: tf.gather(rows(), [[0, -1]]), tf.errors.InvalidArgumentError, "indices[0,1] = -1 is not in [0, 3)"),
        (lambda: tf.gather_nd(rows(), 1), ValueError, "indices.rank must be at least 1."),
        (lambda: tf.gather_nd(rows(), R.constant([[0], [1]])), ValueError, "The innermost dimension of indices may not be ragged"),
        (lambda: tf.gather_nd(rows(), unknown([[0]])), ValueError, "indices.rank be statically known."),
        (
            lambda: tf.gather_nd(rows(), tf.placeholder_with_default([[0]], [None, None])),
            ValueError,
            "indices.shape[-1] must be statically known.",
        ),
        (lambda: tf.gather_nd(rows(), [[0]], batch_dims=1), ValueError, "batch_dims != 0 is not supported for ragged gather yet."),
        (lambda: tf.batch_gather(rows(), 1), ValueError, "indices.rank must be at least 1."),
        (lambda: tf.batch_gather(rows(), unknown([1])), ValueError, "batch_gather does not allow indices with unknown shape."),
        (lambda: R.range([1, 2], [3]), ValueError, "Dimensions must be equal, but are 1 and 2 for"),
        (
            lambda: R.range(unsized([1, 2]), unsized([3])),
            tf.errors.InvalidArgumentError,
            "starts, limits, and deltas must have the same shape",
        ),
        (lambda: R.range([[1]]), ValueError, "Shape must be at most rank 1"),
        (lambda: R.range(unknown([[1]])), tf.errors.InvalidArgumentError, "limits must be a scalar or vector"),
        (lambda: R.range([1], [3], unsized([0])), tf.errors.InvalidArgumentError, "Requires delta != 0"),
        (lambda: tf.reduce_sum(rows(), 1, keepdims=True), ValueError, "keepdims=True is not supported for RaggedTensors."),
        (lambda: tf.reduce_sum(rows(), 2), ValueError, "axis=2 out of bounds: expected -2<=axis<2"),
        (lambda: tf.reduce_sum(rows(), -3), ValueError, "axis=-3 out of bounds: expected -2<=axis<2"),
        (lambda: tf.reduce_sum(rows(), unsized(0)), ValueError, "axis must be known at graph construction time."),
        (
            lambda: tf.math.unsorted_segment_sum(rows(), R.constant([[0], [], [1, 1, 0]]), 2),
            tf.errors.InvalidArgumentError,
            "segment_ids.shape must be a prefix of data.shape",
        ),
        (
            lambda: tf.math.unsorted_segment_sum([1, 2], R.constant([[0], [1]]), 2),
            ValueError,
            "segment_ids.shape must be a prefix of data.shape, but segment_ids is",
        ),
        (
            lambda: tf.math.unsorted_segment_sum(rows(), tf.constant([0, 0, 0], tf.int16), 2),
            ValueError,
            "segment_ids must have dtype int32 or int64.",
        ),
        (lambda: RT.from_tensor([[1]], ragged_rank=0), ValueError, "ragged_rank must be greater than 0; got 0"),
        (lambda: RT.from_tensor([[1]], ragged_rank=2), ValueError, "Shape (1, 1) must have rank at least 3"),
        (lambda: RT.from_tensor([[1]], ragged_rank=1.0), TypeError, "ragged_rank expected int, got 1.0"),
        (lambda: RT.from_tensor([[1]], lengths=1), ValueError, "Shape () must have rank 1"),
        (lambda: RT.from_tensor([[1]], padding=[0]), ValueError, "Shapes (1,) and () are incompatible"),
        (lambda: RT.from_tensor([[[1]]], lengths=([1], [1]), ragged_rank=3), ValueError, "Shape (1, 1, 1) must have rank at least 4"),
        (lambda: rows().to_tensor([1, 2]), ValueError, "Shape (2,) must have rank at most 0"),
        (lambda: rows().to_tensor("a"), TypeError, "Expected int32, got 'a' of type 'str' instead."),
        (
            lambda: RT.from_sparse(tf.SparseTensor([[0, 0], [2, 1]], [1, 2], [4, 2])),
            tf.errors.InvalidArgumentError,
            "assertion failed: [SparseTensor is not right-ragged]",
        ),
        (
            lambda: RT.from_sparse(tf.SparseTensor([[0, 0], [0, 2]], [1, 2], [4, 3])),
            tf.errors.InvalidArgumentError,
            "assertion failed: [SparseTensor is not right-ragged]",
        ),
        (lambda: RT.from_sparse(tf.SparseTensor([[0]], [1], [4])), ValueError, "rank(st_input) must be 2"),
        (lambda: RT.from_sparse([[1]]), TypeError, "Expected SparseTensor, got list"),
        (
            lambda: RT._from_variant(rows()._to_variant(batched_input=True)[2], tf.int32, 0),
            ValueError,
            "Attr 'output_ragged_rank' of 'RaggedTensorFromVariant' Op passed 0",
        ),
        (lambda: RT._from_variant(deep()._to_variant(), tf.int32, 1), tf.errors.InvalidArgumentError, "Encoded input"),
        (
            lambda: RT._from_variant(deep()._to_variant(batched_input=True), tf.int32, 2, 2),
            ValueError,
            "output_ragged_rank must be equal to input_ragged_rank",
        ),
        (lambda: RT._from_variant(deep()._to_variant(batched_input=True), tf.int32, 3), tf.errors.InvalidArgumentError, "Encoded input"),
        (lambda: tf.RaggedTensorSpec(None, tf.int32), ValueError, "Must specify ragged_rank or a shape with a known rank."),
        (lambda: tf.RaggedTensorSpec([2, None], tf.int32, 2), ValueError, "ragged_rank must be less than rank."),
        (lambda: tf.RaggedTensorSpec([2, None], tf.int32, "1"), TypeError, "ragged_rank must be an int"),
        (lambda: R.constant([[1]], ragged_rank=-1), ValueError, "Invalid ragged_rank=-1: must be nonnegative"),
        (lambda: R.constant([[1], [[]]]), ValueError, "Invalid pylist=[[1], [[]]]: empty list nesting is greater than scalar"),
        (lambda: R.constant([[1]], ragged_rank=2), ValueError, "pylist has scalar values depth 2, but ragged_rank=2 requires scalar"),
        (
            lambda: R.constant([[1]], ragged_rank=1, inner_shape=(2,)),
            ValueError,
            "Invalid pylist=[[1]]: incompatible with ragged_rank=1 and",
        ),
        (
            lambda: R.constant([[[]]], ragged_rank=1, inner_shape=()),
            ValueError,
            "Invalid pylist=[[[]]]: incompatible with ragged_rank=1 and",
        ),
        (lambda: R.constant([[[1, 2], [3]]], ragged_rank=1), ValueError, "inner values have inconsistent shape"),
        (lambda: R.constant([[[1], 2]], ragged_rank=1), ValueError, "all scalar values must have the same nesting depth"),
        (lambda: R.constant(5, inner_shape=(2,)), ValueError, "Invalid pylist=5: incompatible with dim(inner_shape)=1"),
        (lambda: R.constant(rows()), TypeError, "pylist may not be a RaggedTensor or RaggedTensorValue."),
        (lambda: R.RaggedTensorValue(np.array([1]), [0, 1]), TypeError, "row_splits must be a 1D int32 or int64 numpy array"),
        (lambda: R.RaggedTensorValue([1], np.array([0, 1])), TypeError, "values must be a numpy array or a RaggedTensorValue"),
        (lambda: R.RaggedTensorValue(np.array([1]), np.array([0.0, 1.0])), TypeError, "row_splits must be a 1D int32 or int64 numpy array"),
        (lambda: R.RaggedTensorValue(np.array([1]), np.array([[0, 1]])), TypeError, "row_splits must be a 1D int32 or int64 numpy array"),
        (
            lambda: R.RaggedTensorValue(R.RaggedTensorValue(np.array([1]), np.array([0, 1], np.int32)), np.array([0, 1], np.int64)),
            ValueError,
            "row_splits and values.row_splits must have the same dtype",
        ),
        (lambda: R.row_splits_to_segment_ids([0.0]), ValueError, "splits must have dtype int32 or int64"),
        (lambda: R.row_splits_to_segment_ids([]), ValueError, "Invalid row_splits: []"),
        (lambda: R.row_splits_to_segment_ids(3), ValueError, "Shape () must have rank 1"),
        (lambda: R.segment_ids_to_row_splits([0.0]), TypeError, "segment_ids must be an integer"),
        (lambda: R.segment_ids_to_row_splits(3), ValueError, "Shape () must have rank 1"),
        (lambda: R.segment_ids_to_row_splits([0], num_segments=[1]), ValueError, "Shape (1,) must have rank 0"),
    ],
)
def test_mistakes_are_refused(made, error, message):
    with pytest.raises(error) as caught:
        computed(made())
    assert message in str(caught.value)
