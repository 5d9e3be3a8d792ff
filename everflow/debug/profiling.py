"""What nodes took in a traced run, summed up where it is wanted."""

from __future__ import annotations

import collections
import os
from typing import Any

from everflow.api import internal


@internal("debug.lib.profiling.ProfileDatum")
class ProfileDatum:
    """One execution of a node, and the line of the program that created it. Times are in microseconds."""

    def __init__(self, device_name: str, node_exec_stats: Any, file_path: str, line_number: int, func_name: str, op_type: str) -> None:
        self.device_name = device_name
        self.node_exec_stats = node_exec_stats
        self.file_path = file_path
        self.line_number = line_number
        self.func_name = func_name
        self.file_line_func = f"{os.path.basename(file_path)}:{line_number}({func_name})" if file_path else ""
        self.op_type = op_type
        self.start_time = node_exec_stats.all_start_micros
        self.op_time = node_exec_stats.op_end_rel_micros - node_exec_stats.op_start_rel_micros

    @property
    def exec_time(self) -> int:
        """How long it took with all around the op itself."""
        return self.node_exec_stats.all_end_rel_micros


@internal("debug.lib.profiling.AggregateProfile")
class AggregateProfile:
    """The sum of several executions."""

    def __init__(self, profile_datum: ProfileDatum) -> None:
        self.total_op_time = 0
        self.total_exec_time = 0
        self._executions: collections.Counter[tuple[str, str]] = collections.Counter()
        self.add(profile_datum)

    def add(self, profile_datum: ProfileDatum) -> None:
        """Counts one more execution."""
        self.total_op_time += profile_datum.op_time
        self.total_exec_time += profile_datum.exec_time
        self._executions[profile_datum.device_name, profile_datum.node_exec_stats.node_name] += 1

    @property
    def node_count(self) -> int:
        """How many nodes there were."""
        return len(self._executions)

    @property
    def node_exec_count(self) -> int:
        """How often they ran."""
        return sum(self._executions.values())
