"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.estimator import BaseEstimator as BaseEstimator
from everflow.contrib.learn.estimator import LearnEstimator as _Estimator
Estimator = _Estimator
from everflow.contrib.learn.estimator import Evaluable as Evaluable
from everflow.contrib.learn.experiment import Experiment as Experiment
from everflow.contrib.learn.export_strategies import ExportStrategy as ExportStrategy
from everflow.contrib.learn.serving_inputs import InputFnOps as InputFnOps
from everflow.contrib.learn.model_ops import MetricSpec as MetricSpec
from everflow.contrib.learn.model_ops import ModeKeys as ModeKeys
from everflow.contrib.learn.model_ops import ModelFnOps as ModelFnOps
from everflow.contrib.learn.estimator import NotFittedError as NotFittedError
from everflow.contrib.learn.problem_types import PredictionKey as PredictionKey
from everflow.contrib.learn.problem_types import ProblemType as ProblemType
from everflow.contrib.learn.estimator import RunConfig as RunConfig
from everflow.contrib.learn.estimator import SKCompat as SKCompat
from everflow.contrib.learn.estimator import Trainable as Trainable
from everflow.contrib.learn.serving_inputs import build_parsing_serving_input_fn as build_parsing_serving_input_fn
from everflow._api.contrib.learn import datasets as datasets
from everflow._api.contrib.learn import estimators as estimators
from everflow._api.contrib.learn import io as io
from everflow._api.contrib.learn import learn_runner as learn_runner
from everflow.contrib.learn.export_strategies import make_export_strategy as make_export_strategy
from everflow._api.contrib.learn import preprocessing as preprocessing
from everflow._api.contrib.learn import python as python
from everflow._api.contrib.learn import utils as utils
