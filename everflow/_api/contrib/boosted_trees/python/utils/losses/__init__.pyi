"""Written by `make index`."""
from typing import Any

from everflow.contrib.boosted_trees.losses import per_example_exp_loss as per_example_exp_loss
from everflow.contrib.boosted_trees.losses import per_example_full_exp_loss as per_example_full_exp_loss
from everflow.contrib.boosted_trees.losses import per_example_logistic_loss as per_example_logistic_loss
from everflow.contrib.boosted_trees.losses import per_example_maxent_loss as per_example_maxent_loss
from everflow.contrib.boosted_trees.losses import per_example_quantile_regression_loss as per_example_quantile_regression_loss
from everflow.contrib.boosted_trees.losses import per_example_squared_hinge_loss as per_example_squared_hinge_loss
from everflow.contrib.boosted_trees.losses import per_example_squared_loss as per_example_squared_loss
