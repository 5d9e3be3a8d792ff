"""Datasets written in C++: made by ops, read by tf.data, saved where they say so."""

import pathlib

import pytest
from pipelines import elements

import everflow as tf
from everflow import internals
from running import run

dataset_ops = internals.module("python.data.ops.dataset_ops")


class Lines(dataset_ops.DatasetSource):
    """The lines of files, with their numbers."""

    def __init__(self, library, names):
        super().__init__(library.lines_dataset(names))

    @property
    def element_spec(self):
        """A line and its number."""
        return tf.TensorSpec([], tf.string), tf.TensorSpec([1], tf.int64)


class Echo(dataset_ops.UnaryDataset):
    """Each element several times."""

    def __init__(self, library, input_dataset, times):
        self._spec = (input_dataset.element_spec, tf.TensorSpec([], tf.int64))
        types, shapes = [*input_dataset._flat_types, tf.int64], [*input_dataset._flat_shapes, ()]
        variant = library.echo_dataset(input_dataset._variant_tensor, times, output_types=types, output_shapes=shapes)
        super().__init__(input_dataset, variant)

    @property
    def element_spec(self):
        """The element, and which time it is."""
        return self._spec


def squares(library, mistake=""):
    class Squares(tf.data.Dataset):
        """As datasets were written before TensorFlow 1.15."""

        def _inputs(self):
            return []

        def _as_variant_tensor(self):
            return library.squares_dataset(mistake=mistake)

        output_types, output_shapes, output_classes = tf.float32, tf.TensorShape([2, 2]), tf.Tensor

    return Squares()


def first(dataset):
    """The first element; or the error that it is."""
    return run(tf.data.make_one_shot_iterator(dataset).get_next())


@pytest.fixture
def files(tmp_path):
    names = []
    for name, text in (("a", "one\ntwo\n"), ("b", ""), ("c", "three\n")):
        (tmp_path / name).write_text(text)
        names.append(str(tmp_path / name))
    return names


LINES = [[b"one", [1]], [b"two", [2]], [b"three", [3]]]


def test_a_reader_of_files(datasets, files):
    assert elements(Lines(datasets, files)) == LINES


def test_transformations_of_python_take_what_cpp_reads(datasets, files):
    dataset = Lines(datasets, files).map(lambda line, number: tf.strings.length(line) + tf.cast(number[0], tf.int32))
    assert elements(dataset.repeat(2).shuffle(1).batch(4).prefetch(1)) == [[4, 5, 8, 4], [5, 8]]


def test_the_dataset_class_of_older_programs(datasets):
    following = squares(datasets).take(2).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(following).tolist() == [[0, 1], [4, 9]]
        assert session.run(following).tolist() == [[16, 25], [36, 49]]
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            session.run(following)


def test_cpp_reads_what_python_makes(datasets):
    dataset = Echo(datasets, tf.data.Dataset.from_tensor_slices(["a", "b"]).map(lambda x: x + "!"), 2)
    assert elements(dataset) == [[b"a!", 0], [b"a!", 1], [b"b!", 0], [b"b!", 1]]
    assert elements(Echo(datasets, Echo(datasets, tf.data.Dataset.range(1), 2), 2)) == [[[0, 0], 0], [[0, 0], 1], [[0, 1], 0], [[0, 1], 1]]


def test_eager_loops(datasets, files, eager):
    assert [[line.numpy(), number.numpy().tolist()] for line, number in Lines(datasets, files)] == LINES
    assert [turn.numpy() for _, turn in Echo(datasets, tf.data.Dataset.range(2), 3)] == [0, 1, 2, 0, 1, 2]


def test_how_many_elements_there_are(datasets, files):
    cardinality = tf.data.experimental.cardinality
    found = [cardinality(d) for d in (Lines(datasets, files), squares(datasets), Echo(datasets, tf.data.Dataset.range(5), 2))]
    assert run(found) == [tf.data.experimental.UNKNOWN_CARDINALITY, tf.data.experimental.INFINITE_CARDINALITY, 10]


