"""Series in numpy arrays: with a batch axis, a time axis and an axis of features, whatever was left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.contrib.timeseries.feature_keys import TrainEvalFeatures
from everflow.contrib.timeseries.publishing import published

TIMES, VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


def _unexpected(name: str, limit: str, meaning: str, lacking: str, shape: Any) -> ValueError:
    return ValueError(
        f"Got an unexpected number of dimensions for the '{name}' feature. Was expecting at most {limit} ({meaning}) "
        f"since '{TIMES}' does not have a {lacking} dimension, but got shape {shape}"
    )


@published("input_pipeline._canonicalize_numpy_data")
def canonical_arrays(data: dict[str, Any], require_single_batch: bool) -> dict[str, Any]:
    """Arrays whose shapes begin with the batch and the length of the series."""
    features = {key: np.array(value) for key, value in data.items()}
    if TIMES not in features or VALUES not in features:
        raise ValueError(f"{TIMES} and {VALUES} are required features.")
    shape = features[TIMES].shape
    for key, value in features.items():
        if value.shape[: len(shape)] != shape:
            raise ValueError(
                "All features must have their shapes prefixed by the shape of the times feature. Got shape "
                f"{value.shape} for feature '{key}', but shape {shape} for '{TIMES}'"
            )
    rank, values = len(shape), features[VALUES]
    if rank > 2:
        raise ValueError(
            "Got an unexpected number of dimensions for times. Was expecting at most two ([batch size, series length]), "
            f"but got shape {shape}."
        )
    if rank < 2:
        if values.ndim == rank:
            features[VALUES] = values[..., None]
        elif values.ndim > rank + 1:
            if rank:
                raise _unexpected(VALUES, "2 dimensions", "[series length, number of features]", "batch", values.shape)
            raise _unexpected(VALUES, "1 dimension", "[number of features]", "batch or time", values.shape)
        missing = (None,) * (2 - rank)
        features = {key: value[(*missing, ...)] for key, value in features.items()}
    if require_single_batch and features[TIMES].shape[0] != 1:
        raise ValueError("Got batch input, was expecting unbatched input.")
    return features
