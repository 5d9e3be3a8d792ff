"""Saves and restores entries of checkpoints in place, those of each device by ops of their own."""

from __future__ import annotations

import uuid
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph.convert import constant
from everflow.graph.scopes import control_dependencies, device
from everflow.ops.core.registry import apply
from everflow.proto import saver_pb2
from everflow.train.checkpoints.saveable_making import set_cpu0


@internal("training.saving.functional_saver._SingleDeviceSaver")
class SingleDeviceSaver:
    """The entries of one device."""

    def __init__(self, saveable_objects: Any) -> None:
        self._saveables = list(saveable_objects)

    def save(self, file_prefix: Any) -> Any:
        """The op that writes a checkpoint."""
        specs = [spec for saveable in self._saveables for spec in saveable.specs]
        with device("cpu:0"):
            return apply("SaveV2", file_prefix, [s.name for s in specs], [s.slice_spec for s in specs], [s.tensor for s in specs])

    def restore(self, file_prefix: Any) -> dict[str, Any]:
        """{name: op that restores it}."""
        specs = [spec for saveable in self._saveables for spec in saveable.specs]
        with device("cpu:0"):
            tensors = apply(
                "RestoreV2", file_prefix, [s.name for s in specs], [s.slice_spec for s in specs], dtypes=[s.dtype.base_dtype for s in specs]
            )
        found, position = {}, 0
        for saveable in self._saveables:
            count = len(saveable.specs)
            found[saveable.name] = saveable.restore(tensors[position : position + count], None)
            position += count
        return found


@internal("training.saving.functional_saver.sharded_filename")
def sharded_filename(filename_tensor: Any, shard: int, num_shards: Any) -> Any:
    """The name of one of several files."""
    return apply("ShardedFilename", filename_tensor, shard, num_shards)


@internal("training.saving.functional_saver.MultiDeviceSaver")
class MultiDeviceSaver:
    """The entries of all devices, in one checkpoint."""

    def __init__(self, saveable_objects: Any) -> None:
        groups: dict[str, list[Any]] = {}
        for saveable in list(saveable_objects):
            groups.setdefault(saveable.device or "", []).append(saveable)
        self._single_device_savers = {place: SingleDeviceSaver(saveables) for place, saveables in sorted(groups.items())}

    def save(self, file_prefix: Any) -> Any:
        """A tensor with the prefix, computed when the checkpoint is written."""
        with device("cpu:0"):
            beside = tf.string_join([file_prefix, f"_temp_{uuid.uuid4().hex}/part"])
        count = constant(len(self._single_device_savers), name="num_shards")
        prefixes, saves, last = [], [], ""
        for shard, (place, saver) in enumerate(self._single_device_savers.items()):
            last = place
            with device(set_cpu0(place)):
                prefix = sharded_filename(beside, shard, count)
                prefixes.append(prefix)
                saves.append(saver.save(prefix))
        # In eager mode the saves have run and leave nothing to wait for.
        with control_dependencies([save for save in saves if save is not None]), device(set_cpu0(last)):
            merge = apply("MergeV2Checkpoints", prefixes, file_prefix, delete_old_dirs=True)
            with control_dependencies([merge] if merge is not None else []):
                return apply("Identity", file_prefix)

    def restore(self, file_prefix: Any) -> dict[str, Any]:
        """{name: op that restores it}."""
        found: dict[str, Any] = {}
        for place, saver in self._single_device_savers.items():
            with device(place):
                found.update(saver.restore(file_prefix))
        return found

    def to_proto(self) -> Any:
        """A SaverDef over functions of the graph that is being built."""
        placeholder = tf.placeholder(dtype="string", shape=[], name="saver_filename")
        save = self.save(placeholder)
        restored = self.restore(placeholder)
        with control_dependencies(list(restored.values())):
            done = apply("Identity", placeholder)
        return saver_pb2.SaverDef(
            filename_tensor_name=placeholder.name, save_tensor_name=save.name, restore_op_name=done.op.name, version=saver_pb2.SaverDef.V2
        )