def test_errors_are_those_of_statuses_and_reading_goes_on(datasets, files):
    pathlib.Path(files[1]).write_bytes(b"\0")
    line, _ = tf.data.make_one_shot_iterator(Lines(datasets, files)).get_next()
    with tf.Session() as session:
        assert [session.run(line) for _ in range(2)] == [b"one", b"two"]
        with pytest.raises(tf.errors.DataLossError, match="b holds no text"):
            session.run(line)
        assert session.run(line) == b"three"
    with pytest.raises(tf.errors.NotFoundError, match="missing; No such file or directory"):
        first(Lines(datasets, ["missing"]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="no files to read"):
        first(Lines(datasets, tf.constant([], tf.string)))


def test_errors_of_python_pass_through_cpp(datasets):
    checked = tf.data.Dataset.from_tensor_slices([0.0]).map(lambda x: tf.check_numerics(1 / x, "divided"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="divided : Tensor had Inf"):
        first(Echo(datasets, checked, 1))


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("out of range", "returned OutOfRange without setting `\\*end_of_sequence`.*no more"),
        ("throws", "thrown by an iterator"),
        ("nothing", "gave 0 tensors, and was to give 1"),
        ("no dataset", "made no dataset"),
    ],
)
def test_faulty_datasets_end_with_an_error(datasets, mistake, message):
    with pytest.raises(tf.errors.InternalError, match=message):
        first(squares(datasets, mistake))


def test_what_is_no_dataset_is_refused(datasets):
    types = {"output_types": [tf.int64], "output_shapes": [()]}
    other = datasets.echo_dataset(datasets.numbers_none(), 1, **types)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Tensor must be a Dataset object"):
        first(dataset_ops._VariantDataset(other, tf.TensorSpec([], tf.int64)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="times must be positive, got 0"):
        first(Echo(datasets, tf.data.Dataset.range(1), 0))


@pytest.mark.parametrize("taken", [0, 1, 3])
def test_positions_are_saved_and_restored(datasets, files, tmp_path, taken):
    iterator = tf.data.make_initializable_iterator(Echo(datasets, Lines(datasets, files).filter(lambda line, n: n[0] > 0), 2))
    (line, number), turn = iterator.get_next()
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, tf.data.experimental.make_saveable_from_iterator(iterator))
    saver = tf.train.Saver(allow_empty=True)
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(taken):
            session.run(line)
        path = saver.save(session, str(tmp_path / "position"))
    with tf.Session() as session:
        session.run(iterator.initializer)
        saver.restore(session, path)
        found = []
        for _ in range(6 - taken):
            text, at, time = session.run([line, number, turn])
            found.append((text, at.tolist(), time))
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(line)
    assert found == [(*element, time) for element in LINES for time in (0, 1)][taken:]


def test_what_says_that_it_can_not_be_saved_is_not(datasets):
    iterator = squares(datasets).make_initializable_iterator()
    position = tf.raw_ops.SerializeIterator(resource_handle=iterator._iterator_resource)
    with tf.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.UnimplementedError, match="SquaresOp::Dataset does not support serialization"):
            session.run(position)


def test_pipelines_are_written_down(datasets, files):
    dataset = Echo(datasets, Lines(datasets, files), 2)
    graph = tf.GraphDef.FromString(run(dataset._as_serialized_graph()))
    assert [node.op for node in graph.node] == ["Const", "LinesDataset", "Const", "EchoDataset", "_Retval"]
    with pytest.raises(tf.errors.UnimplementedError, match="SquaresOp::Dataset does not support serialization"):
        run(squares(datasets)._as_serialized_graph())


def test_variants_of_ones_own(datasets, eager):
    numbers = datasets.numbers_none()
    for i in (3, 1, 4):
        numbers = datasets.numbers_push(numbers, i)
    assert datasets.numbers_all(numbers).numpy().tolist() == [3, 1, 4]
    with pytest.raises(tf.errors.InvalidArgumentError, match="the variant holds no numbers"):
        datasets.numbers_all(tf.data.Dataset.range(3)._variant_tensor)
