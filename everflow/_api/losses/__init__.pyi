"""Written by `make index`."""
from typing import Any

from everflow.losses.weighting import Reduction as Reduction
from everflow.losses.functions import absolute_difference as absolute_difference
from everflow.losses.collected import add_loss as add_loss
from everflow.losses.weighting import compute_weighted_loss as compute_weighted_loss
from everflow.losses.functions import cosine_distance as cosine_distance
from everflow.losses.collected import get_losses as get_losses
from everflow.losses.collected import get_regularization_loss as get_regularization_loss
from everflow.losses.collected import get_regularization_losses as get_regularization_losses
from everflow.losses.collected import get_total_loss as get_total_loss
from everflow.losses.functions import hinge_loss as hinge_loss
from everflow.losses.functions import huber_loss as huber_loss
from everflow.losses.functions import log_loss as log_loss
from everflow.losses.functions import mean_pairwise_squared_error as mean_pairwise_squared_error
from everflow.losses.functions import mean_squared_error as mean_squared_error
from everflow.losses.functions import sigmoid_cross_entropy as sigmoid_cross_entropy
from everflow.losses.functions import softmax_cross_entropy as softmax_cross_entropy
from everflow.losses.functions import sparse_softmax_cross_entropy as sparse_softmax_cross_entropy
