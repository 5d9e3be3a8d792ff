"""Estimators of random forests."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.learn.estimator import LearnEstimator
from everflow.contrib.learn.model_ops import ModeKeys, ModelFnOps
from everflow.contrib.learn.problem_types import ProblemType
from everflow.contrib.tensor_forest.evaluation import INFERENCE_PRED_NAME, INFERENCE_PROB_NAME
from everflow.contrib.tensor_forest.graphs import RandomForestGraphs
from everflow.estimator.estimator import Estimator
from everflow.estimator.export_outputs import PredictOutput
from everflow.feature_column.transformation import old_transform_features
from everflow.graph.sparse_tensor import SparseTensor
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply
from everflow.platform import logging
from everflow.train.global_step import get_global_step
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook

BELOW = "contrib.tensor_forest.client.random_forest."
KEYS_NAME = "keys"
LOSS_NAME = "rf_training_loss"
TREE_PATHS_PREDICTION_KEY = "tree_paths"
VARIANCE_PREDICTION_KEY = "prediction_variance"
ALL_SERVING_KEY = "tensorforest_all"
EPSILON = 0.000001
for _name in ("KEYS_NAME", "LOSS_NAME", "TREE_PATHS_PREDICTION_KEY", "VARIANCE_PREDICTION_KEY", "ALL_SERVING_KEY", "EPSILON"):
    public(BELOW + _name)(globals()[_name])
public(BELOW + "PredictOutput")(PredictOutput)


@public(BELOW + "ModelBuilderOutputType")
class ModelBuilderOutputType:
    """What a model function gives: as tf.contrib.learn wants it, or as tf.estimator does."""

    MODEL_FN_OPS = 0
    ESTIMATOR_SPEC = 1


@public(BELOW + "TensorForestRunOpAtEndHook")
class TensorForestRunOpAtEndHook(SessionRunHook):
    """Runs ops when training ends, in the order of their names, and logs what they give."""

    def __init__(self, op_dict: dict[str, Any]) -> None:
        self._ops = op_dict

    def end(self, session: Any) -> None:
        for name in sorted(self._ops):
            logging.info(f"{name}: {session.run(self._ops[name])}")


@public(BELOW + "TensorForestLossHook")
class TensorForestLossHook(SessionRunHook):
    """Stops training when the loss has not fallen for some steps."""

    def __init__(self, early_stopping_rounds: int, early_stopping_loss_threshold: Any = None, loss_op: Any = None) -> None:
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_loss_threshold = early_stopping_loss_threshold
        self.loss_op = loss_op
        self.min_loss: Any = None
        self.last_step = -1
        self.steps = 0

    def before_run(self, run_context: Any) -> Any:
        loss = self.loss_op
        if loss is None:
            loss = run_context.session.graph.get_operation_by_name(LOSS_NAME).outputs[0]
        return SessionRunArgs({"global_step": get_global_step(), "current_loss": loss})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        found = run_values.results
        loss, step = found["current_loss"], found["global_step"]
        starts_again = self.last_step == -1 or step < self.last_step
        self.last_step = step
        if starts_again:
            logging.info("TensorForestLossHook resetting last_step.")
            self.steps, self.min_loss = 0, None
            return
        least = self.min_loss
        fell = least is None or loss < least - least * self.early_stopping_loss_threshold
        self.steps, self.min_loss = (0, loss) if fell else (self.steps + 1, least)
        if self.steps > self.early_stopping_rounds:
            logging.info("TensorForestLossHook requesting stop.")
            run_context.request_stop()


def _default_head(params: Any, weights_name: str | None, output_type: int, name: str | None = None) -> Any:
    if output_type == ModelBuilderOutputType.MODEL_FN_OPS:
        learn = tf.contrib.learn
        common: dict[str, Any] = {"weight_column_name": weights_name, "enable_centered_bias": False, "head_name": name}
        if params.regression:
            return learn.regression_head(label_dimension=params.num_outputs, **common)
        return learn.multi_class_head(params.num_classes, **common)
    heads = tf.contrib.estimator
    common = {"weight_column": weights_name, "name": name, "loss_reduction": tf.losses.Reduction.SUM_OVER_BATCH_SIZE}
    if params.regression:
        return heads.regression_head(label_dimension=params.num_outputs, **common)
    if params.num_classes == 2:
        return heads.binary_classification_head(**common)
    return heads.multi_class_head(n_classes=params.num_classes, **common)


public(BELOW + "_get_default_head")(_default_head)


def _transformed(features: dict[str, Any], columns: Any, is_learn: bool) -> dict[Any, Any]:
    features = features.copy()
    if is_learn:
        features.update(tf.contrib.layers.transform_features(features, columns))
    else:
        for column in columns:
            features[column.name] = old_transform_features(features, [column])[column]
    return features


@public(BELOW + "get_model_fn")
def get_model_fn(
    params: Any,
    graph_builder_class: Any,
    device_assigner: Any,
    feature_columns: Any = None,
    weights_name: str | None = None,
    model_head: Any = None,
    keys_name: str | None = None,
    early_stopping_rounds: int = 100,
    early_stopping_loss_threshold: float = 0.001,
    num_trainers: int = 1,
    trainer_id: int = 0,
    report_feature_importances: bool = False,
    local_eval: bool = False,
    head_scope: Any = None,
    include_all_in_serving: bool = False,
    output_type: int = ModelBuilderOutputType.MODEL_FN_OPS,
) -> Any:
    """The model function of a forest."""
    is_learn = output_type == ModelBuilderOutputType.MODEL_FN_OPS
    head = _default_head(params, weights_name, output_type) if model_head is None else model_head

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        if isinstance(features, (Tensor, SparseTensor)):
            features = {"features": features}
        if feature_columns:
            features = _transformed(features, feature_columns, is_learn)
        weights = features.pop(weights_name) if weights_name and weights_name in features else None
        keys = features.pop(keys_name) if keys_name and keys_name in features else None
        is_local = mode == ModeKeys.INFER or (local_eval and mode == ModeKeys.EVAL)
        builder = graph_builder_class(params, device_assigner=None if is_local else device_assigner)
        logits, paths, variance = builder.inference_graph(features)
        tf.summary.scalar("average_tree_size", builder.average_size())
        if not params.regression and params.num_classes == 2:
            likely = tf.slice(logits, [0, 1], [-1, 1])
            logits = tf.log(tf.maximum(likely / tf.maximum(1.0 - likely, EPSILON), EPSILON))
        train_op = None
        if labels is not None and mode == ModeKeys.TRAIN:
            with tf.control_dependencies([logits.op]):
                grow = builder.training_graph(features, labels, input_weights=weights, num_trainers=num_trainers, trainer_id=trainer_id)
                train_op = tf.group(grow, tf.assign_add(get_global_step(), 1))
        if weights is not None:
            features[weights_name] = weights
        destroy = [apply("DestroyResourceOp", handle) for handle in builder.get_all_resource_handles()]
        at_end = {"9: clean up resources": tf.group(*destroy)}
        if report_feature_importances:
            at_end["1: feature_importances"] = builder.feature_importances()
        hooks: list[Any] = [TensorForestRunOpAtEndHook(at_end)]
        given = {"features": features, "labels": labels, "mode": mode, "train_op_fn": lambda loss: train_op, "logits": logits}
        made = head.create_model_fn_ops(scope=head_scope, **given) if is_learn else head.create_estimator_spec(**given)
        if early_stopping_rounds:
            hooks.append(TensorForestLossHook(early_stopping_rounds, early_stopping_loss_threshold, loss_op=made.loss))
        before, after = (made.training_hooks, hooks) if is_learn else (hooks, made.training_hooks)
        made = made._replace(training_hooks=[*before, *after])
        if keys is not None:
            made.predictions[keys_name] = keys
        if params.inference_tree_paths:
            made.predictions[TREE_PATHS_PREDICTION_KEY] = paths
        made.predictions[VARIANCE_PREDICTION_KEY] = variance
        if not include_all_in_serving:
            return made
        if is_learn:
            everything = {ALL_SERVING_KEY: (ProblemType.UNSPECIFIED, made.predictions)}
            return made._replace(output_alternatives={**(made.output_alternatives or {}), **everything})
        return made._replace(export_outputs={ALL_SERVING_KEY: PredictOutput(made.predictions)})

    return model_fn


def _trainers(num_trainers: int, config: Any) -> int:
    return max(1, config.num_worker_replicas) if num_trainers == 1 and config is not None else num_trainers


@public(BELOW + "TensorForestEstimator")
class TensorForestEstimator(LearnEstimator):
    """A forest, as an estimator of tf.contrib.learn."""

    def __init__(
        self,
        params: Any,
        device_assigner: Any = None,
        model_dir: str | None = None,
        feature_columns: Any = None,
        graph_builder_class: Any = RandomForestGraphs,
        config: Any = None,
        weight_column: str | None = None,
        keys_column: str | None = None,
        feature_engineering_fn: Any = None,
        early_stopping_rounds: int = 100,
        early_stopping_loss_threshold: float = 0.001,
        num_trainers: int = 1,
        trainer_id: int = 0,
        report_feature_importances: bool = False,
        local_eval: bool = False,
        version: Any = None,
        head: Any = None,
        include_all_in_serving: bool = False,
    ) -> None:
        model_fn = get_model_fn(
            params.fill(),
            graph_builder_class,
            device_assigner,
            feature_columns=feature_columns,
            model_head=head,
            weights_name=weight_column,
            keys_name=keys_column,
            early_stopping_rounds=early_stopping_rounds,
            early_stopping_loss_threshold=early_stopping_loss_threshold,
            num_trainers=_trainers(num_trainers, config),
            trainer_id=trainer_id,
            report_feature_importances=report_feature_importances,
            local_eval=local_eval,
            include_all_in_serving=include_all_in_serving,
        )
        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config, feature_engineering_fn=feature_engineering_fn)


@public(BELOW + "get_combined_model_fn")
def get_combined_model_fn(model_fns: Any) -> Any:
    """A model function for several forests, one for each column of the labels."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        made = []
        for i, own in enumerate(model_fns):
            with tf.variable_scope(f"label_{i}"):
                made.append(own(features, tf.slice(labels, [0, i], [-1, 1]), mode))
        predictions: dict[str, Any] = {}
        if mode != ModeKeys.TRAIN:
            predictions[INFERENCE_PROB_NAME] = tf.concat([m.predictions[INFERENCE_PROB_NAME] for m in made], axis=1)
            predictions[INFERENCE_PRED_NAME] = tf.stack([m.predictions[INFERENCE_PRED_NAME] for m in made], axis=1)
        return ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=None if mode == ModeKeys.INFER else tf.reduce_sum(tf.stack([m.loss for m in made])) / len(made),
            train_op=tf.group(*[m.train_op for m in made]) if mode == ModeKeys.TRAIN else None,
            training_hooks=[hook for m in made for hook in m.training_hooks],
        )

    return model_fn


