"""Written by `make index`."""
from typing import Any

from everflow.io.gfile import GFile as GFile
from everflow.io.gfile import copy_v2 as _copy
copy = _copy
from everflow.io.gfile import file_exists_v2 as _exists
exists = _exists
from everflow.io.gfile import get_matching_files_v2 as _glob
glob = _glob
from everflow.io.gfile import is_directory_v2 as _isdir
isdir = _isdir
from everflow.io.gfile import list_directory_v2 as _listdir
listdir = _listdir
from everflow.io.gfile import recursive_create_dir_v2 as _makedirs
makedirs = _makedirs
from everflow.io.gfile import create_dir_v2 as _mkdir
mkdir = _mkdir
from everflow.io.gfile import delete_file_v2 as _remove
remove = _remove
from everflow.io.gfile import rename_v2 as _rename
rename = _rename
from everflow.io.gfile import delete_recursively_v2 as _rmtree
rmtree = _rmtree
from everflow.io.gfile import stat_v2 as _stat
stat = _stat
from everflow.io.gfile import walk_v2 as _walk
walk = _walk
