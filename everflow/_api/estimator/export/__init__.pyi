"""Written by `make index`."""
from typing import Any

from everflow.estimator.export_outputs import ClassificationOutput as ClassificationOutput
from everflow.estimator.export_outputs import ExportOutput as ExportOutput
from everflow.estimator.export_outputs import PredictOutput as PredictOutput
from everflow.estimator.export_outputs import RegressionOutput as RegressionOutput
from everflow.estimator.receivers import ServingInputReceiver as ServingInputReceiver
from everflow.estimator.receivers import TensorServingInputReceiver as TensorServingInputReceiver
from everflow.estimator.receivers import build_parsing_serving_input_receiver_fn as build_parsing_serving_input_receiver_fn
from everflow.estimator.receivers import build_raw_serving_input_receiver_fn as build_raw_serving_input_receiver_fn
