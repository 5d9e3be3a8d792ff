"""What model functions of tf.contrib.learn give back."""

from __future__ import annotations

import collections
from typing import Any

import everflow as tf
from everflow.contrib.learn.problem_types import MetricKey, PredictionKey, ProblemType
from everflow.contrib.learn.publishing import learn
from everflow.estimator.export_outputs import ClassificationOutput, PredictOutput, RegressionOutput
from everflow.estimator.mode_keys import ModeKeys as NewModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.graph.operation import Operation
from everflow.platform import logging
from everflow.saved_model import constants
from everflow.train.session_run_hook import SessionRunHook

_MODULE = "estimators.model_fn"


@learn(_MODULE, "ModeKeys", shown=True)
class ModeKeys:
    """Training, evaluation or inference."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key: str) -> None:
        """Raises for what is no mode."""
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}.")


_NEW_MODES = {ModeKeys.TRAIN: NewModeKeys.TRAIN, ModeKeys.EVAL: NewModeKeys.EVAL, ModeKeys.INFER: NewModeKeys.PREDICT}


@learn(_MODULE, "ModelFnOps", shown=True)
class ModelFnOps(
    collections.namedtuple(
        "ModelFnOps",
        [
            "predictions",
            "loss",
            "train_op",
            "eval_metric_ops",
            "output_alternatives",
            "training_chief_hooks",
            "training_hooks",
            "scaffold",
            "mode",
        ],
    )
):
    """The ops of a model in one mode."""

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Any = None,
        output_alternatives: Any = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
    ) -> ModelFnOps:
        ModeKeys.validate(mode)
        # Raises where they are of different graphs.
        tf.contrib.framework.get_graph_from_inputs((predictions, loss, train_op))
        if train_op is None and mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        if train_op is not None and not isinstance(train_op, Operation):
            train_op = tf.convert_to_tensor(train_op).op
        if eval_metric_ops is not None and not isinstance(eval_metric_ops, dict):
            raise ValueError("eval_metric_ops must be a dict.")
        chief_hooks, hooks = list(training_chief_hooks or ()), list(training_hooks or ())
        for hook in [*hooks, *chief_hooks]:
            if not isinstance(hook, SessionRunHook):
                raise TypeError(f"All hooks returned from model_fn must be SessionRunHook instances, got instance of {type(hook)}: {hook}")
        return super().__new__(
            cls,
            predictions=_checked_predictions(predictions, mode),
            loss=_scalar_loss(loss, mode),
            train_op=train_op,
            eval_metric_ops={} if eval_metric_ops is None else eval_metric_ops,
            output_alternatives=output_alternatives,
            training_chief_hooks=chief_hooks,
            training_hooks=hooks,
            scaffold=scaffold,
            mode=mode,
        )

    def estimator_spec(self, default_serving_output_alternative_key: Any = None) -> EstimatorSpec:
        """The same as an EstimatorSpec."""
        outputs = self.output_alternatives
        if outputs and len(outputs) > 1 and constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY not in outputs:
            outputs = {**outputs, constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: outputs[default_serving_output_alternative_key]}
        return EstimatorSpec(
            mode=_NEW_MODES[self.mode],
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            # The new estimators measure the loss themselves.
            eval_metric_ops={key: value for key, value in self.eval_metric_ops.items() if key != MetricKey.LOSS},
            export_outputs={key: _export_output(*value) for key, value in outputs.items()} if outputs else None,
            training_chief_hooks=self.training_chief_hooks,
            training_hooks=self.training_hooks,
            scaffold=self.scaffold,
        )


def _scalar_loss(loss: Any, mode: str) -> Any:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    loss = tf.convert_to_tensor(loss)
    if loss.get_shape().num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar: {loss}.")
    return loss if loss.get_shape().is_compatible_with([]) else tf.reshape(loss, [])


def _checked_predictions(predictions: Any, mode: str) -> Any:
    if predictions is None:
        if mode in (ModeKeys.INFER, ModeKeys.EVAL):
            raise ValueError("Missing predictions.")
        return None
    as_tensor = tf.contrib.framework.convert_to_tensor_or_sparse_tensor
    if isinstance(predictions, dict):
        return {key: as_tensor(value) for key, value in predictions.items()}
    return as_tensor(predictions)


def _export_output(problem_type: int, predictions: Any) -> Any:
    """How a head's predictions are served."""
    if problem_type == ProblemType.UNSPECIFIED:
        return PredictOutput(predictions)
    scores = predictions.get(PredictionKey.SCORES)
    scores = predictions.get(PredictionKey.PROBABILITIES) if scores is None else scores
    if problem_type == ProblemType.LINEAR_REGRESSION:
        return RegressionOutput(scores)
    if problem_type not in (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION):
        raise ValueError(f"Unknown problem_type={problem_type}")
    classes = predictions.get(PredictionKey.CLASSES)
    if classes is None or classes.dtype != tf.string:
        logging.warning(f"classes is {'None' if classes is None else 'not string'}, Servo inference will not have class ids.")
        classes = None
    return ClassificationOutput(scores=scores, classes=classes)
