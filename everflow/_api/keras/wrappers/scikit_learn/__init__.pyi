"""Written by `make index`."""
from typing import Any

from everflow.keras.wrappers.scikit_learn import KerasClassifier as KerasClassifier
from everflow.keras.wrappers.scikit_learn import KerasRegressor as KerasRegressor
