"""Written by `make index`."""
from typing import Any

from everflow.contrib.checkpoint.states import CheckpointManager as CheckpointManager
from everflow.contrib.checkpoint.states import AutoTrackable as _Checkpointable
Checkpointable = _Checkpointable
from everflow.contrib.checkpoint.states import Trackable as _CheckpointableBase
CheckpointableBase = _CheckpointableBase
CheckpointableObjectGraph: Any
from everflow.train.tracking.data_structures import List as List
from everflow.train.tracking.data_structures import Mapping as Mapping
from everflow.train.tracking.data_structures import NoDependency as NoDependency
from everflow.contrib.checkpoint.states import NumpyState as NumpyState
from everflow.contrib.checkpoint.states import PythonState as _PythonStateWrapper
PythonStateWrapper = _PythonStateWrapper
from everflow.contrib.checkpoint.states import UniqueNameTracker as UniqueNameTracker
from everflow.train.tracking.capturing import capture_dependencies as capture_dependencies
from everflow.contrib.checkpoint.states import dot_graph_from_checkpoint as dot_graph_from_checkpoint
from everflow.train.tracking.checkpoint import list_objects as list_objects
from everflow.contrib.checkpoint.states import object_metadata as object_metadata
from everflow.contrib.checkpoint.split_dependency import split_dependency as split_dependency
