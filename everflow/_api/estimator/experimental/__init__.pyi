"""Written by `make index`."""
from typing import Any

from everflow.estimator.stopping import InMemoryEvaluatorHook as InMemoryEvaluatorHook
from everflow.estimator.canned.kmeans import KMeansClustering as _KMeans
KMeans = _KMeans
from everflow.estimator.canned.sdca import LinearSDCA as LinearSDCA
from everflow.estimator.receivers import SupervisedInputReceiver as SupervisedInputReceiver
from everflow.estimator.receivers import build_raw_supervised_input_receiver_fn as build_raw_supervised_input_receiver_fn
from everflow.estimator.extending import call_logit_fn as call_logit_fn
from everflow.estimator.canned.dnn import dnn_logit_fn_builder as dnn_logit_fn_builder
from everflow.estimator.canned.linear import linear_logit_fn_builder as linear_logit_fn_builder
from everflow.estimator.stopping import make_early_stopping_hook as make_early_stopping_hook
from everflow.estimator.stopping import make_stop_at_checkpoint_step_hook as make_stop_at_checkpoint_step_hook
from everflow.estimator.stopping import stop_if_higher_hook as stop_if_higher_hook
from everflow.estimator.stopping import stop_if_lower_hook as stop_if_lower_hook
from everflow.estimator.stopping import stop_if_no_decrease_hook as stop_if_no_decrease_hook
from everflow.estimator.stopping import stop_if_no_increase_hook as stop_if_no_increase_hook
