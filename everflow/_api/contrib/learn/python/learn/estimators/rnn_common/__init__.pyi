"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.models.rnn_common import PredictionType as PredictionType
from everflow.contrib.learn.models.rnn_common import RNNKeys as RNNKeys
from everflow.contrib.learn.models.rnn_common import apply_dropout as apply_dropout
from everflow.contrib.learn.models.rnn_common import construct_rnn_cell as construct_rnn_cell
from everflow.contrib.learn.models.rnn_common import get_eval_metric_ops as get_eval_metric_ops
from everflow.contrib.learn.models.rnn_common import mask_activations_and_labels as mask_activations_and_labels
from everflow.contrib.learn.models.rnn_common import multi_value_predictions as multi_value_predictions
from everflow.contrib.learn.models.rnn_common import select_last_activations as select_last_activations
