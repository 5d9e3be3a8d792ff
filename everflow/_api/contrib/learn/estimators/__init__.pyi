"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.learn.estimators import estimator as estimator
from everflow._api.contrib.learn.estimators import model_fn as model_fn
