"""tf.profiler's functions: profile, advise and Profiler."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import everflow as tf
from everflow import errors
from everflow.api import internal, public
from everflow.graph.stacks import get_default_graph
from everflow.profiler import advice, files, report
from everflow.profiler.model import Model
from everflow.profiler.op_log import merge_default_op_log
from everflow.profiler.options import Options, ProfileOptionBuilder
from everflow.profiler.views import VIEWS
from everflow.proto import tfprof_log_pb2, tfprof_output_pb2

public("profiler.AdviceProto")(tfprof_output_pb2.AdviceProto)
public("profiler.GraphNodeProto")(tfprof_output_pb2.GraphNodeProto)
public("profiler.MultiGraphNodeProto")(tfprof_output_pb2.MultiGraphNodeProto)

ALL_ADVICE: dict[str, Any] = {
    "ExpensiveOperationChecker": {},
    "AcceleratorUtilizationChecker": {},
    "JobChecker": {},
    "OperationChecker": {},
}
public("contrib.tfprof.model_analyzer.ALL_ADVICE")(ALL_ADVICE)
internal("profiler.model_analyzer.ALL_ADVICE")(ALL_ADVICE)


@contextlib.contextmanager
def _deep(model: Model) -> Iterator[None]:
    """Within the block, trees may be as deep as the model has ops."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 4 * len(model.nodes) + 1000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _model(graph: Any, op_log: Any = None, run_meta: Any = None) -> Model:
    """What is known of a graph's ops."""
    print("Parsing Inputs...", flush=True)
    model = Model()
    if graph is None and not tf.executing_eagerly():
        graph = get_default_graph()
    log = merge_default_op_log(graph, op_log, run_meta)
    if graph is not None:
        model.add_graph(graph.as_graph_def(add_shapes=True))
    model.add_op_log(log)
    return model


def show(model: Model, kind: str, options: dict[str, Any]) -> Any:
    """Writes a view where the options say, and returns it as a message."""
    if kind not in VIEWS:
        raise errors.InvalidArgumentError(None, None, f"unknown cmd: {kind}\n")
    wanted = Options.of(options)
    if kind == "code" and wanted.account_displayed_op_only:
        sys.stderr.write("Note: code view ignores account_displayed_op_only\n")
    if wanted.output not in ("stdout", "file", "timeline", "pprof", "none"):
        sys.stderr.write(f"Unknown output option: {wanted.output}\n")
        return to_message(kind)
    with _deep(model):
        root = VIEWS[kind](model, wanted).shown()
        if wanted.output == "stdout":
            print("\n=========================Options=============================", *wanted.lines(), sep="\n")
            print("\n==================Model Analysis Report======================")
            print(report.report(kind, root, model, wanted))
            print("======================End of Report==========================", flush=True)
        elif wanted.output == "file":
            with tf.gfile.Open(wanted.outfile, "w") as file:
                file.write(report.report(kind, root, model, wanted))
        elif wanted.output == "timeline":
            files.write_timeline(kind, root, model, wanted)
        elif wanted.output == "pprof":
            files.write_pprof(kind, root, wanted)
        return report.to_proto(kind, root, model, wanted)


def to_message(kind: str) -> Any:
    """An empty message of the kind that a view returns."""
    return tfprof_output_pb2.GraphNodeProto() if kind in ("scope", "graph") else tfprof_output_pb2.MultiGraphNodeProto()


@public("profiler.profile")
def profile(graph: Any = None, run_meta: Any = None, op_log: Any = None, cmd: str = "scope", options: Any = 0) -> Any:
    """Profiles a graph: `cmd` is the view (scope, graph, op or code), `options` what tf.profiler.ProfileOptionBuilder builds."""
    if options == 0:
        options = ProfileOptionBuilder.trainable_variables_parameter()
    model = _model(graph, op_log, run_meta)
    if run_meta is not None:
        model.add_step(0, run_meta)
    return show(model, cmd, options)


