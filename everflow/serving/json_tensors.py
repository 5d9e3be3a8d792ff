"""Requests and answers of the REST interface: JSON to arrays and examples, arrays to JSON."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from everflow.errors import failed_precondition, invalid_argument
from everflow.proto import input_pb2
from everflow.serving.inference import DEFAULT
from everflow.serving.tensors import type_of

ROWS, COLUMNS = "row", "column"
# Lists in lists are read by recursion; TensorFlow's tensors have at most this many axes.
_DEEPEST = 254


def _type_name(value: Any) -> str:
    if isinstance(value, bool):
        return "True" if value else "False"
    if value is None:
        return "Null"
    for kind, name in ((str, "String"), ((int, float), "Number"), (list, "Array"), (dict, "Object")):
        if isinstance(value, kind):
            return name
    return type(value).__name__


def shown(value: Any) -> str:
    """A JSON value in an error message."""
    text = json.dumps(value)
    return text if len(text) <= 256 else text[:256] + "..."


def parsed(body: bytes) -> dict[str, Any]:
    """The JSON object that a request is."""
    if not body.strip():
        raise invalid_argument("JSON Parse error: The document is empty")
    try:
        found = json.loads(body, parse_constant=_constant)
    except json.JSONDecodeError as e:
        raise invalid_argument(f"JSON Parse error: {e.msg} at offset: {e.pos}") from None
    except (UnicodeDecodeError, RecursionError, ValueError) as e:
        raise invalid_argument(f"JSON Parse error: {type(e).__name__}") from None
    if not isinstance(found, dict):
        raise invalid_argument(f"JSON Value: {shown(found)} Is not object")
    return found


def _constant(text: str) -> float:
    return float(text.replace("Infinity", "inf").replace("NaN", "nan"))


def signature_name(request: Mapping[str, Any]) -> str:
    """The signature that a request asks for."""
    name = request.get("signature_name", "")
    if not isinstance(name, str):
        raise invalid_argument(f"JSON Value: {shown(request)} not formatted correctly. 'signature_name' key must be a string value.")
    return name or DEFAULT


def input_infos(signatures: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The inputs of a signature."""
    if name not in signatures:
        raise invalid_argument(f'Serving signature name: "{name}" not found in signature def')
    return signatures[name].inputs


def arrays(request: Mapping[str, Any], infos: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], str]:
    """The inputs of a predict request by name, and whether it has the form of rows or of columns."""
    allowed = {"signature_name", "instances"} if "instances" in request else {"signature_name", "inputs"}
    if "instances" not in request and "inputs" not in request:
        raise invalid_argument("Missing 'inputs' or 'instances' key")
    if not request.keys() <= allowed:
        key = "instances" if "instances" in request else "inputs"
        raise invalid_argument(f"Not formatted correctly expecting only '{key}' or 'signature_name' keys to exist ")
    if "instances" in request:
        return _from_rows(request["instances"], infos), ROWS
    return _from_columns(request["inputs"], infos), COLUMNS


def _from_rows(instances: Any, infos: Mapping[str, Any]) -> dict[str, np.ndarray]:
    if not isinstance(instances, list):
        raise invalid_argument("Expecting 'instances' to be an list/array")
    if not instances:
        raise invalid_argument("No values in 'instances' array")
    if _is_named(instances[0]):
        columns: dict[str, list[Any]] = {name: [] for name in infos}
        for i, item in enumerate(instances):
            if not _is_named(item):
                raise invalid_argument(f"Expecting object but got list at item {i} of input list")
            if item.keys() != columns.keys():
                for name in columns:
                    if name not in item:
                        raise invalid_argument(
                            f"Failed to process element: {i} of 'instances' list. Error: JSON object: does not have named input: {name}"
                        )
                raise invalid_argument(
                    f"Failed to process element: {i} of 'instances' list. JSON object: {shown(item)} must only have keys: {','.join(infos)}"
                )
            for name, values in columns.items():
                values.append(item[name])
    else:
        if len(infos) != 1:
            raise invalid_argument(
                "instances is a plain list, but expecting list of objects as multiple input tensors required as per tensorinfo_map"
            )
        for i, item in enumerate(instances):
            if _is_named(item):
                raise invalid_argument(f"Expecting value/list but got object at item {i} of input list")
        columns = {next(iter(infos)): instances}
    return {name: _array(values, infos[name], name, rows=True) for name, values in columns.items()}


