"""Screens that every part of the debugger shows: what a run is about, an error, a tensor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from everflow.api import internal
from everflow.debug.cli import command_parser, tensor_format
from everflow.debug.cli.menus import MAIN_MENU_KEY, Menu, MenuItem
from everflow.debug.cli.readable import BELOW, bytes_to_readable_str
from everflow.debug.cli.rich_text import RichLine, RichTextLines, rich_text_lines_from_rich_line_list
from everflow.debug.run_keys import get_flattened_names, get_graph_element_name
from everflow.io.gfile import GFile

# Arrays of more elements are shown with dots.
DEFAULT_NDARRAY_DISPLAY_THRESHOLD = 2000
internal(BELOW + "DEFAULT_NDARRAY_DISPLAY_THRESHOLD")(DEFAULT_NDARRAY_DISPLAY_THRESHOLD)

_BAR = "=" * 38
_ERROR_BAR = "-" * 38


@internal(BELOW + "parse_ranges_highlight")
def parse_ranges_highlight(ranges_string: str | None) -> tensor_format.HighlightOptions | None:
    """Highlights the elements that lie in one of some ranges, given as command_parser.parse_ranges reads them."""
    if not ranges_string:
        return None
    ranges = command_parser.parse_ranges(ranges_string)

    def lies_in_one(array: Any) -> Any:
        return np.logical_or.reduce([(array >= low) & (array <= high) for low, high in ranges])

    return tensor_format.HighlightOptions(lies_in_one, description=ranges_string)


@internal(BELOW + "format_tensor")
def format_tensor(
    tensor: Any,
    tensor_name: str,
    np_printoptions: dict[str, Any],
    print_all: bool = False,
    tensor_slicing: str | None = None,
    highlight_options: tensor_format.HighlightOptions | None = None,
    include_numeric_summary: bool = False,
    write_path: str | None = None,
) -> RichTextLines:
    """A tensor, or a slice of it, as commands show it; `write_path` also saves it as numpy does."""
    value = command_parser.evaluate_tensor_slice(tensor, tensor_slicing) if tensor_slicing else tensor
    message = None
    if write_path:
        with GFile(write_path, "wb") as file:
            array = np.asarray(value)
            np.save(file, array, allow_pickle=array.dtype == object)
            size = file.tell()
        line = RichLine("Saved value to: ") + RichLine(write_path, "bold") + f" ({bytes_to_readable_str(size, include_b=True)})"
        message = rich_text_lines_from_rich_line_list([line, ""])
    threshold = value.size if print_all and isinstance(value, np.ndarray) else DEFAULT_NDARRAY_DISPLAY_THRESHOLD
    return tensor_format.format_tensor(
        value,
        tensor_name + (tensor_slicing or ""),
        include_metadata=True,
        auxiliary_message=message,
        include_numeric_summary=include_numeric_summary,
        np_printoptions={**np_printoptions, "threshold": threshold},
        highlight_options=highlight_options,
    )


@internal(BELOW + "error")
def error(msg: str) -> RichTextLines:
    return rich_text_lines_from_rich_line_list([RichLine(f"ERROR: {msg}", "red")])


def _recommend_command(command: str, description: str, indent: int = 2, create_link: bool = False) -> RichTextLines:
    """A command and, below it, what it does."""
    font: Any = [MenuItem(None, command), "bold"] if create_link else "bold"
    return rich_text_lines_from_rich_line_list([RichLine(" " * indent) + RichLine(command, font) + ":", " " * (indent + 2) + description])


@internal(BELOW + "get_tfdbg_logo")
def get_tfdbg_logo() -> RichTextLines:
    """The letters, drawn with themselves."""
    rows = (
        "TTTTTT FFFF DDD  BBBB   GGG ",
        "  TT   F    D  D B   B G    ",
        "  TT   FFF  D  D BBBB  G  GG",
        "  TT   F    D  D B   B G   G",
        "  TT   F    DDD  BBBB   GGG ",
    )
    return RichTextLines(["", *rows, ""])


def _feed_line(key: Any) -> RichLine:
    name = get_graph_element_name(key)
    return RichLine("  ") + RichLine(name, MenuItem(None, f"pf '{name}'"))


@internal(BELOW + "get_run_start_intro")
def get_run_start_intro(
    run_call_count: int, fetches: Any, feed_dict: Any, tensor_filters: Iterable[str], is_callable_runner: bool = False
) -> RichTextLines:
    """What is shown before a run: what is fetched and fed, and the commands with which to go on."""
    lines: list[RichLine | str] = [_BAR]
    if is_callable_runner:
        lines.append("Running a runner returned by Session.make_callable()")
    else:
        feeds: list[RichLine | str] = [_feed_line(key) for key in feed_dict or ()]
        lines += [f"Session.run() call #{run_call_count}:", "", "Fetch(es):", *(f"  {name}" for name in get_flattened_names(fetches))]
        lines += ["", "Feed dict:", *(feeds or ["  (Empty)"])]
    lines += [_BAR, "", "Select one of the following commands to proceed ---->"]
    text = rich_text_lines_from_rich_line_list(lines)
    for command, description in (
        ("run", "Execute the run() call with debug tensor-watching"),
        ("run -n", "Execute the run() call without debug tensor-watching"),
        (
            "run -t <T>",
            "Execute run() calls (T - 1) times without debugging, then execute run() once more with debugging and drop back to the CLI",
        ),
        (
            "run -f <filter_name>",
            "Keep executing run() calls until a dumped tensor passes a given, registered filter (conditional breakpoint mode)",
        ),
    ):
        text.extend(_recommend_command(command, description, create_link="<" not in command))
    filters: list[RichLine | str] = [
        RichLine("        * ") + RichLine(name, MenuItem(None, f"run -f {name}")) for name in sorted(tensor_filters)
    ]
    closing: list[RichLine | str] = ["    Registered filter(s):", *(filters or ["        (None)"]), ""]
    closing += [RichLine("For more details, see ") + RichLine("help.", MenuItem("", "help")) + ".", ""]
    text.extend(rich_text_lines_from_rich_line_list(closing))
    menu = Menu()
    menu.append(MenuItem("run", "run"))
    menu.append(MenuItem("exit", "exit"))
    text.annotations[MAIN_MENU_KEY] = menu
    return text


@internal(BELOW + "get_run_short_description")
def get_run_short_description(run_call_count: int, fetches: Any, feed_dict: Any, is_callable_runner: bool = False) -> str:
    """A run in a few words: "run #1: 1 fetch (a:0); 2 feeds"."""
    if is_callable_runner:
        return "runner from make_callable()"
    names = get_flattened_names(fetches)
    fetched = f"{len(names)} fetch" + ("es" if len(names) > 1 else "")
    if len(names) == 1 and hasattr(fetches, "name") and not isinstance(fetches, (list, tuple, dict)):
        fetched += f" ({names[0]})"
    keys = list(feed_dict or ())
    fed = f"{len(keys)} feed" + ("" if len(keys) == 1 else "s")
    if len(keys) == 1:
        fed += f" ({get_graph_element_name(keys[0])})"
    return f"run #{run_call_count}: {fetched}; {fed}"


@internal(BELOW + "get_error_intro")
def get_error_intro(tf_error: Any) -> RichTextLines:
    """What is shown after a run that failed: with which commands to look for the reason, and the error."""
    op = getattr(tf_error, "op", None)
    text = rich_text_lines_from_rich_line_list([_ERROR_BAR, RichLine("!!! An error occurred during the run !!!", "blink"), ""])
    if op is None:
        text.append("WARNING: Cannot determine the name of the op that caused the error.")
    else:
        text.append("You may use the following commands to debug:")
        for command, description in (
            (f"ni -a -d -t {op.name}", "Inspect information about the failing op."),
            (f"li -r {op.name}", "List inputs to the failing op, recursively."),
            ("lt", "List all tensors dumped during the failing run() call."),
        ):
            text.extend(_recommend_command(command, description, create_link=True))
    name = op.name if op is not None else None
    details = str(tf_error)
    text.extend(RichTextLines(["", f"Op name:    {name}", f"Error type: {type(tf_error)}", "", "Details:", *details.split("\n")]))
    text.extend(RichTextLines(["", _ERROR_BAR, ""]))
    return text
