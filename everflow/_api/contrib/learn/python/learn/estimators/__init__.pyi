"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.learn.python.learn.estimators import constants as constants
from everflow._api.contrib.learn.python.learn.estimators import estimator as estimator
from everflow._api.contrib.learn.python.learn.estimators import prediction_key as prediction_key
