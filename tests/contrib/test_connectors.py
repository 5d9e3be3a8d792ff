"""Names of what other systems hold: they can be imported, and say what is missing where they are used."""

import pytest

import everflow as tf
from everflow import alias


@pytest.mark.parametrize(
    ("module", "name", "system", "arguments"),
    [
        ("hadoop", "SequenceFileDataset", "Hadoop", (["file"],)),
        ("kafka", "KafkaDataset", "Kafka", (["topic:0:0:-1"],)),
        ("kinesis", "KinesisDataset", "Kinesis", ("stream",)),
        ("ignite", "IgniteDataset", "Ignite", ("cache",)),
        ("bigtable", "BigtableClient", "Bigtable", ("project", "instance")),
    ],
)
def test_what_is_missing_is_said_when_it_is_needed(module, name, system, arguments):
    found = getattr(alias.locate(f"tensorflow.contrib.{module}"), name)
    assert issubclass(found, tf.data.Dataset) == (module != "bigtable")
    with pytest.raises(tf.errors.UnimplementedError, match=f"{name}.* no client for .*{system}"):
        found(*arguments)


def test_who_asks_for_the_converter_to_tensorflow_lite_is_told_where_it_is():
    with pytest.raises(AttributeError, match="have a TensorFlow convert the SavedModel"):
        getattr(tf.lite, "TFLiteConverter")  # noqa: B009
