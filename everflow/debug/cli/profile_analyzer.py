"""Looks at what the nodes of a traced run took: in a table, and beside the lines of the program that made them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from typing import Any

from everflow.api import internal
from everflow.debug import source_lines
from everflow.debug.cli import command_parser, ui_factory
from everflow.debug.cli.base_ui import BaseUI
from everflow.debug.cli.command_parser import Interval
from everflow.debug.cli.config import CLIConfig
from everflow.debug.cli.menus import MenuItem
from everflow.debug.cli.readable import TIME_UNITS, time_to_readable_str
from everflow.debug.cli.rich_text import INIT_SCROLL_POS_KEY, RichLine, RichTextLines, rich_text_lines_from_rich_line_list
from everflow.debug.profiling import AggregateProfile, ProfileDatum

BELOW = "debug.cli.profile_analyzer_cli."

# The columns of the table: the key to sort by, what stands above it, and how to sort.
COLUMNS: tuple[tuple[str, str, Callable[[ProfileDatum], Any]], ...] = (
    ("node", "Node", lambda datum: datum.node_exec_stats.node_name),
    ("op_type", "Op Type", lambda datum: datum.op_type),
    ("start_time", "Start Time (us)", lambda datum: datum.start_time),
    ("op_time", "Op Time", lambda datum: datum.op_time),
    ("exec_time", "Exec Time", lambda datum: datum.exec_time),
    ("line", "Filename:Lineno(function)", lambda datum: datum.file_line_func),
)
for _name, _key in (("OP_NAME", "node"), *((key.upper(), key) for key, _, _ in COLUMNS[1:])):
    internal(f"{BELOW}SORT_OPS_BY_{_name}")(_key)

_COST = "cyan"
_LINE_NUMBER = "yellow"
_BAR_LENGTH = 10

ScreenInfo = dict[str, Any] | None


@internal(BELOW + "ProfileDataTableView")
class ProfileDataTableView:
    """Executions of nodes as rows of a table."""

    def __init__(self, profile_datum_list: list[ProfileDatum], time_unit: str = "us") -> None:
        self._data, self._time_unit = profile_datum_list, time_unit

    def column_names(self) -> list[str]:
        return [f"{head} ({self._time_unit})" if key in ("op_time", "exec_time") else head for key, head, _ in COLUMNS]

    def column_sort_id(self, col: int) -> str:
        return COLUMNS[col][0]

    def row_count(self) -> int:
        return len(self._data)

    def column_count(self) -> int:
        return len(COLUMNS)

    def value(
        self,
        row: int,
        col: int,
        device_name_filter: str | None = None,
        node_name_filter: str | None = None,
        op_type_filter: str | None = None,
    ) -> RichLine:
        """What stands in a cell. In the last column it is a link to the line of the program, with the same filters."""
        datum, (key, _, value) = self._data[row], COLUMNS[col]
        if key in ("op_time", "exec_time"):
            return RichLine(time_to_readable_str(value(datum), force_time_unit=self._time_unit))
        if key != "line" or not datum.file_path:
            return RichLine(str(value(datum)))
        filters = _flags(device_name_filter, node_name_filter, op_type_filter)
        return RichLine(str(value(datum)), MenuItem(None, f"ps{filters} {datum.file_path} --init_line {datum.line_number}"))


def _flags(device_name_filter: str | None, node_name_filter: str | None, op_type_filter: str | None) -> str:
    given = (("device_name_filter", device_name_filter), ("node_name_filter", node_name_filter), ("op_type_filter", op_type_filter))
    return "".join(f" --{name} {value}" for name, value in given if value)


@internal(BELOW + "_list_profile_filter")
def _list_profile_filter(
    profile_datum: ProfileDatum,
    node_name_regex: re.Pattern[str] | None,
    file_path_regex: re.Pattern[str] | None,
    op_type_regex: re.Pattern[str] | None,
    op_time_interval: Interval | None,
    exec_time_interval: Interval | None,
    min_lineno: int = -1,
    max_lineno: int = -1,
) -> bool:
    """Whether an execution is wanted. Lines are those from the least up to, but not including, the greatest; 0 or less is no limit."""
    patterns = (
        (node_name_regex, profile_datum.node_exec_stats.node_name),
        (file_path_regex, profile_datum.file_path),
        (op_type_regex, profile_datum.op_type),
    )
    if any(pattern and not pattern.match(text or "") for pattern, text in patterns):
        return False
    intervals = ((op_time_interval, profile_datum.op_time), (exec_time_interval, profile_datum.exec_time))
    if any(interval and not interval.contains(time) for interval, time in intervals):
        return False
    line = profile_datum.line_number
    return not (0 < min_lineno and line < min_lineno or 0 < max_lineno <= line)


def _is_library(path: str) -> bool:
    try:
        return source_lines.guess_is_tensorflow_py_library(path)
    except ValueError:
        # No file of Python's.
        return False


def _regex(text: str) -> re.Pattern[str] | None:
    return re.compile(text) if text else None


def _parsers() -> dict[str, argparse.ArgumentParser]:
    profile = argparse.ArgumentParser(description="List nodes profile information.", usage=argparse.SUPPRESS)
    source = argparse.ArgumentParser(description="Print a Python source file with line-level profile information", usage=argparse.SUPPRESS)
    source.add_argument("source_file_path", help="Path to the source_file_path")
    for parser in (profile, source):
        parser.add_argument("-d", "--device_name_filter", default="", help="filter device name by regex.")
        parser.add_argument("-n", "--node_name_filter", default="", help="filter node name by regex.")
        parser.add_argument("-t", "--op_type_filter", default="", help="filter op type by regex.")
        parser.add_argument("--time_unit", default="us", choices=TIME_UNITS, help=f"Time unit ({' | '.join(TIME_UNITS)})")
    profile.add_argument(
        "-f",
        "--file_path_filter",
        default="",
        help="filter by file name at the top position of node's creation stack that does not belong to TensorFlow library.",
    )
    for bound, kind in (("min", "(Inclusive) lower"), ("max", "(Exclusive) upper")):
        profile.add_argument(
            f"--{bound}_lineno", type=int, default=-1, help=f"{kind} bound for 1-based line number in source file. If <= 0, has no effect."
        )
    units = "Supported units are s, ms and us (default). E.g. -e >100s, -e <100, -e [100us,1000ms]"
    profile.add_argument(
        "-e",
        "--execution_time",
        default="",
        help=f"Filter by execution time interval (includes compute plus pre- and post-processing time). {units}",
    )
    profile.add_argument("-o", "--op_time", default="", help=f"Filter by op time interval (only includes compute time). {units}")
    keys = " | ".join(key for key, _, _ in COLUMNS)
    profile.add_argument("-s", "--sort_by", default="start_time", help=f"the field to sort the data by: ({keys})")
    profile.add_argument("-r", "--reverse", action="store_true", help="sort the data in reverse (descending) order")
    source.add_argument("--cost_type", default="exec_time", choices=("exec_time", "op_time"), help="Type of cost to display")
    source.add_argument("--init_line", type=int, default=0, help="The 1-based line number to scroll to initially.")
    return {"list_profile": profile, "print_source": source}


@internal(BELOW + "ProfileAnalyzer")
class ProfileAnalyzer:
    """The commands that look at the RunMetadata of a run that was traced."""

    def __init__(self, graph: Any, run_metadata: Any) -> None:
        self._graph, self._run_metadata = graph, run_metadata
        self._arg_parsers = _parsers()

    def get_help(self, handler_name: str) -> str:
        return self._arg_parsers[handler_name].format_help()

    def _executions(self, device_name_filter: str = "") -> Iterator[tuple[int, str, list[ProfileDatum]]]:
        """The devices whose names match, with their numbers and what ran there."""
        ops = {op.name: op for op in self._graph.get_operations()}
        pattern = _regex(device_name_filter)
        for number, device in enumerate(self._run_metadata.step_stats.dev_stats, 1):
            if pattern is None or pattern.match(device.device):
                yield number, device.device, [self._datum(device.device, stats, ops.get(stats.node_name)) for stats in device.node_stats]

    def _datum(self, device: str, stats: Any, op: Any) -> ProfileDatum:
        """An execution with the innermost line outside the library that made the node."""
        if op is None:
            return ProfileDatum(device, stats, "", 0, "", "")
        calls = [call for call in reversed(op.traceback) if not _is_library(call[0])]
        file, line, function = calls[0][:3] if calls else ("", 0, "")
        return ProfileDatum(device, stats, file, line, function, op.type)

    def list_profile(self, args: list[str], screen_info: ScreenInfo = None) -> RichTextLines:
        """What ran on each device, and how long that took."""
        columns = (screen_info or {}).get("cols", 80)
        parsed = self._arg_parsers["list_profile"].parse_args(args)
        op_time = command_parser.parse_time_interval(parsed.op_time) if parsed.op_time else None
        exec_time = command_parser.parse_time_interval(parsed.execution_time) if parsed.execution_time else None
        names, paths, types = map(_regex, (parsed.node_name_filter, parsed.file_path_filter, parsed.op_type_filter))
        keys = {key: value for key, _, value in COLUMNS}
        if parsed.sort_by not in keys:
            raise ValueError(f"Unsupported key to sort nodes by: {parsed.sort_by}")
        output = RichTextLines([""])
        for number, device, data in self._executions(parsed.device_name_filter):
            wanted = [
                datum
                for datum in data
                if _list_profile_filter(datum, names, paths, types, op_time, exec_time, parsed.min_lineno, parsed.max_lineno)
            ]
            wanted.sort(key=keys[parsed.sort_by], reverse=parsed.reverse)
            total = len(self._run_metadata.step_stats.dev_stats)
            output.extend(RichTextLines(["-" * columns, f"Device {number} of {total}: {device}", ""]))
            output.extend(self._table(wanted, parsed))
        return output

    def _table(self, data: list[ProfileDatum], parsed: argparse.Namespace) -> RichTextLines:
        """The rows of a device, and what they come to."""
        view = ProfileDataTableView(data, time_unit=parsed.time_unit)
        filters = (parsed.device_name_filter, parsed.node_name_filter, parsed.op_type_filter)
        rows = [[view.value(row, column, *filters) for column in range(view.column_count())] for row in range(view.row_count())]
        sums = {
            "node": "Device Total",
            "op_time": time_to_readable_str(sum(datum.op_time for datum in data), force_time_unit=parsed.time_unit),
            "exec_time": time_to_readable_str(sum(datum.exec_time for datum in data), force_time_unit=parsed.time_unit),
        }
        total = [RichLine(sums.get(view.column_sort_id(column), "")) for column in range(view.column_count())]
        flags = self._filters_of(parsed)
        heads = []
        for column, head in enumerate(view.column_names()):
            key = view.column_sort_id(column)
            turn = " -r" if key == parsed.sort_by and not parsed.reverse else ""
            heads.append(RichLine(head, [MenuItem(None, f"list_profile{flags} -s {key}{turn}"), "bold"]))
        widths = [max(len(row[column]) for row in (heads, *rows, total)) for column in range(view.column_count())]

        def line(cells: list[RichLine]) -> RichLine:
            joined = RichLine()
            for cell, width in zip(cells, widths, strict=True):
                joined += cell + " " * (width - len(cell) + 2)
            return joined

        return rich_text_lines_from_rich_line_list([line(heads), *map(line, rows), "", line(total)])

    def _filters_of(self, parsed: argparse.Namespace) -> str:
        """The filters of a command, to be repeated by the links that sort what it shows."""
        flags = _flags(parsed.device_name_filter, parsed.node_name_filter, parsed.op_type_filter)
        if parsed.file_path_filter:
            flags += f" --file_path_filter {parsed.file_path_filter}"
        for name in ("min_lineno", "max_lineno"):
            if getattr(parsed, name) > 0:
                flags += f" --{name} {getattr(parsed, name)}"
        for name in ("execution_time", "op_time"):
            if getattr(parsed, name):
                flags += f" --{name} '{getattr(parsed, name)}'"
        return flags + (f" --time_unit {parsed.time_unit}" if parsed.time_unit != "us" else "")

    def print_source(self, args: list[str], screen_info: ScreenInfo = None) -> RichTextLines:
        """A file of the program; before each line what the nodes that it made took, and how many there were."""
        parsed = self._arg_parsers["print_source"].parse_args(args)
        data = [datum for _, _, found in self._executions(parsed.device_name_filter) for datum in found]
        costs = source_lines.annotate_source_against_profile(
            data, parsed.source_file_path, node_name_filter=parsed.node_name_filter, op_type_filter=parsed.op_type_filter
        )
        if not costs:
            return RichTextLines(
                [
                    f"The source file {parsed.source_file_path} does not contain any profile information for the previous Session run "
                    "under the following filters:",
                    f"  --device_name_filter: {parsed.device_name_filter}",
                    f"  --node_name_filter: {parsed.node_name_filter}",
                    f"  --op_type_filter: {parsed.op_type_filter}",
                ]
            )
        greatest = max(self._get_total_cost(cost, parsed.cost_type) for cost in costs.values())
        source, width = source_lines.load_source(parsed.source_file_path)
        # The columns: bar, time, how many nodes (and executions), number of the line, the line.
        output = rich_text_lines_from_rich_line_list(
            [
                RichLine(" " * 13 + parsed.cost_type.ljust(12) + "#nodes".ljust(10), _COST) + RichLine("lineno", _LINE_NUMBER),
                RichLine(" " * 25 + "(#execs)".ljust(10) + " " * (width - 1), _COST) + RichLine("source", "bold"),
            ]
        )
        if parsed.init_line:
            output.annotations[INIT_SCROLL_POS_KEY] = parsed.init_line + 1
        for number, text in enumerate(source, 1):
            start = self._cost_columns(parsed, number, costs[number], greatest) if number in costs else RichLine(" " * 35)
            output.append_rich_line(start + RichLine(f"L{number}", _LINE_NUMBER) + " " * (width - len(f"L{number}")) + text)
        return output

    def _cost_columns(self, parsed: argparse.Namespace, number: int, cost: AggregateProfile, greatest: float) -> RichLine:
        time = self._get_total_cost(cost, parsed.cost_type)
        flags = _flags(parsed.device_name_filter, parsed.node_name_filter, parsed.op_type_filter)
        path = re.escape(parsed.source_file_path) + "$"
        link = MenuItem(None, f"lp --file_path_filter {path} --min_lineno {number} --max_lineno {number + 1}{flags}")
        shown = time_to_readable_str(time, force_time_unit=parsed.time_unit)
        count = f"{cost.node_count}({cost.node_exec_count})"
        line = self._render_normalized_cost_bar(time, greatest, _BAR_LENGTH) + " " + RichLine(shown, _COST)
        line += " " * max(25 - len(line), 1)
        line += RichLine(count, [_COST, link])
        return line + " " * max(35 - len(line), 1)

    def _get_total_cost(self, aggregated_profile: AggregateProfile, cost_type: str) -> float:
        return aggregated_profile.total_exec_time if cost_type == "exec_time" else aggregated_profile.total_op_time

    def _render_normalized_cost_bar(self, cost: float, max_cost: float, length: int) -> RichLine:
        """A bar as long as a cost's share of the greatest; some of it is always seen."""
        filled = min(max(round(cost / max_cost * length) if max_cost else 0, 1), length)
        return RichLine("[", _COST) + RichLine("|" * filled + " " * (length - filled), ["bold", _COST]) + RichLine("]", _COST)


@internal(BELOW + "create_profiler_ui")
def create_profiler_ui(
    graph: Any, run_metadata: Any, ui_type: str = "curses", on_ui_exit: Callable[[], Any] | None = None, config: CLIConfig | None = None
) -> BaseUI:
    """A user interface with the commands that look at what a run took."""
    analyzer = ProfileAnalyzer(graph, run_metadata)
    ui = ui_factory.get_ui(ui_type, on_ui_exit=on_ui_exit, config=config or CLIConfig())
    for command, alias, handler in (("list_profile", "lp", analyzer.list_profile), ("print_source", "ps", analyzer.print_source)):
        ui.register_command_handler(command, handler, analyzer.get_help(command), prefix_aliases=[alias])
    return ui
