"""Constants: what arrays Python values become, and how arrays are written as TensorProtos and read."""

import ml_dtypes
import numpy as np
import pytest
from google.protobuf import text_format

from everflow.graph import dtypes, tensor_proto
from everflow.graph.dtypes import as_dtype
from everflow.graph.shapes import Dimension, TensorShape
from everflow.graph.tensor_proto import as_array, make_ndarray, make_tensor_proto
from everflow.proto import tensor_pb2

NUMERIC = [t for t in sorted(dtypes.TF_VALUE_DTYPES, key=hash) if not t.is_quantized and t is not dtypes.string]


def proto(text):
    return text_format.Parse(text, tensor_pb2.TensorProto())


class Celsius:
    """Something that numpy can read."""

    def __repr__(self):
        return "Celsius()"

    def __array__(self, dtype=None, copy=None):
        return np.array([1, 2], np.float32)


@pytest.mark.parametrize(
    "value, dtype",
    [
        (1, "int32"),
        (-(2**31), "int32"),
        (2**31, "int64"),
        (2**63, "uint64"),
        (1.5, "float32"),
        (1e300, "float32"),
        (True, "bool"),
        (1j, "complex128"),
        ("a", "string"),
        (b"a", "string"),
        ([], "float32"),
        ([[], []], "float32"),
        ([1, 2], "int32"),
        ([1, 2**40], "int64"),
        ((1, 2.5), "float32"),
        ([True, 1], "int32"),
        ([1j, 1], "complex128"),
        (["a", b"b"], "string"),
        (np.float64(1), "float64"),
        ([np.float64(1), 2], "float32"),
        ([np.int64(1)], "int32"),
        ([np.int8(1)], "int8"),
        ([ml_dtypes.bfloat16(1)], "bfloat16"),
        (np.array([1.5]), "float64"),
        (np.array([1]), "int64"),
        (np.array([1], ">i4"), "int32"),
        (np.array(["a"]), "string"),
        (np.array([b"a", "b"], object), "string"),
        (Celsius(), "float32"),
        (bytearray(b"ab"), "uint8"),
    ],
    ids=repr,
)
def test_the_type_that_a_value_gets(value, dtype):
    array = as_array(value)
    assert as_dtype(array.dtype).name == dtype
    if dtype != "string":
        same = [97, 98] if isinstance(value, bytearray) else value
        with np.errstate(over="ignore"):
            assert np.array_equal(array, np.array(same).astype(array.dtype))


def test_text_becomes_bytes():
    assert as_array("\u1234")[()] == "\u1234".encode()
    assert as_array(["a", b"\xff\0"]).tolist() == [b"a", b"\xff\0"]
    assert as_array(np.array([["a", "bc"]])).tolist() == [[b"a", b"bc"]]
    assert [type(x) for x in as_array(np.array([b"a", np.str_("b")], object))] == [bytes, bytes]


@pytest.mark.parametrize(
    "value, dtype, expected",
    [
        (1, dtypes.float32, 1.0),
        (True, dtypes.int32, 1),
        (1, dtypes.complex64, 1 + 0j),
        (300, dtypes.uint8, 44),
        (-1, dtypes.uint8, 255),
        (2**31, dtypes.int32, -(2**31)),
        (1e300, dtypes.float16, np.inf),
        ([1, 2.5], dtypes.bfloat16, [1, 2.5]),
        ([2**70], dtypes.float32, [2.0**70]),
        ([Dimension(3), 4], dtypes.int64, [3, 4]),
        (np.array([1.7, -1.7]), dtypes.int32, [1, -1]),
        (np.array([0, 2]), dtypes.bool, [False, True]),
        (np.float64(1.5), dtypes.int32, 1),
        ([], dtypes.int32, []),
        (1, "float64", 1.0),
        (1, dtypes.float32_ref, 1.0),
        (np.array([1, 2], object), dtypes.int32, [1, 2]),
    ],
    ids=repr,
)
def test_the_value_in_a_type_that_is_asked_for(value, dtype, expected):
    array = as_array(value, dtype)
    assert array.dtype == as_dtype(dtype).as_numpy_dtype
    assert np.array_equal(array, np.array(expected, array.dtype))


