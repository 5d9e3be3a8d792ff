"""Written by `make index`."""
from typing import Any

from everflow.contrib.losses.functions import absolute_difference as absolute_difference
from everflow.contrib.losses.functions import add_loss as add_loss
from everflow.contrib.losses.functions import compute_weighted_loss as compute_weighted_loss
from everflow.contrib.losses.functions import cosine_distance as cosine_distance
get_losses: Any
get_regularization_losses: Any
from everflow.contrib.losses.functions import get_total_loss as get_total_loss
from everflow.contrib.losses.functions import hinge_loss as hinge_loss
from everflow.contrib.losses.functions import log_loss as log_loss
from everflow.contrib.losses.functions import mean_pairwise_squared_error as mean_pairwise_squared_error
from everflow.contrib.losses.functions import mean_squared_error as mean_squared_error
from everflow._api.contrib.losses import metric_learning as metric_learning
from everflow._api.contrib.losses import python as python
from everflow.contrib.losses.functions import sigmoid_cross_entropy as sigmoid_cross_entropy
from everflow.contrib.losses.functions import softmax_cross_entropy as softmax_cross_entropy
from everflow.contrib.losses.functions import sparse_softmax_cross_entropy as sparse_softmax_cross_entropy
