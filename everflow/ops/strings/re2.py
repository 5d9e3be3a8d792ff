"""RE2's regular expressions as Python's: the same syntax, meaning and errors where the two differ.

Strings are matched as text. Bytes that are not UTF-8 become lone surrogates, which no part of a pattern matches.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from everflow.errors import invalid_argument, unimplemented
from everflow.ops.strings.unicode_tables import LAST, Ranges, category, complement, script

# The lone surrogates that stand for bytes (Python's surrogateescape).
_STRAY = (0xDC80, 0xDCFF)

_PERL = {
    "d": [(0x30, 0x39)],
    "s": [(0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20)],
    "w": [(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)],
}
_POSIX = {
    "alnum": [(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)],
    "alpha": [(0x41, 0x5A), (0x61, 0x7A)],
    "ascii": [(0, 0x7F)],
    "blank": [(0x09, 0x09), (0x20, 0x20)],
    "cntrl": [(0, 0x1F), (0x7F, 0x7F)],
    "digit": [(0x30, 0x39)],
    "graph": [(0x21, 0x7E)],
    "lower": [(0x61, 0x7A)],
    "print": [(0x20, 0x7E)],
    "punct": [(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)],
    "space": [(0x09, 0x0D), (0x20, 0x20)],
    "upper": [(0x41, 0x5A)],
    "word": _PERL["w"],
    "xdigit": [(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)],
}
_CONTROL = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_ASSERTIONS = {"A": r"\A", "z": r"\Z", "b": r"(?a:\b)", "B": r"(?a:\B)"}
_REPEAT = re.compile(r"[*+?]|\{(\d+)(?:,(\d*))?\}")
_MOST_REPEATS = 1000


class PatternError(ValueError):
    """What RE2 says of a pattern that is none."""


class _Translator:
    """Reads an RE2 pattern and writes the Python pattern. Flags hold to the end of the group that sets them."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def translated(self) -> str:
        found = self._alternatives(frozenset())
        if self.at < len(self.pattern):
            raise PatternError(f"missing ): {self.pattern}")
        return found

    def _peek(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def _take(self, text: str) -> bool:
        if self._peek(text):
            self.at += len(text)
            return True
        return False

    def _next(self) -> str:
        self.at += 1
        return self.pattern[self.at - 1]

    def _alternatives(self, flags: frozenset[str]) -> str:
        found: list[str] = []
        while self.at < len(self.pattern) and not self._peek(")"):
            if self._take("|"):
                found.append("|")
                continue
            if self._peek("(?") and not self._peek("(?P<"):
                atom, changed = self._flag_group(flags)
                if atom is None:
                    flags = changed
                    continue
            else:
                atom = self._atom(flags)
            found.append(self._repeated(atom, flags))
        return "".join(found)

    def _group(self, opening: str, flags: frozenset[str]) -> str:
        inner = self._alternatives(flags)
        if not self._take(")"):
            raise PatternError(f"missing ): {self.pattern}")
        return f"{opening}{inner})"

    def _flag_group(self, flags: frozenset[str]) -> tuple[str | None, frozenset[str]]:
        """A group without a number, or flags for what follows: then there is no atom."""
        start = self.at
        self.at += 2
        adding, changed = True, set(flags)
        while self.at < len(self.pattern):
            c = self._next()
            if c in "imsU":
                changed.add(c) if adding else changed.discard(c)
            elif c == "-" and adding:
                adding = False
            elif c == ":":
                return self._group("(?:", frozenset(changed)), flags
            elif c == ")":
                return None, frozenset(changed)
            else:
                break
        else:
            raise PatternError(f"missing ): {self.pattern}")
        raise PatternError(f"invalid perl operator: {self.pattern[start : self.at]}")

    def _atom(self, flags: frozenset[str]) -> str:
        c = self.pattern[self.at]
        if c == "[":
            return self._class(flags)
        if c == "\\":
            return self._escape(flags)
        repeat = _REPEAT.match(self.pattern, self.at)
        if repeat:
            raise PatternError(f"no argument for repetition operator: {repeat[0]}")
        self.at += 1
        if c == "(":
            if not self._peek("?P<"):
                return self._group("(", flags)
            name = re.compile(r"\?P<(\w+)>", re.ASCII).match(self.pattern, self.at)
            if name is None:
                raise PatternError(f"invalid named capture group: {self.pattern[self.at - 1 :].partition('>')[0]}")
            self.at = name.end()
            return self._group("(", flags)
        if c == ".":
            return _class_text([] if "s" in flags else [(10, 10)], negated=True)
        if c == "^":
            return "(?m:^)" if "m" in flags else r"\A"
        if c == "$":
            return "(?m:$)" if "m" in flags else r"\Z"
        return _literal(c, flags)

    def _repeated(self, atom: str, flags: frozenset[str]) -> str:
        repeat = _REPEAT.match(self.pattern, self.at)
        if repeat is None:
            return atom
        self.at = repeat.end()
        if repeat[1] is not None:
            least, most = int(repeat[1]), int(repeat[2] or repeat[1])
            if max(least, most) > _MOST_REPEATS or most < least:
                raise PatternError(f"invalid repetition size: {repeat[0]}")
        lazy = self._take("?")
        again = _REPEAT.match(self.pattern, self.at)
        if again:
            raise PatternError(f"bad repetition operator: {self.pattern[repeat.start() : again.end()]}")
        return f"(?:{atom}){repeat[0]}{'?' if lazy != ('U' in flags) else ''}"

    def _escape(self, flags: frozenset[str]) -> str:
        following = self.pattern[self.at + 1 : self.at + 2]
        if following in _ASSERTIONS:
            self.at += 2
            return _ASSERTIONS[following]
        if following == "C":
            raise unimplemented("regular expressions with \\C, a single byte of a character, are not supported")
        if following == "Q":
            quoted, _, _ = self.pattern[self.at + 2 :].partition("\\E")
            self.at = min(len(self.pattern), self.at + 2 + len(quoted) + 2)
            return "".join(_literal(c, flags) for c in quoted)
        ranges = self._class_escape()
        if ranges is not None:
            return _class_text(ranges, fold="i" in flags)
        return _literal(chr(self._character_escape()), flags)

    def _class_escape(self) -> Ranges | None:
        r"""The characters of an escape such as \d or \p{Greek}; None where it stands for one character."""
        start, following = self.at, self.pattern[self.at + 1 : self.at + 2]
        if following and following.lower() in _PERL:
            self.at += 2
            ranges = _PERL[following.lower()]
            return complement(ranges) if following.isupper() else ranges
        if following not in ("p", "P"):
            return None
        self.at += 2
        if self._take("{"):
            name, brace, _ = self.pattern[self.at :].partition("}")
            self.at += len(name) + len(brace)
        else:
            name, brace = self.pattern[self.at : self.at + 1], "}"
            self.at += 1
        negated = (following == "P") != name.startswith("^")
        found = [(0, LAST)] if name == "Any" else category(name.lstrip("^")) or script(name.lstrip("^"))
        if found is None or not brace:
            raise PatternError(f"invalid character class range: {self.pattern[start : self.at]}")
        return complement(found) if negated else found

    def _character_escape(self) -> int:
        start = self.at
        self.at += 1
        if self.at == len(self.pattern):
            raise PatternError("trailing \\")
        c = self._next()
        if c in _CONTROL:
            return _CONTROL[c]
        if c == "x":
            digits = re.compile(r"\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2})").match(self.pattern, self.at)
            if digits and int(digits[1] or digits[2], 16) <= LAST:
                self.at = digits.end()
                return int(digits[1] or digits[2], 16)
        octal = re.compile("0[0-7]{0,2}|[1-7][0-7]{1,2}").match(self.pattern, start + 1)
        if octal:
            self.at = octal.end()
            return int(octal[0], 8)
        if c.isascii() and not c.isalnum():
            return ord(c)
        raise PatternError(f"invalid escape sequence: {self.pattern[start : self.at]}")

    def _class(self, flags: frozenset[str]) -> str:
        start = self.at
        self.at += 1
        negated = self._take("^")
        ranges: Ranges = []
        first = True
        while first or not self._peek("]"):
            if self.at >= len(self.pattern):
                raise PatternError(f"missing ]: {self.pattern[start:]}")
            ranges += self._posix_class() or (self._class_escape() if self._peek("\\") else None) or [self._range()]
            first = False
        self.at += 1
        return _class_text(ranges, negated, "i" in flags)

    def _posix_class(self) -> Ranges | None:
        found = re.compile(r"\[:(\^?)(\w+):\]").match(self.pattern, self.at)
        if found is None:
            return None
        if found[2] not in _POSIX:
            raise PatternError(f"invalid character class range: {found[0]}")
        self.at = found.end()
        return complement(_POSIX[found[2]]) if found[1] else _POSIX[found[2]]

    def _range(self) -> tuple[int, int]:
        start = self.at
        low = high = self._class_character()
        if self._peek("-") and not self._peek("-]") and self.at + 1 < len(self.pattern):
            self.at += 1
            high = self._class_character()
        if high < low:
            raise PatternError(f"invalid character class range: {self.pattern[start : self.at]}")
        return low, high

    def _class_character(self) -> int:
        return self._character_escape() if self._peek("\\") else ord(self._next())


def _literal(c: str, flags: frozenset[str]) -> str:
    return f"(?i:{re.escape(c)})" if "i" in flags and c.lower() != c.upper() else re.escape(c)


def _class_text(ranges: Ranges, negated: bool = False, fold: bool = False) -> str:
    low, high = _STRAY
    if negated:
        kept = [*ranges, _STRAY]
    else:
        kept = [part for start, end in ranges for part in ((start, min(end, low - 1)), (max(start, high + 1), end)) if part[0] <= part[1]]
        if not kept:
            return "(?!)"
    text = "".join(f"\\U{start:08x}" if start == end else f"\\U{start:08x}-\\U{end:08x}" for start, end in kept)
    found = f"[{'^' if negated else ''}{text}]"
    return f"(?i:{found})" if fold else found


Rewrite = list[str | int]


@functools.lru_cache(maxsize=256)
def compiled(pattern: bytes) -> re.Pattern[str]:
    """The Python pattern for an RE2 pattern; an InvalidArgumentError says what is wrong with it."""
    try:
        try:
            text = pattern.decode()
        except UnicodeDecodeError:
            raise PatternError("invalid UTF-8") from None
        return re.compile(_Translator(text).translated())
    except PatternError as e:
        raise invalid_argument(f"Invalid pattern: {pattern.decode('utf-8', 'replace')}, error: {e}") from None


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def full_match(pattern: re.Pattern[str]) -> Callable[[bytes], bool]:
    """Tells whether all of a string matches."""
    return lambda content: pattern.fullmatch(_text(content)) is not None


def _rewrite(rewrite: str, groups: int) -> Rewrite:
    r"""A replacement as literal text and numbers of groups. It ends at a backslash before what is neither digit nor backslash."""
    found: Rewrite = []
    at = 0
    while at < len(rewrite):
        if rewrite[at] != "\\":
            end = rewrite.find("\\", at)
            end = len(rewrite) if end < 0 else end
            found.append(rewrite[at:end])
            at = end
            continue
        following = rewrite[at + 1 : at + 2]
        if following.isascii() and following.isdigit():
            if int(following) <= groups:
                found.append(int(following))
        elif following == "\\":
            found.append("\\")
        else:
            break
        at += 2
    return found


def replacer(pattern: re.Pattern[str], rewrite: bytes, everywhere: bool) -> Callable[[bytes], bytes]:
    """Replaces the first match in a string, or all matches that do not overlap."""
    parts = _rewrite(_text(rewrite), pattern.groups)
    plain = "".join(parts) if all(isinstance(p, str) for p in parts) else None  # type: ignore[arg-type]

    def replaced(content: bytes) -> bytes:
        text = _text(content)
        found: list[str] = []
        at, last_end = 0, -1
        for match in pattern.finditer(text):
            start, end = match.span()
            # Nothing right after a match is no match of its own.
            if start == end == last_end:
                continue
            found.append(text[at:start])
            found.append(plain if plain is not None else "".join(p if isinstance(p, str) else match[p] or "" for p in parts))
            at = last_end = end
            if not everywhere:
                break
        if last_end < 0:
            return content
        found.append(text[at:])
        return "".join(found).encode("utf-8", "surrogateescape")

    return replaced
