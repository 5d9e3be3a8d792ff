"""Written by `make index`."""
from typing import Any

from everflow.io.gfile import copy as _Copy
Copy = _Copy
from everflow.io.gfile import delete_recursively as _DeleteRecursively
DeleteRecursively = _DeleteRecursively
from everflow.io.gfile import file_exists as _Exists
Exists = _Exists
from everflow.io.gfile import FastGFile as FastGFile
from everflow.io.gfile import GFile as GFile
from everflow.io.gfile import get_matching_files as _Glob
Glob = _Glob
from everflow.io.gfile import is_directory as _IsDirectory
IsDirectory = _IsDirectory
from everflow.io.gfile import list_directory as _ListDirectory
ListDirectory = _ListDirectory
from everflow.io.gfile import recursive_create_dir as _MakeDirs
MakeDirs = _MakeDirs
from everflow.io.gfile import create_dir as _MkDir
MkDir = _MkDir
from everflow.io.gfile import GFile as _Open
Open = _Open
from everflow.io.gfile import delete_file as _Remove
Remove = _Remove
from everflow.io.gfile import rename as _Rename
Rename = _Rename
from everflow.io.gfile import stat as _Stat
Stat = _Stat
from everflow.io.gfile import walk as _Walk
Walk = _Walk