@pytest.mark.parametrize(
    "value, dtype, text",
    [
        (1.5, dtypes.int32, "Expected int32, got 1.5 of type 'float' instead."),
        ([1, 2.5], dtypes.int32, "Expected int32, got 2.5 of type 'float' instead."),
        ([np.float64(2.5)], dtypes.int32, "Expected int32, got 2.5 of type 'float64' instead."),
        (1j, dtypes.float32, "Expected float32, got 1j of type 'complex' instead."),
        ("a", dtypes.int32, "Expected int32, got 'a' of type 'str' instead."),
        ([1, "a"], dtypes.float32, "Expected float32, got 'a' of type 'str' instead."),
        ([1, "a"], dtypes.string, "Expected string, got 1 of type 'int' instead."),
        (1, dtypes.bool, "Expected bool, got 1 of type 'int' instead."),
        ([None], dtypes.float32, "Expected float32, got None of type 'NoneType' instead."),
        ([np.array([1, 2])], dtypes.int64, "Expected int64, got array([1, 2]) of type 'ndarray' instead."),
        (3, dtypes.qint8, "Expected qint8, got 3 of type 'int' instead."),
        (1, dtypes.resource, "Incompatible types: <dtype: 'resource'> vs. int64. Value is 1"),
        (np.array([1]), dtypes.string, "Expected binary or unicode string, got 1"),
        (np.array([None]), None, "Expected binary or unicode string, got None"),
        (3, "nonsense", "Cannot convert value 'nonsense' to a TensorFlow DType."),
    ],
    ids=repr,
)
def test_what_does_not_fit_a_type(value, dtype, text):
    with pytest.raises(TypeError) as caught:
        as_array(value, dtype)
    assert str(caught.value) == text


NO_TENSORS = [[1, "a"], ["a", 1], [1, None], [1, [2]], {1: 2}, {1}, 2**64, [2**64], Dimension(3)]


@pytest.mark.parametrize("value", NO_TENSORS, ids=repr)
def test_what_is_no_tensor(value):
    with pytest.raises(TypeError) as caught:
        as_array(value)
    assert str(caught.value) == (
        f"Failed to convert object of type {type(value)} to Tensor. Contents: {value}. Consider casting elements to a supported type."
    )


@pytest.mark.parametrize(
    "value, got, wanted",
    [
        ([[1, 2], [3]], [2], [2, 2]),
        ([[1], 2], [2], [2, 1]),
        ([[[1, 2], [3]], [[4], [5]]], [2, 2], [2, 2, 2]),
        (range(3), [3], []),
        ([np.array([1, 2]), np.array([3, 4])], [2, 2], [2]),
        (TensorShape([1, 2]), [2], []),
        ([["a"], ["b", "c"]], [2], [2, 1]),
    ],
    ids=repr,
)
def test_ragged_values(value, got, wanted):
    with pytest.raises(ValueError) as caught:
        as_array(value)
    assert str(caught.value) == f"Argument must be a dense tensor: {value} - got shape {got}, but wanted {wanted}."


def test_none_is_no_value():
    with pytest.raises(ValueError, match="^None values not supported.$"):
        as_array(None)
    with pytest.raises(ValueError, match="^None values not supported.$"):
        as_array(None, dtypes.float32)


def test_a_constant_does_not_follow_later_changes_of_its_array():
    mine = np.array([1, 2])
    for constant in (as_array(mine), as_array(mine, dtypes.int64), as_array(mine, shape=[2, 1])):
        assert not np.shares_memory(constant, mine)


@pytest.mark.parametrize("t", [dtypes.qint8, dtypes.quint8, dtypes.qint16, dtypes.quint16, dtypes.qint32], ids=str)
def test_quantized_numbers_are_tuples(t):
    array = as_array([(1,), (2,)], t)
    assert array.dtype == t.as_numpy_dtype and array.tolist() == [(1,), (2,)]
    assert as_array((3,), t).shape == ()
    assert as_array(np.array([3, 4], np.int8), t).tolist() == [(3,), (4,)]
    assert np.array_equal(make_ndarray(make_tensor_proto(array)), array)


