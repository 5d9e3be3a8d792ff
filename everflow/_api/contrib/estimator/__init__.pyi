"""Written by `make index`."""
from typing import Any

from everflow.estimator.canned.baseline import BaselineEstimator as BaselineEstimator
from everflow.estimator.canned.dnn import DNNEstimator as DNNEstimator
from everflow.estimator.canned.combined import DNNLinearCombinedEstimator as DNNLinearCombinedEstimator
from everflow.estimator.stopping import InMemoryEvaluatorHook as InMemoryEvaluatorHook
from everflow.estimator.canned.linear import LinearEstimator as LinearEstimator
from everflow.estimator.exporters import StepsExporter as StepsExporter
from everflow.estimator.extending import add_metrics as add_metrics
from everflow.estimator.heads.classification import binary_classification_head as binary_classification_head
from everflow.estimator.receivers import build_raw_supervised_input_receiver_fn as build_raw_supervised_input_receiver_fn
from everflow.estimator.receivers import build_supervised_input_receiver_fn_from_input_fn as build_supervised_input_receiver_fn_from_input_fn
from everflow.estimator.extending import call_logit_fn as call_logit_fn
from everflow.estimator.extending import clip_gradients_by_norm as clip_gradients_by_norm
from everflow.estimator.canned.dnn import dnn_logit_fn_builder as dnn_logit_fn_builder
from everflow.estimator.extending import export_all_saved_models as export_all_saved_models
from everflow.estimator.extending import export_saved_model_for_mode as export_saved_model_for_mode
from everflow.estimator.extending import forward_features as forward_features
from everflow.estimator.canned.linear import linear_logit_fn_builder as linear_logit_fn_builder
from everflow.estimator.heads.regression import logistic_regression_head as logistic_regression_head
from everflow.estimator.heads.classification import multi_class_head as multi_class_head
from everflow.estimator.heads.multi import multi_head as multi_head
from everflow.estimator.heads.classification import multi_label_head as multi_label_head
from everflow.estimator.heads.regression import poisson_regression_head as poisson_regression_head
from everflow.estimator.heads.regression import regression_head as regression_head