@public(BELOW + "MultiForestMultiHeadEstimator")
class MultiForestMultiHeadEstimator(LearnEstimator):
    """Several forests, one for each column of the labels."""

    def __init__(
        self,
        params_list: Any,
        device_assigner: Any = None,
        model_dir: str | None = None,
        feature_columns: Any = None,
        graph_builder_class: Any = RandomForestGraphs,
        config: Any = None,
        weight_column: str | None = None,
        keys_column: str | None = None,
        feature_engineering_fn: Any = None,
        early_stopping_rounds: int = 100,
        num_trainers: int = 1,
        trainer_id: int = 0,
        report_feature_importances: bool = False,
        local_eval: bool = False,
    ) -> None:
        model_fns = []
        for i, given in enumerate(params_list):
            params = given.fill()
            head = _default_head(params, weight_column, ModelBuilderOutputType.MODEL_FN_OPS, name=f"head{i}")
            own = get_model_fn(
                params,
                graph_builder_class,
                device_assigner,
                model_head=head,
                weights_name=weight_column,
                keys_name=keys_column,
                early_stopping_rounds=early_stopping_rounds,
                num_trainers=_trainers(num_trainers, config),
                trainer_id=trainer_id,
                report_feature_importances=report_feature_importances,
                local_eval=local_eval,
                head_scope=f"output{i}",
            )
            model_fns.append(own)
        super().__init__(
            model_fn=get_combined_model_fn(model_fns), model_dir=model_dir, config=config, feature_engineering_fn=feature_engineering_fn
        )


