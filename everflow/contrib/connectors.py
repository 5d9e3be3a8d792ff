"""Datasets and tables that other systems hold: tf.contrib.hadoop, kafka, kinesis, ignite and bigtable. Programs that only import them run;
Everflow has no client of these systems, and says so where one is needed."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.errors import unimplemented


class _Connector:
    """What would hold a connection."""

    _system: str

    def _refuse(self) -> None:
        raise unimplemented(
            f"{type(self).__name__}: Everflow has no client for {self._system}. "
            "Read it with one of your own in tf.data.Dataset.from_generator."
        )


class _DatasetOfOthers(_Connector, tf.data.Dataset):
    pass


@internal("contrib.hadoop.python.ops.hadoop_dataset_ops.SequenceFileDataset")
class SequenceFileDataset(_DatasetOfOthers):
    """Keys and values of Hadoop's sequence files."""

    _system = "Hadoop's sequence files"

    def __init__(self, filenames: Any) -> None:
        self._refuse()


@internal("contrib.kafka.python.ops.kafka_dataset_ops.KafkaDataset")
class KafkaDataset(_DatasetOfOthers):
    """Messages of topics."""

    _system = "Kafka"

    def __init__(self, topics: Any, servers: Any = "localhost", group: Any = "", eof: Any = False, timeout: Any = 1000) -> None:
        self._refuse()


@internal("contrib.kinesis.python.ops.kinesis_dataset_ops.KinesisDataset")
class KinesisDataset(_DatasetOfOthers):
    """Records of a stream."""

    _system = "Kinesis"

    def __init__(self, stream: Any, shard: Any = "", read_indefinitely: Any = True, interval: Any = 100000) -> None:
        self._refuse()


@internal("contrib.ignite.python.ops.ignite_dataset_ops.IgniteDataset")
class IgniteDataset(_DatasetOfOthers):
    """Entries of a cache."""

    _system = "Apache Ignite"

    def __init__(
        self,
        cache_name: Any,
        host: Any = "localhost",
        port: Any = 10800,
        local: Any = False,
        part: Any = -1,
        page_size: Any = 100,
        username: Any = None,
        password: Any = None,
        certfile: Any = None,
        keyfile: Any = None,
        cert_password: Any = None,
    ) -> None:
        self._refuse()


@internal("contrib.bigtable.BigtableClient", "contrib.bigtable.python.ops.bigtable_api.BigtableClient")
class BigtableClient(_Connector):
    """A connection to an instance of Cloud Bigtable."""

    _system = "Cloud Bigtable"

    def __init__(self, project_id: Any, instance_id: Any, connection_pool_size: Any = None, max_receive_message_size: Any = None) -> None:
        self._refuse()


@internal("contrib.bigtable.BigtableTable", "contrib.bigtable.python.ops.bigtable_api.BigtableTable")
class BigtableTable(_Connector):
    """A table of Cloud Bigtable; clients give it."""

    _system = "Cloud Bigtable"

    def __init__(self, name: Any, snapshot: Any, resource: Any) -> None:
        self._refuse()
