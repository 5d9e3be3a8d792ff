"""Written by `make index`."""
from typing import Any

from everflow.contrib.factorization.estimators import StopAtSweepHook as __StopAtSweepHook
_StopAtSweepHook = __StopAtSweepHook
from everflow.contrib.factorization.estimators import SweepHook as __SweepHook
_SweepHook = __SweepHook
from everflow.contrib.factorization.estimators import wals_model_fn as __wals_factorization_model_function
_wals_factorization_model_function = __wals_factorization_model_function
