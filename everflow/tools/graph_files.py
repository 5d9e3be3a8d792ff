"""Graphs and flags of the tools in this folder."""

from __future__ import annotations

import argparse
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError, Message

from everflow.io import file_io, gfile


def read_proto(path: str, proto: Message, binary: bool, what: str = "graph") -> Any:
    """Fills a proto from a file, binary or text."""
    if not gfile.file_exists(path):
        raise OSError(f"Input {what} file '{path}' does not exist!")
    try:
        if binary:
            proto.ParseFromString(file_io.read_file_to_string(path, binary_mode=True))
        else:
            text_format.Merge(file_io.read_file_to_string(path), proto)
    except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
        raise OSError(f"Cannot parse file '{path}' as {'binary' if binary else 'text'}: {error}") from None
    return proto


def write_proto(path: str, proto: Message, binary: bool = True) -> None:
    """Writes a proto to a file."""
    file_io.atomic_write_string_to_file(path, proto.SerializeToString() if binary else text_format.MessageToString(proto))


def flag(text: str) -> bool:
    """A flag's value: `--x`, `--x=true`, `--x=false`."""
    return text.lower() == "true"


def add_flag(parser: argparse.ArgumentParser, name: str, default: bool, text: str) -> None:
    """A flag that stands alone or has a value."""
    parser.add_argument(name, nargs="?", const=True, type=flag, default=default, help=text)
