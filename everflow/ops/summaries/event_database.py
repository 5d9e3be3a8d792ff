"""Events in a database of SQLite instead of a file, in the tables that TensorBoard's databases have."""

from __future__ import annotations

import random
import sqlite3
import struct
import sys
from typing import Any

from everflow.graph.tensor_proto import make_ndarray
from everflow.proto import graph_pb2, types_pb2

# Columns that hold numbers are INTEGER unless they are named here.
_TABLES = {
    "Ids": "id INTEGER PRIMARY KEY",
    "Descriptions": "id INTEGER PRIMARY KEY, description TEXT",
    "Tensors": "rowid INTEGER PRIMARY KEY, series INTEGER, step INTEGER, dtype INTEGER, computed_time REAL, shape TEXT, data BLOB",
    "TensorStrings": "rowid INTEGER PRIMARY KEY, tensor_rowid INTEGER NOT NULL, idx INTEGER NOT NULL, data BLOB",
    "Tags": "rowid INTEGER PRIMARY KEY, run_id INTEGER, tag_id INTEGER NOT NULL, inserted_time DOUBLE, tag_name TEXT, display_name TEXT, "
    "plugin_name TEXT, plugin_data BLOB",
    "Runs": "rowid INTEGER PRIMARY KEY, experiment_id INTEGER, run_id INTEGER NOT NULL, inserted_time REAL, started_time REAL, "
    "finished_time REAL, run_name TEXT",
    "Experiments": "rowid INTEGER PRIMARY KEY, user_id INTEGER, experiment_id INTEGER NOT NULL, inserted_time REAL, started_time REAL, "
    "is_watching INTEGER, experiment_name TEXT",
    "Users": "rowid INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, inserted_time REAL, user_name TEXT, email TEXT",
    "Graphs": "rowid INTEGER PRIMARY KEY, run_id INTEGER, graph_id INTEGER NOT NULL, inserted_time REAL, graph_def BLOB",
    "Nodes": "rowid INTEGER PRIMARY KEY, graph_id INTEGER NOT NULL, node_id INTEGER NOT NULL, node_name TEXT, op TEXT, device TEXT, "
    "node_def BLOB",
    "NodeInputs": "rowid INTEGER PRIMARY KEY, graph_id INTEGER NOT NULL, node_id INTEGER NOT NULL, idx INTEGER NOT NULL, "
    "input_node_id INTEGER NOT NULL, input_node_idx INTEGER, is_control INTEGER",
}
_INDEXES = {
    "TensorSeriesStepIndex": "Tensors (series, step) WHERE series IS NOT NULL AND step IS NOT NULL",
    "TensorStringIndex": "TensorStrings (tensor_rowid, idx)",
    "TagIdIndex": "Tags (tag_id)",
    "TagRunNameIndex": "Tags (run_id, tag_name) WHERE run_id IS NOT NULL AND tag_name IS NOT NULL",
    "RunIdIndex": "Runs (run_id)",
    "RunNameIndex": "Runs (experiment_id, run_name) WHERE run_name IS NOT NULL",
    "ExperimentIdIndex": "Experiments (experiment_id)",
    "ExperimentNameIndex": "Experiments (user_id, experiment_name) WHERE experiment_name IS NOT NULL",
    "UserIdIndex": "Users (user_id)",
    "UserNameIndex": "Users (user_name) WHERE user_name IS NOT NULL",
    "UserEmailIndex": "Users (email) WHERE email IS NOT NULL",
    "GraphIdIndex": "Graphs (graph_id)",
    "GraphRunIndex": "Graphs (run_id) WHERE run_id IS NOT NULL",
    "NodeIdIndex": "Nodes (graph_id, node_id)",
    "NodeNameIndex": "Nodes (graph_id, node_name) WHERE node_name IS NOT NULL",
    "NodeInputsIndex": "NodeInputs (graph_id, node_id, idx)",
}
_MOST_IDS = 2**23


