"""What is done with options, and where TensorFlow refuses."""

import collections

import numpy as np
import pytest

import everflow as tf

D = tf.data.Dataset


def first(dataset):
    with tf.Session() as session:
        return session.run(tf.data.make_one_shot_iterator(dataset).get_next())


def with_slack(change):
    options = tf.data.Options()
    options.experimental_slack = True
    return change(D.range(1, 10).prefetch(1)).with_options(options)


PASSING = {
    "map": lambda d: d.map(lambda x: x),
    "filter": lambda d: d.filter(lambda x: x > 0),
    "shuffle": lambda d: d.shuffle(1),
    "cache": lambda d: d.cache(),
    "concatenate": lambda d: d.concatenate(d),
    "take": lambda d: d.take(1),
}


@pytest.mark.parametrize("name", PASSING)
def test_slack_looks_behind_what_keeps_elements(name):
    assert first(with_slack(PASSING[name])) == 1


def test_slack_needs_a_prefetch_at_the_end():
    with pytest.raises(tf.errors.InvalidArgumentError, match='Encountered unsupported op "BatchDatasetV2" when rewriting'):
        first(with_slack(lambda d: d.batch(2)))


def test_iterators_with_initializers_need_the_graph_of_the_dataset():
    dataset = D.range(3)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="created in the same graph as the iterator"):
        tf.data.make_initializable_iterator(dataset)


def test_rebatching_cuts_each_component_by_its_own_size():
    from everflow.data.tuning import _RebatchDataset

    both = D.zip((D.range(32).batch(8), D.range(32).batch(16)))
    a, b = first(_RebatchDataset(both, 4))
    np.testing.assert_array_equal(a, [0, 1])
    np.testing.assert_array_equal(b, [0, 1, 2, 3])


def test_columns_come_in_the_order_of_the_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("z,a\n1,2\n")
    dataset = tf.data.experimental.make_csv_dataset(str(path), 1, num_epochs=1)
    assert isinstance(dataset.element_spec, collections.OrderedDict)
    assert list(dataset.element_spec) == ["z", "a"]
    with pytest.raises(ValueError, match=r"compression_type \(ZLIB\) is not supported for probing columns"):
        tf.data.experimental.make_csv_dataset(str(path), 1, compression_type="ZLIB")


def test_readers_of_queues_are_no_datasets():
    with pytest.raises(TypeError, match="The `reader` argument must return a `Dataset` object"):
        tf.data.experimental.make_batched_features_dataset("none", 1, {}, reader=tf.TFRecordReader)
