"""The base of tests of the statistics of pipelines."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import errors
from everflow.api import internal
from everflow.data.options import Options
from everflow.data.stats_ops import StatsAggregator
from everflow.proto import summary_pb2
from everflow.test.dataset_case import DatasetTestBase
from everflow.test.modes import run_all_in_graph_and_eager_modes


@internal("data.experimental.kernel_tests.stats_dataset_test_base.StatsDatasetTestBase")
class StatsDatasetTestBase(DatasetTestBase):
    """Says what an aggregator has gathered. A handle is the serialized Summary that `getHandle` gives."""

    @classmethod
    def setUpClass(cls) -> None:
        """Runs each test in both modes."""
        super().setUpClass()
        run_all_in_graph_and_eager_modes(cls)

    def datasetExperimentalStats(self, dataset: Any, aggregator: Any, prefix: str = "", counter_prefix: str = "") -> Any:
        """The dataset with statistics that go to an aggregator."""
        options = Options()
        stats = options.experimental_stats
        stats.aggregator, stats.prefix, stats.counter_prefix, stats.latency_all_edges = aggregator, prefix, counter_prefix, False
        return dataset.with_options(options)

    def regexForNodeName(self, op_name: str, stats_type: str = "") -> str:
        """A pattern of the names of a kind of node, or of its statistics of a kind."""
        return rf"{op_name}/_\d+" + (f"::{stats_type}" if stats_type else "")

    def getHandle(self, aggregator: Any) -> Any:
        """The statistics so far."""
        return self.evaluate(aggregator.get_summary())

    def _statistic(self, handle: bytes, tag: str) -> Any:
        summary = summary_pb2.Summary.FromString(handle)
        for value in summary.value:
            if re.match(tag, value.tag):
                return value
        return self.fail(f"No statistic matches {tag!r} in {summary}")

    def assertStatisticsContains(self, handle: Any, tag: str, num_events: int = -1, offset: int = 0) -> None:
        """There is such a statistic."""
        self._statistic(handle, tag)

    def assertStatisticsHasCount(
        self, handle: Any, tag: str, count: float, num_events: int = -1, greater_than: bool = False, offset: int = 0
    ) -> None:
        """So many samples were taken, or at least so many."""
        found = self._statistic(handle, tag).histo.num
        (self.assertGreaterEqual if greater_than else self.assertEqual)(found, count)

    def assertStatisticsHasSum(self, handle: Any, tag: str, expected_value: float, num_events: int = -1, offset: int = 0) -> None:
        """The samples have this sum."""
        self.assertEqual(self._statistic(handle, tag).histo.sum, expected_value)

    def assertStatisticsHasScalarValue(self, handle: Any, tag: str, expected_value: float, num_events: int = -1, offset: int = 0) -> None:
        """This is the latest value."""
        self.assertEqual(self._statistic(handle, tag).simple_value, expected_value)

    def assertStatisticsHasRange(
        self, handle: Any, tag: str, min_value: float, max_value: float, num_events: int = -1, offset: int = 0
    ) -> None:
        """All samples are in a range."""
        histogram = self._statistic(handle, tag).histo
        self.assertGreaterEqual(histogram.min, min_value)
        self.assertLessEqual(histogram.max, max_value)

    def parallelCallsStats(
        self,
        dataset_fn: Callable[[], Any],
        dataset_names: Any,
        num_output: int,
        function_processing_time: bool = False,
        check_elements: bool = True,
    ) -> None:
        """Parallel calls tell how busy threads are, and how long functions take."""
        aggregator = StatsAggregator()
        following = self.getNext(self.datasetExperimentalStats(dataset_fn(), aggregator), requires_initialization=True)

        def check_times(least: int) -> None:
            if function_processing_time:
                self.assertStatisticsHasCount(self.getHandle(aggregator), r".*::execution_time$", least, greater_than=True)

        for i in range(num_output):
            element = self.evaluate(following())
            if check_elements:
                self.assertAllEqual(np.full(i, i), element)
            check_times(i + 1)
            for name in dataset_names:
                self.assertStatisticsContains(self.getHandle(aggregator), self.regexForNodeName(name, "thread_utilization"))
        with self.assertRaises(errors.OutOfRangeError):
            self.evaluate(following())
        check_times(num_output)
