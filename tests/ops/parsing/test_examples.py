"""Examples and SequenceExamples: dense, sparse and sequence features, defaults, and what is wrong with bad ones."""

import numpy as np
import pytest

import everflow as tf
from running import run

FLOATS = tf.FixedLenFeature([2], tf.float32)


def _feature(value):
    if isinstance(value[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))
    if isinstance(value[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=value))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=value))


def _features(values):
    return tf.train.Features(feature={key: _feature(value) for key, value in values.items()})


def _example(**values):
    return tf.train.Example(features=_features(values)).SerializeToString()


def _parse(examples, features, **more):
    return run(tf.parse_example(examples, features, **more))


def test_dense_features_are_stacked_and_defaults_fill_in():
    found = _parse(
        [_example(x=[1.0, 2.0], s=[b"a"]), _example(x=[3.0, 4.0])], {"x": FLOATS, "s": tf.FixedLenFeature([], tf.string, b"none")}
    )
    np.testing.assert_array_equal(found["x"], [[1, 2], [3, 4]])
    assert found["s"].tolist() == [b"a", b"none"]


def test_features_of_any_length_are_sparse():
    found = _parse([_example(i=[5, 6]), _example(), _example(i=[7])], {"i": tf.VarLenFeature(tf.int64)})["i"]
    assert found.indices.tolist() == [[0, 0], [0, 1], [2, 0]]
    assert found.values.tolist() == [5, 6, 7]
    assert found.dense_shape.tolist() == [3, 2]


def test_sequences_are_padded_to_the_longest():
    feature = tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True, default_value=-1)
    found = _parse([_example(i=[1, 2, 3, 4]), _example(i=[5, 6]), _example()], {"i": feature})["i"]
    assert found.tolist() == [[[1, 2], [3, 4]], [[5, 6], [-1, -1]], [[-1, -1], [-1, -1]]]


def test_a_sparse_feature_is_indices_and_values_put_together():
    found = _parse([_example(at=[3, 1], v=[0.5, 0.25]), _example(at=[0], v=[1.0])], {"x": tf.SparseFeature("at", "v", tf.float32, 5)})
    assert set(found) == {"x"}
    assert found["x"].indices.tolist() == [[0, 1], [0, 3], [1, 0]]
    assert found["x"].values.tolist() == [0.25, 0.5, 1]
    assert found["x"].dense_shape.tolist() == [2, 5]


def test_one_example_has_no_batch():
    found = run(tf.parse_single_example(_example(x=[1.0, 2.0], i=[4, 5]), {"x": FLOATS, "i": tf.VarLenFeature(tf.int64)}))
    assert found["x"].tolist() == [1, 2]
    assert found["i"].indices.tolist() == [[0], [1]]


@pytest.mark.parametrize(
    ("example", "message"),
    [
        (_example(), r"Name: one, Feature: x \(data type: float\) is required but could not be found."),
        (_example(x=[1, 2]), "Name: one, Key: x, Index: 0.  Data types don't match. Data type: int64 but expected type: float"),
        (_example(x=[1.0]), "Name: one, Key: x, Index: 0.  Number of float values != expected.  Values size: 1 but output shape: \\[2\\]"),
        (b"nonsense", "Could not parse example input, value: 'nonsense'"),
    ],
)
def test_bad_examples_say_what_is_wrong(example, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _parse([example], {"x": FLOATS}, example_names=["one"])


def test_features_are_checked_when_the_graph_is_built():
    with pytest.raises(ValueError, match="Missing: features was None"):
        tf.parse_example([b""], None)
    with pytest.raises(ValueError, match="First dimension of shape for feature x unknown"):
        tf.parse_example([b""], {"x": tf.FixedLenFeature([None], tf.int64)})
    with pytest.raises(ValueError, match="requires allow_missing to be True"):
        tf.parse_example([b""], {"x": tf.FixedLenSequenceFeature([], tf.int64)})


def _sequence(context, **lists):
    message = tf.train.SequenceExample(context=_features(context))
    for key, steps in lists.items():
        message.feature_lists.feature_list[key].feature.extend(_feature(step) for step in steps)
    return message.SerializeToString()


def test_a_sequence_example_is_context_and_steps():
    context, sequence = run(
        tf.parse_single_sequence_example(
            _sequence({"id": [9]}, x=[[1.0, 2.0], [3.0, 4.0]], w=[[b"a"], [b"b", b"c"]]),
            {"id": tf.FixedLenFeature([], tf.int64)},
            {"x": tf.FixedLenSequenceFeature([2], tf.float32), "w": tf.VarLenFeature(tf.string)},
        )
    )
    assert context["id"] == 9
    assert sequence["x"].tolist() == [[1, 2], [3, 4]]
    assert sequence["w"].indices.tolist() == [[0, 0], [1, 0], [1, 1]]


def test_batches_of_sequences_are_padded_and_measured():
    feature = {"x": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}
    _, sequence, lengths = run(
        tf.io.parse_sequence_example([_sequence({}, x=[[1], [2]]), _sequence({}, x=[[3]])], sequence_features=feature)
    )
    assert sequence["x"].tolist() == [[1, 2], [3, 0]]
    assert lengths["x"].tolist() == [2, 1]


def test_a_missing_list_is_an_error_unless_it_may_be_missing():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Feature list 'x' is required but could not be found"):
        run(tf.parse_single_sequence_example(_sequence({}), sequence_features={"x": tf.FixedLenSequenceFeature([], tf.int64)}))


@pytest.mark.parametrize("value", [np.arange(6, dtype=np.int32).reshape(2, 3), np.array([b"a", b""], object), np.float64(2.5)])
def test_tensors_survive_serialization(value):
    tensor = tf.constant(value)
    assert np.array_equal(run(tf.parse_tensor(tf.serialize_tensor(tensor), tensor.dtype)), value)


def test_a_serialized_tensor_of_another_type_is_refused():
    message = r"Type mismatch between parsed tensor \(int32\) and dtype \(float\)"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.parse_tensor(tf.serialize_tensor([1, 2]), tf.float32))


def test_examples_may_be_written_as_json():
    json = '{"features": {"feature": {"i": {"int64List": {"value": ["3", "4"]}}}}}'
    found = run(tf.parse_single_example(tf.decode_json_example(json), {"i": tf.FixedLenFeature([2], tf.int64)}))
    assert found["i"].tolist() == [3, 4]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Error while parsing JSON"):
        run(tf.decode_json_example("no json"))