def _from_columns(inputs: Any, infos: Mapping[str, Any]) -> dict[str, np.ndarray]:
    if _is_named(inputs):
        for name in infos:
            if name not in inputs:
                raise invalid_argument(f"Missing named input: {name} in 'inputs' object.")
        return {name: _array(inputs[name], infos[name], name) for name in infos}
    if len(infos) != 1:
        raise invalid_argument(
            "inputs is a plain value/list, but expecting an object as multiple input tensors required as per tensorinfo_map"
        )
    name = next(iter(infos))
    return {name: _array(inputs, infos[name], name)}


def _is_named(value: Any) -> bool:
    """Whether it is an object of names, rather than a value: {"b64": ...} is a string."""
    return isinstance(value, dict) and not _is_binary(value)


def _is_binary(value: dict[str, Any]) -> bool:
    return len(value) == 1 and isinstance(value.get("b64"), str)


def _array(value: Any, info: Any, name: str, rows: bool = False) -> np.ndarray:
    try:
        kind = type_of(info.dtype)
    except ValueError:
        raise invalid_argument(f"Tensor name: {name} has a type that JSON can't hold") from None
    shape = _shape(value)
    flat = _flat(value, shape)
    if kind.is_string:
        array = np.empty(len(flat), object)
        array[:] = [_bytes(item) for item in flat]
        return array.reshape(shape)
    return _numbers(flat, kind).reshape(shape)


def _shape(value: Any) -> tuple[int, ...]:
    shape: list[int] = []
    while isinstance(value, list):
        shape.append(len(value))
        if len(shape) > _DEEPEST:
            raise invalid_argument(f"Encountered list at unexpected level: {len(shape)}")
        if not value:
            break
        value = value[0]
    return tuple(shape)


def _flat(value: Any, shape: tuple[int, ...]) -> list[Any]:
    """The elements of nested lists, which must all have the shape that their first elements have."""
    if not shape:
        return [value]
    level = value
    for depth, size in enumerate(shape[1:], 1):
        inner: list[Any] = []
        for item in level:
            if type(item) is not list:
                raise invalid_argument(
                    f"JSON Value: {shown(item)} found at incorrect level: {depth} in the JSON DOM. Expected at level: {len(shape)}"
                )
            if len(item) != size:
                raise invalid_argument(f"Encountered list at unexpected size: {len(item)} at level: {depth} expected size: {size}")
            inner += item
        level = inner
    if any(type(item) is list for item in level):
        raise invalid_argument(f"Encountered list at unexpected level: {len(shape)} expected < {len(shape)}")
    return level


def _numbers(flat: list[Any], kind: Any) -> np.ndarray:
    dtype = kind.numpy
    kinds = set(map(type, flat))
    wanted = {bool} if kind.name == "bool" else {int, float}
    if not kinds <= wanted:
        wrong = next(item for item in flat if type(item) not in wanted)
        raise _unexpected(wrong, kind)
    if kind.name in ("complex64", "complex128"):
        raise invalid_argument(f"Conversion of JSON Value: {shown(flat[0])} to type: {kind.name} is not supported")
    if dtype.kind in "iu":
        if float in kinds:
            raise _unexpected(next(item for item in flat if type(item) is float), kind)
        limits = np.iinfo(dtype)
        if flat and not (limits.min <= min(flat) and max(flat) <= limits.max):
            wrong = next(item for item in flat if not limits.min <= item <= limits.max)
            raise invalid_argument(f"Cannot convert JSON value: {wrong} to {kind.name} without loss of precision.")
        return np.array(flat, dtype)
    try:
        with np.errstate(over="ignore"):
            return np.array(flat, np.float64).astype(dtype) if kind.name != "bool" else np.array(flat, bool)
    except OverflowError:
        raise invalid_argument(
            f"Cannot convert JSON value: {shown(max(flat, key=abs))} to {kind.name} without loss of precision."
        ) from None


