"""`everflow records`: what record files (TFRecord) hold."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from everflow.errors import OpError
from everflow.io.records import RecordReader

KINDS = {"bytes_list": "bytes", "float_list": "float", "int64_list": "int64"}
# Longer values are cut off when they are shown.
WIDTH = 60


class Feature:
    """What all records of a file say of one feature."""

    def __init__(self) -> None:
        self.kinds: set[str] = set()
        self.records = 0
        self.least = self.most = 0
        self.first: Any = None

    def add(self, kind: str, values: Any) -> None:
        count = len(values)
        self.least = count if not self.records else min(self.least, count)
        self.most = max(self.most, count)
        self.records += 1
        self.kinds.add(kind)
        if self.first is None and count:
            self.first = values[0]


class Contents:
    """What a file holds, gathered record by record."""

    def __init__(self) -> None:
        self.records = self.bytes = self.examples = 0
        self.features: dict[str, Feature] = {}

    def add(self, record: bytes) -> None:
        from everflow.io.examples import SequenceExample

        self.records += 1
        self.bytes += len(record)
        # An Example reads as a SequenceExample whose context are its features.
        found = SequenceExample()
        try:
            found.ParseFromString(record)
        except Exception:  # protobuf's errors have no common base that is public
            return
        if not found.context.feature and not found.feature_lists.feature_list:
            return
        self.examples += 1
        for name, feature in found.context.feature.items():
            self._add(name, feature)
        for name, steps in found.feature_lists.feature_list.items():
            for feature in steps.feature:
                self._add(name + "[]", feature)

    def _add(self, name: str, feature: Any) -> None:
        kind = feature.WhichOneof("kind")
        values = getattr(feature, kind).value if kind else ()
        self.features.setdefault(name, Feature()).add(KINDS.get(kind or "", "nothing"), values)

    def lines(self) -> list[str]:
        """The summary, a line for each feature."""
        size = f"{self.bytes / max(self.records, 1):.0f} bytes each"
        found = [f"{self.records} records, {size}; {self.examples or 'none'} of them hold features"]
        if not self.features:
            return found
        rows = [("feature", "type", "values", "records", "first value")]
        for name, feature in sorted(self.features.items()):
            count = str(feature.most) if feature.least == feature.most else f"{feature.least}..{feature.most}"
            rows.append((name, "/".join(sorted(feature.kinds)), count, str(feature.records), shown(feature.first)))
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        return found + ["  " + "  ".join([cell.ljust(width) for cell, width in zip(row, widths)] + [row[4]]).rstrip() for row in rows]


def shown(value: Any) -> str:
    """A value on part of a line."""
    if value is None:
        return "-"
    text = f"{value:g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= WIDTH else f"{text[:WIDTH]}... ({len(value)} bytes)"


def compression_of(path: str) -> str:
    """How a file is compressed, by its first bytes."""
    from everflow.io.records import open_stream

    stream = open_stream(path)
    start = stream.read(12)
    stream.close()
    if start[:2] == b"\x1f\x8b":
        return "GZIP"
    # A plain file begins with a length, of which the upper half is zero in all but gigantic records.
    return "ZLIB" if start[:1] == b"\x78" and start[4:8] != b"\0\0\0\0" else ""


def describe(path: str, limit: int | None, print_records: int) -> None:
    """Prints what one file holds."""
    contents = Contents()
    is_watched, told = sys.stderr.isatty(), time.monotonic()
    try:
        with RecordReader(path, compression_of(path)) as reader:
            for record in reader:
                if limit is not None and contents.records == limit:
                    break
                contents.add(record)
                if contents.records <= print_records:
                    _print_record(contents.records, record)
                if is_watched and contents.records % 1024 == 0 and time.monotonic() - told > 0.5:
                    told = time.monotonic()
                    print(f"\r{path}: {contents.records} records", end="", file=sys.stderr, flush=True)
    finally:
        if is_watched:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        print(f"{path}: " + "\n".join(contents.lines()))


def _print_record(number: int, record: bytes) -> None:
    from everflow.io.examples import Example

    found = Example()
    try:
        found.ParseFromString(record)
    except Exception:  # protobuf's errors have no common base that is public
        found.Clear()
    print(f"record {number} ({len(record)} bytes)")
    if not found.features.feature:
        print(f"  {shown(record)}")
    for name, feature in sorted(found.features.feature.items()):
        kind = feature.WhichOneof("kind")
        values = list(getattr(feature, kind).value) if kind else []
        rest = f", ... ({len(values)} values)" if len(values) > 8 else ""
        print(f"  {name}: " + ", ".join(shown(v) for v in values[:8]) + rest)


def main(arguments: list[str]) -> int:
    """Describes files; the exit status is 1 where one can't be read to its end."""
    parser = argparse.ArgumentParser(
        prog="everflow records",
        description="Prints what record files (TFRecord) hold: how many records, "
        "and the features of Examples and SequenceExamples. Compressed files are recognized.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--limit", type=int, metavar="N", help="look at the first N records only")
    parser.add_argument("--print", type=int, default=0, metavar="N", dest="printed", help="print the first N records too")
    chosen = parser.parse_args(arguments)
    status = 0
    for path in chosen.files:
        try:
            describe(path, chosen.limit, chosen.printed)
        except OpError as error:
            print(f"everflow records: {path}: {error.message}", file=sys.stderr)
            status = 1
    return status
