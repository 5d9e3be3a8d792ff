"""Heads: what training, evaluation, prediction and serving of a time series model consist of."""

from __future__ import annotations

import re
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import public
from everflow.contrib.timeseries.feature_checks import check_predict_features, check_train_eval_features
from everflow.contrib.timeseries.feature_keys import (
    FilteringFeatures,
    FilteringResults,
    PredictionFeatures,
    PredictionResults,
    SavedModelLabels,
    State,
    TrainEvalFeatures,
)
from everflow.contrib.timeseries.publishing import published
from everflow.estimator.export_outputs import PredictOutput
from everflow.estimator.heads.base import GraphHead
from everflow.estimator.heads.keys import MetricKeys, with_head_name
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import convert_to_tensor_or_sparse_tensor
from everflow.train.global_step import get_global_step

STATE_NAME = re.compile(rf"^{State.STATE_PREFIX}_(\d+)$")


@published("head.state_to_dictionary")
def state_to_dictionary(state_tuple: Any) -> dict[str, Any]:
    """The tensors of a state under the names that signatures have for them."""
    return {f"{State.STATE_PREFIX}_{number:02d}": value for number, value in enumerate(nest.flatten(state_tuple))}


class _WithoutState(PredictOutput):
    """A signature that takes no state."""

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        return super().as_signature_def({key: t for key, t in receiver_tensors.items() if not key.startswith(State.STATE_PREFIX)})


def _kept(name: str, tensor: Any) -> tuple[Any, Any]:
    """A metric whose value is the tensor as it last was."""
    variable = tf.Variable(
        name=f"{name}_identity_metric",
        initial_value=tf.zeros([], dtype=tensor.dtype),
        collections=[GraphKeys.LOCAL_VARIABLES],
        validate_shape=False,
    )
    update = tf.assign(variable, tensor, validate_shape=False)
    variable.set_shape(tensor.get_shape())
    return variable.value(), update


def _kept_structure(name: str, tensors: Any) -> tuple[Any, Any]:
    metrics = [_kept(f"{name}_{number}", tensor) for number, tensor in enumerate(nest.flatten(tensors))]
    return nest.pack_sequence_as(tensors, [value for value, _ in metrics]), tf.group(*(update for _, update in metrics))


def _model_scope() -> Any:
    return tf.variable_scope("model", use_resource=True)


