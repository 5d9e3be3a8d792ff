"""Looks at the dump of a run: its tensors, the graph around them, and the lines of the program that made them."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from everflow.api import internal
from everflow.debug import source_lines
from everflow.debug.cli import command_parser, screens, ui_factory
from everflow.debug.cli.base_ui import BaseUI
from everflow.debug.cli.config import CLIConfig
from everflow.debug.cli.evaluator import ExpressionEvaluator
from everflow.debug.cli.menus import MAIN_MENU_KEY, Menu, MenuItem
from everflow.debug.cli.readable import bytes_to_readable_str, numpy_printoptions_from_screen_info
from everflow.debug.cli.rich_text import INIT_SCROLL_POS_KEY, RichLine, RichTextLines, rich_text_lines_from_rich_line_list
from everflow.debug.dump import DebugDumpDir
from everflow.debug.dump_files import DebugTensorDatum
from everflow.debug.node_names import get_node_name, parse_node_or_tensor_name

BELOW = "debug.cli.analyzer_cli."

SORT_KEYS = ("timestamp", "dump_size", "op_type", "tensor_name")
for _key in SORT_KEYS:
    internal(f"{BELOW}SORT_TENSORS_BY_{_key.upper()}")(_key)

# What trees of inputs are drawn with.
_TWIG, _BRANCH, _NO_BRANCH = "|- ", "|  ", "   "
# How many more ops or tensors of a line a click shows.
_MORE = 5

ScreenInfo = dict[str, Any] | None


@internal(BELOW + "_add_main_menu")
def _add_main_menu(
    output: RichTextLines,
    node_name: str | None = None,
    enable_list_tensors: bool = True,
    enable_node_info: bool = True,
    enable_print_tensor: bool = True,
    enable_list_inputs: bool = True,
    enable_list_outputs: bool = True,
) -> None:
    """Puts the menu above a text: the commands that go on from here, those about a node only where there is one."""
    menu = Menu()
    menu.append(MenuItem("list_tensors", "list_tensors", enabled=enable_list_tensors))
    for caption, flags, enabled in (
        ("node_info", "-a -d -t ", enable_node_info),
        ("print_tensor", "", enable_print_tensor),
        ("list_inputs", "-c -r ", enable_list_inputs),
        ("list_outputs", "-c -r ", enable_list_outputs),
    ):
        command = f"{caption} {flags}{node_name}" if node_name else None
        menu.append(MenuItem(caption, command, enabled=bool(node_name) and enabled))
    menu.append(MenuItem("run_info", "run_info"))
    menu.append(MenuItem("help", "help"))
    output.annotations[MAIN_MENU_KEY] = menu


def _parser(description: str, **options: Any) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(description=description, usage=argparse.SUPPRESS, **options)


def _flag(parser: argparse.ArgumentParser, short: str, name: str, help: str) -> None:
    parser.add_argument(short, f"--{name}", action="store_true", help=help)


def _parsers(depth: int) -> dict[str, argparse.ArgumentParser]:
    """What reads the arguments of each command."""
    tensors = _parser("List dumped intermediate tensors.")
    tensors.add_argument("-f", "--tensor_filter", default="", help="List only Tensors passing the filter of the specified name")
    tensors.add_argument(
        "-fenn",
        "--filter_exclude_node_names",
        default="",
        help="When applying the tensor filter, exclude node with names matching the regular expression. "
        "Applicable only if --tensor_filter or -f is used.",
    )
    tensors.add_argument("-n", "--node_name_filter", default="", help="filter node name by regex.")
    tensors.add_argument("-t", "--op_type_filter", default="", help="filter op type by regex.")
    tensors.add_argument("-s", "--sort_by", default="timestamp", help=f"the field to sort the data by: ({' | '.join(SORT_KEYS)})")
    _flag(tensors, "-r", "reverse", "sort the data in reverse (descending) order")

    node = _parser("Show information about a node.")
    names = "e.g., hidden1/Wx_plus_b/MatMul, hidden1/Wx_plus_b/MatMul:0"
    node.add_argument("node_name", help=f"Name of the node or an associated tensor, {names}")
    _flag(node, "-a", "attributes", "Also list attributes of the node.")
    _flag(node, "-d", "dumps", "Also list dumps available from the node.")
    _flag(node, "-t", "traceback", "Also include the traceback of the node's creation (if available in Python).")

    neighbors = {}
    for side, summary, what in (
        ("input", "Show inputs to a node.", "inputs to"),
        ("output", "Show the nodes that receive the outputs of given node.", "recipients of"),
    ):
        parser = neighbors[f"list_{side}s"] = _parser(summary)
        parser.add_argument("node_name", help=f"Name of the node or an output tensor from the node, {names}")
        _flag(parser, "-c", "control", "Include control inputs.")
        parser.add_argument("-d", "--depth", type=int, default=depth, help=f"Maximum depth of recursion used when showing the {side} tree.")
        _flag(parser, "-r", "recursive", f"Show {what} the node recursively, i.e., the {side} tree.")
        _flag(parser, "-t", "op_type", f"Show op types of {what.split()[0].removesuffix('s')} nodes.")

    source = _parser(
        "Print a Python source file with overlaid debug information, including the nodes (ops) or Tensors created at the source lines."
    )
    source.add_argument("source_file_path", help="Path to the source file.")
    _flag(source, "-t", "tensors", "Label lines with dumped Tensors, instead of ops.")
    source.add_argument(
        "-m", "--max_elements_per_line", type=int, default=10, help="Maximum number of elements (ops or Tensors) to show per source line."
    )
    source.add_argument("-b", "--line_begin", type=int, default=1, help="Print source beginning at line number (1-based.)")

    sources = _parser("List source files responsible for constructing nodes and tensors present in the run().")
    sources.add_argument("-p", "--path_filter", default="", help="Regular expression filter for file path.")
    sources.add_argument("-n", "--node_name_filter", default="", help="Regular expression filter for node name.")

    expression = _parser(
        textwrap.dedent("""\
            Evaluate a Python expression over the dumped tensors, each named in backticks. numpy is np. With spaces, put it in quotes:
              eval np.argmax(`Softmax:0`)
              eval 'np.sum(`Softmax:0`, axis=1)'
              eval "np.matmul((`output/Identity:0`/`Softmax:0`).T, `Softmax:0`)"
            """),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    expression.add_argument(
        "expression",
        help="What to evaluate. A tensor is [<device>:]<node>:<output slot>[:<debug op>][[<number of the dump>]], such as "
        "hidden_0/MatMul:0, hidden_0/MatMul:0:DebugNumericSummary, RNN/tanh:0[3] or /job:worker/replica:0/task:0/cpu:0:hidden_0/MatMul:0.",
    )
    _flag(expression, "-a", "all", "Print the tensor in its entirety, i.e., do not use ellipses (may be slow for large results).")
    expression.add_argument(
        "-w", "--write_path", default="", help="Path of the numpy file to write the evaluation result to, using numpy.save()"
    )
    return {
        "list_tensors": tensors,
        "node_info": node,
        **neighbors,
        "print_tensor": command_parser.get_print_tensor_argparser("Print the value of a dumped tensor."),
        "print_source": source,
        "list_source": sources,
        "eval": expression,
    }


@internal(BELOW + "DebugAnalyzer")
class DebugAnalyzer:
    """The commands that look at a dump; each takes its arguments as words, and returns what to show."""

    _TIMESTAMP_COLUMN_HEAD = "t (ms)"
    _DUMP_SIZE_COLUMN_HEAD = "Size (B)"
    _OP_TYPE_COLUMN_HEAD = "Op type"
    _TENSOR_NAME_COLUMN_HEAD = "Tensor name"
    # Ops that only carry values between devices and to the caller; programs don't know them.
    _GRAPH_STRUCT_OP_TYPE_BLACKLIST = ("_Send", "_Recv", "_HostSend", "_HostRecv", "_Retval")

    def __init__(self, debug_dump: DebugDumpDir, config: CLIConfig) -> None:
        self._debug_dump = debug_dump
        self._evaluator = ExpressionEvaluator(debug_dump)
        self._tensor_filters: dict[str, Callable[[Any, Any], bool]] = {}
        self._build_argument_parsers(config)
        config.set_callback("graph_recursion_depth", self._build_argument_parsers)

    def _build_argument_parsers(self, config: CLIConfig) -> None:
        self._arg_parsers = _parsers(config.get("graph_recursion_depth"))

    def get_help(self, handler_name: str) -> str:
        return self._arg_parsers[handler_name].format_help()

    def add_tensor_filter(self, filter_name: str, filter_callable: Callable[[Any, Any], bool]) -> None:
        """Lets `list_tensors -f` know a filter: a function of a DebugTensorDatum and its array."""
        if not isinstance(filter_name, str):
            raise TypeError("Input argument filter_name is expected to be str, but is not.")
        if not filter_name:
            raise ValueError("Input argument filter_name cannot be empty.")
        if not callable(filter_callable):
            raise TypeError("Input argument filter_callable is expected to be callable, but is not.")
        self._tensor_filters[filter_name] = filter_callable

    def get_tensor_filter(self, filter_name: str) -> Callable[[Any, Any], bool]:
        if filter_name not in self._tensor_filters:
            raise ValueError(f'There is no tensor filter named "{filter_name}"')
        return self._tensor_filters[filter_name]

    # Tensors.

    def list_tensors(self, args: list[str], screen_info: ScreenInfo = None) -> RichTextLines:
        """The tensors that were dumped, or those that pass filters, in a table."""
        parsed = self._arg_parsers["list_tensors"].parse_args(args)
        if parsed.filter_exclude_node_names and not parsed.tensor_filter:
            raise ValueError("The flag --filter_exclude_node_names is valid only when the flag -f or --tensor_filter is used.")
        data, passing = self._debug_dump.dumped_tensor_data, ""
        if parsed.tensor_filter:
            try:
                predicate = self.get_tensor_filter(parsed.tensor_filter)
            except ValueError:
                output = screens.error(f'There is no tensor filter named "{parsed.tensor_filter}".')
                _add_main_menu(output, enable_list_tensors=False)
                return output
            data = self._debug_dump.find(predicate, exclude_node_names=parsed.filter_exclude_node_names or None)
            passing = f' passing filter "{parsed.tensor_filter}"'
        widths = self._measure_tensor_list_column_widths(data)
        filters = [("Op type", parsed.op_type_filter, self._op_type), ("Node name", parsed.node_name_filter, lambda datum: datum.node_name)]
        shown = [
            datum
            for datum in self._sort_dump_data_by(data, parsed.sort_by, parsed.reverse)
            if all(not regex or re.match(regex, value(datum)) for _, regex, value in filters)
        ]
        lines: list[RichLine | str] = [f"{len(shown)} dumped tensor(s){passing}:"]
        lines += [f'{what} regex filter: "{regex}"' for what, regex, _ in filters if regex]
        lines += ["", self._tensor_list_column_heads(parsed, *widths), *(self._tensor_row(datum, widths) for datum in shown)]
        output = rich_text_lines_from_rich_line_list(lines)
        _add_main_menu(output, enable_list_tensors=False)
        return output

    def _op_type(self, datum: DebugTensorDatum) -> str:
        return self._debug_dump.node_op_type(datum.node_name, device_name=datum.device_name)

    def _time(self, datum: DebugTensorDatum) -> str:
        """How many milliseconds after the first dump one was made."""
        return f"{(datum.timestamp - (self._debug_dump.t0 or 0)) / 1000:.3f}"

    def _measure_tensor_list_column_widths(self, data: list[DebugTensorDatum]) -> tuple[int, int, int]:
        times = [f"[{self._time(datum)}] " for datum in data]
        sizes = [bytes_to_readable_str(datum.dump_size_bytes) for datum in data]
        types = [self._op_type(datum) for datum in data]
        heads = (self._TIMESTAMP_COLUMN_HEAD, self._DUMP_SIZE_COLUMN_HEAD, self._OP_TYPE_COLUMN_HEAD)
        time, size, kind = (max(map(len, [head, *cells])) + 1 for head, cells in zip(heads, (times, sizes, types), strict=True))
        return time, size, kind

    def _sort_dump_data_by(self, data: list[DebugTensorDatum], sort_by: str, reverse: bool) -> list[DebugTensorDatum]:
        keys: dict[str, Callable[[DebugTensorDatum], Any]] = {
            "timestamp": lambda datum: datum.timestamp,
            "dump_size": lambda datum: datum.dump_size_bytes or 0,
            "op_type": self._op_type,
            "tensor_name": lambda datum: datum.tensor_name,
        }
        if sort_by not in keys:
            raise ValueError(f"Unsupported key to sort tensors by: {sort_by}")
        return sorted(data, key=keys[sort_by], reverse=reverse)

    def _tensor_list_column_heads(
        self, parsed: argparse.Namespace, max_timestamp_width: int, max_dump_size_width: int, max_op_type_width: int
    ) -> RichLine:
        """The heads; a click at one sorts by it, and at the one that it is sorted by turns the order round."""
        flags = (
            ("-f", parsed.tensor_filter),
            ("-fenn", parsed.filter_exclude_node_names),
            ("-t", parsed.op_type_filter),
            ("-n", parsed.node_name_filter),
        )
        command = "".join(f" {flag} {value}" for flag, value in flags if value)
        line = RichLine()
        columns = (
            ("timestamp", self._TIMESTAMP_COLUMN_HEAD, max_timestamp_width),
            ("dump_size", self._DUMP_SIZE_COLUMN_HEAD, max_dump_size_width),
            ("op_type", self._OP_TYPE_COLUMN_HEAD, max_op_type_width),
            ("tensor_name", self._TENSOR_NAME_COLUMN_HEAD, 0),
        )
        for key, head, width in columns:
            turn = " -r" if key == parsed.sort_by and not parsed.reverse else ""
            line += RichLine(head, [MenuItem(None, f"list_tensors{command} -s {key}{turn}"), "bold"])
            line += " " * (width - len(head))
        return line

    def _tensor_row(self, datum: DebugTensorDatum, widths: tuple[int, int, int]) -> RichLine:
        cells = (f"[{self._time(datum)}]", bytes_to_readable_str(datum.dump_size_bytes), self._op_type(datum))
        start = "".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        return RichLine(start) + RichLine(datum.tensor_name, MenuItem(None, f"pt {datum.tensor_name}"))

    def print_tensor(self, args: list[str], screen_info: ScreenInfo = None) -> RichTextLines:
        """The value of a tensor, or of a part of it; where it was dumped several times, one of them or what there is."""
        parsed = self._arg_parsers["print_tensor"].parse_args(args)
        options = numpy_printoptions_from_screen_info(screen_info)
        highlight = screens.parse_ranges_highlight(parsed.ranges)
        tensor_name, slicing = command_parser.parse_tensor_name_with_slicing(parsed.tensor_name)
        node_name, slot = parse_node_or_tensor_name(tensor_name)
        if not self._debug_dump.node_exists(node_name):
            output = screens.error(f'Node "{node_name}" does not exist in partition graphs')
            _add_main_menu(output, enable_node_info=False, enable_print_tensor=False, enable_list_inputs=False, enable_list_outputs=False)
            return output
        data = self._dumps_of(node_name)
        if slot is None:
            slots = sorted({datum.output_slot for datum in data})
            if len(slots) > 1:
                names = ", ".join(f"{node_name}:{number}" for number in slots)
                output = screens.error(f'Node "{node_name}" generated dumps from {len(slots)} output slots. Say which one: {names}')
                _add_main_menu(output, node_name=node_name, enable_print_tensor=False)
                return output
            slot = slots[0] if slots else 0
            tensor_name = f"{node_name}:{slot}"
        data = [datum for datum in data if datum.output_slot == slot]
        if not data:
            return screens.error(f'Tensor "{tensor_name}" did not generate any dumps.')
        if len(data) == 1 and parsed.number > 0:
            output = screens.error(f"Invalid number ({parsed.number}) for tensor {tensor_name}, which generated one dump.")
        elif parsed.number >= len(data):
            output = screens.error(
                f"Specified number ({parsed.number}) exceeds the number of available dumps ({len(data)}) for tensor {tensor_name}"
            )
        elif len(data) > 1 and parsed.number < 0:
            output = self._choice_of_dumps(parsed.tensor_name, data)
        else:
            number = max(parsed.number, 0)
            output = screens.format_tensor(
                data[number].get_tensor(),
                data[number].watch_key + (f" (dump #{number})" if len(data) > 1 else ""),
                options,
                print_all=parsed.print_all,
                tensor_slicing=slicing,
                highlight_options=highlight,
                include_numeric_summary=parsed.numeric_summary,
                write_path=parsed.write_path,
            )
        _add_main_menu(output, node_name=node_name, enable_print_tensor=False)
        return output

    def _dumps_of(self, node_name: str) -> list[DebugTensorDatum]:
        keys = self._debug_dump.debug_watch_keys(node_name)
        return [datum for key in keys for datum in self._debug_dump.watch_key_to_data(key)]

    def _choice_of_dumps(self, name: str, data: list[DebugTensorDatum]) -> RichTextLines:
        lines: list[RichLine | str] = [f'Tensor "{name}" generated {len(data)} dumps:']
        for number, datum in enumerate(data):
            link = RichLine(datum.watch_key, MenuItem(None, f"print_tensor {name} -n {number}"))
            lines.append(RichLine(f"#{number} [{self._time(datum)} ms] ") + link)
        lines += ["", "You can use the -n (--number) flag to specify which dump to print.", "For example:", f"  print_tensor {name} -n 0"]
        return rich_text_lines_from_rich_line_list(lines)

    def evaluate_expression(self, args: list[str], screen_info: ScreenInfo = None) -> RichTextLines:
        """The value of an expression over dumped tensors."""
        parsed = self._arg_parsers["eval"].parse_args(args)
        value = self._evaluator.evaluate(parsed.expression)
        return screens.format_tensor(
            value,
            f"from eval of expression '{parsed.expression}'",
            numpy_printoptions_from_screen_info(screen_info),
            print_all=parsed.all,
            include_numeric_summary=isinstance(value, np.ndarray),
            write_path=parsed.write_path,
        )

    # The graph.

    def node_info(self, args: list[str], screen_info: ScreenInfo = None) -> RichTextLines:
        """What a node is, and what it is connected with."""
        parsed = self._arg_parsers["node_info"].parse_args(args)
        node_name = get_node_name(parsed.node_name)
        if not self._debug_dump.node_exists(node_name):
            output = self._no_such_node(node_name)
            _add_main_menu(output)
            return output
        dump = self._debug_dump
        head = [f"  Op: {dump.node_op_type(node_name)}", f"  Device: {dump.node_device(node_name)}", ""]
        output = rich_text_lines_from_rich_line_list([RichLine("Node ") + RichLine(node_name, "bold"), "", *head])
        for kind, neighbors in (("input", dump.node_inputs), ("recipient", dump.node_recipients)):
            plain, control = (self._exclude_blacklisted_ops(neighbors(node_name, is_control=c)) for c in (False, True))
            output.extend(self._format_neighbors(kind, plain, control))
        if parsed.attributes:
            output.extend(self._list_node_attributes(node_name))
        if parsed.dumps:
            output.extend(self._list_node_dumps(node_name))
        if parsed.traceback:
            output.extend(self._render_node_traceback(node_name))
        _add_main_menu(output, node_name=node_name, enable_node_info=False)
        return output

    def _no_such_node(self, node_name: str) -> RichTextLines:
        return screens.error(f'There is no node named "{node_name}" in the partition graphs')

    def _exclude_blacklisted_ops(self, node_names: list[str]) -> list[str]:
        return [n for n in node_names if self._debug_dump.node_op_type(get_node_name(n)) not in self._GRAPH_STRUCT_OP_TYPE_BLACKLIST]

    def _format_neighbors(self, neighbor_type: str, non_ctrls: list[str], ctrls: list[str]) -> RichTextLines:
        """The nodes on one side of a node; links lead on to them."""

        def group(what: str, names: list[str]) -> list[RichLine | str]:
            rows: list[RichLine | str] = [f"    {len(names)} {what}(s):"]
            for name in names:
                link = RichLine(name, MenuItem(None, f"ni -a -d -t {get_node_name(name)}"))
                rows.append(RichLine(f"      [{self._debug_dump.node_op_type(get_node_name(name))}] ") + link)
            return rows

        lines: list[RichLine | str] = [f"  {len(non_ctrls)} {neighbor_type}(s) + {len(ctrls)} control {neighbor_type}(s):"]
        lines += group(neighbor_type, non_ctrls)
        if ctrls:
            lines += ["", *group(f"control {neighbor_type}", ctrls)]
        return rich_text_lines_from_rich_line_list([*lines, ""] if neighbor_type == "input" else lines)

    def _list_node_attributes(self, node_name: str) -> RichTextLines:
        lines = ["", "Node attributes:"]
        for key, value in sorted(self._debug_dump.node_attributes(node_name).items()):
            lines += [f"  {key}:", "    " + " ".join(str(value).split("\n")).strip(), ""]
        return RichTextLines(lines)

    def _list_node_dumps(self, node_name: str) -> RichTextLines:
        data = self._dumps_of(node_name)
        lines: list[RichLine | str] = [f"{len(data)} dumped tensor(s):", ""]
        numbers: dict[int, int] = {}
        for datum in data:
            number = numbers[datum.output_slot] = numbers.get(datum.output_slot, -1) + 1
            text = f"Slot {datum.output_slot} @ {datum.debug_op} @ {self._time(datum)} ms"
            lines.append(RichLine("  ") + RichLine(text, MenuItem(None, f"pt {node_name}:{datum.output_slot} -n {number}")))
        return rich_text_lines_from_rich_line_list(lines)

    def _render_node_traceback(self, node_name: str) -> RichTextLines:
        lines: list[RichLine | str] = ["", "", RichLine("Traceback of node construction:", "bold")]
        try:
            calls = self._debug_dump.node_traceback(node_name)
        except LookupError as error:
            reason = "the node is not in the Python graph" if isinstance(error, KeyError) else "no Python graph has been loaded"
            return rich_text_lines_from_rich_line_list([*lines, f"(Unavailable because {reason})"])
        for depth, (file, line, function, text, *_) in enumerate(calls):
            link = RichLine(f"Line:     {line}", MenuItem(None, f"ps {file} -b {line}"))
            shown = f'"{text}"' if text is not None else None
            lines += [f"{depth}: {file}", RichLine("  ") + link, f"  Function: {function}", f"  Text:     {shown}", ""]
        return rich_text_lines_from_rich_line_list(lines)

    def list_inputs(self, args: list[str], screen_info: ScreenInfo = None) -> RichTextLines:
        """The nodes that a node gets its values from, as a tree."""
        parsed = self._arg_parsers["list_inputs"].parse_args(args)
        output = self._list_inputs_or_outputs(parsed.recursive, parsed.node_name, parsed.depth, parsed.control, parsed.op_type)
        _add_main_menu(output, node_name=get_node_name(parsed.node_name), enable_list_inputs=False)
        return output

    def list_outputs(self, args: list[str], screen_info: ScreenInfo = None) -> RichTextLines:
        """The nodes that get a node's values, as a tree."""
        parsed = self._arg_parsers["list_outputs"].parse_args(args)
        output = self._list_inputs_or_outputs(
            parsed.recursive, parsed.node_name, parsed.depth, parsed.control, parsed.op_type, do_outputs=True
        )
        _add_main_menu(output, node_name=get_node_name(parsed.node_name), enable_list_outputs=False)
        return output

    def _list_inputs_or_outputs(
        self, recursive: bool, node_name: str, depth: int, control: bool, op_type: bool, do_outputs: bool = False
    ) -> RichTextLines:
        node_name = get_node_name(node_name)
        if not self._debug_dump.node_exists(node_name):
            return self._no_such_node(node_name)
        depth = depth if recursive else 1
        what, neighbors = ("Recipients of", "recipients") if do_outputs else ("Inputs to", "inputs")
        limit = f" (Depth limit = {depth}" + (f", control {neighbors} included" if control else "") + "):"
        head = RichLine(f'{what} node "') + RichLine(node_name, "bold") + '"' + limit
        tree = list(self._tree(node_name, depth, control, op_type, do_outputs))
        legend = ["", "Legend:", "  (d): recursion depth = d."]
        if control:
            legend.append("  (Ctrl): Control input.")
        if op_type:
            legend.append("  [Op]: Input node has op type Op.")
        return rich_text_lines_from_rich_line_list([head, *(tree or ["  [None]"]), *legend])

    def _tree(
        self, node: str, depth: int, control: bool, op_type: bool, do_outputs: bool, level: int = 1, hang: str = ""
    ) -> Iterator[RichLine | str]:
        """The lines below a node: each neighbor, and what is below that, down to a depth."""
        neighbors = self._debug_dump.node_recipients if do_outputs else self._debug_dump.node_inputs
        found = [(name, "") for name in self._exclude_blacklisted_ops(neighbors(node))]
        if control:
            found += [(name, "(Ctrl) ") for name in self._exclude_blacklisted_ops(neighbors(node, is_control=True))]
        if level > depth:
            if found:
                yield f"{hang}{_TWIG}..."
            return
        command = "lo" if do_outputs else "li"
        for place, (name, kind) in enumerate(found):
            below = get_node_name(name)
            label = f"[{self._debug_dump.node_op_type(below)}] " if op_type else ""
            yield RichLine(f"{hang}{_TWIG}({level}) {kind}{label}") + RichLine(name, MenuItem(None, f"{command} -c -r {below}"))
            branch = _BRANCH if place + 1 < len(found) else _NO_BRANCH
            yield from self._tree(below, depth, control, op_type, do_outputs, level + 1, hang + branch)

    # The program.

    def print_source(self, args: list[str], screen_info: ScreenInfo = None) -> RichTextLines:
        """A file of the program; below each line the ops that it made, or their tensors."""
        parsed = self._arg_parsers["print_source"].parse_args(args)
        made = source_lines.annotate_source(self._debug_dump, parsed.source_file_path, do_dumped_tensors=parsed.tensors)
        source, width = source_lines.load_source(parsed.source_file_path)
        output = RichTextLines([])
        for number, line in enumerate(source, 1):
            if number == parsed.line_begin:
                output.annotations[INIT_SCROLL_POS_KEY] = output.num_lines()
            label = f"L{number}"
            output.append_rich_line(RichLine(label, "yellow") + " " * (width - len(label)) + line)
            elements = sorted(set(made.get(number, ())))
            for element in elements[: parsed.max_elements_per_line]:
                dumped = parsed.tensors or self._debug_dump.debug_watch_keys(element)
                output.append_rich_line(RichLine("    ") + RichLine(element, MenuItem(None, f"pt {element}") if dumped else "blue"))
            left = len(elements) - parsed.max_elements_per_line
            if left > 0:
                kind = "tensor" if parsed.tensors else "op"
                more = MenuItem(None, self._reconstruct_print_source_command(parsed, number, _MORE))
                omitted = RichLine(f"    (... Omitted {left} of {len(elements)} {kind}(s) ...) ")
                output.append_rich_line(omitted + RichLine(f"+{_MORE}", more))
        _add_main_menu(output)
        return output

    def _reconstruct_print_source_command(
        self, parsed: argparse.Namespace, line_begin: int, max_elements_per_line_increase: int = 0
    ) -> str:
        kind = "-t " if parsed.tensors else ""
        return f"ps {parsed.source_file_path} {kind}-b {line_begin} -m {parsed.max_elements_per_line + max_elements_per_line_increase}"

    def list_source(self, args: list[str], screen_info: ScreenInfo = None) -> RichTextLines:
        """The files in which the nodes of the run were made: those of the program, and those of the library."""
        parsed = self._arg_parsers["list_source"].parse_args(args)
        files = source_lines.list_source_files_against_dump(
            self._debug_dump, path_regex_whitelist=parsed.path_filter, node_name_regex_whitelist=parsed.node_name_filter
        )
        head: list[RichLine | str] = [RichLine("List of source files that created nodes in this run", "bold")]
        filters = (("File path", parsed.path_filter), ("Node name", parsed.node_name_filter))
        head += [f'{what} regex filter: "{regex}"' for what, regex in filters if regex]
        output = rich_text_lines_from_rich_line_list([*head, ""])
        if not files:
            output.append("[No source file information.]")
            return output
        output.extend(self._make_source_table([file for file in files if not file[1]], False))
        output.extend(self._make_source_table([file for file in files if file[1]], True))
        _add_main_menu(output)
        return output

    def _make_source_table(self, source_list: list[Any], is_tf_py_library: bool) -> RichTextLines:
        if not source_list:
            return RichTextLines([])
        color = "gray" if is_tf_py_library else "white"
        title = "TensorFlow Python library file(s):" if is_tf_py_library else "File(s) outside TensorFlow Python library:"
        heads = ("Source file path", "#(nodes)", "#(tensors)", "#(tensor dumps)")
        width = max(len(text) for text in (heads[0], *(file[0] for file in source_list))) + 1

        def numbers(nodes: Any, tensors: Any, dumps: Any) -> RichLine:
            cells = (str(nodes).ljust(len(heads[1]) + 1), str(tensors).ljust(len(heads[2]) + 1), str(dumps))
            return RichLine(cells[0], color) + RichLine(cells[1], color) + RichLine(cells[2], color)

        lines: list[RichLine | str] = [RichLine(title, color), RichLine(heads[0].ljust(width), color) + numbers(*heads[1:])]
        for path, _, nodes, tensors, dumps, first_line in source_list:
            look: list[Any] = [color]
            if source_lines.is_extension_uncompiled_python_source(path):
                look.append(MenuItem(None, f"ps {path} -b {first_line}"))
            lines.append(RichLine(path, look) + " " * (width - len(path)) + numbers(nodes, tensors, dumps))
        return rich_text_lines_from_rich_line_list([*lines, ""])