@public("profiler.advise")
def advise(graph: Any = None, run_meta: Any = None, options: Any = 0) -> Any:
    """Says what takes time in a graph and what could run better."""
    model = _model(graph, None, run_meta)
    if run_meta is not None:
        model.add_step(0, run_meta)
    with _deep(model):
        return advice.advise(model, ALL_ADVICE if options == 0 else options)


# The model of the Profiler that was made last: what TensorFlow, too, has one of.
_current: list[Model] = []


@public("profiler.Profiler", "contrib.tfprof.model_analyzer.Profiler")
class Profiler:
    """Profiles a graph over several steps: `add_step(step, run_meta)`, then any view, as often as wanted."""

    def __init__(self, graph: Any = None, op_log: Any = None) -> None:
        self._graph = graph if graph is not None or tf.executing_eagerly() else get_default_graph()
        self._model = _model(self._graph, op_log)
        self._steps: list[int] = []
        _current[:] = [self._model]

    @property
    def _known(self) -> Model:
        return self.__dict__.get("_model") or _current[0]

    def add_step(self, step: int, run_meta: Any) -> None:
        """Adds the statistics of a step."""
        model = self._known
        if self._graph is not None:
            log = merge_default_op_log(self._graph, None, run_meta)
            model.add_graph(self._graph.as_graph_def(add_shapes=True))
            model.add_op_log(log)
        model.add_step(step, run_meta)

    def profile_python(self, options: dict[str, Any]) -> Any:
        """The code view."""
        return show(self._known, "code", options)

    def profile_operations(self, options: dict[str, Any]) -> Any:
        """The op view."""
        return show(self._known, "op", options)

    def profile_name_scope(self, options: dict[str, Any]) -> Any:
        """The scope view."""
        return show(self._known, "scope", options)

    def profile_graph(self, options: dict[str, Any]) -> Any:
        """The graph view."""
        return show(self._known, "graph", options)

    def advise(self, options: dict[str, Any]) -> Any:
        """What the profile suggests."""
        with _deep(self._known):
            return advice.advise(self._known, options)

    def serialize_to_string(self) -> bytes:
        """The profile as a serialized ProfileProto."""
        return self._known.to_proto().SerializeToString()

    def _write_profile(self, filename: str) -> None:
        with tf.gfile.Open(filename, "wb") as file:
            file.write(self.serialize_to_string())


@internal("pywrap_tensorflow.ProfilerFromFile", "pywrap_tensorflow_internal.ProfilerFromFile")
def profiler_from_file(path: bytes) -> None:
    """Has the current profile be the one in a file."""
    with tf.gfile.Open(path.decode(), "rb") as file:
        _current[:] = [Model.from_proto(tfprof_log_pb2.ProfileProto.FromString(file.read()))]


@internal("pywrap_tensorflow.DeleteProfiler", "pywrap_tensorflow_internal.DeleteProfiler")
def delete_profiler() -> None:
    """Forgets the current profile."""
    _current.clear()


@internal("pywrap_tensorflow.PrintModelAnalysis", "pywrap_tensorflow_internal.PrintModelAnalysis")
def print_model_analysis(graph: bytes, run_meta: bytes, op_log: bytes, command: bytes, options: bytes) -> bytes:
    """A profile of serialized messages, as a serialized message."""
    from everflow.proto import config_pb2, graph_pb2, tfprof_options_pb2

    wanted = tfprof_options_pb2.OptionsProto.FromString(options)
    model = Model()
    print("Parsing Inputs...", flush=True)
    model.add_graph(graph_pb2.GraphDef.FromString(graph))
    model.add_op_log(tfprof_log_pb2.OpLogProto.FromString(op_log))
    if run_meta:
        model.add_step(0, config_pb2.RunMetadata.FromString(run_meta))
    given = {field.name: getattr(wanted, field.name) for field in wanted.DESCRIPTOR.fields}
    return show(model, command.decode(), given).SerializeToString()
