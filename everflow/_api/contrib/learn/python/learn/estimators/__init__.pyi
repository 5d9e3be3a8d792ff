"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.learn.python.learn.estimators import _sklearn as _sklearn
from everflow._api.contrib.learn.python.learn.estimators import composable_model as composable_model
from everflow._api.contrib.learn.python.learn.estimators import constants as constants
from everflow._api.contrib.learn.python.learn.estimators import debug as debug
from everflow._api.contrib.learn.python.learn.estimators import dnn as dnn
from everflow._api.contrib.learn.python.learn.estimators import dnn_linear_combined as dnn_linear_combined
from everflow._api.contrib.learn.python.learn.estimators import dynamic_rnn_estimator as dynamic_rnn_estimator
from everflow._api.contrib.learn.python.learn.estimators import estimator as estimator
from everflow._api.contrib.learn.python.learn.estimators import head as head
from everflow._api.contrib.learn.python.learn.estimators import kmeans as kmeans
from everflow._api.contrib.learn.python.learn.estimators import linear as linear
from everflow._api.contrib.learn.python.learn.estimators import logistic_regressor as logistic_regressor
from everflow._api.contrib.learn.python.learn.estimators import metric_key as metric_key
from everflow._api.contrib.learn.python.learn.estimators import model_fn as model_fn
from everflow._api.contrib.learn.python.learn.estimators import prediction_key as prediction_key
from everflow._api.contrib.learn.python.learn.estimators import rnn_common as rnn_common
from everflow._api.contrib.learn.python.learn.estimators import run_config as run_config
from everflow._api.contrib.learn.python.learn.estimators import state_saving_rnn_estimator as state_saving_rnn_estimator
from everflow._api.contrib.learn.python.learn.estimators import svm as svm
from everflow._api.contrib.learn.python.learn.estimators import tensor_signature as tensor_signature
