"""Uses exported models: predict, find a state, bring one up to date."""

from __future__ import annotations

from typing import Any

from everflow.contrib.timeseries.feature_keys import (
    FilteringFeatures,
    FilteringResults,
    PredictionFeatures,
    PredictionResults,
    SavedModelLabels,
)
from everflow.contrib.timeseries.heads import state_to_dictionary
from everflow.contrib.timeseries.prediction_times import times_to_predict
from everflow.contrib.timeseries.publishing import published
from everflow.contrib.timeseries.series_of_arrays import canonical_arrays


def _state_of(continue_from: dict[str, Any] | None) -> dict[str, Any]:
    if continue_from is None:
        return {}
    whole = continue_from.get(FilteringResults.STATE_TUPLE)
    return continue_from if whole is None else state_to_dictionary(whole)


def _run(
    label: str, signatures: Any, session: Any, features: dict[str, Any], continue_from: dict[str, Any] | None = None
) -> dict[str, Any]:
    signature = signatures.signature_def[label]
    element = session.graph.as_graph_element
    inputs = {key: element(info.name) for key, info in signature.inputs.items()}
    fetches = {key: element(info.name) for key, info in signature.outputs.items()}
    feeds = {inputs[key]: value for key, value in (*_state_of(continue_from).items(), *features.items())}
    return session.run(fetches, feed_dict=feeds)


@published("saved_model_utils.predict_continuation")
def predict_continuation(
    continue_from: dict[str, Any],
    signatures: Any,
    session: Any,
    steps: int | None = None,
    times: Any = None,
    exogenous_features: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Predictions that go on from a result of filtering."""
    when = times_to_predict(times=times, steps=steps, previous_model_output=continue_from)
    features = {PredictionFeatures.TIMES: when, **(exogenous_features or {})}
    output = _run(SavedModelLabels.PREDICT, signatures, session, features, continue_from)
    output[PredictionResults.TIMES] = features[PredictionFeatures.TIMES]
    return output


def _filtered(label: str, signatures: Any, session: Any, features: dict[str, Any], continue_from: Any = None) -> dict[str, Any]:
    arrays = canonical_arrays(features, require_single_batch=False)
    output = _run(label, signatures, session, arrays, continue_from)
    output[FilteringResults.TIMES] = arrays[FilteringFeatures.TIMES]
    return output


@published("saved_model_utils.cold_start_filter")
def cold_start_filter(signatures: Any, session: Any, features: dict[str, Any]) -> dict[str, Any]:
    """The state after values at the start of a series."""
    return _filtered(SavedModelLabels.COLD_START_FILTER, signatures, session, features)


@published("saved_model_utils.filter_continuation")
def filter_continuation(continue_from: dict[str, Any], signatures: Any, session: Any, features: dict[str, Any]) -> dict[str, Any]:
    """The state after more values."""
    return _filtered(SavedModelLabels.FILTER, signatures, session, features, continue_from)
