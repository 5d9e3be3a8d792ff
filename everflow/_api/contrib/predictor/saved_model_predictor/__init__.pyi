"""Written by `make index`."""
from typing import Any

from everflow.contrib.predictor.predictors import SavedModelPredictor as SavedModelPredictor
