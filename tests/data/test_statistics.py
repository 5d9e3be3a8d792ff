"""What pipelines tell aggregators. Names and counts are those of TensorFlow 1.15."""

import glob

import pytest

import everflow as tf

D = tf.data.Dataset


def statistics(dataset, runs=3, **options):
    aggregator = tf.data.experimental.StatsAggregator()
    chosen = tf.data.Options()
    chosen.experimental_stats.aggregator = aggregator
    for name, value in options.items():
        setattr(chosen.experimental_stats, name, value)
    iterator = tf.data.make_initializable_iterator(dataset.with_options(chosen))
    following, summary = iterator.get_next(), aggregator.get_summary()
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(runs):
            session.run(following)
        found = tf.Summary.FromString(session.run(summary))
    return {v.tag: v.histo if v.HasField("histo") else v.simple_value for v in found.value}


def test_buffers_tell_how_full_they_are():
    found = statistics(D.range(10).prefetch(2), prefix="input")
    assert found["input::PrefetchDataset/_5::buffer_utilization"].num == 3
    assert found["input::PrefetchDataset/_5::buffer_capacity"] == 2
    assert 1 <= found["input::PrefetchDataset/_5::buffer_size"] <= 2


def test_filters_tell_what_they_drop():
    found = statistics(D.range(10).filter(lambda x: x > 2))
    assert found == {"FilterDataset/_4::dropped_elements": 3, "FilterDataset/_4::filtered_elements": 3}


def test_parallel_calls_tell_their_time():
    found = statistics(D.range(10).map(lambda x: x + 2, num_parallel_calls=2))
    (time,) = [v for k, v in found.items() if k.startswith("ParallelMap::__inference_Dataset_map_")]
    assert time.num >= 3 and time.min > 0
    assert 0 <= found["ParallelMapDataset/_5::thread_utilization"] <= 1


def test_examples_tell_of_their_features():
    def feature(*values):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

    example = tf.train.Example(features=tf.train.Features(feature={"a": feature(1), "b": feature(1, 2), "c": feature(1, 2, 3)}))
    parse = tf.data.experimental.parse_example_dataset({"a": tf.FixedLenFeature([], tf.int64), "b": tf.VarLenFeature(tf.int64)})
    found = statistics(D.from_tensors(example.SerializeToString()).repeat(6).batch(2).apply(parse))
    assert found["ParseExampleDataset/_9::features_count"].sum == 6 * 3
    assert found["ParseExampleDataset/_9::feature_values_count"].sum == 6 * 3


def test_each_transformation_can_be_timed():
    found = statistics(D.range(10).map(lambda x: x + 1).take(5), latency_all_edges=True)
    assert {k: v.num for k, v in found.items()} == {
        "record_latency::RangeDataset/_3": 3,
        "record_latency::MapDataset/_4": 3,
        "record_latency::TakeDataset/_6": 3,
    }


def test_datasets_made_by_functions_tell_too():
    found = statistics(D.range(10).flat_map(lambda x: D.range(3).prefetch(1)))
    assert found["PrefetchDataset::buffer_utilization"].num == 3


def test_latency_and_size_of_elements():
    found = statistics(
        D.range(4).batch(2).apply(tf.data.experimental.latency_stats("late")).apply(tf.data.experimental.bytes_produced_stats("size")),
        runs=2,
    )
    assert found["late"].num == 2
    assert found["size"].sum == 32


def test_elements_are_the_same_with_statistics():
    dataset = D.range(20).map(lambda x: x * 2, num_parallel_calls=2).filter(lambda x: x % 3 > 0).batch(3).prefetch(1)
    with tf.Session() as session:
        plain = session.run(dataset.make_one_shot_iterator().get_next())
    options = tf.data.Options()
    options.experimental_stats.aggregator = tf.data.experimental.StatsAggregator()
    iterator = tf.data.make_initializable_iterator(dataset.with_options(options))
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert session.run(iterator.get_next()).tolist() == plain.tolist()


@pytest.mark.usefixtures("eager")
def test_an_aggregator_can_write_events():
    from everflow.data.stats_ops import StatsAggregatorV2

    aggregator, options = StatsAggregatorV2(), tf.data.Options()
    options.experimental_stats.aggregator = aggregator
    assert len(list(D.range(5).filter(lambda x: x < 3).with_options(options))) == 3
    (file,) = glob.glob(aggregator._logdir + "/*")
    tags = [v.tag for event in tf.train.summary_iterator(file) for v in event.summary.value]
    assert len(tags) == 5 and all(t.endswith("_elements") for t in tags)
