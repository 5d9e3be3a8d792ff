"""Written by `make index`."""
from typing import Any

AdviceProto: Any
GraphNodeProto: Any
MultiGraphNodeProto: Any
OpLogProto: Any
from everflow.profiler.options import ProfileOptionBuilder as ProfileOptionBuilder
from everflow.profiler.analyzer import Profiler as Profiler
from everflow.profiler.analyzer import advise as advise
from everflow.profiler.analyzer import profile as profile
from everflow.profiler.op_log import write_op_log as write_op_log
