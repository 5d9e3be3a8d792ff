"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.estimator import BaseEstimator as BaseEstimator
from everflow.contrib.learn.estimator import LearnEstimator as _Estimator
Estimator = _Estimator
