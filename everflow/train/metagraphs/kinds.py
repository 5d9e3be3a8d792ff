"""The collections whose items have protos of their own: variables, savers, queue runners, frames of control flow."""

from __future__ import annotations

from typing import Any

from everflow import api
from everflow.graph.collection_protos import register_proto_function
from everflow.graph.keys import GraphKeys
from everflow.ops.variables.variables import Variable
from everflow.proto import control_flow_pb2, queue_runner_pb2, saver_pb2, variable_pb2
from everflow.train.checkpoints.saver import Saver


def _variable_to_proto(variable: Any, export_scope: str | None = None) -> Any:
    return variable.to_proto(export_scope=export_scope)


def _variable_from_proto(proto: Any, import_scope: str | None = None) -> Any:
    return Variable.from_proto(proto, import_scope=import_scope)


for _key in (*GraphKeys._VARIABLE_COLLECTIONS, GraphKeys.TRAINABLE_RESOURCE_VARIABLES, GraphKeys.GLOBAL_STEP):
    register_proto_function(_key, variable_pb2.VariableDef, _variable_to_proto, _variable_from_proto)


def _saver_to_proto(saver: Any, export_scope: str | None = None) -> Any:
    return saver.to_proto(export_scope=export_scope)


def _saver_from_proto(proto: Any, import_scope: str | None = None) -> Any:
    return Saver.from_proto(proto, import_scope=import_scope)


register_proto_function(GraphKeys.SAVERS, saver_pb2.SaverDef, _saver_to_proto, _saver_from_proto)


def _runner_to_proto(runner: Any, export_scope: str | None = None) -> Any:
    return runner.to_proto(export_scope=export_scope)


def _runner_from_proto(proto: Any, import_scope: str | None = None) -> Any:
    return api.find("train.QueueRunner").from_proto(proto, import_scope=import_scope)


register_proto_function(GraphKeys.QUEUE_RUNNERS, queue_runner_pb2.QueueRunnerDef, _runner_to_proto, _runner_from_proto)


def _context_to_proto(context: Any, export_scope: str | None = None) -> Any:
    """Frames of imported graphs are kept as the protos they came as: running them needs nothing but their ops."""
    if hasattr(context, "to_proto"):
        return context.to_proto(export_scope=export_scope)
    return None if export_scope else context


def _context_from_proto(proto: Any, import_scope: str | None = None) -> Any:
    return None if import_scope else proto


register_proto_function(GraphKeys.COND_CONTEXT, control_flow_pb2.CondContextDef, _context_to_proto, _context_from_proto)
register_proto_function(GraphKeys.WHILE_CONTEXT, control_flow_pb2.WhileContextDef, _context_to_proto, _context_from_proto)
