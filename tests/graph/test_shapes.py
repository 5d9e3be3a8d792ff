"""Static shapes: dimensions that may be unknown, and what is known of two shapes together."""

import copy
import pickle

import numpy as np
import pytest

import everflow as tf
from everflow.graph import dtypes, shapes
from everflow.graph.shapes import Dimension, TensorShape


@pytest.fixture
def v2_tensorshape():
    shapes.enable_v2_tensorshape()
    yield
    shapes.disable_v2_tensorshape()


class TestDimension:
    def test_accepts_numbers_and_dimensions(self):
        assert Dimension(3).value == 3 and Dimension(None).value is None
        assert Dimension(Dimension(4)).value == 4 and Dimension(np.int64(5)).value == 5 and Dimension("6").value == 6
        assert Dimension(2.0).value == 2 and type(Dimension(2.0).value) is int

    @pytest.mark.parametrize(
        "value, error, text",
        [
            (-1, ValueError, "Dimension -1 must be >= 0"),
            (3.5, ValueError, "Ambiguous dimension: 3.5"),
            (dtypes.int32, TypeError, "Cannot convert <dtype: 'int32'> to Dimension"),
            ("a", ValueError, "invalid literal"),
        ],
    )
    def test_refuses_the_rest(self, value, error, text):
        with pytest.raises(error, match=text):
            Dimension(value)

    def test_arithmetic_on_both_sides(self):
        d = Dimension(7)
        results = [d + 1, 1 + d, d - 1, 9 - d, d * 2, 2 * d, d // 2, 15 // d, d % 4, 10 % d, d * Dimension(2)]
        assert [r.value for r in results] == [8, 8, 6, 2, 14, 14, 3, 2, 3, 3, 14]

    def test_unknown_makes_unknown(self):
        d = Dimension(None)
        assert [(d + 1).value, (1 - d).value, (d * 0).value, (Dimension(3) // None).value] == [None] * 4

    def test_division_asks_for_the_other_operator(self):
        with pytest.raises(TypeError, match="'Dimension' and 'int', please use // instead"):
            Dimension(7) / 2
        with pytest.raises(TypeError, match="'int' and 'Dimension', please use // instead"):
            7 / Dimension(2)

    def test_comparison_with_the_unknown_is_none(self):
        assert Dimension(3) == 3 and Dimension(3) != 4 and Dimension(3) != "a"
        for outcome in (
            Dimension(3) == None,  # noqa: E711
            Dimension(None) == Dimension(None),
            Dimension(3) != Dimension(None),
            Dimension(None) < 3,
            Dimension(3) >= None,
        ):
            assert outcome is None
        assert Dimension(3) < 4 and Dimension(3) <= 3 and 4 > Dimension(3) and not Dimension(3) > 3

    def test_serves_as_an_index(self):
        assert [0] * Dimension(2) == [0, 0] and list(range(Dimension(2))) == [0, 1] and int(Dimension(2)) == 2
        assert np.zeros([Dimension(2), 3]).shape == (2, 3)
        with pytest.raises(TypeError, match="__int__ returned non-int"):
            int(Dimension(None))
        with pytest.raises(TypeError, match="unhashable"):
            hash(Dimension(2))

    def test_merging(self):
        assert Dimension(None).merge_with(4).value == 4 and Dimension(3).merge_with(None).value == 3
        with pytest.raises(ValueError, match="Dimensions 3 and 4 are not compatible"):
            Dimension(3).merge_with(4)


class TestTensorShape:
    def test_accepts_whatever_means_a_shape(self):
        assert TensorShape(None).rank is None
        shape = TensorShape([2, 3])
        for value in ([2, 3], (2, 3), [Dimension(2), 3], np.array([2, 3]), shape, shape.as_proto()):
            assert TensorShape(value).as_list() == [2, 3]
        assert TensorShape(3).as_list() == [3] and TensorShape([]).as_list() == []
        with pytest.raises(TypeError, match="A string has ambiguous TensorShape, .* convert to an int: ab"):
            TensorShape("ab")
        with pytest.raises(ValueError, match="Dimension -1 must be >= 0"):
            TensorShape([-1])

    def test_plain_tuples_pass_both_ways_unchanged(self):
        dims = (2, None)
        assert TensorShape.from_dims(dims).as_dims() is dims
        assert TensorShape([2, None]).as_dims() == dims and TensorShape(None).as_dims() is None

    def test_text(self):
        assert [str(TensorShape(s)) for s in (None, [], [1], [1, None])] == ["<unknown>", "()", "(1,)", "(1, ?)"]
        assert repr(TensorShape([1, None])) == "TensorShape([Dimension(1), Dimension(None)])"
        assert repr(TensorShape(None)) == "TensorShape(None)"

    def test_gives_dimensions(self):
        shape = TensorShape([4, None])
        assert shape[0].value == 4 and shape[-1].value is None and [d.value for d in shape] == [4, None]
        assert shape.dims[0].value == 4 and shape[1:].as_list() == [None] and len(shape) == 2
        with pytest.raises(IndexError, match="list index out of range"):
            shape[2]

    def test_of_unknown_rank(self):
        shape = TensorShape(None)
        assert not shape and TensorShape([])
        assert shape[3].value is None and shape[1:3].rank == 2 and shape[1:].rank is None and shape[:-1].rank is None
        for use, text in (
            (len, "Cannot take the length of shape with unknown rank."),
            (list, "Cannot iterate over a shape with unknown rank."),
            (TensorShape.as_list, "as_list\\(\\) is not defined on an unknown TensorShape."),
            (lambda s: s[::2], "Steps are not yet handled"),
        ):
            with pytest.raises(ValueError, match=text):
                use(shape)

    def test_datasets_ragged_and_sparse_tensors_compare_sizes_with_v2_behaviour_too(self, v2_tensorshape):
        with pytest.raises(ValueError, match="Dimensions 2 and 3 are not compatible"):
            tf.data.Dataset.from_tensor_slices(([1, 2], [1, 2, 3]))
        assert tf.data.Dataset.from_tensor_slices(([1, 2], [3, 4])).output_types == (tf.int32, tf.int32)
        with pytest.raises(ValueError, match="Dimensions 2 and 3 are not compatible"):
            tf.batch_gather(tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[0], [0], [0]]))
        with pytest.raises(ValueError, match="Dimensions 3 and 2 are not compatible"):
            tf.sparse.reset_shape(tf.SparseTensor([[0, 0]], [1], [2, 3]), [2, 3, 4])

    def test_v2_behaviour_gives_numbers(self, v2_tensorshape):
        shape = TensorShape([4, None])
        assert list(shape) == [4, None] and shape[0] == 4 and type(shape[0]) is int
        assert repr(shape) == "TensorShape([4, None])" and str(shape) == "(4, None)"
        assert shapes.dimension_value(shape[0]) == 4 and shapes.dimension_at_index(shape, 0).value == 4

    def test_equality_is_for_what_is_known(self):
        assert TensorShape([1, 2]) == [1, 2] and TensorShape([1, 2]) != (1, 3) and TensorShape([1]) != "ab"
        assert TensorShape([1, None]) != [1, None] and TensorShape(None) == TensorShape(None)
        shape = TensorShape([None])
        assert shape == shape and shape == TensorShape.from_dims(shape.as_dims())
        with pytest.raises(ValueError, match="The inequality of unknown TensorShapes is undefined."):
            print(TensorShape([1]) != TensorShape(None))
        with pytest.raises(TypeError, match="unhashable"):
            hash(TensorShape([1]))

    def test_merge_concatenate_and_compare(self):
        assert TensorShape([1, None]).merge_with([None, 2]).as_list() == [1, 2]
        assert TensorShape(None).merge_with([1]).as_list() == [1]
        assert (TensorShape([1]) + [2, None]).as_list() == [1, 2, None] and ([3] + TensorShape([1])).as_list() == [3, 1]
        assert TensorShape([1]).concatenate(None).rank is None
        assert TensorShape([1, 2]).most_specific_compatible_shape([1, 3]).as_list() == [1, None]
        assert TensorShape([1, 2]).most_specific_compatible_shape([1]).rank is None
        assert TensorShape([1, 2]).is_compatible_with([None, 2]) and not TensorShape([1, 2]).is_compatible_with([1])

    @pytest.mark.parametrize(
        "use, text",
        [
            (lambda s: s.merge_with([1, 3]), "Shapes (1, 2) and (1, 3) are not compatible"),
            (lambda s: s.assert_is_compatible_with([1, 3]), "Shapes (1, 2) and [1, 3] are incompatible"),
            (lambda s: s.assert_same_rank([1]), "Shapes (1, 2) and (1,) must have the same rank"),
            (lambda s: s.with_rank(3), "Shape (1, 2) must have rank 3"),
            (lambda s: s.with_rank_at_least(3), "Shape (1, 2) must have rank at least 3"),
            (lambda s: s.with_rank_at_most(1), "Shape (1, 2) must have rank at most 1"),
            (lambda s: TensorShape([1, None]).assert_is_fully_defined(), "Shape (1, ?) is not fully defined"),
        ],
    )
    def test_errors_name_the_shapes(self, use, text):
        with pytest.raises(ValueError) as caught:
            use(TensorShape([1, 2]))
        assert str(caught.value) == text

    def test_counts_elements_only_when_all_sizes_are_known(self):
        assert TensorShape([2, 3]).num_elements() == 6 and TensorShape([]).num_elements() == 1
        assert TensorShape([0, None]).num_elements() is None and TensorShape(None).num_elements() is None

    def test_protos_and_copies(self):
        for dims in (None, [], [2, None, 0]):
            shape = TensorShape(dims)
            assert TensorShape(shape.as_proto()).as_dims() == shape.as_dims()
            assert shapes.from_proto(shape.as_proto()) == shape.as_dims()
            assert pickle.loads(pickle.dumps(shape)).as_dims() == shape.as_dims() == copy.deepcopy(shape).as_dims()
        assert TensorShape(None).as_proto().unknown_rank
        assert [d.size for d in TensorShape([2, None]).as_proto().dim] == [2, -1]

    def test_helpers(self):
        assert shapes.unknown_shape(2).as_list() == [None, None] and shapes.unknown_shape(ndims=1).rank == 1
        with pytest.raises(TypeError, match="Unknown argument"):
            shapes.unknown_shape(size=1)
        assert shapes.dimension_value(Dimension(3)) == 3 and shapes.dimension_value(None) is None
        assert shapes.broadcast_shape([3, 1], [4]).as_list() == [3, 4]
        with pytest.raises(ValueError, match=r"Incompatible shapes for broadcasting: \(2,\) and \(3,\)"):
            shapes.broadcast_shape([2], [3])


class TestTuples:
    @pytest.mark.parametrize(
        "a, b, expected",
        [
            ((2, 3), (2, 3), (2, 3)),
            ((2, 1), (3,), (2, 3)),
            ((), (3,), (3,)),
            ((None,), (1,), (None,)),
            ((None,), (5,), (5,)),
            ((None,), (0,), (None,)),
            ((None,), (None,), (None,)),
            ((0,), (1,), (0,)),
            ((7, 1, 6, 1), (8, None, 5), (7, 8, 6, 5)),
            (None, (3,), None),
        ],
    )
    def test_broadcasting(self, a, b, expected):
        assert shapes.broadcast(a, b) == expected == shapes.broadcast(b, a)

    def test_broadcasting_agrees_with_numpy(self):
        sizes = [(), (1,), (3,), (2, 1), (1, 3), (4, 1, 3), (0,), (2, 0)]
        for a in sizes:
            for b in sizes:
                try:
                    expected = np.broadcast_shapes(a, b)
                except ValueError:
                    with pytest.raises(ValueError, match="Dimensions must be equal, but are"):
                        shapes.broadcast(a, b)
                else:
                    assert shapes.broadcast(a, b) == expected

    def test_merging(self):
        assert shapes.merge((None, 2), (1, None)) == (1, 2)
        assert shapes.merge(None, (1,)) == (1,) == shapes.merge((1,), None)
        with pytest.raises(ValueError, match="Shapes must be equal rank, but are 1 and 2"):
            shapes.merge((1,), (1, 2))
        with pytest.raises(ValueError) as caught:
            shapes.merge((3, None), (2, 1))
        text = "Dimension 0 in both shapes must be equal, but are 3 and 2. Shapes are [3,?] and [2,1]."
        assert str(caught.value) == text
        assert shapes.merge_size(None, 3) == 3 == shapes.merge_size(3, None)
        with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3"):
            shapes.merge_size(2, 3)

    def test_ranks(self):
        assert shapes.with_rank(None, 2) == (None, None) and shapes.with_rank((1,), 1) == (1,)
        assert shapes.with_rank_at_least(None, 2) is None and shapes.with_rank_at_most((1,), 2) == (1,)
        for check, text in (
            (lambda: shapes.with_rank((1,), 2), "Shape must be rank 2 but is rank 1"),
            (lambda: shapes.with_rank_at_least((1,), 2), "Shape must be at least rank 2 but is rank 1"),
            (lambda: shapes.with_rank_at_most((1, 2), 1), "Shape must be at most rank 1 but is rank 2"),
        ):
            with pytest.raises(ValueError, match=text):
                check()

    def test_questions(self):
        assert [shapes.is_fully_defined(d) for d in ((1, 2), (None,), None)] == [True, False, False]
        assert shapes.num_elements((2, 3)) == 6 and shapes.num_elements((None,)) is None
        assert shapes.is_compatible((None, 2), (1, 2)) and not shapes.is_compatible((1,), (2,))
        assert shapes.describe((1, None)) == "[1,?]" and shapes.describe(None) == "<unknown>"
