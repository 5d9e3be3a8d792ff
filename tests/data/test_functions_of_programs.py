"""What programs give to map and its kin: Python's control flow, random numbers, lists of datasets, what they are warned of."""

import threading
import warnings

import numpy as np
import pytest
from pipelines import elements

import everflow as tf
from everflow.data.functions import StructuredFunctionWrapper
from everflow.data.transformations import MapDataset, ParallelMapDataset
from everflow.errors import OperatorNotAllowedInGraphError
from everflow.graph.attrs import to_proto

D = tf.data.Dataset
E = tf.data.experimental


def tenfold(x):
    if x > 2:
        return x * 10
    return x


def doubled(x):
    while x < 20:
        x = x * 2
    return x


def is_large(x):
    if x > 3:
        found = True
    else:
        found = False
    return found


def added(state, x):
    if x > 2:
        state = state + x
    return state


class Tenfold:
    def __call__(self, x):
        return tenfold(x)

    def method(self, x):
        return tenfold(x)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda d: d.map(tenfold), [1, 2, 30, 40, 50]),
        (lambda d: d.map(tenfold, 2), [1, 2, 30, 40, 50]),
        (lambda d: d.map_with_legacy_function(tenfold), [1, 2, 30, 40, 50]),
        (lambda d: d.map(doubled), [32, 32, 24, 32, 20]),
        (lambda d: d.filter(is_large), [4, 5]),
        (lambda d: d.flat_map(lambda x: D.from_tensors(tenfold(x))), [1, 2, 30, 40, 50]),
        (lambda d: d.interleave(lambda x: D.from_tensors(tenfold(x)), 2), [1, 2, 30, 40, 50]),
        (lambda d: d.apply(E.scan(np.int64(0), lambda s, x: (added(s, x), added(s, x)))), [0, 0, 3, 7, 12]),
        (lambda d: d.apply(E.map_and_batch(tenfold, 2)), [[1, 2], [30, 40], [50]]),
        (lambda d: d.map(Tenfold()), [1, 2, 30, 40, 50]),
        (lambda d: d.map(Tenfold().method), [1, 2, 30, 40, 50]),
        (lambda d: d.map(tf.function(tenfold)), [1, 2, 30, 40, 50]),
    ],
)
def test_functions_may_branch_and_loop_on_elements(made, expected):
    assert elements(made(D.range(1, 6))) == expected


def test_reduce_may_branch_on_elements(session):
    assert session.run(D.range(1, 6).reduce(np.int64(0), added)) == 12


def test_functions_that_are_not_to_be_converted_are_not():
    with pytest.raises(OperatorNotAllowedInGraphError, match="AutoGraph is disabled in this function"):
        D.range(3).map(tf.autograph.experimental.do_not_convert(tenfold))
    with pytest.raises(OperatorNotAllowedInGraphError, match="AutoGraph is disabled in this function"):
        tf.function(lambda: D.range(3).map(tenfold).reduce(np.int64(0), added), autograph=False)()


def number(_):
    return tf.random.uniform((), seed=11)


# Measured with TensorFlow 1.15.5; further numbers of the sequence follow where an iterator reads on.
SEQUENCE = [0.08955085, 0.26522362, 0.6327181, 0.28387654, 0.06718099, 0.90714645]


@pytest.mark.parametrize(
    "made",
    [
        lambda: D.range(3).map(number),
        lambda: D.range(3).map(number, 1),
        lambda: D.range(3).flat_map(lambda x: D.from_tensors(number(x))),
        lambda: D.range(3).flat_map(lambda x: D.range(1).map(number)),
        lambda: D.range(3).apply(E.map_and_batch(number, 1)).apply(E.unbatch()),
    ],
)
def test_seeded_random_numbers_start_anew_with_each_iterator(made):
    dataset = made()
    iterators = [tf.compat.v1.data.make_initializable_iterator(d) for d in (dataset, dataset, dataset.repeat(2))]
    following = [i.get_next() for i in iterators]
    with tf.Session() as session:
        # The first one twice, and in turns with the second.
        session.run(iterators[0].initializer)
        assert session.run(following[0]) == pytest.approx(SEQUENCE[0])
        session.run([i.initializer for i in iterators])
        for i in range(3):
            assert session.run(following[:2]) == pytest.approx([SEQUENCE[i]] * 2)
        assert [session.run(following[2]) for _ in range(6)] == pytest.approx(SEQUENCE)


