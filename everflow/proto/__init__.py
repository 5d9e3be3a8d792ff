"""The messages and services of TensorFlow's files and wires.

`sources/` holds the .proto text, `tensorflow/` and `tensorflow_serving/` the Python code made from it by tools/protos.py.
A module is imported by its bare name, and only when it is asked for:

    from everflow.proto import graph_pb2, prediction_service_pb2_grpc
"""

from __future__ import annotations

import importlib
import types

from everflow.proto.modules import MODULES


def __getattr__(name: str) -> types.ModuleType:
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{MODULES[name]}")
    globals()[name] = module
    return module


def __dir__() -> list[str]:
    return sorted({*globals(), *MODULES})
