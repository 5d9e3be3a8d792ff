"""What numpy dropped is there again, and what works today works as it does."""

import importlib
import pickle
import warnings

import numpy as np
import pytest

import everflow as tf
from everflow import years


def test_types():
    assert (np.int, np.float, np.object, np.str, np.complex, np.unicode) == (int, float, object, str, complex, str)
    assert np.zeros(1, np.bool).dtype == np.bool_ and np.zeros(1, np.long).dtype == np.int64
    assert np.float_ is np.float64 and np.string_ is np.bytes_ and np.unicode_ is np.str_ and np.bool8 is np.bool_
    assert np.longfloat is np.longdouble and np.cfloat is np.complex128
    assert np.NaN is np.nan and np.Inf == np.infty == np.PINF == np.inf == -np.NINF
    assert np.VisibleDeprecationWarning and issubclass(np.ComplexWarning, Warning)


def test_types_by_kind():
    assert np.sctypes["int"] == [np.int8, np.int16, np.int32, np.int64]
    assert np.sctypes["float"][:3] == [np.float16, np.float32, np.float64] and np.sctypes["others"][0] is bool
    assert np.cast[np.float32]([1, 2]).dtype == np.cast["float32"](3).dtype == np.float32
    assert np.nbytes[np.int16] == 2 and np.sctype2char(np.float32) == "f" and np.obj2sctype("i4") is np.int32
    assert np.issctype(np.int8) and not np.issctype(3) and np.maximum_sctype(np.int8) is np.int64
    assert np.find_common_type([np.float32], [np.int64]) == np.float32
    assert np.find_common_type([np.int32], [np.float64]) == np.float64
    assert np.find_common_type([np.float32, np.int64], []) == np.float64


def test_functions():
    assert np.product([2, 3]) == 6 and np.cumproduct([2, 3]).tolist() == [2, 6] and np.alltrue([1, 1]) and not np.sometrue([0, 0])
    assert np.asscalar(np.array([3])) == 3 and np.in1d([[1, 2]], [2]).tolist() == [False, True] and np.trapz([1, 2]) == 1.5
    assert np.row_stack([[1], [2]]).shape == (2, 1) and np.rank([[1]]) == 2 and np.alen([1, 2]) == 2 and np.round_(1.26, 1) == 1.3
    assert np.asfarray([1]).dtype == np.float64 and np.mat("1 2").shape == (1, 2) and np.msort([[2], [1]]).tolist() == [[1], [2]]
    assert np.can_cast(5, np.uint8) and not np.can_cast(300, np.uint8) and np.issubclass_(np.int32, np.integer)
    assert np.histogram([1, 1, 2], bins=2, range=(1, 3), normed=True)[0].tolist() == [2 / 3, 1 / 3]


def test_methods_of_arrays():
    a = np.array([1, 4], np.int32)
    assert a.ptp() == 3 and a.tostring() == a.tobytes() and np.float32(1).tostring() == np.float32(1).tobytes()
    assert a.newbyteorder().tolist() == a.byteswap().tolist()
    a.itemset(0, 7)
    assert a.tolist() == [7, 4] and int(np.array([3])) == 3


def test_lists_of_tensors_become_arrays_of_them():
    x, y = tf.zeros([2]), tf.zeros([])
    made = {(2,): np.array((x, y)), (2, 2): np.asarray([[x, 1.0], [y, x]]), (1,): np.array([x], object), (1, 2): np.array([[x, y]])}
    for shape, found in made.items():
        assert found.dtype == object and found.shape == shape
    assert np.array([[x], y]).shape == (2,)
    assert np.array([[x, y]])[0, 1] is y
    with pytest.raises(NotImplementedError, match="symbolic Tensor"):
        np.array(x)
    with pytest.raises(NotImplementedError, match="symbolic Tensor"):
        np.array([x], np.float32)


def test_ragged_arrays_hold_objects():
    for make in (np.array, np.asarray, np.asanyarray):
        with pytest.warns(np.exceptions.VisibleDeprecationWarning, match="ragged nested sequences") as warned:
            a = make([[1], [2, 3]])
        assert a.dtype == object and a.tolist() == [[1], [2, 3]] and warned[0].filename == __file__
    with pytest.warns(np.exceptions.VisibleDeprecationWarning, match="ragged"):
        assert np.array([[1], [2, 3]], copy=False).shape == np.shape([[1], [2, 3]]) == (2,) and np.ndim([[1], [2, 3]]) == 1
    with pytest.raises(ValueError, match="inhomogeneous"):
        np.array([[1], [2, 3]], np.int32)