@public(BELOW + "CoreTensorForestEstimator")
class CoreTensorForestEstimator(Estimator):
    """A forest, as an estimator of tf.estimator."""

    def __init__(
        self,
        params: Any,
        device_assigner: Any = None,
        model_dir: str | None = None,
        feature_columns: Any = None,
        graph_builder_class: Any = RandomForestGraphs,
        config: Any = None,
        weight_column: str | None = None,
        keys_column: str | None = None,
        feature_engineering_fn: Any = None,
        early_stopping_rounds: int = 100,
        early_stopping_loss_threshold: float = 0.001,
        num_trainers: int = 1,
        trainer_id: int = 0,
        report_feature_importances: bool = False,
        local_eval: bool = False,
        version: Any = None,
        head: Any = None,
        include_all_in_serving: bool = False,
    ) -> None:
        if trainer_id == 0 and config is not None:
            trainer_id = config.global_id_in_cluster
        given = locals()
        same = ("feature_columns", "early_stopping_rounds", "early_stopping_loss_threshold", "trainer_id")
        model_fn = get_model_fn(
            params.fill(),
            graph_builder_class,
            device_assigner,
            model_head=head,
            weights_name=weight_column,
            keys_name=keys_column,
            num_trainers=_trainers(num_trainers, config),
            output_type=ModelBuilderOutputType.ESTIMATOR_SPEC,
            **{name: given[name] for name in (*same, "report_feature_importances", "local_eval", "include_all_in_serving")},
        )
        super().__init__(model_fn, model_dir, config)
