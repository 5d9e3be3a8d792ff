"""Written by `make index`."""
from typing import Any

from everflow.contrib.predictor.predictors import EstimatorPredictor as _CoreEstimatorPredictor
CoreEstimatorPredictor = _CoreEstimatorPredictor