@pytest.mark.filterwarnings("ignore:Creating an ndarray from ragged")
def test_functions_take_lists_of_different_lengths():
    ragged = [[1, 2], [3]]
    assert np.max(ragged) == [3] and np.sum(ragged) == [1, 2, 3] and np.argmax(ragged) == 1
    for joined in (np.concatenate([ragged, [[4], [5], [6, 7]]]), np.append(ragged, [[4], [5], [6, 7]], axis=0)):
        assert joined.tolist() == [[1, 2], [3], [4], [5], [6, 7]]
    assert np.vstack([ragged, ragged]).shape == (2, 2) and np.hstack([ragged, ragged]).shape == (4,)
    assert np.repeat(ragged, 2).tolist() == [[1, 2], [1, 2], [3], [3]] and np.reshape(ragged, (2, 1)).tolist() == [[[1, 2]], [[3]]]
    assert sorted(np.random.permutation(ragged).tolist()) == ragged and np.where([True, False], ragged, 0).tolist() == [[1, 2], 0]
    scaled, least, most = np.nan_to_num((np.ones((2, 3)), np.zeros(3), np.ones(3)))
    assert scaled.shape == (2, 3) and least.shape == most.shape == (3,)
    assert np.array_equal(ragged, [[1, 2], [3]]) and not np.array_equal(ragged, [[1], [3]])
    assert np.max([[1, 2], [3, 4]]) == 4 and np.concatenate([[1], [2]]).tolist() == [1, 2]


def test_copy_false_copies_where_it_must():
    a = np.ones(3)
    assert np.array(a, copy=False) is a
    assert np.array([1, 2], copy=False).tolist() == [1, 2] and np.array(a, np.float32, copy=False).dtype == np.float32
    assert np.array([1, 2], "f", False).dtype == np.float32
    if np.__version__ >= "2":
        with pytest.raises(ValueError, match="Unable to avoid copy"):
            np.asarray([1, 2], copy=False)


def test_integers_out_of_bounds_are_taken_modulo():
    assert np.array([300, -1], np.uint8).tolist() == [44, 255] and np.asarray(-1, dtype=np.uint32) == 2**32 - 1
    with pytest.raises(OverflowError, match="cannot convert float infinity|out of bounds"):
        np.array([float("inf")], np.int32)


def test_arrays_of_bytes_and_of_generators():
    a = np.fromstring(b"\1\2\3", np.uint8)
    assert a.tolist() == [1, 2, 3] and a.flags.writeable and np.fromstring("1 2", sep=" ").tolist() == [1, 2]
    for join, shape in ((np.vstack, (2, 3)), (np.hstack, (6,)), (np.stack, (2, 3)), (np.dstack, (1, 3, 2)), (np.column_stack, (3, 2))):
        assert join(np.ones(3) for _ in range(2)).shape == shape
    with pytest.raises(TypeError, match="unexpected keyword"):
        np.vstack([[1]], colour=3)


