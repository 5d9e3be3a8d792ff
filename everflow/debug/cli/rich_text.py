"""Text with attributes (colours, bold, links), line by line: what the debugger's commands print."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from everflow.api import internal
from everflow.io.gfile import GFile

BELOW = "debug.cli.debugger_cli_common."

# Where annotations of a whole text say which of its lines a search found, and which line is shown first.
REGEX_MATCH_LINES_KEY = "regex_match_lines"
INIT_SCROLL_POS_KEY = "init_scroll_pos"
internal(BELOW + "REGEX_MATCH_LINES_KEY")(REGEX_MATCH_LINES_KEY)
internal(BELOW + "INIT_SCROLL_POS_KEY")(INIT_SCROLL_POS_KEY)

# From where to where in a line an attribute holds: a name, a link (MenuItem), or a list of these.
Segment = tuple[int, int, Any]


@internal(BELOW + "RichLine")
class RichLine:
    """One line, put together with `+` of pieces that have attributes."""

    def __init__(self, text: str = "", font_attr: Any = None) -> None:
        self.text = text
        self.font_attr_segs: list[Segment] = [(0, len(text), font_attr)] if font_attr else []

    def __add__(self, other: RichLine | str) -> RichLine:
        if not isinstance(other, (RichLine, str)):
            raise TypeError(f"{other!r} cannot be concatenated with a RichLine")
        piece = RichLine(other) if isinstance(other, str) else other
        joined, start = RichLine(self.text + piece.text), len(self.text)
        joined.font_attr_segs = self.font_attr_segs + [(a + start, b + start, kind) for a, b, kind in piece.font_attr_segs]
        return joined

    def __len__(self) -> int:
        return len(self.text)


def _moved(table: dict[Any, Any], by: int) -> dict[Any, Any]:
    """What is said of lines, when they stand lower by some lines; keys that are no line numbers stay."""
    return {key + by if isinstance(key, int) else key: value for key, value in table.items()}


@internal(BELOW + "RichTextLines")
class RichTextLines:
    """Lines of text, the attributes of their parts (`font_attr_segs`) and what is known of them (`annotations`), by line number.

    Annotations whose keys are no line numbers are about the text as a whole.
    """

    def __init__(
        self, lines: list[str] | str, font_attr_segs: dict[int, list[Segment]] | None = None, annotations: dict[Any, Any] | None = None
    ) -> None:
        if not isinstance(lines, (list, str)):
            raise ValueError(f"Unexpected type in lines: {type(lines)}")
        self._lines = [lines] if isinstance(lines, str) else lines
        self._font_attr_segs = font_attr_segs or {}
        self._annotations = annotations or {}

    @property
    def lines(self) -> list[str]:
        return self._lines

    @property
    def font_attr_segs(self) -> dict[int, list[Segment]]:
        return self._font_attr_segs

    @property
    def annotations(self) -> dict[Any, Any]:
        return self._annotations

    def num_lines(self) -> int:
        return len(self._lines)

    def slice(self, begin: int, end: int) -> RichTextLines:
        """The lines from `begin` up to `end`, with all that is said of them and of the whole."""
        if begin < 0 or end < 0:
            raise ValueError("Encountered negative index.")

        def kept(table: dict[Any, Any]) -> dict[Any, Any]:
            return _moved({k: v for k, v in table.items() if not isinstance(k, int) or begin <= k < end}, -begin)

        return RichTextLines(self._lines[begin:end], kept(self._font_attr_segs), kept(self._annotations))

    def extend(self, other: RichTextLines) -> None:
        """Puts another text below this one; of what both say of the whole, the other one's word holds."""
        below = len(self._lines)
        self._lines.extend(other.lines)
        self._font_attr_segs.update(_moved(other.font_attr_segs, below))
        self._annotations.update(_moved(other.annotations, below))

    def _extend_before(self, other: RichTextLines) -> None:
        above = other.num_lines()
        self._lines[:] = [*other.lines, *self._lines]
        self._font_attr_segs = {**_moved(self._font_attr_segs, above), **other.font_attr_segs}
        self._annotations = {**_moved(self._annotations, above), **other.annotations}

    def append(self, line: str, font_attr_segs: list[Segment] | None = None) -> None:
        self._lines.append(line)
        if font_attr_segs:
            self._font_attr_segs[len(self._lines) - 1] = font_attr_segs

    def append_rich_line(self, rich_line: RichLine) -> None:
        self.append(rich_line.text, rich_line.font_attr_segs)

    def prepend(self, line: list[str] | str, font_attr_segs: list[Segment] | None = None) -> None:
        """Puts a line (or a list of them; the attributes are the first one's) above this text."""
        self._extend_before(RichTextLines(line, {0: font_attr_segs} if font_attr_segs else None))

    def write_to_file(self, file_path: str) -> None:
        """Writes the bare text."""
        with GFile(file_path, "w") as file:
            for line in self._lines:
                file.write(line + "\n")


@internal(BELOW + "rich_text_lines_from_rich_line_list")
def rich_text_lines_from_rich_line_list(
    rich_text_list: Iterable[RichLine | str], annotations: dict[Any, Any] | None = None
) -> RichTextLines:
    """A text of lines with attributes, or without (plain strings)."""
    text = RichTextLines([], annotations=annotations)
    for line in rich_text_list:
        text.append_rich_line(RichLine(line) if isinstance(line, str) else line)
    return text


@internal(BELOW + "regex_find")
def regex_find(orig_screen_output: RichTextLines, regex: str, font_attr: Any) -> RichTextLines:
    """The text with an attribute on whatever a regular expression finds; the lines where it does are in the annotations."""
    try:
        pattern = re.compile(regex)
    except re.error:
        raise ValueError(f'Invalid regular expression: "{regex}"') from None
    segments = dict(orig_screen_output.font_attr_segs)
    found: list[int] = []
    for number, line in enumerate(orig_screen_output.lines):
        hits = [(hit.start(), hit.end(), font_attr) for hit in pattern.finditer(line)]
        if hits:
            found.append(number)
            segments[number] = sorted([*segments.get(number, ()), *hits], key=lambda segment: segment[0])
    annotations = {**orig_screen_output.annotations, REGEX_MATCH_LINES_KEY: found}
    return RichTextLines(orig_screen_output.lines, segments, annotations)


@internal(BELOW + "wrap_rich_text_lines")
def wrap_rich_text_lines(inp: RichTextLines, cols: int) -> tuple[RichTextLines, list[int]]:
    """The text with its lines cut at so many columns, and for each line of old the number of its first piece."""
    if not isinstance(inp, RichTextLines):
        raise ValueError("Invalid type of input screen_output")
    if not isinstance(cols, int):
        raise ValueError("Invalid type of input cols")
    wrapped = RichTextLines([], annotations={k: v for k, v in inp.annotations.items() if not isinstance(k, int)})
    first_pieces = []
    for number, line in enumerate(inp.lines):
        first_pieces.append(wrapped.num_lines())
        if number in inp.annotations:
            wrapped.annotations[wrapped.num_lines()] = inp.annotations[number]
        for start in range(0, max(len(line), 1), cols):
            piece = line[start : start + cols]
            cuts = [
                (max(begin - start, 0), min(end - start, cols), kind)
                for begin, end, kind in inp.font_attr_segs.get(number, ())
                if begin < start + cols and end > start
            ]
            wrapped.append(piece, cuts)
    return wrapped, first_pieces
