"""Checks of the features that heads are given."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from everflow.contrib.timeseries.feature_keys import PredictionFeatures, State, TrainEvalFeatures

TIMES, VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


def _needs(features: dict[str, Any], names: Collection[str], purpose: str) -> None:
    for name in names:
        if name not in features:
            raise ValueError(f"Expected a '{name}' feature for {purpose}.")


def _times_of(features: dict[str, Any]) -> Any:
    times = features[TIMES]
    if not times.get_shape().is_compatible_with([None, None]):
        raise ValueError(f"Expected shape (batch dimension, window size) for feature '{TIMES}' (got shape {times.get_shape()})")
    return times


def _same_windows(features: dict[str, Any], times: Any, ignore: Collection[str]) -> None:
    """All features but some must begin with the batch and the length of the times."""
    for name, value in features.items():
        shape = None if name in ignore else value.get_shape()
        if shape is None or shape.ndims is None:
            continue
        if shape.ndims < 2:
            raise ValueError(f"Features must have shape (batch dimension, window size, ...) (got rank {shape.ndims} for feature '{name}')")
        if not shape[:2].is_compatible_with(times.get_shape()):
            raise ValueError(
                "Features must have shape (batch dimension, window size, ...) where batch dimension and window size match the "
                f"'{TIMES}' feature (got shape {shape} for feature '{name}' but shape {times.get_shape()} for feature '{TIMES}')"
            )


def check_train_eval_features(features: dict[str, Any], num_features: int) -> None:
    """What training and evaluation need: times and as many values for each as the model has features."""
    _needs(features, (TIMES, VALUES), "training/evaluation")
    times = _times_of(features)
    if not features[VALUES].get_shape().is_compatible_with([None, None, num_features]):
        raise ValueError(
            f"Expected shape (batch dimension, window size, {num_features}) for feature '{VALUES}', since the model was configured "
            f"with num_features={num_features} (got shape {times.get_shape()})"
        )
    _same_windows(features, times, {State.STATE_TUPLE})


def check_predict_features(features: dict[str, Any], also: Collection[str] = ()) -> None:
    """What prediction needs: times and a state; `also` names what has a length of its own."""
    _needs(features, (PredictionFeatures.TIMES, *also, PredictionFeatures.STATE_TUPLE), "prediction")
    _same_windows(features, _times_of(features), {PredictionFeatures.STATE_TUPLE, *also})
