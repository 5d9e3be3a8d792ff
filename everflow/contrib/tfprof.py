"""tf.contrib.tfprof: the profiler as it was called before tf.profiler."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.platform.deprecation import deprecated
from everflow.profiler import analyzer, op_log
from everflow.profiler.options import ProfileOptionBuilder


def _old(options: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """Options as they were before steps and occurrences were known."""
    old = {key: value for key, value in options.items() if key not in ("step", "min_occurrence")}
    return {**old, **changed, "dump_to_file": ""}


TRAINABLE_VARS_PARAMS_STAT_OPTIONS = _old(ProfileOptionBuilder.trainable_variables_parameter())
FLOAT_OPS_OPTIONS = _old(ProfileOptionBuilder.float_operation())
_TIMES = {k: v for k, v in ProfileOptionBuilder.time_and_memory().items() if not k.startswith("min_") or k.count("_") == 1 or "float" in k}
PRINT_ALL_TIMING_MEMORY = _old(_TIMES, order_by="name")
public("contrib.tfprof.model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS")(TRAINABLE_VARS_PARAMS_STAT_OPTIONS)
public("contrib.tfprof.model_analyzer.FLOAT_OPS_OPTIONS")(FLOAT_OPS_OPTIONS)
public("contrib.tfprof.model_analyzer.PRINT_ALL_TIMING_MEMORY")(PRINT_ALL_TIMING_MEMORY)


@public("contrib.tfprof.model_analyzer.print_model_analysis")
@deprecated(
    "2018-01-01",
    "Use `tf.profiler.profile(graph, run_meta, op_log, cmd, options)`. Build `options` with `tf.profiler.ProfileOptionBuilder`.",
)
def print_model_analysis(graph: Any, run_meta: Any = None, op_log: Any = None, tfprof_cmd: str = "scope", tfprof_options: Any = 0) -> Any:
    """Profiles a graph; see tf.profiler.profile."""
    return analyzer.profile(graph, run_meta, op_log, tfprof_cmd, tfprof_options)


@public("contrib.tfprof.model_analyzer.advise")
@deprecated("2018-01-01", "Use `tf.profiler.advise(graph, run_meta, options)`.")
def advise(graph: Any, run_meta: Any = None, tfprof_options: Any = 0) -> Any:
    """Says what could run better; see tf.profiler.advise."""
    return analyzer.advise(graph, run_meta, tfprof_options)


@public("contrib.tfprof.tfprof_logger.write_op_log")
@deprecated("2018-01-01", "Use `tf.profiler.write_op_log`. go/tfprof")
def write_op_log(graph: Any, log_dir: str, op_log: Any = None, run_meta: Any = None, add_trace: bool = True) -> None:
    """Writes the op log of a graph; see tf.profiler.write_op_log."""
    _write(graph, log_dir, op_log, run_meta, add_trace)


_write = op_log.write_op_log
