"""The messages that sessions are configured with and report in."""

from __future__ import annotations

from everflow.api import public
from everflow.proto import config_pb2

ConfigProto = public("ConfigProto")(config_pb2.ConfigProto)
GPUOptions = public("GPUOptions")(config_pb2.GPUOptions)
GraphOptions = public("GraphOptions")(config_pb2.GraphOptions)
OptimizerOptions = public("OptimizerOptions")(config_pb2.OptimizerOptions)
RunOptions = public("RunOptions")(config_pb2.RunOptions)
RunMetadata = public("RunMetadata")(config_pb2.RunMetadata)