@internal(BELOW + "create_analyzer_ui")
def create_analyzer_ui(
    debug_dump: DebugDumpDir,
    tensor_filters: dict[str, Callable[[Any, Any], bool]] | None = None,
    ui_type: str = "curses",
    on_ui_exit: Callable[[], Any] | None = None,
    config: CLIConfig | None = None,
) -> BaseUI:
    """A user interface with the commands that look at a dump."""
    config = config or CLIConfig()
    analyzer = DebugAnalyzer(debug_dump, config=config)
    for name, predicate in (tensor_filters or {}).items():
        analyzer.add_tensor_filter(name, predicate)
    ui = ui_factory.get_ui(ui_type, on_ui_exit=on_ui_exit, config=config)
    for command, alias, handler in (
        ("list_tensors", "lt", analyzer.list_tensors),
        ("node_info", "ni", analyzer.node_info),
        ("list_inputs", "li", analyzer.list_inputs),
        ("list_outputs", "lo", analyzer.list_outputs),
        ("print_tensor", "pt", analyzer.print_tensor),
        ("print_source", "ps", analyzer.print_source),
        ("list_source", "ls", analyzer.list_source),
        ("eval", "ev", analyzer.evaluate_expression),
    ):
        ui.register_command_handler(command, handler, analyzer.get_help(command), prefix_aliases=[alias])
    dumped = list(dict.fromkeys(datum.tensor_name for datum in debug_dump.dumped_tensor_data))
    ui.register_tab_comp_context(["print_tensor", "pt"], dumped)
    if debug_dump.loaded_partition_graphs():
        nodes = sorted(set(debug_dump.nodes()))
        ui.register_tab_comp_context(["node_info", "ni", "list_inputs", "li", "list_outputs", "lo"], nodes)
    return ui
