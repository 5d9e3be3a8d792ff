"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.regressions import bidirectional_rnn as bidirectional_rnn
from everflow.contrib.learn.regressions import get_rnn_model as get_rnn_model
from everflow.contrib.learn.regressions import linear_regression as linear_regression
from everflow.contrib.learn.regressions import linear_regression_zero_init as linear_regression_zero_init
from everflow.contrib.learn.regressions import logistic_regression as logistic_regression
from everflow.contrib.learn.regressions import logistic_regression_zero_init as logistic_regression_zero_init
