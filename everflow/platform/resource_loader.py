"""`tf.resource_loader`: data files beside the code that asks for them."""

from __future__ import annotations

import inspect
import os
import sys

from everflow.api import public


def _folder_of_caller(depth: int) -> str:
    return os.path.dirname(os.path.abspath(inspect.getfile(sys._getframe(depth + 1))))


@public("resource_loader.get_data_files_path")
def get_data_files_path() -> str:
    """The folder of the file that calls this."""
    return _folder_of_caller(1)


@public("resource_loader.get_path_to_datafile")
def get_path_to_datafile(path: str) -> str:
    """The path of a file given relative to the file that calls this."""
    return os.path.join(_folder_of_caller(1), path)


@public("resource_loader.get_root_dir_with_all_resources")
def get_root_dir_with_all_resources() -> str:
    """The folder of the file that calls this, or the root of the files it was packed with."""
    folder = _folder_of_caller(1)
    parts = folder.split(os.sep)
    for i in range(len(parts), 0, -1):
        if parts[i - 1].endswith(".runfiles"):
            return os.sep.join(parts[:i])
    return folder


@public("resource_loader.load_resource")
def load_resource(path: str) -> bytes:
    """What is in a file given relative to the file that calls this."""
    with open(os.path.join(_folder_of_caller(1), path), "rb") as f:
        return f.read()


@public("resource_loader.readahead_file_path")
def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """The path itself: local files need no hint about reading ahead."""
    return path