@published("head.TimeSeriesRegressionHead")
class TimeSeriesRegressionHead(GraphHead):
    """The head of models that are trained on windows and predict from states."""

    def __init__(
        self, model: Any, state_manager: Any, optimizer: Any, input_statistics_generator: Any = None, name: str | None = None
    ) -> None:
        self.model = model
        self.state_manager = state_manager
        self.optimizer = optimizer
        self.input_statistics_generator = input_statistics_generator
        self._name = name

    @property
    def name(self) -> str | None:
        return self._name

    @property
    def logits_dimension(self) -> int:
        return 1

    def create_loss(self, features: Any, mode: str, logits: Any = None, labels: Any = None) -> Any:
        """What the model makes of the features, with a summary of its loss."""
        outputs = self.state_manager.define_loss(self.model, features, mode)
        tf.summary.scalar(with_head_name(self._name, MetricKeys.LOSS), outputs.loss)
        return outputs

    def _train_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        with _model_scope():
            outputs = self.create_loss(features, ModeKeys.TRAIN)
        train_op = self.optimizer.minimize(outputs.loss, global_step=get_global_step())
        return EstimatorSpec(loss=outputs.loss, mode=ModeKeys.TRAIN, train_op=train_op)

    def _evaluate_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        with _model_scope():
            outputs = self.create_loss(features, ModeKeys.EVAL)
        metrics = {key: _kept(key, value) for key, value in outputs.predictions.items()}
        metrics[FilteringResults.TIMES] = _kept(FilteringResults.TIMES, outputs.prediction_times)
        metrics[FilteringResults.STATE_TUPLE] = _kept_structure(FilteringResults.STATE_TUPLE, outputs.end_state)
        metrics[MetricKeys.LOSS_MEAN] = tf.metrics.mean(outputs.loss, name="average_loss")
        return EstimatorSpec(loss=outputs.loss, mode=ModeKeys.EVAL, eval_metric_ops=metrics, predictions=outputs.predictions)

    def _predict_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        with _model_scope():
            prediction = self.model.predict(features=features)
        prediction[PredictionResults.TIMES] = features[PredictionFeatures.TIMES]
        return EstimatorSpec(predictions=prediction, mode=ModeKeys.PREDICT)

    def _serving_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        """Three signatures: predict from a state, bring a state up to date, and find a state without one."""
        with _model_scope():
            predictions = self.model.predict(features=features)
        with tf.variable_scope("model", reuse=True):
            filtered = self.create_loss(features, ModeKeys.EVAL)
        with tf.variable_scope("model", reuse=True):
            stateless = {key: value for key, value in features.items() if not key.startswith(State.STATE_PREFIX)}
            cold = self.model.define_loss(features=stateless, mode=ModeKeys.EVAL)
        exports = {
            SavedModelLabels.PREDICT: PredictOutput(predictions),
            SavedModelLabels.FILTER: PredictOutput(state_to_dictionary(filtered.end_state)),
            SavedModelLabels.COLD_START_FILTER: _WithoutState(state_to_dictionary(cold.end_state)),
        }
        return EstimatorSpec(mode=ModeKeys.PREDICT, export_outputs=exports, predictions={})

    def _convert_feature_to_tensor(self, name: str, value: Any) -> Any:
        if name == TrainEvalFeatures.TIMES:
            return tf.cast(value, tf.int64)
        if name == TrainEvalFeatures.VALUES:
            return tf.cast(value, self.model.dtype)
        if name == PredictionFeatures.STATE_TUPLE:
            return value
        return convert_to_tensor_or_sparse_tensor(value)

    def _gather_state(self, features: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """The features with their numbered tensors of a state as one structure, and whether there were any."""
        numbers = {key: int(found[1]) for key in features if (found := STATE_NAME.search(key))}
        if not numbers:
            return features, False
        flat = [features[key] for key in sorted(numbers, key=numbers.__getitem__)]
        rest = {key: value for key, value in features.items() if key not in numbers}
        rest[State.STATE_TUPLE] = nest.pack_sequence_as(self.model.get_start_state(), flat)
        return rest, True

    def _check_predict_features(self, features: dict[str, Any]) -> None:
        check_predict_features(features)

    def create_estimator_spec(self, features: Any, mode: str, labels: Any = None) -> EstimatorSpec:  # type: ignore[override]
        """What an estimator runs in a mode; a state that comes tensor by tensor means serving."""
        with name_scope(self._name, "head"):
            if labels is not None and labels != {}:
                raise ValueError(
                    "The model received a `labels`, which is not supported. Pass "
                    f"'{TrainEvalFeatures.TIMES}' and '{TrainEvalFeatures.VALUES}' as features."
                )
            features = {name: self._convert_feature_to_tensor(name=name, value=value) for name, value in features.items()}
            statistics = None
            if self.input_statistics_generator is not None:
                statistics = self.input_statistics_generator.initialize_graph(features, update_statistics=mode == ModeKeys.TRAIN)
            self.model.initialize_graph(input_statistics=statistics)
            features, is_serving = self._gather_state(features)
            if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
                check_train_eval_features(features, self.model.num_features)
            elif mode == ModeKeys.PREDICT:
                self._check_predict_features(features)
            else:
                raise ValueError(f"Unknown mode '{mode}' passed to model_fn.")
            self.state_manager.initialize_graph(model=self.model, input_statistics=statistics)
            if mode == ModeKeys.TRAIN:
                return self._train_ops(features)
            if mode == ModeKeys.EVAL:
                return self._evaluate_ops(features)
            return self._serving_ops(features) if is_serving else self._predict_ops(features)


@public("contrib.timeseries.OneShotPredictionHead")
class OneShotPredictionHead(TimeSeriesRegressionHead):
    """A head that serves without states: it filters the values that come with a request, and predicts what follows them."""

    def _check_predict_features(self, features: dict[str, Any]) -> None:
        check_predict_features(features, also=(TrainEvalFeatures.VALUES,))

    def _evaluate_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        spec = super()._evaluate_ops(features)
        del spec.eval_metric_ops[State.STATE_TUPLE]
        return spec

    def _serving_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        with _model_scope():
            seen = tf.shape(features[FilteringFeatures.VALUES])[1]
            before, after = {}, {}
            for key, value in features.items():
                if key == FilteringFeatures.VALUES:
                    before[key] = value
                elif key != State.STATE_TUPLE:
                    before[key], after[key] = value[:, :seen], value[:, seen:]
            after[State.STATE_TUPLE] = self.model.define_loss(features=before, mode=ModeKeys.EVAL).end_state
        with tf.variable_scope("model", reuse=True):
            predictions = self.model.predict(features=after)
        return EstimatorSpec(mode=ModeKeys.PREDICT, export_outputs={SavedModelLabels.PREDICT: _WithoutState(predictions)}, predictions={})
