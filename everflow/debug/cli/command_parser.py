"""How commands are read: words with brackets and quotes, tensors with slices, ranges, intervals of time and of memory."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import re
import sys
from collections.abc import Callable
from typing import Any

from everflow.api import internal

internal("debug.cli.command_parser")(sys.modules[__name__])

# What spaces do not cut: brackets, and words that are quoted from end to end.
_WORD = re.compile(r"""(?:\[[^\]]*\]|\S)+""")
_QUOTED = re.compile(r"""(?<!\S)("[^"]*"|'[^']*')(?!\S)""")
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_SLICING = re.compile(r"\[(\d|,|\s|:)+\]")

SIZES = {"k": 2**10, "M": 2**20, "G": 2**30}
# In microseconds. Longer names come first: "ms" ends as "s" does.
TIMES = {"us": 1, "ms": 10**3, "s": 10**6}


@dataclasses.dataclass(eq=False)
class Interval:
    """Numbers from start to end, with or without these two."""

    start: float
    start_included: bool
    end: float
    end_included: bool

    def contains(self, value: float) -> bool:
        if value == self.start and not self.start_included or value == self.end and not self.end_included:
            return False
        return self.start <= value <= self.end

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Interval) and dataclasses.astuple(self) == dataclasses.astuple(other)

    __hash__ = None  # type: ignore[assignment]


def parse_command(command: str) -> list[str]:
    """The words of a command. Spaces in brackets do not part words, nor those in quotes, which are taken off."""
    words: list[str] = []
    line, place = command.strip(), 0
    while place < len(line):
        if line[place].isspace():
            place += 1
            continue
        if quoted := _QUOTED.match(line, place):
            words.append(quoted.group()[1:-1])
            place = quoted.end()
            continue
        word = _WORD.match(line, place)
        assert word is not None, "something that is no space starts a word"
        words.append(word.group())
        place = word.end()
    return words


def _is_interval_flag(words: list[str]) -> bool:
    """Whether a `>` at the end belongs to a flag, as in `--execution_time >100ms` and `--execution_time=>100ms`."""
    last = words[-1]
    if last.startswith(">"):
        return len(words) > 1 and words[-2].startswith("-") and _NUMBER.match(last[1:].removeprefix("=")) is not None
    return last.startswith("-") and "=>" in last


def extract_output_file_path(args: list[str]) -> tuple[list[str], str | None]:
    """A command without `> path` at its end, and the path (None where there is none)."""
    if args and args[-1].endswith(">"):
        raise SyntaxError("Redirect file path is empty")
    if len(args) > 1 and args[-2].endswith(">") and args[-2] != ">>":
        before, path = args[-2][:-1], args[-1]
        return [*args[:-2], *([before] if before else [])], path
    if not args or args[-1].count(">") != 1 or _is_interval_flag(args):
        return args, None
    before, _, path = args[-1].partition(">")
    return [*args[:-1], *([before] if before else [])], path


def parse_tensor_name_with_slicing(in_str: str) -> tuple[str, str]:
    """The name of a tensor, and the slicing behind it ("" where there is none)."""
    if in_str.count("[") == 1 and in_str.endswith("]"):
        name, bracket, rest = in_str.partition("[")
        return name, bracket + rest
    return in_str, ""


def validate_slicing_string(slicing_string: str) -> bool:
    return _SLICING.search(slicing_string) is not None


def _parse_slices(slicing_string: str) -> tuple[int | slice, ...]:
    def one(text: str) -> int | slice:
        bounds = [int(bound) if bound.strip() else None for bound in text.split(":")]
        return slice(*bounds) if len(bounds) > 1 else int(text.strip())

    return tuple(one(text) for text in slicing_string[1:-1].split(","))


def evaluate_tensor_slice(tensor: Any, tensor_slicing: str) -> Any:
    """The part of an array that a string such as "[0, 1:3]" names."""
    if not validate_slicing_string(tensor_slicing):
        raise ValueError("Invalid tensor-slicing string.")
    return tensor[_parse_slices(tensor_slicing)]


def parse_indices(indices_string: str) -> list[int]:
    """The numbers in "1, 2" or "[1, 2]"."""
    text = indices_string.strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return [int(number.strip()) for number in text.split(",")]


