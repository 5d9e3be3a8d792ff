"""tf.train.Checkpoint: saves and restores objects by the attributes that lead to them."""

from __future__ import annotations

import functools
import os
import weakref
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.compat import as_str
from everflow.eager.context import executing_eagerly
from everflow.errors import NotFoundError
from everflow.graph import dtypes
from everflow.graph.convert import constant
from everflow.graph.scopes import colocate_with, device, init_scope
from everflow.graph.shapes import as_shape
from everflow.graph.stacks import get_default_graph
from everflow.graph.trackable import OBJECT_GRAPH_PROTO_KEY, Trackable
from everflow.io.gfile import recursive_create_dir_v2
from everflow.ops.variables.variables import Variable, VariableV1
from everflow.platform import logging
from everflow.platform.identity import ObjectIdentityWeakKeyDictionary
from everflow.proto import trackable_object_graph_pb2
from everflow.train.checkpoints import state
from everflow.train.checkpoints.reader import new_checkpoint_reader
from everflow.train.tracking.autotracking import AutoTrackable
from everflow.train.tracking.data_structures import NoDependency, is_function
from everflow.train.tracking.device_saver import MultiDeviceSaver
from everflow.train.tracking.graph_view import ObjectGraphView
from everflow.train.tracking.positions import CheckpointInitialValue, CheckpointPosition, NoRestoreSaveable, PythonStringStateSaveable
from everflow.train.tracking.restoring import (
    CheckpointLoadStatus,
    CheckpointRestoreCoordinator,
    InitializationOnlyStatus,
    NameBasedRestoreCoordinator,
    NameBasedSaverStatus,
    get_session,
    uid,
)

_BY_NAME = internal("training.tracking.util._DEPRECATED_RESTORE_INSTRUCTIONS")(
    "Restoring a name-based tf.train.Saver checkpoint using the object-based restore API. This mode uses global names to match variables, "
    "and so is somewhat fragile. It also adds new restore ops to the graph each time it is called when graph building. Prefer re-encoding "
    "training checkpoints in the object-based format: run save() on the object-based saver (the same one this message is coming from) and "
    "use that checkpoint in the future."
)


@internal("training.tracking.util.object_metadata")
def object_metadata(save_path: Any) -> Any:
    """The TrackableObjectGraph of a checkpoint; ValueError where it has none."""
    try:
        text = new_checkpoint_reader(save_path).get_tensor(OBJECT_GRAPH_PROTO_KEY)
    except NotFoundError:
        raise ValueError(
            f'The specified checkpoint "{save_path}" does not appear to be object-based (saved with TF2) since it is missing the key '
            f'"{OBJECT_GRAPH_PROTO_KEY}". Likely it was created with the TF1 name-based saver and does not contain an object dependency '
            "graph."
        ) from None
    return trackable_object_graph_pb2.TrackableObjectGraph.FromString(text)


@public("contrib.checkpoint.list_objects")
@internal("training.tracking.util.list_objects")
def list_objects(root_trackable: Any) -> list[Any]:
    """The objects that can be reached from a root."""
    return ObjectGraphView(root_trackable).list_objects()


@internal("training.tracking.util.gather_initializers")
def gather_initializers(root_trackable: Any) -> list[Any]:
    """The initializers of the variables that can be reached from a root."""
    return [obj.initializer for obj in list_objects(root_trackable) if getattr(obj, "initializer", None) is not None]


@internal("training.tracking.util.add_variable")
def add_variable(
    trackable: Any, name: str, shape: Any = None, dtype: dtypes.DTypeLike = dtypes.float32, initializer: Any = None, trainable: bool = True
) -> Any:
    """A variable that an object depends on."""
    return trackable._add_variable_with_custom_getter(
        name=name, shape=shape, dtype=dtype, initializer=initializer, getter=_default_getter, trainable=trainable
    )


@internal("training.tracking.util._default_getter")
def _default_getter(
    name: str, shape: Any, dtype: dtypes.DTypeLike, initializer: Any = None, partition_info: Any = None, **kwargs: Any
) -> Any:
    dtype = dtypes.as_dtype(dtype)
    shape_object = as_shape(shape)
    with init_scope():
        if initializer is None:
            if dtype.is_floating:
                initializer = tf.glorot_uniform_initializer()
            elif dtype.is_integer or dtype.is_unsigned or dtype.is_bool:
                initializer = tf.zeros_initializer()
            else:
                raise ValueError(f"An initializer for variable {name} of {dtype.base_dtype} is required")
        if isinstance(initializer, type):
            initializer = initializer(dtype=dtype)
        if callable(initializer) and not isinstance(initializer, CheckpointInitialValue):
            initial: Any = lambda: initializer(shape_object.as_list(), dtype=dtype)
            variable_dtype: Any = dtype.base_dtype
        elif shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        else:
            initial, variable_dtype = initializer, dtype.base_dtype
        return (
            Variable(initial_value=initial, name=name, dtype=variable_dtype, **kwargs)
            if executing_eagerly()
            else _resource(initial, name, variable_dtype, **kwargs)
        )


