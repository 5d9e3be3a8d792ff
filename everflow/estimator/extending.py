"""Estimators made from others: with more metrics, with features among the predictions, with clipped gradients."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.estimator.arguments import parameters_of
from everflow.estimator.estimator import Estimator
from everflow.estimator.export_outputs import PredictOutput
from everflow.estimator.heads.base import PREDICT_KEY
from everflow.estimator.mode_keys import ModeKeys
from everflow.graph.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from everflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from everflow.train.optimizer import Optimizer


@public("estimator.add_metrics", "contrib.estimator.add_metrics")
def add_metrics(estimator: Any, metric_fn: Any) -> Any:
    """An estimator like the given one, whose evaluations give more metrics."""
    taken = set(parameters_of(metric_fn))
    unknown = taken - {"features", "labels", "predictions", "config"}
    if unknown:
        raise ValueError(f"metric_fn ({metric_fn}) has following not expected args: {sorted(unknown)}")

    def new_model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        given = {"features": features, "labels": labels, "predictions": spec.predictions, "config": config}
        new = metric_fn(**{name: value for name, value in given.items() if name in taken}) or {}
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **new})

    return Estimator(
        model_fn=new_model_fn, model_dir=estimator.model_dir, config=estimator.config, warm_start_from=estimator._warm_start_settings
    )


@public("contrib.estimator.forward_features")
def forward_features(estimator: Any, keys: Any = None, sparse_default_values: Any = None) -> Any:
    """An estimator like the given one, whose predictions hold features too."""
    if keys is not None:
        if not isinstance(keys, (str, list, tuple)):
            raise TypeError(f"keys should be either a string or a list of strings. Given: {type(keys)}")
        keys = [keys] if isinstance(keys, str) else list(keys)
        for key in keys:
            if not isinstance(key, str):
                raise TypeError(f"All items in the given keys list should be a string. There exist an item with type: {type(key)}")

    def forwarded(features: Any) -> dict[str, Any]:
        if not isinstance(features, dict):
            raise ValueError(f"forward_features: Given features should be a dict of Tensors. Given: {features}")
        names = list(features) if keys is None else keys
        found = {}
        for name in names:
            if name not in features:
                raise ValueError(
                    f'keys should be exist in features. Key "{name}" is not in features dict. features dict has following keys: '
                    f"{features.keys()}. Please check arguments of forward_features."
                )
            feature = convert_to_tensor_or_sparse_tensor(features[name])
            if sparse_default_values and name in sparse_default_values:
                if not isinstance(feature, SparseTensor):
                    raise ValueError(f"Feature ({name}) is expected to be a `SparseTensor`.")
                feature = tf.sparse_tensor_to_dense(feature, default_value=sparse_default_values[name])
            if not isinstance(feature, tf.Tensor):
                raise ValueError(
                    f"Feature ({name}) should be a Tensor. Please use `keys` argument of forward_features to filter unwanted features, or"
                    f"add key to argument `sparse_default_values`.Type of features[{name}] is {type(feature)}."
                )
            found[name] = feature
        return found

    def new_model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
        spec = estimator.model_fn(features, labels, mode, config)
        predictions = spec.predictions
        if mode == ModeKeys.TRAIN and predictions is None:
            return spec
        if not isinstance(predictions, dict):
            raise ValueError(f"Predictions should be a dict to be able to forward features. Given: {type(predictions)}")
        added = forwarded(features)
        for name in added:
            if name in predictions:
                raise ValueError(
                    f"Cannot forward feature key ({name}). Since it does exist in predictions. Existing prediction keys: "
                    f"{predictions.keys()}. Please use the keys argument to specify which features to forward."
                )
        predictions.update(added)
        for key in (PREDICT_KEY, DEFAULT_SERVING_SIGNATURE_DEF_KEY):
            output = (spec.export_outputs or {}).get(key)
            if isinstance(output, PredictOutput):
                output.outputs.update(added)
        return spec._replace(predictions=predictions)

    return Estimator(model_fn=new_model_fn, model_dir=estimator.model_dir, config=estimator.config)


@public("estimator.experimental.call_logit_fn", "contrib.estimator.call_logit_fn")
def call_logit_fn(logit_fn: Any, features: Any, mode: Any, params: Any, config: Any) -> Any:
    """The logits that a function gives, called with what it takes."""
    taken = parameters_of(logit_fn)
    given = {name: value for name, value in (("mode", mode), ("params", params), ("config", config)) if name in taken}
    logits = logit_fn(features=features, **given)
    if not isinstance(logits, tf.Tensor) and not (
        isinstance(logits, dict) and all(isinstance(k, str) and isinstance(v, tf.Tensor) for k, v in logits.items())
    ):
        raise ValueError(f"logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  logit_fn returned: {logits}")
    return logits


class _ClippingOptimizer(Optimizer):
    """Changes gradients before another optimizer applies them."""

    def __init__(self, optimizer: Any, transform: Any, name: str) -> None:
        super().__init__(use_locking=False, name=name)
        self._optimizer, self._transform = optimizer, transform

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The gradients of the other optimizer."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """Applies the changed gradients."""
        return self._optimizer.apply_gradients(self._transform(list(grads_and_vars)), global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """The slot of the other optimizer."""
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The slots of the other optimizer."""
        return self._optimizer.get_slot_names(*args, **kwargs)


@public("contrib.estimator.clip_gradients_by_norm")
def clip_gradients_by_norm(optimizer: Any, clip_norm: Any) -> Any:
    """An optimizer whose gradients together have no greater norm."""

    def clipped(grads_and_vars: Any) -> Any:
        gradients, variables = zip(*grads_and_vars)
        return list(zip(tf.clip_by_global_norm(gradients, clip_norm)[0], variables))

    return _ClippingOptimizer(optimizer, clipped, "ClipByNorm" + optimizer.get_name())


@public("contrib.estimator.export_all_saved_models")
def export_all_saved_models(
    estimator: Any,
    export_dir_base: Any,
    input_receiver_fn_map: Any,
    assets_extra: Any = None,
    as_text: bool = False,
    checkpoint_path: Any = None,
) -> Any:
    """Writes a SavedModel with the graphs of several modes."""
    return estimator.experimental_export_all_saved_models(
        export_dir_base, input_receiver_fn_map, assets_extra=assets_extra, as_text=as_text, checkpoint_path=checkpoint_path
    )


@public("contrib.estimator.export_saved_model_for_mode")
def export_saved_model_for_mode(
    estimator: Any,
    export_dir_base: Any,
    input_receiver_fn: Any,
    assets_extra: Any = None,
    as_text: bool = False,
    checkpoint_path: Any = None,
    mode: str = ModeKeys.PREDICT,
) -> Any:
    """Writes a SavedModel with the graph of one mode."""
    return estimator.export_saved_model(
        export_dir_base,
        input_receiver_fn,
        assets_extra=assets_extra,
        as_text=as_text,
        checkpoint_path=checkpoint_path,
        experimental_mode=mode,
    )
