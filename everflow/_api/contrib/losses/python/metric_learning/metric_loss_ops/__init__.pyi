"""Written by `make index`."""
from typing import Any

from everflow.contrib.losses.metric_learning import cluster_loss as cluster_loss
from everflow.contrib.losses.metric_learning import contrastive_loss as contrastive_loss
from everflow.contrib.losses.metric_learning import lifted_struct_loss as lifted_struct_loss
from everflow.contrib.losses.metric_learning import masked_maximum as masked_maximum
from everflow.contrib.losses.metric_learning import masked_minimum as masked_minimum
from everflow.contrib.losses.metric_learning import npairs_loss as npairs_loss
from everflow.contrib.losses.metric_learning import npairs_loss_multilabel as npairs_loss_multilabel
from everflow.contrib.losses.metric_learning import pairwise_distance as pairwise_distance
from everflow.contrib.losses.metric_learning import triplet_semihard_loss as triplet_semihard_loss