class TestShape:
    def test_is_filled_with_the_last_element(self):
        assert as_array(5, shape=[2, 3]).tolist() == [[5] * 3] * 2
        assert as_array([1, 2], shape=[4]).tolist() == [1, 2, 2, 2]
        assert as_array("a", shape=[2]).tolist() == [b"a", b"a"]
        assert as_array([], shape=[2]).tolist() == [0.0, 0.0] and as_array([], dtypes.string, [1]).tolist() == [b""]

    def test_arranges_the_elements(self):
        assert as_array([[1, 2], [3, 4]], shape=[4]).tolist() == [1, 2, 3, 4]
        assert as_array([1], shape=[]).shape == ()
        assert as_array(np.array([1, 2]), shape=TensorShape([1, 2])).shape == (1, 2)

    def test_without_elements_needs_no_value(self):
        array = as_array(0, shape=[0, 3])
        assert array.shape == (0, 3) and array.dtype == np.float32
        assert as_array(0, dtypes.int64, [0]).dtype == np.int64

    def test_must_hold_the_elements(self):
        with pytest.raises(ValueError, match="Too many elements provided. Needed at most 2, but received 3"):
            as_array([1, 2, 3], shape=[2])
        with pytest.raises(TypeError, match="'int' object is not iterable"):
            as_array(1, shape=3)

    def test_may_be_verified(self):
        assert as_array([1, 2], shape=[2], verify_shape=True).tolist() == [1, 2]
        with pytest.raises(TypeError) as caught:
            as_array([1, 2], shape=[2, 1], verify_shape=True)
        assert str(caught.value) == "Expected Tensor's shape: (2, 1), got (2,)."

    def test_may_allow_only_broadcasting(self):
        assert as_array([1], shape=[2, 2], allow_broadcast=True).tolist() == [[1, 1], [1, 1]]
        assert as_array([1, 2], shape=[2, 1], allow_broadcast=True).shape == (2, 1)
        with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(4,\), got \(2,\)."):
            as_array([1, 2], shape=[4], allow_broadcast=True)
        with pytest.raises(ValueError, match="allow_broadcast and verify_shape are not both allowed."):
            as_array(1, shape=[1], allow_broadcast=True, verify_shape=True)


