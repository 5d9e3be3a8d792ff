"""tf.summary.FileWriter: summaries, graphs and logs of a run, as events in a file."""

from __future__ import annotations

import os
import time
import warnings
from typing import Any

from google.protobuf.message import DecodeError

import everflow as tf
from everflow._native import summary_record
from everflow.api import internal, public
from everflow.graph.graph import Graph
from everflow.graph.messages import GraphDef, MetaGraphDef
from everflow.io import gfile
from everflow.io.events import EventFileWriter
from everflow.platform import logging
from everflow.summary.messages import Event, TaggedRunMetadata
from everflow.summary.plugin_assets import get_all_plugin_assets
from everflow.summary.session_writer import SessionEventFileWriter
from everflow.train.metagraphs.exporting import create_meta_graph_def

_PLUGINS_DIR = internal("summary.writer.writer._PLUGINS_DIR")("plugins")


@internal("summary.writer.writer.SummaryToEventTransformer")
class SummaryToEventTransformer:
    """Makes events of summaries, graphs and logs, and hands them to a writer of events."""

    def __init__(self, event_writer: Any, graph: Any = None, graph_def: Any = None) -> None:
        self.event_writer = event_writer
        # Metadata are told once for each tag.
        self._seen_summary_tags: set[str] = set()
        self._session_run_tags: dict[str, bool] = {}
        if graph is not None or graph_def is not None:
            definition = self._written(graph, graph_def)
            self._add_graph_def(definition)
            self.add_meta_graph(create_meta_graph_def(graph_def=definition))

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Writes a summary, as a message or as its bytes."""
        event = Event()
        if isinstance(summary, bytes):
            event.summary.ParseFromString(summary)
        else:
            event.summary.CopyFrom(summary)
        for value in event.summary.value:
            if not value.HasField("metadata"):
                continue
            if value.tag in self._seen_summary_tags:
                value.ClearField("metadata")
            else:
                self._seen_summary_tags.add(value.tag)
        self._add_event(event, global_step)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Writes what happened to a session."""
        self._add_event(Event(session_log=session_log), global_step)

    def _add_graph_def(self, graph_def: Any, global_step: Any = None) -> None:
        self._add_event(Event(graph_def=graph_def.SerializeToString()), global_step)

    def add_graph(self, graph: Graph, global_step: Any = None, graph_def: Any = None) -> None:
        """Writes a graph, which TensorBoard shows."""
        self._add_graph_def(self._written(graph, graph_def), global_step)

    def _written(self, graph: Any, graph_def: Any) -> Any:
        """The definition of a graph; what plugins hold beside the graph is in files now."""
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        if isinstance(graph, tf.Graph) or isinstance(graph_def, tf.Graph):
            if not isinstance(graph, tf.Graph):
                logging.warning("When passing a `Graph` object, please use the `graph` named argument instead of `graph_def`.")
                graph = graph_def
            self._write_plugin_assets(graph)
            return graph.as_graph_def(add_shapes=True)
        if isinstance(graph, GraphDef) or isinstance(graph_def, GraphDef):
            logging.warning("Passing a `GraphDef` to the SummaryWriter is deprecated. Pass a `Graph` object instead, such as `sess.graph`.")
            return graph if isinstance(graph, GraphDef) else graph_def
        raise TypeError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`")

    def _write_plugin_assets(self, graph: Graph) -> None:
        for asset in get_all_plugin_assets(graph):
            folder = os.path.join(self.event_writer.get_logdir(), _PLUGINS_DIR, asset.plugin_name)
            gfile.recursive_create_dir(folder)
            for name, content in asset.assets().items():
                with gfile.GFile(os.path.join(folder, name), "w") as file:
                    file.write(content)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Writes a graph with what surrounds it."""
        if not isinstance(meta_graph_def, MetaGraphDef):
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}")
        self._add_event(Event(meta_graph_def=meta_graph_def.SerializeToString()), global_step)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Writes what was recorded of one run, under a tag of its own."""
        if tag in self._session_run_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._session_run_tags[tag] = True
        tagged = TaggedRunMetadata(tag=tag, run_metadata=run_metadata.SerializeToString())
        self._add_event(Event(tagged_run_metadata=tagged), global_step)

    def _add_event(self, event: Any, step: Any) -> None:
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)


@public("summary.FileWriter")
class FileWriter(SummaryToEventTransformer):
    """Writes events to a new file in a folder, without making the program wait."""

    def __init__(
        self,
        logdir: Any,
        graph: Graph | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
        session: Any = None,
    ) -> None:
        if tf.executing_eagerly():
            raise RuntimeError("tf.summary.FileWriter is not compatible with eager execution. Use tf.contrib.summary instead.")
        where: Any = (logdir, max_queue, flush_secs, filename_suffix)
        self._closed = False
        writer = EventFileWriter(*where) if session is None else SessionEventFileWriter(session, *where)
        super().__init__(writer, graph, graph_def)

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def get_logdir(self) -> str:
        """The folder of the file."""
        return self.event_writer.get_logdir()

    def _warn_if_closed(self) -> None:
        if self._closed:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter is explicitly reopened.",
                stacklevel=3,
            )

    def _add_event(self, event: Any, step: Any) -> None:
        self._warn_if_closed()
        super()._add_event(event, step)

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Writes a summary, as a message or as its bytes."""
        if type(self.event_writer) is not EventFileWriter:
            super().add_summary(summary, global_step)
            return
        self._warn_if_closed()
        serialized = summary if isinstance(summary, bytes) else summary.SerializeToString()
        step = 0 if global_step is None else int(global_step)
        record: Any = summary_record(serialized, time.time(), step, self._seen_summary_tags)
        if record is None:
            raise DecodeError("Error parsing message with type 'tensorflow.Summary'")
        self.event_writer.add_record(record)

    def add_event(self, event: Any) -> None:
        """Writes an event as it is."""
        self._warn_if_closed()
        self.event_writer.add_event(event)

    def flush(self) -> None:
        """Waits until everything that was added is in the file."""
        self._warn_if_closed()
        self.event_writer.flush()

    def close(self) -> None:
        """Writes everything and closes the file."""
        self.event_writer.flush()
        self.event_writer.close()
        self._closed = True

    def reopen(self) -> None:
        """Starts another file after `close`; before it, nothing happens."""
        self.event_writer.reopen()
        self._closed = False
