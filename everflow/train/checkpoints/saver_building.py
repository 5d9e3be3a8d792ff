"""The ops of a Saver: those that save, those that restore, and the SaverDef that names them."""

from __future__ import annotations

import uuid
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.eager.context import executing_eagerly
from everflow.graph.convert import constant
from everflow.graph.devices import canonical_name
from everflow.graph.scopes import control_dependencies, device, name_scope
from everflow.ops.control_flow.ordering import with_dependencies
from everflow.ops.core.registry import apply
from everflow.train.checkpoints import saveable_making
from everflow.train.checkpoints.saveable import SaveableObject, SaveSpec
from everflow.train.checkpoints.saveable_making import (
    ReferenceVariableSaveable,
    ResourceVariableSaveable,
    set_cpu0,
    validate_and_slice_inputs,
)
from everflow.train.checkpoints.state import V1, V2


@internal("training.saver.BaseSaverBuilder")
class BaseSaverBuilder:
    """Adds save and restore ops to a graph. Subclasses may save and restore in ways of their own."""

    SaveSpec = SaveSpec
    SaveableObject = SaveableObject
    VariableSaveable = ReferenceVariableSaveable
    ResourceVariableSaveable = ResourceVariableSaveable

    def __init__(self, write_version: int = V2) -> None:
        self._write_version = write_version

    @staticmethod
    def OpListToDict(op_list: Any, convert_variable_to_tensor: bool = True) -> dict[str, Any]:
        """{name in the checkpoint: what to save}."""
        return saveable_making.op_list_to_dict(op_list, convert_variable_to_tensor)

    def save_op(self, filename_tensor: Any, saveables: Any) -> Any:
        """The op that writes all entries of some saveables to one file."""
        specs = [spec for saveable in saveables for spec in saveable.specs]
        names = [spec.name for spec in specs]
        slices = [spec.slice_spec for spec in specs]
        if self._write_version == V1:
            tensors = [spec.tensor for spec in specs]
            with name_scope("save", "save", [filename_tensor, *tensors]) as scope:
                return apply("SaveSlices", filename_tensor, names, slices, tensors, name=scope)
        if self._write_version == V2:
            return apply("SaveV2", filename_tensor, names, slices, [spec.tensor for spec in specs])
        raise RuntimeError(f"Unexpected write_version: {self._write_version}")

    def bulk_restore(self, filename_tensor: Any, saveables: Any, preferred_shard: int, restore_sequentially: bool) -> list[Any]:
        """The restored tensors of all entries, one op for each saveable."""
        found: list[Any] = []
        earlier: list[Any] = []
        for saveable in saveables:
            with device(set_cpu0(saveable.device) if saveable.device else None):
                with control_dependencies(earlier if restore_sequentially else []):
                    restored = self.restore_op(filename_tensor, saveable, preferred_shard)
                found.extend(restored)
                earlier = restored[-1:]
        return found

    def restore_op(self, filename_tensor: Any, saveable: Any, preferred_shard: int) -> list[Any]:
        """The restored tensors of one saveable."""
        found = []
        for spec in saveable.specs:
            found.extend(apply("RestoreV2", filename_tensor, [spec.name], [spec.slice_spec], dtypes=[spec.dtype.base_dtype]))
        return found

    def sharded_filename(self, filename_tensor: Any, shard: int, num_shards: Any) -> Any:
        """The name of one of several files."""
        return apply("ShardedFilename", filename_tensor, shard, num_shards)

    def _AddSaveOps(self, filename_tensor: Any, saveables: Any) -> Any:
        save = self.save_op(filename_tensor, saveables)
        return with_dependencies([save], filename_tensor)

    def _AddShardedSaveOps(self, filename_tensor: Any, per_device: Any) -> Any:
        if self._write_version == V2:
            return self._AddShardedSaveOpsForV2(filename_tensor, per_device)
        count = constant(len(per_device), name="num_shards")
        saves = []
        for shard, (place, saveables) in enumerate(per_device):
            with device(place):
                saves.append(self._AddSaveOps(self.sharded_filename(filename_tensor, shard, count), saveables))
        with control_dependencies([save.op for save in saves]):
            return apply("ShardedFilespec", filename_tensor, count)

    def _AddShardedSaveOpsForV2(self, checkpoint_prefix: Any, per_device: Any) -> Any:
        # Each device writes a checkpoint of its own beside the place; then they are made one.
        beside = tf.string_join([checkpoint_prefix, f"_temp_{uuid.uuid4().hex}/part"])
        count = constant(len(per_device), name="num_shards")
        prefixes, saves, last = [], [], None
        for shard, (place, saveables) in enumerate(per_device):
            last = place
            with device(set_cpu0(place)):
                prefix = self.sharded_filename(beside, shard, count)
                prefixes.append(prefix)
                saves.append(self._AddSaveOps(prefix, saveables))
        with control_dependencies([save.op for save in saves]), device(set_cpu0(last)):
            merge = apply("MergeV2Checkpoints", prefixes, checkpoint_prefix, delete_old_dirs=True)
            with control_dependencies([merge]):
                return apply("Identity", checkpoint_prefix)

    def _AddRestoreOps(
        self,
        filename_tensor: Any,
        saveables: Any,
        restore_sequentially: bool,
        reshape: bool,
        preferred_shard: int = -1,
        name: str = "restore_all",
    ) -> Any:
        tensors = self.bulk_restore(filename_tensor, saveables, preferred_shard, restore_sequentially)
        assigned = []
        position = 0
        for saveable in saveables:
            shapes: Any = None
            if reshape:
                shapes = []
                for spec in saveable.specs:
                    value = spec.tensor
                    shape = value.get_shape()
                    shapes.append(shape.as_list() if shape.is_fully_defined() else tf.shape(value))
            count = len(saveable.specs)
            assigned.append(saveable.restore(tensors[position : position + count], shapes))
            position += count
        return tf.group(*assigned, name=name)

    def _AddShardedRestoreOps(self, filename_tensor: Any, per_device: Any, restore_sequentially: bool, reshape: bool) -> Any:
        def restore(shard: int, place: Any, saveables: Any) -> Any:
            with device(place):
                return self._AddRestoreOps(filename_tensor, saveables, restore_sequentially, reshape, shard, "restore_shard")

        return tf.group(*(restore(shard, *group) for shard, group in enumerate(per_device)), name="restore_all")

    def _GroupByDevices(self, saveables: Any) -> list[tuple[str, list[Any]]]:
        found: dict[str, list[Any]] = {}
        for saveable in saveables:
            places = {canonical_name(spec.device) for spec in saveable.specs}
            if len(places) > 1:
                raise ValueError(f"All tensors saved or restored by a saveable must be on the same device: {saveable.name}")
            found.setdefault(places.pop(), []).append(saveable)
        return sorted(found.items(), key=lambda item: item[0])

    def build(
        self,
        names_to_saveables: Any,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        filename: str = "model",
    ) -> Any:
        """Adds the ops; returns the SaverDef that names them."""
        return self._build_internal(
            names_to_saveables=names_to_saveables,
            reshape=reshape,
            sharded=sharded,
            max_to_keep=max_to_keep,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            name=name,
            restore_sequentially=restore_sequentially,
            filename=filename,
        )

    def _build_internal(
        self,
        names_to_saveables: Any,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        filename: Any = "model",
        build_save: bool = True,
        build_restore: bool = True,
    ) -> Any:
        from everflow.proto import saver_pb2

        eager = executing_eagerly()
        if not (eager or build_save and build_restore):
            raise ValueError("save and restore operations need to be built together  when eager execution is not enabled.")
        saveables = validate_and_slice_inputs(names_to_saveables)
        add_save: Any = self._AddSaveOps
        add_restore: Any = self._AddRestoreOps
        if sharded:
            add_save, add_restore = self._AddShardedSaveOps, self._AddShardedRestoreOps
        made = saver_pb2.SaverDef(
            version=self._write_version,
            sharded=sharded,
            max_to_keep=max_to_keep or 0,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
        )
        with name_scope(name, "save", [saveable.op for saveable in saveables]):
            where = self._filename(filename or "model", eager)
            groups = self._GroupByDevices(saveables) if sharded else saveables
            saved: Any = add_save(where, groups) if build_save else None
            restored: Any = add_restore(where, groups, restore_sequentially, reshape) if build_restore else None
        if not eager:
            made.filename_tensor_name, made.save_tensor_name, made.restore_op_name = where.name, saved.name, restored.name
        elif saved is not None:
            # The ops ran; what is left is where the checkpoint is.
            made.save_tensor_name = saved.numpy()
        return made

    def _filename(self, default: Any, eager: bool) -> Any:
        if eager:
            return constant(default)
        named = tf.placeholder_with_default(default, shape=(), name="filename")
        # Models look for this name.
        return tf.placeholder_with_default(named, shape=(), name="Const")


@internal("training.saver.BulkSaverBuilder")
class BulkSaverBuilder(BaseSaverBuilder):
    """Restores all entries with one op."""

    def bulk_restore(self, filename_tensor: Any, saveables: Any, preferred_shard: int, restore_sequentially: bool) -> list[Any]:
        specs = [spec for saveable in saveables for spec in saveable.specs]
        with device("cpu:0"):
            return apply(
                "RestoreV2",
                filename_tensor,
                [spec.name for spec in specs],
                [spec.slice_spec for spec in specs],
                dtypes=[spec.dtype.base_dtype for spec in specs],
            )
