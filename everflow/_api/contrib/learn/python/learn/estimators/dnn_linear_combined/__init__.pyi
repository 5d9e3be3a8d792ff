"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.models.combined import DNNLinearCombinedClassifier as DNNLinearCombinedClassifier
from everflow.contrib.learn.models.combined import DNNLinearCombinedEstimator as DNNLinearCombinedEstimator
from everflow.contrib.learn.models.combined import DNNLinearCombinedRegressor as DNNLinearCombinedRegressor
from everflow.contrib.learn.models.combined import combined_model_fn as __dnn_linear_combined_model_fn
_dnn_linear_combined_model_fn = __dnn_linear_combined_model_fn
from everflow.contrib.learn.models.combined import embedding_multipliers as __extract_embedding_lr_multipliers
_extract_embedding_lr_multipliers = __extract_embedding_lr_multipliers
