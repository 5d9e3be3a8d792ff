"""`tf.test.Benchmark`: timed methods that report what they measured."""

from __future__ import annotations

import numbers
import os
import re
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.graph import stacks
from everflow.platform import logging
from everflow.proto import config_pb2, rewriter_config_pb2, test_log_pb2
from everflow.runtime.timeline import Timeline

# Where reports go: a file for each benchmark, whose name begins with this variable's value.
REPORT_PREFIX = internal("platform.benchmark.TEST_REPORTER_TEST_ENV")("TEST_REPORT_FILE_PREFIX")
internal("platform.benchmark.OVERRIDE_GLOBAL_THREADPOOL")("TF_OVERRIDE_GLOBAL_THREADPOOL")

BENCHMARKS: set[type] = internal("platform.benchmark.GLOBAL_BENCHMARK_REGISTRY")(set())


def report(
    name: str,
    iters: int | None = None,
    cpu_time: float | None = None,
    wall_time: float | None = None,
    throughput: float | None = None,
    extras: dict[str, Any] | None = None,
    metrics: list[dict[str, Any]] | None = None,
) -> None:
    """Prints one measurement and, if the environment asks for it, writes it to a file of its own."""
    if extras is not None and not isinstance(extras, dict):
        raise TypeError("extras must be a dict")
    logging.info(
        "Benchmark [%s] iters: %d, wall_time: %g, cpu_time: %g,throughput: %g, extras: %s, metrics: %s",
        name,
        *(-1 if x is None else x for x in (iters, wall_time, cpu_time, throughput)),
        extras,
        metrics,
    )
    entries = test_log_pb2.BenchmarkEntries()
    entry = entries.entry.add(name=name)
    measured = {"iters": iters, "cpu_time": cpu_time, "wall_time": wall_time, "throughput": throughput}
    for field, value in measured.items():
        if value is not None:
            setattr(entry, field, value)
    for key, value in (extras or {}).items():
        if isinstance(value, numbers.Number):
            entry.extras[key].double_value = value
        else:
            entry.extras[key].string_value = str(value)
    for metric in metrics or ():
        added = entry.metrics.add(name=metric["name"], value=metric["value"])
        for bound in ("min_value", "max_value"):
            if metric.get(bound) is not None:
                getattr(added, bound).value = metric[bound]
    prefix = os.environ.get(REPORT_PREFIX)
    if prefix is None:
        print(entries)
        return
    path = prefix + name.replace("/", "__")
    if os.path.exists(path):
        raise OSError(f"File already exists: {path}")
    with open(path, "wb") as f:
        f.write(entries.SerializeToString())


@internal("platform.benchmark.Benchmark")
class Benchmark:
    """A class whose methods named `benchmark...` measure something; each subclass registers itself."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.is_abstract():
            BENCHMARKS.add(cls)

    @classmethod
    def is_abstract(cls) -> bool:
        """Whether the class has no benchmark of its own or inherited."""
        return not any(name.startswith("benchmark") for name in dir(cls))

    def _get_name(self, overwrite_name: str | None = None) -> str:
        """The class and the benchmark method that is running."""
        if overwrite_name is not None:
            if "." in overwrite_name:
                raise ValueError("name must not contain a dot")
            return f"{type(self).__name__}.{overwrite_name}"
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_locals.get("self") is self and frame.f_code.co_name.startswith("benchmark"):
                return f"{type(self).__name__}.{frame.f_code.co_name}"
            frame = frame.f_back
        raise ValueError("Unable to determine calling Benchmark class.")

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: dict[str, Any] | None = None,
        name: str | None = None,
        metrics: list[dict[str, Any]] | None = None,
    ) -> None:
        """Reports a measurement under the name of the running benchmark, or another."""
        full = self._get_name(name)
        report(full, iters, cpu_time, wall_time, throughput, extras, metrics)


@public("test.Benchmark")
@internal("platform.test.Benchmark", "platform.googletest.Benchmark", "platform.benchmark.TensorFlowBenchmark")
class TensorFlowBenchmark(Benchmark):
    """Benchmarks of ops in sessions."""

    def __init__(self) -> None:
        super().__init__()
        stacks.reset_default_graph()

    def run_op_benchmark(
        self,
        sess: Any,
        op_or_tensor: Any,
        feed_dict: dict[Any, Any] | None = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: dict[str, Any] | None = None,
        mbs: float = 0,
    ) -> dict[str, Any]:
        """Runs an op many times, reports the median time, and returns what it reported."""
        target = op_or_tensor if not hasattr(op_or_tensor, "op") else op_or_tensor.op
        for _ in range(burn_iters):
            sess.run(target, feed_dict=feed_dict)
        times = np.empty(min_iters)
        for i in range(min_iters):
            start = time.perf_counter()
            sess.run(target, feed_dict=feed_dict)
            times[i] = time.perf_counter() - start
        extras = dict(extras or {})
        if store_trace or store_memory_usage:
            options = config_pb2.RunOptions(trace_level=config_pb2.RunOptions.FULL_TRACE)
            metadata = config_pb2.RunMetadata()
            sess.run(target, feed_dict=feed_dict, options=options, run_metadata=metadata)
            if store_trace:
                timeline = Timeline(metadata.step_stats)
                extras["full_trace_chrome_format"] = timeline.generate_chrome_trace_format()
            if store_memory_usage:
                extras.update(_peak_memory(metadata.step_stats))
        median = float(np.median(times))
        benchmark_values: dict[str, Any] = {
            "iters": min_iters,
            "wall_time": median,
            "extras": extras,
            "name": name,
            "throughput": mbs / median,
        }
        self.report_benchmark(**benchmark_values)
        return benchmark_values

    def evaluate(self, tensors: Any) -> Any:
        """The values of nested tensors, computed in the default session."""
        return stacks.get_default_session().run(tensors)


def _peak_memory(step_stats: Any) -> dict[str, int]:
    """The most memory that each allocator had given out at one moment of a traced step."""
    peaks: dict[str, int] = {}
    for device in step_stats.dev_stats:
        for node in device.node_stats:
            for memory in node.memory:
                key = f"allocator_maximum_num_bytes_{memory.allocator_name}"
                peaks[key] = max(peaks.get(key, 0), memory.peak_bytes)
    return peaks


@public("test.benchmark_config")
def benchmark_config() -> Any:
    """A session configuration that keeps ops which only a benchmark needs."""
    config = config_pb2.ConfigProto()
    config.graph_options.rewrite_options.dependency_optimization = rewriter_config_pb2.RewriterConfig.OFF
    return config


@internal("platform.benchmark._run_benchmarks")
def run_benchmarks(regex: str) -> None:
    """Runs the registered benchmarks whose `Class.method` matches; `all` runs all of them."""
    pattern = ".*" if regex == "all" else regex
    for benchmark in sorted(BENCHMARKS, key=lambda each: each.__name__):
        instance = None
        for name in dir(benchmark):
            method = getattr(benchmark, name)
            if name.startswith("benchmark") and callable(method) and re.search(pattern, f"{benchmark.__name__}.{name}"):
                instance = instance or benchmark()
                getattr(instance, name)()


@internal("platform.benchmark.benchmarks_main")
def benchmarks_main(true_main: Callable[[], Any], argv: list[str] | None = None) -> Any:
    """Runs benchmarks if the command line has `--benchmarks=<pattern>`, else `true_main`."""
    arguments = list(sys.argv if argv is None else argv)
    for argument in arguments:
        match = re.fullmatch(r"--?benchmarks=(.*)", argument)
        if match and match.group(1):
            return run_benchmarks(match.group(1))
    return true_main()
