"""Datasets of LMDB databases: an element is a key with its value."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from everflow.api import public
from everflow.data.dataset import DatasetSource
from everflow.data.elements import Element, text
from everflow.data.streams import Cursor, Reading, Stream, dataset_op, signature
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.io import lmdb
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply


class _DatabaseStream(Stream):
    """The entries of databases, one database after the other."""

    def __init__(self, types: Any, dims: Any, names: list[bytes]) -> None:
        super().__init__(types, dims)
        self.names = names

    def open(self, reading: Reading) -> Cursor:
        return _DatabaseCursor(self)


class _DatabaseCursor(Cursor):
    def __init__(self, stream: _DatabaseStream) -> None:
        super().__init__(stream)
        self.names = stream.names
        self._go_to(0)

    def _go_to(self, index: int) -> None:
        self.index, self.taken = index, 0
        self.entries: Iterator[tuple[bytes, bytes]] | None = None

    def next(self) -> Element | None:
        while self.index < len(self.names):
            if self.entries is None:
                self.entries = lmdb.read(os.fsdecode(self.names[self.index]))
            try:
                entry = next(self.entries, None)
            except Exception:
                # A database that can't be read is tried again.
                self._go_to(self.index)
                raise
            if entry is not None:
                self.taken += 1
                return text(entry[0]), text(entry[1])
            self._go_to(self.index + 1)
        return None

    def save(self) -> Any:
        return {"index": self.index, "taken": self.taken}

    def restore(self, state: Any) -> None:
        self._go_to(state["index"])
        self.skip(state["taken"])


@dataset_op("LMDBDataset", "ExperimentalLMDBDataset")
def _databases(node: Node) -> Callable[..., Stream]:
    types, dims = signature(node)
    return lambda names: _DatabaseStream(types, dims, names.reshape(-1).tolist())


@public("contrib.data.LMDBDataset")
class LMDBDataset(DatasetSource):
    """The keys and values of LMDB databases, in the order of the keys."""

    def __init__(self, filenames: Any) -> None:
        self._filenames = convert_to_tensor(filenames, dtypes.string, name="filenames")
        super().__init__(apply("LMDBDataset", self._filenames, **self._flat_structure))

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return TensorSpec([], dtypes.string), TensorSpec([], dtypes.string)
