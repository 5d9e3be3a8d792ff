"""Written by `make index`."""
from typing import Any

from everflow.contrib.boosted_trees.ensembles import TreeEnsembleVariable as TreeEnsembleVariable
from everflow.contrib.boosted_trees.ensembles import TreeEnsembleVariableSavable as TreeEnsembleVariableSavable
from everflow.contrib.boosted_trees.ensembles import tree_ensemble_variable as tree_ensemble_variable
