import numpy as np
import pytest

import everflow as tf
from everflow.distribute.messages import field, fields, joined, name_and_tensor, named, number_field, varint
from everflow.distribute.tensors import decoded, encoded
from everflow.graph import dtypes
from everflow.proto import named_tensor_pb2, tensor_pb2, worker_pb2
from everflow.values import tensors as values


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 2**31, 2**63, 2**64 - 1])
def test_numbers_are_written_as_protocol_buffers_write_them(number):
    message = worker_pb2.RecvBufRequest(src_incarnation=number)
    assert (number_field(11, number) if number else b"") == message.SerializeToString()
    assert list(fields(b"\x58" + varint(number))) == [(11, number)]


def test_messages_written_by_hand_are_those_of_protocol_buffers():
    tensor = encoded(values.from_numpy(np.float32([[1, 2], [3, 4]]), dtypes.float32), dtypes.float32)
    request = worker_pb2.RunGraphRequest.FromString(joined([number_field(2, -5), *named(3, "key", tensor), *field(4, [b"wanted"])]))
    assert (request.step_id, request.recv_key[:]) == (-5, ["wanted"])
    assert request.send[0].name == "key"
    assert tf.make_ndarray(request.send[0].tensor).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "uint16", "uint32", "uint64", "bool", "complex64"])
@pytest.mark.parametrize("sizes", [(), (3,), (2, 0, 4), (200, 300)])
def test_tensors_come_back_as_they_went(dtype, sizes):
    dtype = dtypes.as_dtype(dtype)
    array = np.random.RandomState(0).randint(0, 2, sizes).astype(dtype.as_numpy_dtype)
    sent = joined(encoded(values.from_numpy(array, dtype), dtype))
    found = values.to_numpy(decoded(sent), dtype)
    np.testing.assert_array_equal(found, array)
    # TensorFlow's libraries read the same.
    np.testing.assert_array_equal(tf.make_ndarray(tensor_pb2.TensorProto.FromString(sent)), array)


def test_texts_and_single_values_are_read_in_every_form():
    for value in (["a", "bc"], 3.5, [7, 7, 7], [True, False]):
        proto = tf.make_tensor_proto(value)
        found = values.to_numpy(decoded(proto.SerializeToString()), dtypes.as_dtype(proto.dtype))
        np.testing.assert_array_equal(found, tf.make_ndarray(proto))


def test_names_and_tensors_are_found_in_any_order():
    message = named_tensor_pb2.NamedTensorProto(name="x", tensor=tf.make_tensor_proto(2.0))
    name, tensor = name_and_tensor(memoryview(message.SerializeToString()))
    assert (name, decoded(tensor).item()) == ("x", 2.0)


def test_messages_that_are_cut_short_are_refused():
    with pytest.raises(ValueError, match="ends within a field"):
        list(fields(b"\x0a\x05ab"))
    tensor = tensor_pb2.TensorProto(dtype=1, tensor_content=b"\0" * 8)
    tensor.tensor_shape.dim.add(size=3)
    with pytest.raises(ValueError, match=r"shape \[3\] came with 2 elements"):
        decoded(tensor.SerializeToString())