def parse_ranges(range_string: str) -> list[list[float]]:
    """The pairs in "[0, 1]" or "[[-inf, -1], [1, inf]]". The largest number stands for an infinite one."""
    text = range_string.strip()
    if not text:
        return []
    ranges = ast.literal_eval(text.replace("inf", repr(sys.float_info.max)))
    if isinstance(ranges, (list, tuple)) and ranges and not isinstance(ranges[0], (list, tuple)):
        ranges = [list(ranges)]
    if not isinstance(ranges, (list, tuple)) or not all(isinstance(pair, (list, tuple)) for pair in ranges):
        raise ValueError(f"Expected a range or a list of ranges, got {range_string!r}")
    for pair in ranges:
        if len(pair) != 2:
            raise ValueError("Incorrect number of elements in range")
        for ordinal, bound in zip(("1st", "2nd"), pair, strict=True):
            if not isinstance(bound, (int, float)):
                raise ValueError(f"Incorrect type in the {ordinal} element of range: {type(bound)}")
    return [list(pair) for pair in ranges]


def parse_readable_size_str(size_str: str) -> int:
    """The bytes that "2048", "1.5k" or "3MB" are."""
    text = size_str.strip().removesuffix("B")
    if text.isdigit():
        return int(text)
    if text[-1:] not in SIZES or not text:
        raise ValueError(f'Failed to parsed human-readable byte size str: "{text}"')
    return int(float(text[:-1]) * SIZES[text[-1]])


def parse_readable_time_str(time_str: str) -> int:
    """The microseconds that "100", "2us", "1.5ms" or "3s" are."""
    text = time_str.strip()
    unit = next((unit for unit in TIMES if text.endswith(unit)), "")
    value = float(text.removesuffix(unit))
    if value < 0:
        raise ValueError(f"Invalid time {value:g}. Time value must be positive.")
    return int(value * TIMES.get(unit, 1))


def _parse_interval(interval_str: str, read: Callable[[str], float]) -> Interval:
    text = interval_str.strip()

    def number(part: str, where: str) -> float:
        try:
            return read(part)
        except ValueError:
            raise ValueError(where) from None

    for sign in ("<=", "<", ">=", ">"):
        if text.startswith(sign):
            bound = number(text.removeprefix(sign).strip(), f"Invalid value string after {sign} in '{text}'")
            inclusive = sign.endswith("=")
            return Interval(0, False, bound, inclusive) if sign[0] == "<" else Interval(bound, inclusive, float("inf"), False)
    if not text or text[0] not in "[(" or text[-1] not in "])":
        raise ValueError(f"Invalid interval format: {text}. Valid formats are: [min, max], (min, max), <max, >min")
    parts = [part.strip() for part in text[1:-1].split(",")]
    if len(parts) != 2:
        raise ValueError(f"Incorrect interval format: {text}. Interval should specify two values: [min, max] or (min, max).")
    start, end = (
        number(part, f"Invalid {order} item in interval: '{part}'") for order, part in zip(("first", "second"), parts, strict=True)
    )
    return Interval(start, text[0] == "[", end, text[-1] == "]")


def parse_time_interval(interval_str: str) -> Interval:
    """The times in "[10us, 1ms]", "<1s" and the like."""
    interval = _parse_interval(interval_str, parse_readable_time_str)
    if interval.start > interval.end:
        raise ValueError(f"Invalid interval {interval_str}. Start must be before end of interval.")
    return interval


def parse_memory_interval(interval_str: str) -> Interval:
    """The sizes in "[1k, 2MB)", ">=1G" and the like."""
    interval = _parse_interval(interval_str, parse_readable_size_str)
    if interval.start > interval.end:
        raise ValueError(f"Invalid interval {interval_str}. Start of interval must be less than or equal to end of interval.")
    return interval


def get_print_tensor_argparser(description: str) -> argparse.ArgumentParser:
    """Reads the arguments of `print_tensor`, and of other commands that show a tensor."""
    parser = argparse.ArgumentParser(description=description, usage=argparse.SUPPRESS)
    parser.add_argument(
        "tensor_name",
        help="Name of the tensor, followed by any slicing indices, e.g., hidden1/Wx_plus_b/MatMul:0, hidden1/Wx_plus_b/MatMul:0[1, :]",
    )
    parser.add_argument(
        "-n",
        "--number",
        type=int,
        default=-1,
        help="0-based dump number for the specified tensor. Required for tensor with multiple dumps.",
    )
    parser.add_argument(
        "-r",
        "--ranges",
        default="",
        help='Numerical ranges to highlight tensor elements in. Examples: -r 0,1e-8, -r [-0.1,0.1], -r "[[-inf, -0.1], [0.1, inf]]"',
    )
    parser.add_argument(
        "-a", "--all", dest="print_all", action="store_true", help="Print the tensor in its entirety, i.e., do not use ellipses."
    )
    parser.add_argument(
        "-s",
        "--numeric_summary",
        action="store_true",
        help="Include summary for non-empty tensors of numeric (int*, float*, complex*) and Boolean types.",
    )
    parser.add_argument("-w", "--write_path", default="", help="Path of the numpy file to write the tensor data to, using numpy.save().")
    return parser