class TestProto:
    @pytest.mark.parametrize(
        "value, dtype, shape, text",
        [
            (1, None, None, "dtype: DT_INT32 tensor_shape {} int_val: 1"),
            (1.5, None, [2, 2], "dtype: DT_FLOAT tensor_shape { dim { size: 2 } dim { size: 2 } } float_val: 1.5"),
            ([1, 2], "int8", None, r'dtype: DT_INT8 tensor_shape { dim { size: 2 } } tensor_content: "\1\2"'),
            ([1, 2], None, [3], "dtype: DT_INT32 tensor_shape { dim { size: 3 } } int_val: [1, 2]"),
            ([1, 2], "float16", None, "dtype: DT_HALF tensor_shape { dim { size: 2 } } half_val: [15360, 16384]"),
            ([1, 2], "bfloat16", None, "dtype: DT_BFLOAT16 tensor_shape { dim { size: 2 } } half_val: [16256, 16384]"),
            ([1, 2], "uint16", None, "dtype: DT_UINT16 tensor_shape { dim { size: 2 } } int_val: [1, 2]"),
            ([1j], "complex64", None, "dtype: DT_COMPLEX64 tensor_shape { dim { size: 1 } } scomplex_val: [0, 1]"),
            ([True, False], None, None, "dtype: DT_BOOL tensor_shape { dim { size: 2 } } bool_val: [true, false]"),
            (["a", "b"], None, None, 'dtype: DT_STRING tensor_shape { dim { size: 2 } } string_val: ["a", "b"]'),
            ([(3,)], "qint8", None, "dtype: DT_QINT8 tensor_shape { dim { size: 1 } } int_val: 3"),
            (7, "uint64", None, "dtype: DT_UINT64 tensor_shape {} uint64_val: 7"),
            ([], None, None, "dtype: DT_FLOAT tensor_shape { dim { size: 0 } }"),
        ],
        ids=repr,
    )
    def test_is_written_as_tensorflow_writes_it(self, value, dtype, shape, text):
        assert make_tensor_proto(value, dtype, shape) == proto(text)

    @pytest.mark.parametrize("dtype", NUMERIC, ids=str)
    @pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0, 2)], ids=str)
    def test_round_trip(self, dtype, shape):
        array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype.as_numpy_dtype)
        back = make_ndarray(make_tensor_proto(array))
        assert back.dtype == array.dtype and back.shape == array.shape and np.array_equal(back, array)

    def test_round_trip_of_text_and_of_views(self):
        words = np.array([[b"a", b""], [b"\0\xff", b"d"]], object)
        assert np.array_equal(make_ndarray(make_tensor_proto(words)), words)
        turned = np.arange(6, dtype=np.int8).reshape(2, 3).T
        assert np.array_equal(make_ndarray(make_tensor_proto(turned)), turned)
        halves = turned.astype(np.float16)
        assert np.array_equal(make_ndarray(make_tensor_proto(halves)), halves)

    @pytest.mark.parametrize(
        "text, expected",
        [
            ("dtype: DT_FLOAT tensor_shape { dim { size: 3 } } float_val: [1, 2]", [1, 2, 2]),
            ("dtype: DT_FLOAT tensor_shape { dim { size: 2 } }", [0, 0]),
            ("dtype: DT_STRING tensor_shape { dim { size: 2 } } string_val: 'a'", [b"a", b"a"]),
            ("dtype: DT_COMPLEX64 tensor_shape { dim { size: 2 } } scomplex_val: [1, 2]", [1 + 2j, 1 + 2j]),
            ("dtype: DT_BOOL tensor_shape { dim { size: 2 } } tensor_content: '\\1\\0'", [True, False]),
            ("dtype: DT_HALF tensor_shape { dim { size: 2 } } half_val: 15360", [1, 1]),
        ],
    )
    def test_short_forms_are_read(self, text, expected):
        assert make_ndarray(proto(text)).tolist() == expected

    def test_the_array_may_be_changed(self):
        make_ndarray(make_tensor_proto([1, 2]))[0] = 5

    def test_unreadable(self):
        with pytest.raises(TypeError, match="Unsupported tensor type: 101"):
            make_ndarray(proto("dtype: DT_FLOAT_REF tensor_shape {} float_val: 1"))
        with pytest.raises(ValueError, match="Too many elements in a TensorProto"):
            make_ndarray(proto("dtype: DT_FLOAT tensor_shape { dim { size: 1 } } float_val: [1, 2]"))
        with pytest.raises(ValueError, match="cannot reshape array"):
            make_ndarray(proto("dtype: DT_FLOAT tensor_shape { dim { size: 2 } } tensor_content: 'abcd'"))

    def test_a_proto_is_its_own_proto(self):
        made = make_tensor_proto(1)
        assert make_tensor_proto(made) is made

    def test_has_shape(self):
        made = make_tensor_proto([[1, 2]])
        assert tensor_proto.has_shape(made, [1, 2]) and not tensor_proto.has_shape(made, (2,))
        assert tensor_proto.has_shape(made, TensorShape([1, 2]).as_proto())
        with pytest.raises(TypeError, match="shape is not a list or tuple"):
            tensor_proto.has_shape(made, "12")
        with pytest.raises(TypeError, match="tensor_proto is not a tensor_pb2.TensorProto object"):
            tensor_proto.has_shape([1, 2], [2])


def test_one_element_of_a_large_shape_is_written_once():
    large = as_array(True, dtypes.bool, [1 << 29])
    proto = make_tensor_proto(large)
    assert proto.ByteSize() < 100 and list(proto.bool_val) == [True]
    assert make_ndarray(proto).shape == (1 << 29,)
