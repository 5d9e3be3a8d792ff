"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.models.dynamic_rnn import DynamicRnnEstimator as DynamicRnnEstimator
from everflow.contrib.learn.models.dynamic_rnn import PredictionType as PredictionType
from everflow.contrib.learn.models.dynamic_rnn import dynamic_rnn_model_fn as __get_dynamic_rnn_model_fn
_get_dynamic_rnn_model_fn = __get_dynamic_rnn_model_fn
from everflow.contrib.learn.models.dynamic_rnn import _output_alternatives as __get_output_alternatives
_get_output_alternatives = __get_output_alternatives
_multi_value_loss: Any
from everflow.contrib.learn.models.dynamic_rnn import _single_value_loss as _single_value_loss
from everflow.contrib.learn.models.dynamic_rnn import _single_value_predictions as _single_value_predictions
from everflow.contrib.learn.models.dynamic_rnn import build_sequence_input as build_sequence_input
from everflow.contrib.learn.models.dynamic_rnn import construct_rnn as construct_rnn
from everflow.contrib.learn.models.dynamic_rnn import dict_to_state_tuple as dict_to_state_tuple
from everflow.contrib.learn.models.rnn_common import state_tuple_to_dict as state_tuple_to_dict
