"""FakeSummaryWriter: keeps in memory what would be written to an event file, for tests."""

from __future__ import annotations

from typing import Any, ClassVar

import everflow as tf
from everflow.api import internal, public
from everflow.graph.graph import Graph
from everflow.summary import writer_cache


@public("contrib.testing.FakeSummaryWriter")
@internal("estimator.hooks.fake_summary_writer.FakeSummaryWriter")
class FakeSummaryWriter:
    """A summary writer that keeps summaries by step, and graphs and logs as lists."""

    _replaced_writer: ClassVar[Any] = None

    def __init__(self, logdir: Any, graph: Graph | None = None) -> None:
        self._logdir = logdir
        self._graph = graph
        self._summaries: dict[int, list[Any]] = {}
        self._added_graphs: list[Any] = []
        self._added_meta_graphs: list[Any] = []
        self._added_session_logs: list[Any] = []
        self._added_run_metadata: dict[str, Any] = {}

    @classmethod
    def install(cls) -> None:
        """Makes `tf.summary.FileWriterCache` give fake writers."""
        if cls._replaced_writer is not None:
            raise ValueError("FakeSummaryWriter already installed.")
        cls._replaced_writer = writer_cache.FileWriter
        writer_cache.FileWriter = cls  # type: ignore[assignment, misc]

    @classmethod
    def uninstall(cls) -> None:
        """Makes it give real ones again."""
        if cls._replaced_writer is None:
            raise ValueError("FakeSummaryWriter not installed.")
        writer_cache.FileWriter = cls._replaced_writer  # type: ignore[misc]
        cls._replaced_writer = None

    @property
    def summaries(self) -> dict[int, list[Any]]:
        return self._summaries

    def assert_summaries(
        self,
        test_case: Any,
        expected_logdir: Any = None,
        expected_graph: Any = None,
        expected_summaries: Any = None,
        expected_added_graphs: Any = None,
        expected_added_meta_graphs: Any = None,
        expected_session_logs: Any = None,
    ) -> None:
        """Checks what was written; `expected_summaries` is {step: {tag: value}}."""
        for step, expected in (expected_summaries or {}).items():
            test_case.assertIn(step, self._summaries, msg=f"Expected step {step} was not in steps {list(self._summaries)}.")
            actual = {value.tag: value.simple_value for summary in self._summaries[step] for value in summary.value}
            test_case.assertEqual(set(expected), set(actual))
            for tag, value in expected.items():
                test_case.assertAlmostEqual(value, actual[tag], places=5, msg=f"step {step}, tag {tag}")
        for wanted, kept in (
            (expected_logdir, self._logdir),
            (expected_added_graphs, self._added_graphs),
            (expected_added_meta_graphs, self._added_meta_graphs),
            (expected_session_logs, self._added_session_logs),
        ):
            if wanted is not None:
                test_case.assertEqual(wanted, kept)
        test_case.assertIn(expected_graph, (None, self._graph))

    def add_summary(self, summ: Any, current_global_step: Any) -> None:
        """Keeps a summary, as a message or as its bytes."""
        if isinstance(summ, bytes):
            summ = tf.Summary.FromString(summ)
        self._summaries.setdefault(current_global_step, []).append(summ)

    def add_graph(self, graph: Graph, global_step: Any = None, graph_def: Any = None) -> None:
        """Keeps a graph."""
        if global_step is not None and global_step < 0:
            raise ValueError(f"Invalid global_step {global_step}.")
        if graph_def is not None:
            raise ValueError(f"Unexpected graph_def {graph_def}.")
        self._added_graphs.append(graph)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Keeps a graph with what surrounds it."""
        if global_step is not None and global_step < 0:
            raise ValueError(f"Invalid global_step {global_step}.")
        self._added_meta_graphs.append(meta_graph_def)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Keeps a log."""
        self._added_session_logs.append(session_log)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Keeps what was recorded of one run."""
        if global_step is not None and global_step < 0:
            raise ValueError(f"Invalid global_step {global_step}.")
        self._added_run_metadata[tag] = run_metadata

    def flush(self) -> None:
        """There is nothing to write."""

    def reopen(self) -> None:
        """There is nothing to open."""

    def close(self) -> None:
        """There is nothing to close."""
