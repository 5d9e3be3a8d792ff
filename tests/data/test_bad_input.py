"""Bad input: the error is TensorFlow's, and the iterator goes on where TensorFlow's does."""

import subprocess
import sys

import numpy as np
import pytest

import everflow as tf

D = tf.data.Dataset
END = "end"
FEATURES = {"a": tf.FixedLenFeature([], tf.int64)}


def outcomes(make):
    """What an iterator gives, one after the other: values, (error, message), and the end."""
    found = []
    with tf.Graph().as_default(), tf.Session() as session:
        following = make().make_one_shot_iterator().get_next()
        while not found or found[-1] != END:
            assert len(found) < 20
            try:
                value = session.run(following)
                found.append({k: v.tolist() for k, v in value.items()} if isinstance(value, dict) else np.asarray(value).tolist())
            except tf.errors.OutOfRangeError:
                found.append(END)
            except tf.errors.OpError as error:
                found.append((type(error).__name__, error.message))
    return found


def check(make, *expected):
    """Errors are compared by their type and a part of their text."""
    found = outcomes(make)
    assert len(found) == len(expected), found
    for got, want in zip(found, expected):
        if isinstance(want, tuple) and isinstance(want[0], str):
            assert got[0] == want[0] and want[1] in got[1]
        else:
            assert got == want


@pytest.fixture
def records(tmp_path):
    """A function that writes a record file of three records and lets it be damaged."""

    def write(name, damage=lambda content: content):
        path = tmp_path / name
        with tf.python_io.TFRecordWriter(str(path)) as writer:
            for record in (b"aaaa", b"bbbb", b"cccc"):
                writer.write(record)
        path.write_bytes(damage(bytearray(path.read_bytes())))
        return str(path)

    return write


def flipped(position):
    def damage(content):
        content[position] ^= 1
        return content

    return damage


def test_a_truncated_record_ends_its_file(records):
    cut, good = records("cut", lambda content: content[:-6]), records("good")
    check(
        lambda: tf.data.TFRecordDataset([cut, good]),
        b"aaaa",
        b"bbbb",
        ("DataLossError", "truncated record at 40"),
        b"aaaa",
        b"bbbb",
        b"cccc",
        END,
    )


@pytest.mark.parametrize(("position", "told"), [(20, 20), (33, 32)])
def test_a_wrong_checksum_ends_its_file(records, position, told):
    wrong, good = records("wrong", flipped(position)), records("good")
    error = ("DataLossError", f"corrupted record at {told}")
    check(lambda: tf.data.TFRecordDataset([wrong, good]), b"aaaa", error, b"aaaa", b"bbbb", b"cccc", END)


def test_errors_can_be_left_out(records):
    wrong, good = records("wrong", flipped(33)), records("good")
    left_out = tf.data.experimental.ignore_errors()
    check(lambda: tf.data.TFRecordDataset([wrong, good]).apply(left_out), b"aaaa", b"aaaa", b"bbbb", b"cccc", END)


@pytest.mark.parametrize("kind", [tf.data.TFRecordDataset, tf.data.TextLineDataset, lambda name: tf.data.FixedLengthRecordDataset(name, 4)])
def test_a_missing_file_is_named(tmp_path, kind):
    path = str(tmp_path / "none")
    with tf.Graph().as_default(), tf.Session() as session:
        following = kind(path).make_one_shot_iterator().get_next()
        with pytest.raises(tf.errors.NotFoundError, match="none; No such file or directory"):
            session.run(following)


def example(**features):
    made = {}
    for name, values in features.items():
        if isinstance(values[0], float):
            made[name] = tf.train.Feature(float_list=tf.train.FloatList(value=values))
        else:
            made[name] = tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


def parsed(serialized):
    return tf.parse_single_example(serialized, FEATURES)


BAD_EXAMPLES = {
    "missing": (example(b=[2]), "Feature: a (data type: int64) is required but could not be found."),
    "wrong type": (example(a=[2.5]), "Key: a.  Data types don't match. Data type: float but expected type: int64"),
    "wrong count": (example(a=[1, 2]), "Key: a.  Can't parse serialized Example."),
    "no example": (b"\xff\xff", "Could not parse example input, value: "),
}


@pytest.mark.parametrize("name", BAD_EXAMPLES)
def test_a_bad_example_names_its_feature_and_the_next_is_parsed(name):
    bad, message = BAD_EXAMPLES[name]
    serialized = [example(a=[1]), bad, example(a=[3])]
    error = ("InvalidArgumentError", message)
    check(lambda: D.from_tensor_slices(serialized).map(parsed), {"a": 1}, error, {"a": 3}, END)
    check(lambda: D.from_tensor_slices(serialized).map(parsed).take(9).batch(2), error, {"a": [3]}, END)


def ragged():
    return D.range(1, 5).map(lambda x: tf.fill([x], x))


def test_ragged_elements_are_no_batch():
    check(
        lambda: ragged().take(9).batch(2),
        (
            "InvalidArgumentError",
            "Cannot batch tensors with different shapes in component 0. First element had shape [1] and element 1 had shape [2].",
        ),
        ("InvalidArgumentError", "First element had shape [3] and element 1 had shape [4]."),
        END,
    )


def test_an_element_that_is_too_large_can_not_be_padded():
    check(
        lambda: ragged().padded_batch(2, [2]),
        [[1, 0], [2, 2]],
        ("DataLossError", "Attempted to pad to a smaller size than the input element."),
        END,
    )


def test_a_generator_that_is_left_at_the_end_of_a_program_says_nothing():
    program = (
        "import sys, everflow as tf\n"
        "data = tf.data.Dataset.from_generator(lambda: iter(range(9)), tf.int64)\n"
        "number, sys.kept = data.make_one_shot_iterator().get_next(), tf.Session()\n"
        "print(sys.kept.run(number))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n" and "Exception ignored" not in done.stderr


def test_a_generator_that_raises_ends():
    def numbers():
        yield 1
        raise RuntimeError("from the generator")

    check(lambda: D.from_generator(numbers, tf.int64), 1, ("UnknownError", "RuntimeError: from the generator"), END)


def test_a_generator_goes_on_after_a_wrong_shape_or_type():
    check(
        lambda: D.from_generator(lambda: iter([[1, 2], [1, 2, 3], [4, 5]]), tf.int64, [2]),
        [1, 2],
        ("InvalidArgumentError", "`generator` yielded an element of shape (3,) where an element of shape (2,) was expected."),
        [4, 5],
        END,
    )
    check(
        lambda: D.from_generator(lambda: iter([1, "x", 3]), tf.int64),
        1,
        ("InvalidArgumentError", "The expected type was int64, but the yielded element was x."),
        3,
        END,
    )


def test_a_padded_size_may_be_unknown_but_not_less():
    with tf.Graph().as_default(), tf.Session() as session:
        padded = ragged().padded_batch(2, tf.constant([5], tf.int64) * -1).make_initializable_iterator()
        with pytest.raises(tf.errors.InvalidArgumentError, match="Dimension -5 must be >= -1"):
            session.run(padded.initializer)
