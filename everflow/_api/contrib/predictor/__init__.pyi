"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.predictor import contrib_estimator_predictor as contrib_estimator_predictor
from everflow._api.contrib.predictor import core_estimator_predictor as core_estimator_predictor
from everflow.contrib.predictor.predictors import from_contrib_estimator as from_contrib_estimator
from everflow.contrib.predictor.predictors import from_estimator as from_estimator
from everflow.contrib.predictor.predictors import from_saved_model as from_saved_model
from everflow._api.contrib.predictor import predictor as predictor
from everflow._api.contrib.predictor import saved_model_predictor as saved_model_predictor
