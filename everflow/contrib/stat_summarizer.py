"""tf.contrib.stat_summarizer: tables of what ops took, from the traces of steps."""

from __future__ import annotations

import collections
from typing import Any

from everflow.api import public
from everflow.proto import graph_pb2, step_stats_pb2


@public("contrib.stat_summarizer.StatSummarizer")
class StatSummarizer:
    """Sums up the step stats of runs of a graph: ops in the order of their runs and by time and memory, and kinds of ops."""

    def __init__(self, *args: Any) -> None:
        self._types: dict[str, str] = {}
        if args and args[0]:
            graph = graph_pb2.GraphDef.FromString(args[0]) if isinstance(args[0], bytes) else args[0]
            self._types = {node.name: node.op for node in graph.node}
        self._runs = 0
        self._first: dict[str, int] = {}
        self._nodes: dict[str, collections.Counter[str]] = {}

    def ProcessStepStats(self, step_stats: Any) -> None:
        """Adds the stats of a step."""
        self._runs += 1
        began = min((n.all_start_micros for d in step_stats.dev_stats for n in d.node_stats), default=0)
        for device in step_stats.dev_stats:
            for stats in device.node_stats:
                self._first.setdefault(stats.node_name, stats.all_start_micros - began)
                counts = self._nodes.setdefault(stats.node_name, collections.Counter())
                counts["micros"] += stats.op_end_rel_micros
                counts["calls"] += 1
                counts["bytes"] += sum(memory.total_bytes for memory in stats.memory)

    def ProcessStepStatsStr(self, step_stats_str: bytes) -> None:
        """Adds the stats of a step, a serialized StepStats."""
        self.ProcessStepStats(step_stats_pb2.StepStats.FromString(step_stats_str))

    def _type(self, name: str) -> str:
        return self._types.get(name, "<>")

    def _table(self, title: str, names: list[str]) -> list[str]:
        whole = sum(c["micros"] for c in self._nodes.values()) or 1
        row = "{:>24}\t{:>9}\t{:>9}\t{:>9}\t{:>7}\t{:>7}\t{:>10}\t{:>9}\t{}"
        lines = [f"============================== {title} =============================="]
        lines.append(row.format("[node type]", "[start]", "[first]", "[avg ms]", "[%]", "[cdf%]", "[mem KB]", "[times called]", "[Name]"))
        passed = 0
        for name in names:
            counts = self._nodes[name]
            passed += counts["micros"]
            average = counts["micros"] / self._runs / 1000
            lines.append(
                row.format(
                    self._type(name),
                    f"{self._first[name] / 1000:.3f}",
                    f"{average:.3f}",
                    f"{average:.3f}",
                    f"{100 * counts['micros'] / whole:.3f}%",
                    f"{100 * passed / whole:.3f}%",
                    f"{counts['bytes'] / self._runs / 1000:.3f}",
                    counts["calls"] // self._runs,
                    name,
                )
            )
        return [*lines, ""]

    def GetOutputString(self) -> str:
        """The tables."""
        by = lambda key: sorted(self._nodes, key=lambda name: -self._nodes[name][key])
        lines = self._table("Run Order", sorted(self._nodes, key=lambda name: self._first[name]))
        lines += self._table("Top by Computation Time", by("micros")[:10])
        lines += self._table("Top by Memory Use", by("bytes")[:10])
        kinds: dict[str, collections.Counter[str]] = {}
        for name, counts in self._nodes.items():
            kind = kinds.setdefault(self._type(name), collections.Counter())
            kind.update(counts)
            kind["count"] += 1
        whole = sum(c["micros"] for c in kinds.values()) or 1
        row = "{:>24}\t{:>9}\t{:>10}\t{:>11}\t{:>12}\t{:>10}\t{:>10}"
        lines.append(f"Number of nodes executed: {len(self._nodes)}")
        lines.append("============================== Summary by node type ==============================")
        lines.append(row.format("[Node type]", "[count]", "[avg ms]", "[avg %]", "[cdf %]", "[mem KB]", "[times called]"))
        passed = 0
        for kind_name, counts in sorted(kinds.items(), key=lambda item: -item[1]["micros"]):
            passed += counts["micros"]
            lines.append(
                row.format(
                    kind_name,
                    counts["count"],
                    f"{counts['micros'] / max(1, self._runs) / 1000:.3f}",
                    f"{100 * counts['micros'] / whole:.3f}%",
                    f"{100 * passed / whole:.3f}%",
                    f"{counts['bytes'] / max(1, self._runs) / 1000:.3f}",
                    counts["calls"] // max(1, self._runs),
                )
            )
        total = sum(c["micros"] for c in self._nodes.values())
        used = sum(c["bytes"] for c in self._nodes.values())
        lines += ["", f"Timings (microseconds): count={self._runs} curr={total // max(1, self._runs)}"]
        lines.append(f"Memory (bytes): count={self._runs} curr={used // max(1, self._runs)}(all same)")
        lines += [f"{len(self._nodes)} nodes observed", ""]
        return "\n".join(lines)

    def PrintStepStats(self) -> None:
        """Prints the tables."""
        print(self.GetOutputString())


@public("contrib.stat_summarizer.NewStatSummarizer")
def NewStatSummarizer(unused: Any = b"") -> StatSummarizer:
    """A summarizer that knows no graph."""
    return StatSummarizer(unused)


@public("contrib.stat_summarizer.DeleteStatSummarizer")
def DeleteStatSummarizer(ss: StatSummarizer) -> None:
    """Forgets what a summarizer has seen."""
    ss._nodes.clear()
