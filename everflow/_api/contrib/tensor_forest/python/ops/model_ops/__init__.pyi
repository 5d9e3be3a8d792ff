"""Written by `make index`."""
from typing import Any

from everflow.contrib.tensor_forest.resources import TreeVariable as TreeVariable
from everflow.contrib.tensor_forest.resources import TreeVariableSavable as TreeVariableSavable
from everflow.contrib.tensor_forest.resources import tree_variable as tree_variable
