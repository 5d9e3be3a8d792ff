"""What protobuf 4 and later refuse."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from everflow.years.shims import NOT_OURS, otherwise

_BOOLEANS = "True and False in lists of integers of messages"


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, (bool, np.bool_)) else value


def _list(error: Any, real: Any, message: Any, **fields: Any) -> Any:
    if not isinstance(fields.get("value"), (list, tuple, np.ndarray)):
        return NOT_OURS
    return real(message, **{**fields, "value": [_whole(value) for value in fields["value"]]})


def _extended(error: Any, real: Any, values: Any, added: Any) -> Any:
    return real(values, [_whole(value) for value in added]) if isinstance(added, (list, tuple, np.ndarray)) else NOT_OURS


def _appended(error: Any, real: Any, values: Any, value: Any) -> Any:
    return real(values, _whole(value)) if isinstance(value, (bool, np.bool_)) else NOT_OURS


def _set(error: Any, real: Any, values: Any, place: Any, value: Any) -> Any:
    return real(values, operator.index(place), _whole(value)) if isinstance(value, (bool, np.bool_)) else NOT_OURS


otherwise("everflow.proto.tensorflow.core.example.feature_pb2", "Int64List.__init__", "protobuf 4", _BOOLEANS)(_list)
for _name, _instead in (("append", _appended), ("extend", _extended), ("insert", _set), ("__setitem__", _set)):
    otherwise("google._upb._message", f"RepeatedScalarContainer.{_name}", "protobuf 4", _BOOLEANS)(_instead)
