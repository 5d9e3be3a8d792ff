"""Name-based savers and object-based checkpoints: which key of the checkpoint holds a variable of a name."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.errors import NotFoundError
from everflow.graph.trackable import OBJECT_GRAPH_PROTO_KEY
from everflow.ops.variables.sets import saveable_objects
from everflow.proto import trackable_object_graph_pb2
from everflow.train.checkpoints.reader import new_checkpoint_reader
from everflow.train.checkpoints.saveable_making import op_list_to_dict, saveable_objects_for_op
from everflow.train.checkpoints.saver import Saver
from everflow.train.checkpoints.saver_building import BulkSaverBuilder


@internal("training.saver.object_graph_key_mapping")
def object_graph_key_mapping(checkpoint_path: Any) -> dict[str, str]:
    """{full name of a variable: its key} of an object-based checkpoint; NotFoundError for others."""
    proto = new_checkpoint_reader(checkpoint_path).get_tensor(OBJECT_GRAPH_PROTO_KEY)
    graph = trackable_object_graph_pb2.TrackableObjectGraph.FromString(proto)
    return {attribute.full_name: attribute.checkpoint_key for node in graph.nodes for attribute in node.attributes}


@internal("training.saver.saver_from_object_based_checkpoint")
def saver_from_object_based_checkpoint(
    checkpoint_path: Any, var_list: Any = None, builder: Any = None, names_to_keys: Any = None, cached_saver: Any = None
) -> Any:
    """A saver that finds variables in an object-based checkpoint by their names."""
    if names_to_keys is None:
        try:
            names_to_keys = object_graph_key_mapping(checkpoint_path)
        except NotFoundError:
            raise ValueError("Checkpoint in %s not an object-based checkpoint.") from None
    var_list = saveable_objects() if var_list is None else var_list
    builder = BulkSaverBuilder() if builder is None else builder
    if not isinstance(var_list, dict):
        var_list = op_list_to_dict(var_list)
    saveables = [s for name in sorted(var_list) for s in saveable_objects_for_op(var_list[name], name)]
    current = {s.name for s in saveables}
    missing = current - set(names_to_keys)
    if missing:
        extra = sorted(set(names_to_keys) - current)
        raise NotFoundError(
            None,
            None,
            f"\n\nExisting variables not in the checkpoint: {', '.join(sorted(missing))}\n\nVariables names when this checkpoint was "
            f"written which don't exist now: {', '.join(extra)}\n\n({len(current) - len(missing)} variable name(s) did match)\n\nCould not "
            "find some variables in the checkpoint (see names above). Saver was attempting to load an object-based checkpoint (saved using "
            "tf.train.Checkpoint or tf.keras.Model.save_weights) using variable names. If the checkpoint was written with eager execution "
            "enabled, it's possible that variable names have changed (for example missing a '_1' suffix). It's also possible that there "
            "are new variables which did not exist when the checkpoint was written. You can construct a Saver(var_list=...) with only the "
            "variables which previously existed, and if variable names have changed you may need to make this a dictionary with the old "
            "names as keys. If you're using an Estimator, you'll need to return a tf.train.Saver inside a tf.train.Scaffold from your "
            "model_fn.",
        )
    for saveable in saveables:
        saveable.name = names_to_keys[saveable.name]
        if len(saveable.specs) != 1:
            raise ValueError(f"{saveable.name} has several entries, which object-based checkpoints have not")
        saveable.specs[0].name = saveable.name
    return cached_saver if cached_saver is not None else Saver(saveables)