def _resource(initial_value: Any, name: str, dtype: dtypes.DTypeLike, **kwargs: Any) -> Any:
    return VariableV1(initial_value=initial_value, name=name, dtype=dtype, use_resource=True, **kwargs)


@internal("training.tracking.util.streaming_restore")
def streaming_restore(status: Any, session: Any = None) -> None:
    """Runs restore ops as objects are attached."""
    if executing_eagerly():
        return
    session = session or get_session()
    if isinstance(status, NameBasedSaverStatus):
        raise NotImplementedError(
            "Streaming restore not supported from name-based checkpoints when graph building. File a feature request if this limitation "
            "bothers you. As a workaround, consider either using tf.train.Checkpoint to load name-based checkpoints or enabling eager "
            "execution."
        )
    status.run_restore_ops(session=session)
    status._checkpoint.new_restore_ops_callback = lambda ops: session.run(ops, feed_dict=status._feed_dict)


@internal("training.tracking.util.TrackableSaver")
class TrackableSaver:
    """Saves and restores what hangs on a root."""

    def __init__(self, graph_view: ObjectGraphView) -> None:
        self._graph_view = graph_view
        self._file_prefix_placeholder: Any = None
        self._file_prefix_feed: Any = None
        self._object_graph_feed: Any = None
        self._saved_proto: Any = None
        self._save_operation: Any = None
        self._restore_op_cache: dict[str, Any] = {}

    def _gather_saveables(self, object_graph_tensor: Any = None) -> tuple[list[Any], Any, dict[Any, Any], Any]:
        entries, proto, feeds = self._graph_view.serialize_object_graph()
        if object_graph_tensor is None:
            with device("/cpu:0"):
                object_graph_tensor = constant(proto.SerializeToString(), dtype=dtypes.string)
        else:
            feeds[object_graph_tensor] = proto.SerializeToString()
        entries.append(NoRestoreSaveable(tensor=object_graph_tensor, name=OBJECT_GRAPH_PROTO_KEY))
        return entries, proto, feeds, object_graph_tensor

    def _save_cached_when_graph_building(self, file_prefix: Any, object_graph_tensor: Any = None) -> tuple[Any, dict[Any, Any]]:
        entries, proto, feeds, _ = self._gather_saveables(object_graph_tensor)
        if executing_eagerly() or get_default_graph().building_function or self._saved_proto != proto:
            # The program's objects changed, or nothing was saved yet.
            saver = MultiDeviceSaver(entries)
            with device("/cpu:0"):
                self._save_operation = saver.save(file_prefix)
            self._saved_proto = proto
        return self._save_operation, feeds

    def save(self, file_prefix: Any, checkpoint_number: Any = None, session: Any = None) -> Any:
        """Writes a checkpoint; returns its prefix."""
        feeds: dict[Any, Any] = {}
        # A function that is being traced saves when it is called.
        eager = executing_eagerly() or get_default_graph().building_function
        if checkpoint_number:
            file_prefix = f"{file_prefix}-{checkpoint_number}"
        if os.path.dirname(file_prefix):
            recursive_create_dir_v2(os.path.dirname(file_prefix))
        tensor = None
        if eager:
            with device("/cpu:0"):
                prefix: Any = constant(file_prefix, dtype=dtypes.string)
        else:
            if self._object_graph_feed is None:
                with device("/cpu:0"):
                    self._object_graph_feed = constant("", dtype=dtypes.string)
                    self._file_prefix_feed = constant("", dtype=dtypes.string)
            tensor, prefix = self._object_graph_feed, self._file_prefix_feed
            feeds[prefix] = file_prefix
        path, more = self._save_cached_when_graph_building(prefix, tensor)
        feeds.update(more)
        if eager:
            return path
        return (session or get_session()).run(path, feed_dict=feeds)

    def restore(self, save_path: Any) -> Any:
        """Starts to restore a checkpoint; see the status that it returns."""
        if save_path is None:
            return InitializationOnlyStatus(self._graph_view, uid())
        save_path = os.fspath(save_path) if hasattr(save_path, "__fspath__") else save_path
        reader = new_checkpoint_reader(save_path)
        eager = executing_eagerly()
        if not reader.has_tensor(OBJECT_GRAPH_PROTO_KEY):
            logging.warning("%s", _BY_NAME)
            by_name = NameBasedRestoreCoordinator(save_path, reader.get_variable_to_dtype_map())
            if eager:
                for obj in self._graph_view.list_objects():
                    obj._maybe_initialize_trackable()
                    obj._name_based_attribute_restore(by_name)
            return NameBasedSaverStatus(by_name, self._graph_view)
        proto = trackable_object_graph_pb2.TrackableObjectGraph.FromString(reader.get_tensor(OBJECT_GRAPH_PROTO_KEY))
        feeds: Any = None
        if eager:
            with device("/cpu:0"):
                prefix = constant(save_path)
        else:
            if self._file_prefix_placeholder is None:
                with device("/cpu:0"):
                    self._file_prefix_placeholder = constant("model")
            prefix = self._file_prefix_placeholder
            feeds = {prefix: save_path}
        checkpoint = CheckpointRestoreCoordinator(
            object_graph_proto=proto,
            save_path=save_path,
            save_path_tensor=prefix,
            restore_op_cache=self._restore_op_cache,
            graph_view=self._graph_view,
        )
        CheckpointPosition(checkpoint=checkpoint, proto_id=0).restore(self._graph_view.root)
        return CheckpointLoadStatus(checkpoint, feed_dict=feeds, graph_view=self._graph_view)


