"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.models.state_saving_rnn import StateSavingRnnEstimator as StateSavingRnnEstimator
from everflow.contrib.learn.models.state_saving_rnn import initial_states as __get_initial_states
_get_initial_states = __get_initial_states
from everflow.contrib.learn.models.state_saving_rnn import state_saving_model_fn as __get_rnn_model_fn
_get_rnn_model_fn = __get_rnn_model_fn
from everflow.contrib.learn.models.state_saving_rnn import state_names as __get_state_names
_get_state_names = __get_state_names
from everflow.contrib.learn.models.state_saving_rnn import prepare_features as __prepare_features_for_sqss
_prepare_features_for_sqss = __prepare_features_for_sqss
from everflow.contrib.learn.models.state_saving_rnn import inputs_of as __prepare_inputs_for_rnn
_prepare_inputs_for_rnn = __prepare_inputs_for_rnn
from everflow.contrib.learn.models.state_saving_rnn import read_batch as __read_batch
_read_batch = __read_batch
from everflow.contrib.learn.models.state_saving_rnn import construct_state_saving_rnn as construct_state_saving_rnn
from everflow.contrib.learn.models.rnn_common import state_tuple_to_dict as state_tuple_to_dict