def test_loops_over_one_dataset_draw_the_same_seeded_numbers(eager):
    dataset = D.range(3).map(number)
    for _ in range(2):
        assert [float(x) for x in dataset] == pytest.approx(SEQUENCE[:3])
    shuffled = D.range(6).shuffle(6, seed=3)
    # As 1.15.5: what is shuffled differs within an iterator, not from one to the next.
    assert [int(x) for x in shuffled] == [int(x) for x in shuffled] == [0, 1, 2, 3, 4, 5]
    assert [int(x) for x in shuffled.repeat(2)] == [5, 4, 2, 0, 3, 1, 2, 3, 1, 5, 4, 0]


def test_numbers_without_a_seed_differ_from_loop_to_loop(eager):
    dataset = D.range(3).map(lambda _: tf.random.uniform(()))
    assert [float(x) for x in dataset] != [float(x) for x in dataset]


@pytest.mark.parametrize(
    "made",
    [
        lambda d, f: MapDataset(d, f, use_inter_op_parallelism=False),
        lambda d, f: ParallelMapDataset(d, f, num_parallel_calls=1, use_inter_op_parallelism=False),
    ],
)
def test_without_parallelism_between_ops_python_functions_run_in_one_thread(made):
    def threads(_):
        return tuple(tf.py_func(lambda: np.int64(threading.get_ident()), [], tf.int64) for _ in range(10))

    ((first, *others),) = elements(made(D.range(1), threads))
    assert set(others) == {first}


def test_lists_of_datasets_are_batches_of_datasets():
    three = [D.range(2), D.range(3), D.range(4)]
    assert D.from_tensors(three).element_spec == tf.data.DatasetSpec(tf.TensorSpec([], tf.int64), [3])
    expected = [0, 1, 0, 1, 2, 0, 1, 2, 3]
    assert elements(D.from_tensor_slices(three).flat_map(lambda d: d)) == expected
    assert elements(D.from_tensors(three).unbatch().flat_map(lambda d: d)) == expected
    assert elements(D.from_tensors(three).flat_map(D.from_tensor_slices).flat_map(lambda d: d)) == expected
    assert elements(D.from_tensor_slices([three, three]).unbatch().flat_map(lambda d: d)) == expected * 2
    with pytest.raises(TypeError, match="Failed to convert object of type <class 'list'> to Tensor"):
        D.from_tensors([D.range(2), D.from_tensors(1.0)])


def test_a_state_of_other_components_is_refused_when_the_dataset_is_read(session):
    reduced = D.range(3).reduce(1, lambda state, x: (state, state))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"does not match. \(initial_state=1, output=2\)"):
        session.run(reduced)
    assert session.run(D.range(3).reduce((1, 2), lambda state, x: {"a": state[0], "b": state[1] + 1})) == (1, 5)
    with pytest.raises(TypeError, match="The element types for the new state must match the initial state"):
        D.range(3).reduce(1, lambda state, x: 1.0)


def warned(build):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        build()
    return [str(w.message) for w in found]


@pytest.mark.parametrize("method", ["map", "map_with_legacy_function"])
def test_tables_inside_functions_are_warned_of(method):
    def with_table(x):
        tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1.0]), 0.0)
        return x

    found = warned(lambda: getattr(D.range(3), method)(with_table))
    assert any("Creating resources inside a function passed to Dataset.map() is not supported." in text for text in found)


def test_seeds_of_the_graph_in_functions_are_warned_of():
    tf.set_random_seed(10)
    found = warned(lambda: D.range(3).filter(lambda x: tf.random.uniform(()) > 0.5))
    assert any(text.startswith("Seed 10 from outer graph might be getting used by function Dataset_filter_<lambda>") for text in found)
    assert not any("Seed 10" in text for text in warned(lambda: D.range(3).map(tf.square)))
    assert not any("Seed 10" in text for text in warned(lambda: D.range(3).map(number)))


def test_a_constant_whose_value_is_of_another_type_fails_by_name(session):
    def broken(_):
        value = to_proto(np.float32([1]), "tensor")
        attrs = {"value": value, "dtype": to_proto(tf.int32, "type")}
        return tf.get_default_graph().create_op("Const", [], [tf.int32], attrs=attrs, name="Bad").outputs[0]

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Type mismatch between value \(float\) and dtype \(int32\)\n.*Bad"):
        session.run(D.range(3).map(broken).make_one_shot_iterator().get_next())


def test_the_name_of_a_function_is_that_of_what_was_given():
    assert "Dataset_map_tenfold" in StructuredFunctionWrapper(tenfold, "Dataset.map()", D.range(3)).function.name
