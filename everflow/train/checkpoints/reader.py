"""Reading checkpoints from Python: `tf.train.NewCheckpointReader`, `load_checkpoint`, `list_variables`, `load_variable`."""

from __future__ import annotations

import os
from typing import Any

from everflow.api import internal, public
from everflow.compat import as_str_any
from everflow.errors import NotFoundError, invalid_argument, not_found
from everflow.io.filesystems import locate
from everflow.train.checkpoints.bundle import BundleReader
from everflow.train.checkpoints.files import exists, index_path, matching_files
from everflow.train.checkpoints.legacy import LegacyReader
from everflow.train.checkpoints.state import latest_checkpoint

Reader = BundleReader | LegacyReader


def open_checkpoint(prefix: str) -> Reader:
    """A checkpoint of either version; NotFoundError where there is none."""
    if exists(index_path(prefix)):
        return BundleReader(prefix)
    try:
        files = matching_files(prefix)
    except NotFoundError as error:
        raise invalid_argument(
            f"Unsuccessful TensorSliceReader constructor: Failed to get matching files on {prefix}: Not found: {error.message}"
        ) from error
    if not files:
        raise not_found(f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {prefix}")
    return LegacyReader(files)


@internal("pywrap_tensorflow.CheckpointReader", "pywrap_tensorflow_internal.CheckpointReader")
class CheckpointReader:
    """What is in a checkpoint, and the values of its tensors."""

    def __init__(self, filename: Any) -> None:
        self._file = open_checkpoint(as_str_any(filename))

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """{name: shape}."""
        return {name: list(self._file.shape(name)) for name in self._file.names()}

    def get_variable_to_dtype_map(self) -> dict[str, Any]:
        """{name: type}."""
        return {name: self._file.dtype(name) for name in self._file.names()}

    def _GetVariableToDataTypeMap(self) -> dict[str, int]:
        return {name: self._file.dtype(name).as_datatype_enum for name in self._file.names()}

    def has_tensor(self, tensor_str: Any) -> bool:
        """Whether there is a tensor of this name."""
        return as_str_any(tensor_str) in self._file

    def get_tensor(self, tensor_str: Any) -> Any:
        """The value of a tensor."""
        value = self._file.read(as_str_any(tensor_str))
        return value if value.shape else value[()]

    def debug_string(self) -> bytes:
        """A line for each tensor: name, type, shape."""
        from everflow.proto import types_pb2

        lines = [
            f"{name} ({types_pb2.DataType.Name(self._file.dtype(name).as_datatype_enum)}) "
            f"[{','.join(str(size) for size in self._file.shape(name))}]"
            for name in sorted(self._file.names())
        ]
        return "".join(line + "\n" for line in lines).encode()


@public("train.NewCheckpointReader")
@internal("pywrap_tensorflow.NewCheckpointReader", "training.py_checkpoint_reader.NewCheckpointReader")
def new_checkpoint_reader(filepattern: Any) -> CheckpointReader:
    """A reader of the checkpoint with this prefix (or file pattern)."""
    return CheckpointReader(filepattern)


def _resolved(path: Any) -> str:
    """The checkpoint itself: the latest one, where a folder is given."""
    path = os.fspath(path) if hasattr(path, "__fspath__") else path
    filesystem, local = locate(path)
    if not filesystem.is_directory(local):
        return path
    found = latest_checkpoint(path)
    if found is None:
        raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}")
    return found


@public("train.load_checkpoint")
def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """A reader of a checkpoint, or of the latest one in a folder."""
    return new_checkpoint_reader(_resolved(ckpt_dir_or_file))


@public("train.load_variable")
def load_variable(ckpt_dir_or_file: Any, name: str) -> Any:
    """The value of one variable of a checkpoint."""
    name = name.removesuffix(":0")
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name)


@public("train.list_variables")
def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """(name, shape) of each variable of a checkpoint, by name."""
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    return [(name, shapes[name]) for name in sorted(shapes)]
