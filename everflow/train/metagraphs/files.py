"""MetaGraphs and graphs as files, in text and binary."""

from __future__ import annotations

import os
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from everflow.api import internal, public
from everflow.graph.graph import Graph
from everflow.graph.malformed import unreadable
from everflow.io import file_io, gfile
from everflow.io.filesystems import path_text
from everflow.train.metagraphs.graph_texts import graph_text


@internal("framework.meta_graph.read_meta_graph_file")
def read_meta_graph_file(filename: Any) -> Any:
    """The MetaGraphDef in a file, binary or text."""
    from everflow.proto import meta_graph_pb2

    if not gfile.file_exists(filename):
        raise OSError(f"File {filename} does not exist.")
    content = file_io.read_file_to_string(filename, binary_mode=True)
    meta_graph_def = meta_graph_pb2.MetaGraphDef()
    try:
        meta_graph_def.ParseFromString(content)
        return meta_graph_def
    except DecodeError:
        meta_graph_def.Clear()
    try:
        return text_format.Merge(content.decode("utf-8"), meta_graph_def)
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise unreadable(str(filename), error) from None


@public("train.write_graph", "io.write_graph")
def write_graph(graph_or_graph_def: Any, logdir: Any, name: str, as_text: bool = True) -> str:
    """Writes a graph (or any graph proto) to a file, as text or binary; returns its path."""
    proto = graph_or_graph_def.as_graph_def() if isinstance(graph_or_graph_def, Graph) else graph_or_graph_def
    logdir = path_text(logdir)
    gfile.recursive_create_dir(logdir)
    path = os.path.join(logdir, name)
    content = graph_text(proto) if as_text else proto.SerializeToString()
    file_io.atomic_write_string_to_file(path, content)
    return path
