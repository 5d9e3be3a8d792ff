"""Fields of serialized messages as tensors."""

import pytest
from google.protobuf import descriptor_pb2

import everflow as tf
from everflow.proto import feature_pb2, summary_pb2
from running import run

LISTS = [feature_pb2.Int64List(value=[1, 2, -3]).SerializeToString(), b""]
HISTOGRAM = "tensorflow.HistogramProto"


def test_repeated_fields_are_padded():
    found = run(tf.io.decode_proto(LISTS, "tensorflow.Int64List", ["value"], [tf.int64]))
    assert found.sizes.tolist() == [[3], [0]]
    assert found.values[0].tolist() == [[1, 2, -3], [0, 0, 0]]


def test_missing_fields_have_their_default():
    data = summary_pb2.HistogramProto(min=1.5, bucket=[1, 2]).SerializeToString()
    found = run(tf.io.decode_proto(data, HISTOGRAM, ["bucket", "max", "min"], [tf.float64] * 3))
    assert found.sizes.tolist() == [2, 0, 1]
    assert [v.tolist() for v in found.values] == [[1, 2], [0], [1.5]]


def test_messages_may_be_text():
    found = run(tf.io.decode_proto(["min: 3 bucket: 4"], HISTOGRAM, ["min", "bucket"], [tf.float64] * 2, message_format="text"))
    assert [v.tolist() for v in found.values] == [[[3]], [[4]]]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((b"\xff\xff", HISTOGRAM, ["min"], [tf.float64]), tf.errors.DataLossError, "Failed to consume entire buffer"),
        (
            (b"", HISTOGRAM, ["min"], [tf.float32]),
            tf.errors.InvalidArgumentError,
            "Unexpected output type for tensorflow.HistogramProto.min",
        ),
        ((b"", HISTOGRAM, ["no"], [tf.float32]), tf.errors.InvalidArgumentError, "Unknown field: no in message type"),
        ((b"", "no.Message", ["no"], [tf.float32]), tf.errors.InvalidArgumentError, "No descriptor found for message type no.Message"),
    ],
)
def test_what_is_wrong_is_said(arguments, error, message):
    with pytest.raises(error, match=message):
        run(tf.io.decode_proto(*arguments))


def test_messages_are_written():
    lists = run(tf.io.encode_proto([[3], [0]], [tf.constant([[1, 2, -3], [4, 5, 6]], tf.int64)], ["value"], "tensorflow.Int64List"))
    assert lists.tolist() == LISTS
    values = [tf.constant([[2.5]], tf.float64), tf.constant([[1.5, 3.5]], tf.float64)]
    text = run(tf.io.encode_proto([[1, 2]], values, ["max", "bucket"], HISTOGRAM))
    assert summary_pb2.HistogramProto.FromString(text[0]) == summary_pb2.HistogramProto(max=2.5, bucket=[1.5, 3.5])


def test_no_more_is_written_than_there_is():
    with pytest.raises(tf.errors.InvalidArgumentError, match="saw: 2 > 1 at message 0 field 0"):
        run(tf.io.encode_proto([[2]], [tf.constant([[1.5]], tf.float64)], ["min"], HISTOGRAM))


def test_descriptors_may_come_as_bytes():
    files = descriptor_pb2.FileDescriptorSet()
    message = files.file.add(name="long.proto", package="here", syntax="proto3").message_type.add(name="Named")
    message.field.add(name="name", number=1, type=12, label=1)
    message.field.add(name="long" * 50, number=2, type=12, label=1)  # Lengths beyond 127 are bytes that are no text.
    source = b"bytes://" + files.SerializeToString()
    found = run(tf.io.decode_proto([b"\n\x01z"], "here.Named", ["name"], [tf.string], descriptor_source=source))
    assert found.values[0].tolist() == [[b"z"]]
