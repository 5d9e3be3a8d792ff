"""How forests grow: TensorForestParams and descriptions of columns, as the native trees want them."""

from __future__ import annotations

import functools
import re
from typing import Any

from everflow import _native
from everflow.proto import tensor_forest_params_pb2

_PARAMETERS = {
    "linear": (2, ("slope", "y_intercept", "min_val", "max_val")),
    "exponential": (3, ("bias", "base", "multiplier", "depth_multiplier")),
    "threshold": (4, ("on_value", "off_value", "threshold")),
}


def _by_depth(param: Any) -> tuple[int, float, float, float, float]:
    kind = param.WhichOneof("ParamType")
    if kind is None:
        return 0, 0.0, 0.0, 0.0, 0.0
    if kind == "constant_value":
        return 1, param.constant_value, 0.0, 0.0, 0.0
    number, fields = _PARAMETERS[kind]
    values = [getattr(getattr(param, kind), field) for field in fields]
    a, b, c, d = (*values, 0.0)[:4]
    return number, a, b, c, d


@functools.lru_cache(maxsize=64)
def message_of(params: bytes) -> Any:
    """TensorForestParams."""
    return tensor_forest_params_pb2.TensorForestParams.FromString(params)


@functools.lru_cache(maxsize=64)
def settings_of(params: bytes) -> Any:
    """The settings of serialized TensorForestParams."""
    message = message_of(params)
    settings = _native.ForestSettings()
    settings.leaf_type, settings.stats_type = message.leaf_type, message.stats_type
    settings.pruning, settings.finish = message.pruning_type.type, message.finish_type.type
    settings.inequality, settings.max_nodes = message.inequality_test_type, message.max_nodes
    settings.outputs, settings.classes_to_track = message.num_outputs, message.num_classes_to_track
    settings.regression, settings.collate = message.is_regression, message.collate_examples
    settings.checkpoint_stats, settings.running = message.checkpoint_stats, message.use_running_stats_method
    settings.average_splits = message.initialize_average_splits
    settings.set_by_depth(
        _by_depth(message.pruning_type.prune_every_samples),
        _by_depth(message.finish_type.check_every_steps),
        _by_depth(message.num_splits_to_consider),
        _by_depth(message.split_after_samples),
        _by_depth(message.dominate_fraction),
        _by_depth(message.min_split_samples),
    )
    return settings


_SPEC = re.compile(r"dense_features_size: (\S+) dense: \[(.*?)\] sparse: \[(.*?)\]", re.DOTALL)
_COLUMN = re.compile(r"\{name: .*? original_type: (\d+) size: (-?\d+)\}", re.DOTALL)


@functools.lru_cache(maxsize=64)
def columns_of(spec: str) -> Any:
    """What a serialized TensorForestDataSpec says of columns."""
    found = _SPEC.match(spec)
    if found is None:
        return _native.ForestColumns(0, [], 1)
    kinds = [int(kind) for kind, size in _COLUMN.findall(found[2]) for _ in range(int(size))]
    sparse = _COLUMN.findall(found[3])
    return _native.ForestColumns(int(found[1]), kinds, int(sparse[0][0]) if sparse else 1)
