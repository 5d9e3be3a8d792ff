"""The `checkpoint` file of a folder, which says which checkpoints are in it and which is the latest."""

from __future__ import annotations

import os
import re
from typing import Any

from google.protobuf import text_format

from everflow.api import public
from everflow.compat import as_str_any
from everflow.errors import NotFoundError, OpError
from everflow.io import file_io, gfile
from everflow.platform import logging
from everflow.proto import saver_pb2
from everflow.train.checkpoints.files import matching_files

SaverDef = public("train.SaverDef")(saver_pb2.SaverDef)
V1, V2 = SaverDef.V1, SaverDef.V2


def state_path(save_dir: Any, latest_filename: str | None) -> str:
    """Where a folder's state file is."""
    return os.path.join(save_dir, latest_filename or "checkpoint")


@public("train.generate_checkpoint_state_proto")
def generate_checkpoint_state_proto(
    save_dir: Any,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Any = None,
    all_model_checkpoint_timestamps: Any = None,
    last_preserved_timestamp: float | None = None,
) -> Any:
    """A CheckpointState; where the folder is a relative path, so are the checkpoints in it."""
    from everflow.proto import checkpoint_state_pb2

    # The caller's own list is completed: the file and it agree.
    paths = [] if all_model_checkpoint_paths is None else all_model_checkpoint_paths
    if not paths or paths[-1] != model_checkpoint_path:
        logging.info("%s is not in all_model_checkpoint_paths. Manually adding it.", model_checkpoint_path)
        paths.append(model_checkpoint_path)
    if all_model_checkpoint_timestamps and len(all_model_checkpoint_timestamps) != len(paths):
        raise ValueError(
            f"Checkpoint timestamps, if provided, must match checkpoint paths (got paths {paths} and timestamps "
            f"{all_model_checkpoint_timestamps})"
        )
    if not os.path.isabs(save_dir):
        paths = [p if os.path.isabs(p) else os.path.relpath(p, save_dir) for p in paths]
        if not os.path.isabs(model_checkpoint_path):
            model_checkpoint_path = os.path.relpath(model_checkpoint_path, save_dir)
    return checkpoint_state_pb2.CheckpointState(
        model_checkpoint_path=model_checkpoint_path,
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=all_model_checkpoint_timestamps,
        last_preserved_timestamp=last_preserved_timestamp,
    )


@public("train.update_checkpoint_state")
def update_checkpoint_state(
    save_dir: Any,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Any = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Any = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Writes a folder's state file."""
    update_checkpoint_state_internal(
        save_dir=save_dir,
        model_checkpoint_path=model_checkpoint_path,
        all_model_checkpoint_paths=all_model_checkpoint_paths,
        latest_filename=latest_filename,
        save_relative_paths=False,
        all_model_checkpoint_timestamps=all_model_checkpoint_timestamps,
        last_preserved_timestamp=last_preserved_timestamp,
    )


def update_checkpoint_state_internal(
    save_dir: Any,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Any = None,
    latest_filename: str | None = None,
    save_relative_paths: bool = False,
    all_model_checkpoint_timestamps: Any = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """The same, with a choice of relative paths."""
    path = state_path(save_dir, latest_filename)
    if save_relative_paths:

        def within(p: str) -> str:
            return os.path.relpath(p, save_dir) if os.path.isabs(p) else p

        state = generate_checkpoint_state_proto(
            save_dir,
            within(model_checkpoint_path),
            [within(p) for p in all_model_checkpoint_paths or []],
            all_model_checkpoint_timestamps,
            last_preserved_timestamp,
        )
    else:
        state = generate_checkpoint_state_proto(
            save_dir, model_checkpoint_path, all_model_checkpoint_paths, all_model_checkpoint_timestamps, last_preserved_timestamp
        )
    if path == state.model_checkpoint_path:
        raise RuntimeError(
            f"Save path '{model_checkpoint_path}' conflicts with path used for checkpoint state.  Please use a different save path."
        )
    file_io.atomic_write_string_to_file(path, text_format.MessageToString(state))


@public("train.get_checkpoint_state")
def get_checkpoint_state(checkpoint_dir: Any, latest_filename: str | None = None) -> Any:
    """The CheckpointState of a folder, with paths that can be opened from here; None where there is none."""
    from everflow.proto import checkpoint_state_pb2

    path = state_path(checkpoint_dir, latest_filename)
    try:
        if not gfile.file_exists(path):
            return None
        state = text_format.Merge(file_io.read_file_to_string(path), checkpoint_state_pb2.CheckpointState())
    except (OpError, text_format.ParseError) as error:
        logging.warning("%s: %s", type(error).__name__, error)
        logging.warning("%s: Checkpoint ignored", path)
        return None
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {checkpoint_dir}")
    if not os.path.isabs(state.model_checkpoint_path):
        state.model_checkpoint_path = os.path.join(checkpoint_dir, state.model_checkpoint_path)
    for i, known in enumerate(state.all_model_checkpoint_paths):
        if not os.path.isabs(known):
            state.all_model_checkpoint_paths[i] = os.path.join(checkpoint_dir, known)
    return state


def file_of(prefix: str, format_version: int) -> str:
    """The file that must be there for a checkpoint to be there."""
    return prefix + ".index" if format_version == V2 else prefix


@public("train.latest_checkpoint")
def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The prefix of the latest checkpoint in a folder, or None."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None or not state.model_checkpoint_path:
        return None
    path = state.model_checkpoint_path
    if matching_files(file_of(path, V2)) or matching_files(path):
        return path
    logging.error("Couldn't match files for checkpoint %s", path)
    return None


@public("train.checkpoint_exists")
def checkpoint_exists(checkpoint_prefix: Any) -> bool:
    """Whether there is a checkpoint of either version."""
    prefix = as_str_any(checkpoint_prefix)
    return bool(matching_files(file_of(prefix, V2)) or matching_files(prefix))


@public("train.get_checkpoint_mtimes")
def get_checkpoint_mtimes(checkpoint_prefixes: Any) -> list[float]:
    """When the checkpoints that exist were written."""
    found = []
    for prefix in checkpoint_prefixes:
        for path in (file_of(prefix, V2), prefix):
            files = matching_files(path)
            if files:
                found.append(file_io.stat(files[0]).mtime_nsec / 1e9)
                break
    return found


@public("train.remove_checkpoint")
def remove_checkpoint(checkpoint_prefix: str, checkpoint_format_version: int = V2, meta_graph_suffix: str = "meta") -> None:
    """Deletes a checkpoint and its MetaGraph."""
    _delete(meta_graph_filename(checkpoint_prefix, meta_graph_suffix))
    if checkpoint_format_version == V2:
        _delete(checkpoint_prefix + ".index")
        _delete(checkpoint_prefix + ".data-?????-of-?????")
    else:
        _delete(checkpoint_prefix)


def _delete(filespec: str) -> None:
    for path in matching_files(filespec):
        try:
            gfile.delete_file(path)
        except NotFoundError:
            logging.warning(
                "Hit NotFoundError when deleting '%s', possibly because another process/thread is also deleting/moving the same file", path
            )


def meta_graph_filename(checkpoint_filename: str, meta_graph_suffix: str = "meta") -> str:
    """The MetaGraph beside a checkpoint: shards have one together."""
    return re.sub(r"-[\d\?]+-of-\d+$", "", checkpoint_filename) + "." + meta_graph_suffix
