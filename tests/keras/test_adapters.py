"""Data of any kind as datasets of batches."""

import numpy as np
import pytest

import everflow as tf
from everflow.keras.training import adapters

X, Y = np.arange(20).reshape(10, 2), np.arange(10.0)


class Pairs(tf.keras.utils.Sequence):
    def __getitem__(self, index):
        return np.full((5, 3), index), np.ones(5)

    def __len__(self):
        return 4


def generator():
    for i in range(3):
        yield np.full((5, 3), i), np.ones(5)


def read(adapter):
    return [tf.nest.map_structure(lambda t: t.numpy().tolist(), batch) for batch in adapter.get_dataset()]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (lambda: X, "TensorLike"),
        (lambda: {"a": tf.constant(X)}, "TensorLike"),
        (lambda: [[1, 2], [3, 4]], "ListsOfScalars"),
        (lambda: ["a", "b"], "ListsOfScalars"),
        (lambda: tf.data.Dataset.range(3), "Dataset"),
        (generator, "Generator"),
        (Pairs, "KerasSequence"),
        (lambda: [X, tf.sparse.from_dense([[1.0]])], "CompositeTensor"),
    ],
)
def test_each_kind_of_data_has_its_adapter(eager, data, kind):
    assert adapters.select_data_adapter(data(), None).__name__.removesuffix("Adapter").removesuffix("Data") == kind


def test_data_of_no_known_kind_are_described(eager):
    with pytest.raises(ValueError, match=r"can handle input: \(<class 'dict'> containing .*'NoneType'.* values\), <class 'NoneType'>"):
        adapters.select_data_adapter({"a": None}, None)


def test_arrays_come_in_batches_of_which_the_last_may_be_smaller(eager):
    adapter = adapters.TensorLikeDataAdapter(X, Y, batch_size=4)
    assert (adapter.get_size(), adapter.batch_size(), adapter.partial_batch_size()) == (3, 4, 2)
    assert not adapter.should_recreate_iterator(None)
    found = read(adapter)
    assert [len(x) for x, _ in found] == [4, 4, 2] and found[2] == ([[16, 17], [18, 19]], [8, 9])
    even = adapters.TensorLikeDataAdapter([X, X], Y, steps=5, epochs=2)
    assert even.batch_size() == 2 and not even.has_partial_batch() and len(read(even)) == 10
    assert even.get_dataset().element_spec[1].shape.as_list() == [2]
    with pytest.raises(ValueError, match="`batch_size` or `steps` is required"):
        adapters.TensorLikeDataAdapter(X, Y)


def test_shuffled_epochs_have_every_row_once_and_differ(eager):
    numbers = np.arange(100)
    found = read(adapters.TensorLikeDataAdapter(numbers, batch_size=100, shuffle=True, epochs=2))
    (first,), (second,) = found
    assert sorted(first) == sorted(second) == numbers.tolist()
    assert first != second and first != numbers.tolist()


def test_weights_need_targets_and_are_ones_where_only_others_have_them(eager):
    assert len(read(adapters.TensorLikeDataAdapter(X, None, sample_weights=Y, batch_size=10))[0]) == 1
    (_, _, weights) = read(adapters.TensorLikeDataAdapter(X, [Y, Y], sample_weights=[Y, None], batch_size=10))[0]
    assert weights == (Y.tolist(), [1] * 10)


def test_lists_and_sparse_tensors_are_rows_too(eager):
    assert read(adapters.ListsOfScalarsDataAdapter([1, 2, 3], [4, 5, 6], batch_size=2)) == [([1, 2], [4, 5]), ([3], [6])]
    sparse = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
    adapter = adapters.CompositeTensorDataAdapter(sparse, batch_size=2)
    assert (adapter.get_size(), adapter.partial_batch_size()) == (2, 1)
    assert [tf.sparse.to_dense(x).numpy().tolist() for (x,) in adapter.get_dataset()] == [[[1, 0], [0, 2]], [[3, 0]]]


def test_generators_and_sequences_tell_the_size_of_a_batch(eager):
    adapter = adapters.GeneratorDataAdapter(generator())
    assert (adapter.get_size(), adapter.batch_size(), adapter.should_recreate_iterator(3)) == (None, 5, False)
    assert [x[0][0] for x, _ in read(adapter)] == [0, 1, 2]
    for workers in (1, 2):
        adapter = adapters.KerasSequenceAdapter(Pairs(), workers=workers)
        assert (adapter.get_size(), adapter.batch_size()) == (4, 5)
        assert [x[0][0] for x, _ in read(adapter)] == [0, 1, 2, 3]
    assert sorted(x[0][0] for x, _ in read(adapters.KerasSequenceAdapter(Pairs(), shuffle=True))) == [0, 1, 2, 3]


def test_data_that_bring_their_targets_take_none(eager):
    with pytest.raises(ValueError, match="`y` argument is not supported when using dataset as input"):
        adapters.DatasetAdapter(tf.data.Dataset.range(3), Y)
    with pytest.raises(ValueError, match="`sample_weight` argument is not supported when using python generator"):
        adapters.GeneratorDataAdapter(generator(), sample_weights=Y)
    with pytest.raises(ValueError, match="Cannot handle input 3"):
        adapters.KerasSequenceAdapter(3)
