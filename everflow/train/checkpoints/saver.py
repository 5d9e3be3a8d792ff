"""tf.train.Saver."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.compat import as_str, as_str_any
from everflow.eager.context import executing_eagerly
from everflow.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, OpError
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import add_to_collection, get_collection, prepend_name_scope, strip_name_scope
from everflow.graph.stacks import get_default_graph
from everflow.io import gfile
from everflow.ops.variables.sets import saveable_objects
from everflow.platform import logging
from everflow.runtime.session import BaseSession
from everflow.train.checkpoints import state
from everflow.train.checkpoints.saver_building import BulkSaverBuilder
from everflow.train.checkpoints.state import V1, V2
from everflow.train.metagraphs.exporting import add_collection_def, export_meta_graph

_RESTORING_FAILED = (
    "Restoring from checkpoint failed. This is most likely due to {} from the checkpoint. Please ensure that you have not "
    "altered the graph expected based on the checkpoint. Original error:\n\n{}"
)


def _is_session(sess: Any) -> bool:
    return isinstance(sess, BaseSession) or hasattr(sess, "run") and hasattr(sess, "graph")


_SAVING = threading.RLock()


_UNFIT_FOR_EAGER = (
    "Saver is deprecated, please switch to tf.train.Checkpoint or tf.keras.Model.save_weights for training checkpoints. When "
    "executing eagerly variables do not necessarily have unique names, and so the variable.name-based lookups Saver performs "
    "are error-prone."
)
_STARS = "*" * 55
_V1_IS_DEPRECATED = f"""{_STARS}
TensorFlow's V1 checkpoint format has been deprecated.
Consider switching to the more efficient V2 format:
   `tf.train.Saver(write_version=tf.train.SaverDef.V2)`
