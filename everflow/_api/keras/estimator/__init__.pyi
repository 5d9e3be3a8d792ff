"""Written by `make index`."""
from typing import Any

from everflow.estimator.keras_models import model_to_estimator as model_to_estimator