class EventDatabase:
    """Writes the events of one run; names that are empty are not written."""

    def __init__(self, uri: str, experiment: str, run: str, user: str) -> None:
        self._connection = sqlite3.connect(uri, uri=uri.startswith("file:"), check_same_thread=False)
        with self._connection:
            for name, columns in _TABLES.items():
                self._connection.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")
            for name, what in _INDEXES.items():
                self._connection.execute(f"CREATE UNIQUE INDEX IF NOT EXISTS {name} ON {what}")
        self._names = {"user": user, "experiment": experiment, "run": run}
        self._run: int | None = None
        self._tags: dict[str, int] = {}

    def _one(self, query: str, *values: Any) -> Any:
        found = self._connection.execute(query, values).fetchone()
        return None if found is None else found[0]

    def _insert(self, table: str, **values: Any) -> int:
        columns = f"({', '.join(values)}) VALUES ({', '.join('?' * len(values))})"
        return self._connection.execute(f"INSERT OR REPLACE INTO {table} {columns}", tuple(values.values())).lastrowid or 0

    def _new_id(self) -> int:
        while True:
            number = random.randrange(1, _MOST_IDS)
            if self._one("SELECT id FROM Ids WHERE id = ?", number) is None:
                self._insert("Ids", id=number)
                return number

    def _run_id(self, time: float) -> int | None:
        """The run, which is there with its experiment and user from the first event on."""
        if self._run is not None or not self._names["run"]:
            return self._run
        user = experiment = None
        if name := self._names["user"]:
            user = self._one("SELECT user_id FROM Users WHERE user_name = ?", name)
            if user is None:
                user = self._new_id()
                self._insert("Users", user_id=user, inserted_time=time, user_name=name)
        if name := self._names["experiment"]:
            experiment = self._one("SELECT experiment_id FROM Experiments WHERE user_id IS ? AND experiment_name = ?", user, name)
            if experiment is None:
                experiment = self._new_id()
                times = {"inserted_time": time, "started_time": time}
                self._insert("Experiments", user_id=user, experiment_id=experiment, **times, is_watching=0, experiment_name=name)
        self._run = self._one("SELECT run_id FROM Runs WHERE experiment_id IS ? AND run_name = ?", experiment, self._names["run"])
        if self._run is None:
            self._run = self._new_id()
            times = {"inserted_time": time, "started_time": time}
            self._insert("Runs", experiment_id=experiment, run_id=self._run, **times, run_name=self._names["run"])
        return self._run

    def _tag_id(self, tag: str, metadata: Any, plugin: str, time: float) -> int:
        if tag not in self._tags:
            run = self._run_id(time)
            known = self._one("SELECT tag_id FROM Tags WHERE run_id IS ? AND tag_name = ?", run, tag)
            if known is None:
                known = self._new_id()
                self._insert(
                    "Tags",
                    run_id=run,
                    tag_id=known,
                    inserted_time=time,
                    tag_name=tag,
                    display_name=metadata.display_name,
                    plugin_name=metadata.plugin_data.plugin_name or plugin,
                    plugin_data=metadata.plugin_data.content,
                )
                self._insert("Descriptions", id=known, description=metadata.summary_description)
            self._tags[tag] = known
        return self._tags[tag]

    def WriteEvent(self, event: Any) -> None:
        """Writes what an event holds: a graph, or the values of a summary."""
        with self._connection:
            if event.HasField("graph_def"):
                self._write_graph(graph_pb2.GraphDef.FromString(event.graph_def), event.wall_time)
            for value in event.summary.value:
                plugin, dtype, shape, data, texts = _as_tensor(value)
                series = self._tag_id(value.tag, value.metadata, plugin, event.wall_time)
                place = {"series": series, "step": event.step, "dtype": dtype, "computed_time": event.wall_time}
                row = self._insert("Tensors", **place, shape=",".join(map(str, shape)), data=data)
                for i, text in enumerate(texts):
                    self._insert("TensorStrings", tensor_rowid=row, idx=i, data=text)

    def _write_graph(self, graph: Any, time: float) -> None:
        number = self._new_id()
        self._insert("Graphs", run_id=self._run_id(time), graph_id=number, inserted_time=time, graph_def=graph.SerializeToString())
        places = {node.name: i for i, node in enumerate(graph.node)}
        for i, node in enumerate(graph.node):
            described = {"node_name": node.name, "op": node.op, "device": node.device, "node_def": node.SerializeToString()}
            self._insert("Nodes", graph_id=number, node_id=i, **described)
            for k, given in enumerate(node.input):
                name, _, output = given.removeprefix("^").partition(":")
                source = {"input_node_id": places[name], "input_node_idx": int(output or 0), "is_control": int(given.startswith("^"))}
                self._insert("NodeInputs", graph_id=number, node_id=i, idx=k, **source)

    def Flush(self) -> None:
        """Events are written as they come."""

    def Close(self) -> None:
        """Closes the database."""
        self._connection.close()


def _as_tensor(value: Any) -> tuple[str, int, list[int], bytes | None, list[bytes]]:
    """(plugin, type, shape, numbers, texts) of a summary's value: whatever it is, the database has a tensor."""
    kind = value.WhichOneof("value")
    if kind == "simple_value":
        return "scalars", types_pb2.DT_FLOAT, [], struct.pack("<f", value.simple_value), []
    if kind == "histo":
        limits = list(value.histo.bucket_limit)
        # As in TensorFlow, the first bucket begins at the smallest positive number.
        rows = [x for row in zip([sys.float_info.min, *limits], limits, value.histo.bucket) for x in row]
        return "histograms", types_pb2.DT_DOUBLE, [len(limits), 3], struct.pack(f"<{len(rows)}d", *rows), []
    if kind == "image":
        image = value.image
        return "images", types_pb2.DT_STRING, [3], None, [b"%d" % image.width, b"%d" % image.height, image.encoded_image_string]
    if kind == "audio":
        return "audio", types_pb2.DT_STRING, [1, 2], None, [value.audio.encoded_audio_string, b""]
    tensor = value.tensor
    shape = [dim.size for dim in tensor.tensor_shape.dim]
    if tensor.dtype == types_pb2.DT_STRING:
        return "", tensor.dtype, shape, None, list(tensor.string_val)
    return "", tensor.dtype, shape, make_ndarray(tensor).tobytes(), []