now on by default.
{_STARS}"""
# The names in a SaverDef, and what a builder makes it of.
_NAMES = ("filename_tensor_name", "save_tensor_name", "restore_op_name")
_BUILT_WITH = ("reshape", "sharded", "max_to_keep", "keep_checkpoint_every_n_hours", "name", "restore_sequentially")


@public("train.Saver")
@internal("training.saver.Saver")
class Saver:
    """Saves variables to checkpoints and restores them: `saver.save(sess, "model", global_step=100)`."""

    V1, V2 = V1, V2

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Any = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = V2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: Any = None,
    ) -> None:
        if defer_build and var_list:
            raise ValueError("If `var_list` is provided then build cannot be deferred. Either set defer_build=False or var_list=None.")
        eager = executing_eagerly()
        if eager:
            logging.warning(_UNFIT_FOR_EAGER)
            if var_list is None:
                raise RuntimeError("When eager execution is enabled, `var_list` must specify a list or dict of variables to save")
        # What is saved, and by which ops.
        self._var_list, self._builder, self.saver_def = var_list, builder, saver_def
        self._name, self._reshape, self._sharded, self._restore_sequentially = name, reshape, sharded, restore_sequentially
        self._allow_empty, self._filename, self._write_version = allow_empty, filename, write_version
        # What checkpoints are called, and how many are kept.
        self._pad_step_number, self._save_relative_paths = pad_step_number, save_relative_paths
        self._max_to_keep, self._keep_checkpoint_every_n_hours = max_to_keep, keep_checkpoint_every_n_hours
        self._last_checkpoints: list[tuple[str, float]] = []
        self._checkpoints_to_be_deleted: list[Any] = []
        self._is_built = False
        self._is_empty: bool | None = None
        self._object_restore_saver: Any = None
        if eager:
            self._next_checkpoint_time = time.time() + keep_checkpoint_every_n_hours * 3600
        elif not defer_build:
            self.build()
        if self.saver_def is not None:
            self._check_saver_def()
            self._write_version = self.saver_def.version

    def build(self) -> None:
        """Adds the ops, where that was deferred."""
        if executing_eagerly():
            raise RuntimeError("Use save/restore instead of build in eager mode.")
        self._build(self._filename, build_save=True, build_restore=True)

    def _build_eager(self, checkpoint_path: Any, build_save: bool, build_restore: bool) -> None:
        self._build(checkpoint_path, build_save=build_save, build_restore=build_restore)

    def _build(self, checkpoint_path: Any, build_save: bool, build_restore: bool) -> None:
        eager = executing_eagerly()
        if self._is_built and not eager:
            return
        self._is_built = self._is_built or not eager
        if eager or self.saver_def is None:
            self._builder = self._builder or BulkSaverBuilder(self._write_version)
            if self._var_list is None:
                self._var_list = saveable_objects()
            self._is_empty = not self._var_list
            if self._is_empty:
                if self._allow_empty:
                    return
                raise ValueError("No variables to save")
            how = {argument: getattr(self, "_" + argument) for argument in _BUILT_WITH}
            self.saver_def = self._builder._build_internal(
                self._var_list, filename=checkpoint_path, build_save=build_save, build_restore=build_restore, **how
            )
        elif self._name:
            # The graph of this SaverDef was imported below a scope.
            for field in _NAMES:
                setattr(self.saver_def, field, prepend_name_scope(getattr(self.saver_def, field), self._name))
        self._check_saver_def()
        if not eager:
            self._next_checkpoint_time = time.time() + self.saver_def.keep_checkpoint_every_n_hours * 3600

    def _check_saver_def(self) -> None:
        from everflow.proto import saver_pb2

        if not isinstance(self.saver_def, saver_pb2.SaverDef):
            raise ValueError(f"saver_def must be a saver_pb2.SaverDef: {self.saver_def}")
        if not executing_eagerly():
            if not self.saver_def.save_tensor_name:
                raise ValueError(f"saver_def must specify the save_tensor_name: {self.saver_def}")
            if not self.saver_def.restore_op_name:
                raise ValueError(f"saver_def must specify the restore_op_name: {self.saver_def}")

    # -- which checkpoints there are

    def _CheckpointFilename(self, p: Any) -> str:
        return p[0]

    def _RecordLastCheckpoint(self, latest_save_path: str) -> None:
        most = self.saver_def.max_to_keep
        if most:
            # A checkpoint that is written again is the youngest.
            others = [(path, saved_at) for path, saved_at in self._last_checkpoints if path != latest_save_path]
            self._last_checkpoints = [*others, (latest_save_path, time.time())]
            if len(self._last_checkpoints) > most:
                self._checkpoints_to_be_deleted.append(self._last_checkpoints.pop(0))

    def _MaybeDeleteOldCheckpoints(self, meta_graph_suffix: str = "meta") -> None:
        if not self._checkpoints_to_be_deleted:
            return
        path, saved_at = self._checkpoints_to_be_deleted.pop(0)
        if saved_at > self._next_checkpoint_time:
            self._next_checkpoint_time += self.saver_def.keep_checkpoint_every_n_hours * 3600
            return
        try:
            state.remove_checkpoint(path, self.saver_def.version, meta_graph_suffix)
        except Exception as error:
            # The new checkpoint is written; failing to delete an old one must not stop training.
            logging.warning("Ignoring: %s", error)

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints that are kept, the oldest first."""
        return [path for path, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints: Any) -> None:
        """Tells the saver of checkpoints that another one wrote; their times are not known."""
        if not isinstance(last_checkpoints, list):
            raise AssertionError("a list of paths is needed")
        self._last_checkpoints = [(path, float("inf")) for path in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: Any) -> None:
        """The same, with the times."""
        if not isinstance(last_checkpoints_with_time, list):
            raise AssertionError("a list of paths and times is needed")
        self._last_checkpoints = last_checkpoints_with_time

    def recover_last_checkpoints(self, checkpoint_paths: Any) -> None:
        """Tells the saver of checkpoints of an earlier run, as far as they exist."""
        found = []
        for path in checkpoint_paths:
            times = state.get_checkpoint_mtimes([path])
            if times:
                found.append((path, times[0]))
        self.set_last_checkpoints_with_time(found)

    # -- saving and restoring

    def save(
        self,
        sess: Any,
        save_path: Any,
        global_step: Any = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str | None:
        """Writes a checkpoint; returns its prefix."""
        # A program's threads may save as well, such as a supervisor's: the last to begin is the latest.
        with _SAVING:
            return self._save(
                sess,
                save_path,
                global_step,
                latest_filename,
                meta_graph_suffix,
                write_meta_graph,
                write_state,
                strip_default_attrs,
                save_debug_info,
            )

    def _save(
        self,
        sess: Any,
        save_path: Any,
        global_step: Any,
        latest_filename: str | None,
        meta_graph_suffix: str,
        write_meta_graph: bool,
        write_state: bool,
        strip_default_attrs: bool,
        save_debug_info: bool,
    ) -> str | None:
        eager = executing_eagerly()
        if not self._is_built and not eager:
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        latest_filename = latest_filename or "checkpoint"
        if self._write_version != V2:
            for line in _V1_IS_DEPRECATED.splitlines():
                logging.warning(line)
        if os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        save_path = os.fspath(save_path)
        checkpoint_file = save_path
        if global_step is not None:
            step = global_step if isinstance(global_step, (int, np.integer)) else self._step(sess, global_step)
            checkpoint_file = f"{save_path}-{step:08d}" if self._pad_step_number else f"{save_path}-{step}"
        elif os.path.basename(save_path) == latest_filename and not self._sharded:
            raise ValueError(f"'latest_filename' collides with 'save_path': '{latest_filename}' and '{save_path}'")
        if not eager and not _is_session(sess):
            raise TypeError(f"'sess' must be a Session; {sess}")
        folder = os.path.dirname(save_path)
        written = checkpoint_file
        if not self._is_empty:
            try:
                if eager:
                    self._build_eager(checkpoint_file, build_save=True, build_restore=False)
                    written = self.saver_def.save_tensor_name
                else:
                    written = sess.run(self.saver_def.save_tensor_name, {self.saver_def.filename_tensor_name: checkpoint_file})
                written = as_str(written)
            except (FailedPreconditionError, NotFoundError) as error:
                if not gfile.is_directory(folder or "."):
                    raise ValueError(f"Parent directory of {save_path} doesn't exist, can't save.") from error
                raise
        if write_meta_graph and not eager:
            with sess.graph.as_default():
                self.export_meta_graph(
                    state.meta_graph_filename(checkpoint_file, meta_graph_suffix),
                    strip_default_attrs=strip_default_attrs,
                    save_debug_info=save_debug_info,
                )
        if self._is_empty:
            return None
        # Last, so that what is called the latest checkpoint is complete, and what it follows is still there until it is.
        if write_state:
            self._RecordLastCheckpoint(written)
            state.update_checkpoint_state_internal(
                save_dir=folder,
                model_checkpoint_path=written,
                all_model_checkpoint_paths=self.last_checkpoints,
                latest_filename=latest_filename,
                save_relative_paths=self._save_relative_paths,
            )
            self._MaybeDeleteOldCheckpoints(meta_graph_suffix=meta_graph_suffix)
        return written

    def _step(self, sess: Any, global_step: Any) -> int:
        if executing_eagerly():
            return int(global_step.numpy())
        from everflow.train.global_step import global_step as value_of

        return value_of(sess, global_step)

    def restore(self, sess: Any, save_path: Any) -> None:
        """Restores the variables from a checkpoint."""
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        prefix = as_str_any(os.fspath(save_path) if hasattr(save_path, "__fspath__") else save_path)
        if not state.checkpoint_exists(prefix):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {prefix}")
        logging.info("Restoring parameters from %s", prefix)
        try:
            if executing_eagerly():
                self._build_eager(save_path, build_save=False, build_restore=True)
            else:
                sess.run(self.saver_def.restore_op_name, {self.saver_def.filename_tensor_name: prefix})
        except NotFoundError as error:
            # The checkpoint may be of objects, where variables have other names.
            from everflow.train.checkpoints.object_names import object_graph_key_mapping, saver_from_object_based_checkpoint

            try:
                names_to_keys = object_graph_key_mapping(prefix)
            except NotFoundError:
                raise _with_message(error, "a Variable name or other graph key that is missing") from None
            logging.warning(
                "Restoring an object-based checkpoint using a name-based saver. This may be somewhat fragile, and will "
                "re-build the Saver. Instead, consider loading object-based checkpoints using tf.train.Checkpoint()."
            )
            self._object_restore_saver = saver_from_object_based_checkpoint(
                checkpoint_path=prefix,
                var_list=self._var_list,
                builder=self._builder,
                names_to_keys=names_to_keys,
                cached_saver=self._object_restore_saver,
            )
            self._object_restore_saver.restore(sess=sess, save_path=prefix)
        except InvalidArgumentError as error:
            raise _with_message(error, "a mismatch between the current graph and the graph") from None

    # -- wire forms

    def as_saver_def(self) -> Any:
        """The SaverDef of this saver."""
        return self.saver_def

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The SaverDef, or None where the saver is not in the scope that is exported."""
        if export_scope is None:
            return self.saver_def
        names = {field: getattr(self.saver_def, field) for field in _NAMES}
        if not all(name.startswith(export_scope) for name in names.values()):
            return None
        from everflow.proto import saver_pb2

        proto = saver_pb2.SaverDef()
        proto.CopyFrom(self.saver_def)
        for field, name in names.items():
            setattr(proto, field, strip_name_scope(name, export_scope))
        return proto

    @staticmethod
    def from_proto(saver_def: Any, import_scope: str | None = None) -> Saver:
        """The saver that a SaverDef describes."""
        return Saver(saver_def=saver_def, name=import_scope)

    def export_meta_graph(
        self,
        filename: Any = None,
        collection_list: Any = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> Any:
        """The default graph as a MetaGraphDef with this saver, written to a file where one is named."""
        return export_meta_graph(
            filename=filename,
            graph_def=get_default_graph().as_graph_def(add_shapes=True),
            saver_def=self.saver_def,
            collection_list=collection_list,
            as_text=as_text,
            export_scope=export_scope,
            clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
            save_debug_info=save_debug_info,
        )

    @staticmethod
    def _add_collection_def(meta_graph_def: Any, key: Any, export_scope: str | None = None) -> None:
        add_collection_def(meta_graph_def, key, export_scope=export_scope)


@internal("training.saver._wrap_restore_error_with_msg")
def _with_message(error: OpError, extra: str) -> OpError:
    kind: Any = type(error)
    return kind(error.node_def, error.op, _RESTORING_FAILED.format(extra, error.message))


@internal("training.saver._get_saver_or_default")
def get_saver_or_default() -> Saver | None:
    """The graph's saver, made where there is none yet."""
    savers = get_collection(GraphKeys.SAVERS)
    if savers:
        if len(savers) > 1:
            raise RuntimeError(
                f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to use by passing it to the constructor."
            )
        return savers[0]
    saver = Saver(sharded=True, allow_empty=True)
    add_to_collection(GraphKeys.SAVERS, saver)
    return saver
