"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.scikit import Parameters as _BaseEstimator
BaseEstimator = _BaseEstimator
from everflow.contrib.learn.scikit import _ClassifierMixin as _ClassifierMixin
ClassifierMixin = _ClassifierMixin
from everflow.contrib.learn.scikit import NotFittedError as NotFittedError
from everflow.contrib.learn.scikit import _RegressorMixin as _RegressorMixin
RegressorMixin = _RegressorMixin
from everflow.contrib.learn.scikit import _TransformerMixin as _TransformerMixin
TransformerMixin = _TransformerMixin
from everflow.contrib.learn.scikit import _accuracy_score as _accuracy_score
accuracy_score = _accuracy_score
from everflow.contrib.learn.scikit import log_loss as log_loss
from everflow.contrib.learn.scikit import _mean_squared_error as _mean_squared_error
mean_squared_error = _mean_squared_error
from everflow.contrib.learn.scikit import _train_test_split as _train_test_split
train_test_split = _train_test_split
