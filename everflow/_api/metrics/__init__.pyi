"""Written by `make index`."""
from typing import Any

from everflow.metrics.means import accuracy as accuracy
from everflow.metrics.thresholds import auc as auc
from everflow.metrics.top_k import average_precision_at_k as average_precision_at_k
from everflow.metrics.counts import false_negatives as false_negatives
from everflow.metrics.thresholds import false_negatives_at_thresholds as false_negatives_at_thresholds
from everflow.metrics.counts import false_positives as false_positives
from everflow.metrics.thresholds import false_positives_at_thresholds as false_positives_at_thresholds
from everflow.metrics.means import mean as mean
from everflow.metrics.means import mean_absolute_error as mean_absolute_error
from everflow.metrics.means import mean_cosine_distance as mean_cosine_distance
from everflow.metrics.classes import mean_iou as mean_iou
from everflow.metrics.classes import mean_per_class_accuracy as mean_per_class_accuracy
from everflow.metrics.means import mean_relative_error as mean_relative_error
from everflow.metrics.means import mean_squared_error as mean_squared_error
from everflow.metrics.means import mean_tensor as mean_tensor
from everflow.metrics.means import percentage_below as percentage_below
from everflow.metrics.counts import precision as precision
from everflow.metrics.top_k import precision_at_k as precision_at_k
from everflow.metrics.thresholds import precision_at_thresholds as precision_at_thresholds
from everflow.metrics.top_k import precision_at_top_k as precision_at_top_k
from everflow.metrics.counts import recall as recall
from everflow.metrics.top_k import recall_at_k as recall_at_k
from everflow.metrics.thresholds import recall_at_thresholds as recall_at_thresholds
from everflow.metrics.top_k import recall_at_top_k as recall_at_top_k
from everflow.metrics.means import root_mean_squared_error as root_mean_squared_error
from everflow.metrics.thresholds import sensitivity_at_specificity as sensitivity_at_specificity
from everflow.metrics.top_k import sparse_average_precision_at_k as sparse_average_precision_at_k
from everflow.metrics.top_k import sparse_precision_at_k as sparse_precision_at_k
from everflow.metrics.thresholds import specificity_at_sensitivity as specificity_at_sensitivity
from everflow.metrics.counts import true_negatives as true_negatives
from everflow.metrics.thresholds import true_negatives_at_thresholds as true_negatives_at_thresholds
from everflow.metrics.counts import true_positives as true_positives
from everflow.metrics.thresholds import true_positives_at_thresholds as true_positives_at_thresholds