def _unexpected(value: Any, kind: Any) -> Exception:
    name = {"float32": "float", "float64": "double"}.get(kind.name, kind.name)
    return invalid_argument(f"JSON Value: {shown(value)} Type: {_type_name(value)} is not of expected type: {name}")


def _bytes(item: Any) -> bytes:
    if isinstance(item, str):
        try:
            return item.encode()
        except UnicodeEncodeError:
            raise invalid_argument(f"JSON Value: {shown(item)} is not Unicode text") from None
    if isinstance(item, dict):
        if not _is_binary(item):
            raise invalid_argument(f"JSON Value: {shown(item)} not formatted correctly for base64 data")
        return _unbase64(item["b64"])
    raise invalid_argument(f"JSON Value: {shown(item)} Type: {_type_name(item)} is not of expected type: string")


def _unbase64(text: str) -> bytes:
    try:
        # With or without what fills up the last four characters.
        return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise invalid_argument("Unable to base64 decode") from None


def examples(request: Mapping[str, Any]) -> Any:
    """The Input message of a classify or regress request."""
    given = request.get("examples")
    if "examples" not in request:
        raise invalid_argument("When method is classify, key 'examples' is expected and was not found")
    if not isinstance(given, list):
        raise invalid_argument("Expecting 'examples' value to be an list/array")
    if not given:
        raise invalid_argument("'examples' value is an empty array")
    made = input_pb2.Input()
    if "context" in request:
        held = made.example_list_with_context
        _fill(held.context, request["context"])
    else:
        held = made.example_list
    for item in given:
        _fill(held.examples.add(), item)
    return made


def _fill(example: Any, item: Any) -> None:
    if not isinstance(item, dict):
        raise invalid_argument(f"Example must be JSON object but got JSON {_type_name(item)}")
    features = example.features.feature
    for name, value in item.items():
        values = value if isinstance(value, list) else [value]
        feature = features[_checked_name(name)]
        kinds = {_feature_kind(name, v) for v in values}
        if len(kinds) > 1:
            first = _feature_kind(name, values[0])
            raise invalid_argument(f"Unexpected element type in feature: {name} expecting type: {first}")
        if kinds == {"int64"}:
            feature.int64_list.value.extend(values)
        elif kinds == {"float"}:
            feature.float_list.value.extend(_narrowed(values))
        elif kinds == {"bytes"}:
            feature.bytes_list.value.extend([_bytes(v) for v in values])


def _narrowed(values: list[float]) -> list[float]:
    with np.errstate(over="ignore"):
        return np.array(values).astype(np.float32).tolist()


def _checked_name(name: str) -> str:
    _bytes(name)
    return name


def _feature_kind(name: str, value: Any) -> str:
    if isinstance(value, bool) or value is None or isinstance(value, list):
        raise invalid_argument(f"Feature: {name} has element with unexpected JSON type: {_type_name(value)}")
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise invalid_argument(f"Feature: {name} has uint64 element. Only int64 is supported.")
        return "int64"
    if isinstance(value, float):
        return "float"
    if isinstance(value, dict) and not _is_binary(value):
        raise invalid_argument(f"Feature: {name} has element with unexpected JSON type: Object")
    return "bytes"