@internal("training.tracking.util.frozen_saver")
def frozen_saver(root_trackable: Any) -> MultiDeviceSaver:
    """A saver of what hangs on a root now, with Python state as it is now."""
    return MultiDeviceSaver(ObjectGraphView(root_trackable).frozen_saveable_objects())


@internal("training.tracking.util.saver_with_op_caching")
def saver_with_op_caching(obj: Any) -> TrackableSaver:
    """A saver that adds ops to a graph only when the objects change."""
    cache = None if executing_eagerly() else ObjectIdentityWeakKeyDictionary()
    return TrackableSaver(ObjectGraphView(weakref.ref(obj), saveables_cache=cache))


@public("train.Checkpoint")
@internal("training.tracking.util.CheckpointV1", "training.tracking.util.Checkpoint")
class Checkpoint(AutoTrackable):
    """A group of objects that are saved together: `tf.train.Checkpoint(model=model, optimizer=optimizer).save("ckpt")`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        for name, value in sorted(kwargs.items()):
            setattr(self, name, value)
            if not isinstance(getattr(self, name), Trackable) and not is_function(value):
                raise ValueError(
                    f"`Checkpoint` was expecting a trackable object (an object derived from `TrackableBase`), got {value!s}. If you "
                    "believe this object should be trackable (i.e. it is part of the TensorFlow Python API and manages state), please "
                    "open an issue."
                )
        self._save_counter: Any = None
        self._save_assign_op: Any = None
        self._saver = saver_with_op_caching(self)

    def _maybe_create_save_counter(self) -> None:
        if self._save_counter is None:
            with device("/cpu:0"):
                # Attached by hand: its name in the checkpoint has no underscore.
                self._save_counter = NoDependency(
                    add_variable(self, name="save_counter", initializer=0, dtype=dtypes.int64, trainable=False)
                )

    def write(self, file_prefix: Any, session: Any = None) -> Any:
        """Writes a checkpoint with exactly this prefix; within a function, a tensor that does so."""
        written = self._saver.save(file_prefix=os.fspath(file_prefix), session=session)
        if executing_eagerly():
            return as_str(written.numpy())
        return written if get_default_graph().building_function else as_str(written)

    @property
    def save_counter(self) -> Any:
        """How many times `save` was called."""
        self._maybe_create_save_counter()
        return self._save_counter

    def save(self, file_prefix: Any, session: Any = None) -> str:
        """Writes a checkpoint, numbered; returns its prefix."""
        file_prefix = os.fspath(file_prefix)
        eager = executing_eagerly()
        if not eager:
            session = session or get_session()
            if self._save_counter is None:
                # A new counter, which no restore gives a value.
                session.run(self.save_counter.initializer)
        if eager or self._save_assign_op is None:
            with colocate_with(self.save_counter):
                assign_op = self.save_counter.assign_add(1, read_value=True)
            if not eager:
                self._save_assign_op = NoDependency(assign_op)
        number = int(assign_op.numpy()) if eager else session.run(self._save_assign_op)
        path = self.write(f"{file_prefix}-{number}", session=session)
        state.update_checkpoint_state_internal(
            save_dir=os.path.dirname(file_prefix), model_checkpoint_path=path, all_model_checkpoint_paths=[path], save_relative_paths=True
        )
        return path

    def restore(self, save_path: Any) -> Any:
        """Restores a checkpoint: objects that are there now, and later those that are attached later."""
        status = self._saver.restore(save_path=save_path)
        # Now, so that it is initialized with the other variables.
        self._maybe_create_save_counter()
        return status


@public("train.experimental.PythonState")
@internal("training.tracking.python_state.PythonState")
class PythonState(Trackable):
    """State of a Python object in checkpoints: subclasses turn it into a string and back."""

    def serialize(self) -> Any:
        """The state as a string."""
        raise NotImplementedError("serialize")

    def deserialize(self, string_value: Any) -> None:
        """Takes the state from a string."""
        raise NotImplementedError("deserialize")

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"py_state": functools.partial(PythonStringStateSaveable, state_callback=self.serialize, restore_callback=self.deserialize)}
