"""save_model, load_model, and the weights of models in files."""

from __future__ import annotations

import os
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.graph.stacks import get_default_graph
from everflow.keras.backend.session import get_session
from everflow.keras.saving import hdf5
from everflow.train.tracking.checkpoint import saver_with_op_caching, streaming_restore

_HDF5_ENDINGS = (".h5", ".keras", ".hdf5")


@internal("keras.utils.io_utils.ask_to_proceed_with_overwrite")
def ask_to_proceed_with_overwrite(filepath: str) -> bool:
    """Asks whether a file may be overwritten."""
    answer = input(f"[WARNING] {filepath} already exists - overwrite? [y/n]").strip().lower()
    while answer not in ("y", "n"):
        answer = input('Enter "y" (overwrite) or "n" (cancel).').strip().lower()
    if answer == "n":
        return False
    print("[TIP] Next time specify overwrite=True!")
    return True


def is_hdf5_path(path: Any) -> bool:
    """Whether a path is that of an HDF5 file."""
    return str(path).endswith(_HDF5_ENDINGS)


def _is_open_file(filepath: Any) -> bool:
    import h5py

    return isinstance(filepath, h5py.File)


@public("keras.models.save_model")
@internal("keras.saving.save.save_model")
def save_model(
    model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True, save_format: Any = None, signatures: Any = None
) -> None:
    """Saves a model: as HDF5, or with save_format="tf" as a SavedModel."""
    kind = save_format or "h5"
    if kind == "h5" or _is_open_file(filepath) or is_hdf5_path(filepath) and save_format is None:
        if not model._is_graph_network and type(model).__name__ != "Sequential":
            raise NotImplementedError(
                "Saving the model to HDF5 format requires the model to be a Functional model or a Sequential model. It does not work for "
                "subclassed models, because such models are defined via the body of a Python method, which isn't safely serializable. "
                'Consider saving to the Tensorflow SavedModel format (by setting save_format="tf") or using `save_weights`.'
            )
        hdf5.save_model_to_hdf5(model, filepath, overwrite, include_optimizer)
        return
    from everflow.keras.saving.object_models import save

    save(model, os.fspath(filepath), overwrite, include_optimizer, signatures)


@public("keras.models.load_model")
@internal("keras.saving.save.load_model")
def load_model(filepath: Any, custom_objects: dict[str, Any] | None = None, compile: bool = True) -> Any:
    """The model that was saved."""
    if _is_open_file(filepath):
        return hdf5.load_model_from_hdf5(filepath, custom_objects, compile)
    path = os.fspath(filepath)
    if os.path.isdir(path):
        from everflow.keras.saving.object_models import load

        return load(path, compile)
    import h5py

    if not os.path.exists(path) or not h5py.is_hdf5(path):
        raise OSError(f"SavedModel file does not exist at: {path}" + "/{saved_model.pbtxt|saved_model.pb}")
    return hdf5.load_model_from_hdf5(path, custom_objects, compile)


def save_weights(model: Any, filepath: Any, overwrite: bool, save_format: Any) -> None:
    """Writes the weights of a model: as HDF5 or as a checkpoint."""
    model._assert_weights_created()
    filepath = os.fspath(filepath)
    if save_format is None:
        save_format = "h5" if is_hdf5_path(filepath) else "tf"
    else:
        given = save_format.lower().strip()
        if given in ("tensorflow", "tf"):
            save_format = "tf"
        elif given in ("hdf5", "h5", "keras"):
            save_format = "h5"
        else:
            raise ValueError(f'Unknown format "{save_format}". Was expecting one of {{"tf", "h5"}}.')
    if save_format == "tf" and is_hdf5_path(filepath):
        raise ValueError(
            f'save_weights got save_format="tf"/"tensorflow", but the filepath ("{filepath}") looks like an HDF5 file. Omit '
            'the ".h5"/".keras" when saving in TensorFlow format.'
        )
    target = filepath + ".index" if save_format == "tf" else filepath
    if not overwrite and os.path.isfile(target) and not ask_to_proceed_with_overwrite(target):
        return
    if save_format == "h5":
        import h5py

        with h5py.File(filepath, "w") as f:
            hdf5.save_weights_to_hdf5_group(f, model.layers)
        return
    _saver(model).save(filepath, session=None if executing_eagerly() else get_session())
    tf.train.update_checkpoint_state(save_dir=os.path.dirname(filepath), model_checkpoint_path=filepath)


def load_weights(model: Any, filepath: Any, by_name: bool) -> Any:
    """Sets the weights of a model to those of a file."""
    filepath = os.fspath(filepath)
    if _is_checkpoint(filepath) and not is_hdf5_path(filepath):
        if by_name:
            raise NotImplementedError(
                "Weights may only be loaded based on topology into Models when loading TensorFlow-formatted weights "
                "(got by_name=True to load_weights)."
            )
        status = _saver(model).restore(filepath)
        if not executing_eagerly():
            session = get_session()
            streaming_restore(status=status, session=session)
        status.assert_nontrivial_match()
        return status
    import h5py

    if not model._is_graph_network and not model.built and type(model).__name__ != "Sequential":
        raise ValueError(
            "Unable to load weights saved in HDF5 format into a subclassed Model which has not created its variables yet. "
            "Call the Model first, then load the weights."
        )
    model._assert_weights_created()
    with h5py.File(filepath, "r") as f:
        group = f["model_weights"] if "layer_names" not in f.attrs and "model_weights" in f else f
        if by_name:
            hdf5.load_weights_from_hdf5_group_by_name(group, model.layers)
        else:
            hdf5.load_weights_from_hdf5_group(group, model.layers)
    return None


def _is_checkpoint(path: str) -> bool:
    return os.path.exists(path + ".index") or not os.path.exists(path)


def _saver(model: Any) -> Any:
    """The model's checkpoint reader and writer; its ops are made once in a graph."""
    known = model.__dict__.get("_trackable_saver")
    graph = None if executing_eagerly() else get_default_graph()
    if known is None or known[0] is not graph:
        known = model.__dict__["_trackable_saver"] = (graph, saver_with_op_caching(model))
    return known[1]