def _floats(array: np.ndarray) -> list[Any]:
    """A flat array as Python floats that print with no more digits than tell the numbers of its type apart."""
    if array.dtype == np.float64:
        return array.tolist()
    wide = array.astype(np.float64)
    found: Any = wide.copy()
    size = np.abs(wide)
    # Within these limits powers of ten are exact, and so is what is rounded with their help.
    usual = (size > 1e-12) & (size < 1e16)
    left = np.flatnonzero(usual)
    if left.size:
        exponent = np.floor(np.log10(size[left])).astype(int)
        for digits in range(1 if array.dtype.itemsize < 4 else 6, 10):
            scale = 10.0 ** np.abs(digits - 1 - exponent)
            grows = exponent < digits
            with np.errstate(over="ignore"):
                rounded = np.where(grows, np.rint(wide[left] * scale) / scale, np.rint(wide[left] / scale) * scale)
                same = rounded.astype(array.dtype).astype(np.float64) == wide[left]
            found[left[same]] = rounded[same]
            left, exponent = left[~same], exponent[~same]
            if not left.size:
                break
    for i in np.flatnonzero(~usual & (size != 0) & np.isfinite(size)):
        found[i] = float(str(array[i]))
    return found.tolist()


def listed(array: np.ndarray, name: str) -> Any:
    """An array as what `json` writes; strings are base64 where the name ends in `_bytes`."""
    flat = array.reshape(-1)
    if array.dtype == object:
        if name.endswith("_bytes"):
            values: list[Any] = [{"b64": base64.b64encode(item).decode()} for item in flat]
        else:
            # Bytes that are no text pass through as they are.
            values = [item.decode("utf-8", "surrogateescape") for item in flat.tolist()]
    elif array.dtype.kind in "iub":
        values = flat.tolist()
    elif array.dtype.kind == "c":
        raise failed_precondition(f"Failed to write JSON value for tensor type: {array.dtype}")
    else:
        values = _floats(flat)
    if not array.ndim:
        return values[0]
    if not array.size:
        return array.tolist()
    for size in reversed(array.shape[1:]):
        values = [values[at : at + size] for at in range(0, len(values), size)]
    return values


def dumped(value: Any) -> bytes:
    """JSON text in UTF-8."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogateescape")


def predictions(found: Mapping[str, np.ndarray], form: str) -> bytes:
    """The answer to a predict request, in the form that the request had. A single output stands without its name."""
    if not found:
        raise invalid_argument("Cannot convert empty tensor map to JSON")
    if form == COLUMNS:
        if len(found) == 1:
            ((name, array),) = found.items()
            return b'{\n    "outputs": ' + dumped(listed(array, name)) + b"\n}"
        return b'{\n    "outputs": ' + dumped({name: listed(array, name) for name, array in found.items()}) + b"\n}"
    count = None
    for name, array in found.items():
        if not array.ndim:
            raise invalid_argument(f"Tensor name: {name} has no shape information ")
        if not len(array):
            raise invalid_argument(f"Tensor name: {name} has invalid batch size: {len(array)}")
        if count not in (None, len(array)):
            raise invalid_argument(f"Tensor name: {name} has inconsistent batch size: {len(array)} expecting: {count}")
        count = len(array)
    if len(found) == 1:
        ((name, array),) = found.items()
        rows = listed(array, name)
    else:
        columns = {name: listed(array, name) for name, array in found.items()}
        rows = [dict(zip(columns, row)) for row in zip(*columns.values())]
    return b'{\n    "predictions": ' + dumped(rows) + b"\n}"


def classifications(result: Any) -> bytes:
    """The answer to a classify request: for each example a list of [label, score]."""
    if not result.classifications:
        raise invalid_argument("Cannot convert empty ClassificationResults to JSON")
    rows = [[[c.label, _float(c.score)] for c in one.classes] for one in result.classifications]
    return b'{\n    "results": ' + dumped(rows) + b"\n}"


def regressions(result: Any) -> bytes:
    """The answer to a regress request: a number for each example."""
    if not result.regressions:
        raise invalid_argument("Cannot convert empty RegressionResults to JSON")
    numbers = np.array([one.value for one in result.regressions], np.float32)
    return b'{\n    "results": ' + dumped(_floats(numbers)) + b"\n}"


def _float(number: float) -> float:
    return _floats(np.array([number], np.float32))[0]


def error(message: str) -> bytes:
    """What a failed request is answered."""
    text = re.sub(r"[\ud800-\udfff]", "?", message)
    return b'{ "error": ' + json.dumps(text, ensure_ascii=False).encode() + b" }"
