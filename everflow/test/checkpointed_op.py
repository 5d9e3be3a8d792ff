"""A table of strings to floats that checkpoints hold: something to save that is not a variable."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import add_to_collection
from everflow.ops.core.registry import apply
from everflow.train.checkpoints.saveable import SaveableObject, SaveSpec


class _TableSaveable(SaveableObject):
    def __init__(self, table: CheckpointedOp, name: str) -> None:
        keys, values = table._export()
        super().__init__(table, [SaveSpec(keys, "", name + "-keys"), SaveSpec(values, "", name + "-values")], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Imports keys and values."""
        return apply("LookupTableImportV2", self.op.table_ref, restored_tensors[0], restored_tensors[1])


@internal("training.saver_test_utils.CheckpointedOp")
class CheckpointedOp:
    """The table, and what a Saver saves of it."""

    CustomSaveable = _TableSaveable

    def __init__(self, name: str, table_ref: Any = None) -> None:
        self._name = name
        self.table_ref = table_ref
        if table_ref is None:
            self.table_ref = apply("MutableHashTableV2", key_dtype=dtypes.string, value_dtype=dtypes.float32, name=name)
        self._saveable = _TableSaveable(self, name)
        if table_ref is None:
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)

    @property
    def name(self) -> str:
        """The name in checkpoints."""
        return self._name

    @property
    def saveable(self) -> SaveableObject:
        """What a Saver saves."""
        return self._saveable

    def insert(self, keys: Any, values: Any) -> Any:
        """The op that puts values in."""
        return apply("LookupTableInsertV2", self.table_ref, keys, values)

    def lookup(self, keys: Any, default: Any) -> Any:
        """The values of keys."""
        return apply("LookupTableFindV2", self.table_ref, keys, default)

    def keys(self) -> Any:
        """All keys."""
        return self._export()[0]

    def values(self) -> Any:
        """All values."""
        return self._export()[1]

    def _export(self) -> Any:
        return apply("LookupTableExportV2", self.table_ref, Tkeys=dtypes.string, Tvalues=dtypes.float32)
