"""Written by `make index`."""
from typing import Any

from everflow.estimator.tpu import InputPipelineConfig as InputPipelineConfig
from everflow.estimator.tpu import TPURunConfig as _RunConfig
RunConfig = _RunConfig
from everflow.estimator.tpu import TPUConfig as TPUConfig
from everflow.estimator.tpu import TPUEstimator as TPUEstimator
from everflow.estimator.tpu import TPUEstimatorSpec as TPUEstimatorSpec
from everflow._api.estimator.tpu import experimental as experimental
