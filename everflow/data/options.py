"""tf.data.Options: what may be asked of a pipeline as a whole."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from everflow.api import internal, public

AUTOTUNE = public("data.experimental.AUTOTUNE", "contrib.data.AUTOTUNE")(-1)
internal("data.ops.dataset_ops.AUTOTUNE")(AUTOTUNE)


@internal("data.util.options.OptionsBase")
class OptionsBase:
    """A set of options; only those that its class declares can be set."""

    def __init__(self) -> None:
        object.__setattr__(self, "_options", {})

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(self, name):
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self._declared() == other._declared()  # type: ignore[attr-defined]

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def _declared(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in dir(type(self)) if isinstance(getattr(type(self), name), _Option)}


class _Option(property):
    """An option of a declared type."""


@internal("data.util.options.create_option")
def create_option(name: str, ty: Any, docstring: str, default_factory: Callable[[], Any] = lambda: None) -> property:
    """Declares an option: `deterministic = create_option("deterministic", bool, "...")`."""

    def get(self: Any) -> Any:
        if name not in self._options:
            self._options[name] = default_factory()
        return self._options[name]

    def put(self: Any, value: Any) -> None:
        if not isinstance(value, ty):
            raise TypeError(f'Property "{name}" must be of type {ty}, got: {value!r} (type: {type(value)!r})')
        self._options[name] = value

    return _Option(get, put, None, docstring)


@internal("data.util.options.merge_options")
def merge_options(*options_list: Any) -> Any:
    """All options together; those that are set in two places must agree, nested options are merged."""
    if not options_list:
        raise ValueError("At least one options should be provided")
    kind = type(options_list[0])
    for options in options_list:
        if not isinstance(options, kind):
            raise TypeError(f"Incompatible options type: {type(options)} vs {kind}")
    if not isinstance(options_list[0], OptionsBase):
        raise TypeError("The inputs should inherit from `OptionsBase`")
    fresh = kind()
    result = kind()
    for options in options_list:
        for name, value in options._options.items():
            current, default = getattr(result, name), getattr(fresh, name)
            if isinstance(current, OptionsBase) and isinstance(value, OptionsBase):
                setattr(result, name, merge_options(current, value))
            elif value == default or value is None:
                continue
            elif current == default or current is None:
                setattr(result, name, value)
            elif current != value:
                raise ValueError(f"Cannot merge incompatible values ({current} and {value}) of option: {name}")
    return result


@internal("data.ops.dataset_ops.AutotuneAlgorithm")
class AutotuneAlgorithm(enum.Enum):
    """How TensorFlow searches for the best buffers and thread counts."""

    HILL_CLIMB = 0
    GRADIENT_DESCENT = 1


@public("data.experimental.DistributeOptions")
class DistributeOptions(OptionsBase):
    """How a dataset is spread over devices and workers."""

    auto_shard = create_option("auto_shard", bool, "Whether workers get shards of their own.", default_factory=lambda: True)
    _make_stateless = create_option("_make_stateless", bool, "Whether the dataset is made stateless.")
    num_devices = create_option("num_devices", int, "How many devices a global batch is for.")


@public("data.experimental.MapVectorizationOptions")
class MapVectorizationOptions(OptionsBase):
    """Whether a map before a batch is turned round."""

    enabled = create_option("enabled", bool, "Whether to turn maps and batches round.")
    use_choose_fastest = create_option("use_choose_fastest", bool, "Whether to measure which order is faster.")


_FUSIONS = (
    "filter_fusion",
    "filter_with_random_uniform_fusion",
    "hoist_random_uniform",
    "map_and_batch_fusion",
    "map_and_filter_fusion",
    "map_fusion",
    "map_parallelization",
    "noop_elimination",
    "parallel_batch",
    "shuffle_and_repeat_fusion",
)
_BY_DEFAULT = ("map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion")


@public("data.experimental.OptimizationOptions")
class OptimizationOptions(OptionsBase):
    """Which rewrites a pipeline may undergo. Streams need none of them; they are kept for the graphs that hold them."""

    apply_default_optimizations = create_option("apply_default_optimizations", bool, "Whether usual rewrites are applied.")
    autotune = create_option("autotune", bool, "Whether buffers and threads are tuned.")
    autotune_algorithm = create_option("autotune_algorithm", int, "How they are tuned: the number of an AutotuneAlgorithm.")
    autotune_buffers = create_option("autotune_buffers", bool, "Whether prefetch buffers are added and tuned.")
    autotune_cpu_budget = create_option("autotune_cpu_budget", int, "How many processors tuning may count on.")
    map_vectorization = create_option(
        "map_vectorization", MapVectorizationOptions, "Whether maps work on batches.", default_factory=MapVectorizationOptions
    )

    def _static_optimizations(self) -> list[str]:
        found = {name for name in _FUSIONS if getattr(self, name)}
        if self.map_vectorization.enabled:
            found.add("map_vectorization")
        if self.apply_default_optimizations is not False:
            found.update(name for name in _BY_DEFAULT if getattr(self, name) is not False)
        if self._autotune_settings()[0] and self.autotune_buffers:
            found.add("inject_prefetch")
        return sorted(found)

    def _static_optimization_configs(self) -> list[str]:
        chosen = "true" if self.map_vectorization.use_choose_fastest else "false"
        return [f"map_vectorization:use_choose_fastest:{chosen}"]

    def _autotune_settings(self) -> tuple[bool, int, int]:
        return (self.autotune is not False, self.autotune_algorithm or AutotuneAlgorithm.HILL_CLIMB.value, self.autotune_cpu_budget or 0)


for _name in _FUSIONS:
    setattr(OptimizationOptions, _name, create_option(_name, bool, f"Whether to apply {_name.replace('_', ' ')}."))


@public("data.experimental.StatsOptions")
class StatsOptions(OptionsBase):
    """Where statistics of a pipeline go."""

    aggregator = create_option("aggregator", object, "The StatsAggregator.")
    prefix = create_option("prefix", str, "What the names of statistics start with.", default_factory=lambda: "")
    counter_prefix = create_option("counter_prefix", str, "What the names of counters start with.", default_factory=lambda: "")
    latency_all_edges = create_option("latency_all_edges", bool, "Whether to time each transformation.")


@public("data.experimental.ThreadingOptions")
class ThreadingOptions(OptionsBase):
    """How many threads a pipeline may use."""

    max_intra_op_parallelism = create_option("max_intra_op_parallelism", int, "The threads of one op.")
    private_threadpool_size = create_option("private_threadpool_size", int, "The threads of the pipeline.")


@public("data.Options")
class Options(OptionsBase):
    """What may be asked of a pipeline as a whole; given to `dataset.with_options`."""

    experimental_deterministic = create_option("experimental_deterministic", bool, "Whether elements must come in order.")
    experimental_distribute = create_option(
        "experimental_distribute", DistributeOptions, "How it is spread.", default_factory=DistributeOptions
    )
    experimental_optimization = create_option(
        "experimental_optimization", OptimizationOptions, "Which rewrites are allowed.", default_factory=OptimizationOptions
    )
    experimental_slack = create_option("experimental_slack", bool, "Whether the last prefetch waits for the consumer.")
    experimental_stats = create_option("experimental_stats", StatsOptions, "Where statistics go.", default_factory=StatsOptions)
    experimental_threading = create_option(
        "experimental_threading", ThreadingOptions, "How many threads it may use.", default_factory=ThreadingOptions
    )
    experimental_stateful_whitelist = create_option(
        "experimental_stateful_whitelist", list, "Stateful ops that may be copied with the graph."
    )

    def _static_optimizations(self) -> list[str]:
        found = sorted(self.experimental_optimization._static_optimizations())
        stats = self.experimental_stats
        if stats.latency_all_edges and stats.aggregator is not None:
            found.append("latency_all_edges")
        if self.experimental_deterministic is False:
            found.append("make_sloppy")
        if self.experimental_slack:
            found.append("slack")
        if self.experimental_distribute._make_stateless:
            found.append("make_stateless")
        return found

    def _static_optimization_configs(self) -> list[str]:
        found = list(self.experimental_optimization._static_optimization_configs())
        if self.experimental_slack:
            devices = self.experimental_distribute.num_devices or 1
            found.append(f"slack:slack_period:{devices}")
        return found

    def merge(self, options: Any) -> Any:
        """These options and others together."""
        return merge_options(self, options)