@pytest.mark.parametrize(
    "module, name",
    [
        ("numpy.core.multiarray", "array"),
        ("numpy.core.umath_tests", "inner1d"),
        ("numpy.core.numeric", "zeros_like"),
        ("numpy.lib.arraysetops", "unique"),
        ("numpy.lib.function_base", "interp"),
        ("numpy.lib.npyio", "DataSource"),
        ("numpy.compat", "asbytes"),
        ("numpy.compat.py3k", "long"),
        ("numpy.dual", "svd"),
        ("numpy.testing.utils", "assert_allclose"),
        ("numpy.fft.pocketfft", "fft"),
        ("numpy.core.memmap", "memmap"),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_modules(module, name):
    assert getattr(importlib.import_module(module), name) is not None


def test_modules_that_never_were_are_missing_still():
    with pytest.raises(ModuleNotFoundError, match="No module named 'numpy.lib.nothing'"):
        importlib.import_module("numpy.lib.nothing")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = np.nothing


def test_what_works_today_is_untouched():
    shimmed = np.array
    a = np.array(object=[1, 2], dtype=np.float32, ndmin=2)
    assert a.shape == (1, 2) and np.asarray(a) is a and np.asarray(a=[1]).tolist() == [1]
    assert pickle.loads(pickle.dumps(np.array)) is np.array and np.array.__doc__.startswith("array(object")
    with pytest.raises(TypeError, match="missing required argument|missing 1 required"):
        np.array()
    with pytest.raises(ValueError, match="invalid literal"):
        np.array(["a"], int)
    years.remove()
    assert np.array is not shimmed and type(np.array).__name__ == "builtin_function_or_method"
    assert not hasattr(np, "int") and repr(np.float32(1.5)) == ("np.float32(1.5)" if np.__version__ >= "2" else "1.5")
    with pytest.raises(ValueError, match="inhomogeneous"):
        np.array([[1], [2, 3]])
    with pytest.raises(AttributeError, match="itemset"):
        np.ones(1).itemset(0, 1)


def test_numbers_are_shown_as_before():
    assert repr(np.float32(1.5)) == "1.5" and repr([np.int64(3)]) == "[3]"


def test_lists_of_arrays():
    grid = np.meshgrid([1, 2], [3, 4])
    grid.append(np.zeros((2, 2)))
    assert [g.shape for g in grid] == [(2, 2)] * 3
    assert type(np.broadcast_arrays(1, [2, 3])) is type(np.atleast_2d(1, 2)) is list
    assert type(np.atleast_1d(1)) is np.ndarray


def test_arrays_are_not_equal_to_what_they_cannot_be_broadcast_with():
    a = np.arange(3.0)
    with pytest.warns(DeprecationWarning, match="elementwise comparison failed"):
        assert (a == []) is False and (a != []) is True and (a == np.zeros(2)) is False and ([1, 2] == a) is False
    with pytest.warns(DeprecationWarning, match="elementwise comparison failed"):
        assert (np.zeros((2, 3)) == [[1], [1, 2]]) is False and a not in ([], [1, 2]) and (np.asmatrix([1, 2]) == [1, 2, 3]) is False
    assert (a == [0, 1, 5]).tolist() == [True, True, False] and (a == 1.0).tolist() == [False, True, False]
    with pytest.raises(ValueError, match="could not be broadcast"):
        a < [1, 2]  # noqa: B015


def test_the_other_operand_is_asked():
    class Anything:
        __array_ufunc__ = None

        def __eq__(self, other):
            return "asked"

        __hash__ = None

    assert (np.arange(3.0) == Anything()) == "asked"


def test_warnings_of_comparisons_may_be_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DeprecationWarning, match="comparison failed"):
            np.arange(3.0) == []  # noqa: B015
        with pytest.raises(DeprecationWarning, match="empty array"):
            bool(np.array([]))


def test_empty_arrays_are_false():
    with pytest.warns(DeprecationWarning, match="empty array is ambiguous"):
        assert not np.array([]) and not np.zeros((0, 3))
    assert np.array([2.0]) and not np.array([0])
    with pytest.raises(ValueError, match="more than one element"):
        bool(np.array([1, 2]))


def test_lists_of_slices_are_indices():
    a = np.arange(12).reshape(3, 4)
    with pytest.warns(DeprecationWarning, match="non-tuple sequence"):
        assert a[[slice(0, 2), slice(1, 3)]].tolist() == [[1, 2], [5, 6]]
    with pytest.warns(DeprecationWarning, match="non-tuple sequence"):
        assert a[[None, Ellipsis]].shape == (1, 3, 4)
    with pytest.warns(DeprecationWarning, match="non-tuple sequence"):
        a[[slice(1, None), 0]] = -1
    assert a[:, 0].tolist() == [0, -1, -1]
    assert a[[2, 0]].shape == (2, 4)
    with pytest.raises(IndexError, match="out of bounds"):
        a[[5]]
    with pytest.raises(IndexError, match="valid indices"):
        a[["x", 1.5]]


def test_today_they_raise():
    years.remove()
    try:
        with pytest.raises(ValueError, match="broadcast"):
            np.arange(3.0) == []  # noqa: B015
        with pytest.raises(ValueError, match="empty"):
            bool(np.array([]))
        with pytest.raises(IndexError, match="valid indices"):
            np.arange(3)[[slice(2)]]
    finally:
        years.install()
