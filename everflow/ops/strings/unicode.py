"""Text in its encodings: characters of strings, strings of characters, other encodings, scripts."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from typing import Any

from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import same_as_input
from everflow.ops.strings.unicode_tables import LAST, scripts_of
from everflow.values.tensors import torch_dtype
from everflow.values.texts import mapped, starts, text_array

Kernel = Callable[..., Any]

_HALVES = re.compile("[\ud800-\udfff]")

# A character and the byte at which it starts; None stands for bytes that are no character.
Character = tuple[int | None, int]


def _codec(name: str) -> str:
    """Python's name of an encoding."""
    try:
        found = codecs.lookup(name)
    except LookupError:
        found = None
    if found is None or not found._is_text_encoding:
        raise invalid_argument(f"Could not create converter for input encoding: {name}")
    return found.name


def _characters(text: bytes, codec: str) -> Iterator[Character]:
    if codec == "utf-16":
        # Without a mark of its order, the high byte comes first.
        codec = "utf-16" if text[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-16-be"
    elif codec == "utf-32":
        codec = "utf-32" if text[:4] in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE) else "utf-32-be"
    at = 0
    while at < len(text):
        try:
            good, wrong = text[at:], None
            decoded = good.decode(codec)
        except UnicodeDecodeError as e:
            good, wrong = text[at : at + e.start], (at + e.start, at + e.end)
            decoded = good.decode(codec)
        yield from zip(map(ord, decoded), _starts(good, decoded, codec, at))
        if wrong is None:
            return
        yield None, wrong[0]
        at = wrong[1]


def _starts(text: bytes, decoded: str, codec: str, offset: int) -> Iterator[int]:
    """Where the characters of a well-formed string start."""
    if len(text) == len(decoded):
        yield from range(offset, offset + len(text))
    elif codec == "utf-8":
        yield from (offset + start for start in starts(text)[:-1])
    else:
        for character in decoded:
            yield offset
            offset += len(character.encode(codec))


class _Policy:
    """What becomes of what is no character, and of control characters."""

    def __init__(self, node: Node) -> None:
        self.errors = node.attr("errors")
        self.replacement = node.attr("replacement_char")
        self.controls = node.attr("replace_control_characters")
        self.codec = _codec(node.attr("input_encoding"))
        _check_replacement(self.replacement)

    def characters(self, text: bytes) -> list[tuple[int, int]]:
        """The characters that stay, with where they start."""
        found = []
        for character, start in _characters(text, self.codec):
            if character is None and self.errors == "strict":
                raise invalid_argument("Invalid formatting on input string")
            if character is None or (self.controls and character <= 0x1F):
                if self.errors == "ignore":
                    continue
                character = self.replacement
            found.append((character, start))
        return found


def _check_replacement(character: int) -> None:
    if not 0 <= character <= LAST:
        raise invalid_argument("replacement_char out of unicode codepoint range")


def _encoded(characters: list[int], encoding: str) -> bytes:
    text = "".join(map(chr, characters))
    if encoding == "UTF-8":
        # Halves of pairs have no place in UTF-8.
        return _HALVES.sub("\ufffd", text).encode()
    return text.encode({"UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}[encoding], "surrogatepass")


def _transcode(node: Node) -> Kernel:
    policy, encoding = _Policy(node), node.attr("output_encoding")
    keeps = policy.codec == "utf-8" and encoding == "UTF-8" and not policy.controls

    def transcoded(text: bytes) -> bytes:
        if keeps:
            try:
                text.decode()
                return text
            except UnicodeDecodeError:
                pass
        return _encoded([character for character, _ in policy.characters(text)], encoding)

    return lambda x: mapped(transcoded, x)


op("UnicodeTranscode", kernel=_transcode, shape=same_as_input)


@public("strings.unicode_transcode")
def unicode_transcode(
    input: Any,
    input_encoding: Any,
    output_encoding: Any,
    errors: Any = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """Strings of one encoding in another, which is UTF-8, UTF-16-BE or UTF-32-BE."""
    return apply(
        "UnicodeTranscode",
        input,
        input_encoding=input_encoding,
        output_encoding=output_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
        name=name,
    )


def _decode(node: Node) -> Kernel:
    policy, dtype = _Policy(node), torch_dtype(node.attr("Tsplits"))
    with_offsets = len(node.outputs) == 3

    def run(texts: Any) -> Any:
        splits, found = [0], []
        for text in texts.ravel().tolist():
            found += policy.characters(text)
            splits.append(len(found))
        row_splits = torch.tensor(splits, dtype=dtype)
        characters = torch.tensor([character for character, _ in found], dtype=torch.int32)
        if not with_offsets:
            return row_splits, characters
        return row_splits, characters, torch.tensor([start for _, start in found], dtype=torch.int64)

    return run


def _decode_shape(o: Operation) -> Any:
    count = shapes.num_elements(o.inputs[0].dims)
    return [(None if count is None else count + 1,), *[(None,)] * (len(o.outputs) - 1)]


op("UnicodeDecode", kernel=_decode, shape=_decode_shape)
op("UnicodeDecodeWithOffsets", kernel=_decode, shape=_decode_shape)


def _encode(node: Node) -> Kernel:
    encoding, errors, replacement = node.attr("output_encoding"), node.attr("errors"), node.attr("replacement_char")
    _check_replacement(replacement)

    def fitting(characters: list[int]) -> list[int]:
        if all(0 <= c <= LAST for c in characters):
            return characters
        if errors == "strict":
            raise invalid_argument("Code point is out of range for Unicode, or a noncharacter.")
        if errors == "ignore":
            return [c for c in characters if 0 <= c <= LAST]
        return [c if 0 <= c <= LAST else replacement for c in characters]

    def run(values: Any, splits: Any) -> Any:
        characters, ends = values.tolist(), splits.tolist()
        for start, end in zip([0, *ends], ends):
            if end < start or end > len(characters):
                raise invalid_argument(f"Values in input_splits must be equal or in ascending order and at most {len(characters)}.")
        # The first string starts at the first character, whatever the first split says.
        rows = [_encoded(fitting(characters[start:end]), encoding) for start, end in zip([0, *ends[1:]], ends[1:])]
        return text_array(rows, (len(rows),))

    return run


def _encode_shape(o: Operation) -> Any:
    shapes.with_rank(o.inputs[0].dims, 1)
    count = shapes.with_rank(o.inputs[1].dims, 1)[0]
    if count == 0:
        raise ValueError("Negative dimension size caused by subtracting 1 from 0")
    return (None if count is None else count - 1,)


op("UnicodeEncode", kernel=_encode, shape=_encode_shape)
op("UnicodeScript", kernel=lambda node: lambda x: torch.from_numpy(scripts_of(x.numpy())).reshape(x.shape), shape=same_as_input)


@public("strings.unicode_script", ragged="elements")
def unicode_script(input: Any, name: str | None = None) -> Any:
    """The script that each character is written in, by ICU's numbers; -1 for what is no character."""
    return apply("UnicodeScript", input, name=name)
