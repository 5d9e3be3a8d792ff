"""tf.contrib.training.HParams: named settings of a model, each with a type, that a text or a dictionary may override."""

from __future__ import annotations

import json
import numbers
import re
from typing import Any

from everflow.api import public
from everflow.platform.deprecation import deprecated
from everflow.proto import hparam_pb2

# One setting of a text such as `rate=0.1,layers=[3,4],names[2]=x`: a name, perhaps an index, and a list or a single value.
_SETTING = re.compile(r"(?P<name>[a-zA-Z][\w.]*)(\[\s*(?P<index>\d+)\s*\])?\s*=\s*(\[(?P<list>[^\]]*)\]|(?P<value>[^,\[]*))(?:,\s*|$)")


def _read_bool(text: str) -> bool:
    if text in ("true", "True"):
        return True
    return False if text in ("false", "False") else bool(int(text))


@public("contrib.training.parse_values")
def parse_values(values: str, type_map: dict[str, Any], ignore_unknown: bool = False) -> dict[str, Any]:
    """The settings in a text, by name: a value, a list of values, or {index: value}.

    >>> parse_values("rate=0.1,layers=[3,4],names[2]=x", {"rate": float, "layers": int, "names": str})
    {'rate': 0.1, 'layers': [3, 4], 'names': {2: 'x'}}
    """
    found: dict[str, Any] = {}
    place = 0
    while place < len(values):
        setting = _SETTING.match(values, place)
        if setting is None:
            raise ValueError(f"Malformed hyperparameter value: {values[place:]}")
        place = setting.end()
        name, index = setting["name"], setting["index"]
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError(f"Unknown hyperparameter type for {name}")
        kind = type_map[name]
        read = _read_bool if kind is bool else kind
        text = setting["value"] if setting["list"] is None else setting["list"]
        parts = [text] if setting["list"] is None else [part for part in re.split("[ ,]", text) if part]
        try:
            read_parts = [read(part) for part in parts]
        except ValueError:
            raise ValueError(f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{text}' in {values}") from None
        if index is None:
            if name in found:
                raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
            found[name] = read_parts[0] if setting["list"] is None else read_parts
            continue
        if setting["list"] is not None:
            raise ValueError(f"Assignment of a list to a list index: {values}")
        items = found.setdefault(name, {})
        if not isinstance(items, dict):
            raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
        if int(index) in items:
            raise ValueError(f"Multiple assignments to variable '{name}[{index}]' in {values}")
        items[int(index)] = read_parts[0]
    return found


def _cast(name: str, kind: type, value: Any) -> Any:
    """A value as one of a type, where nothing is lost by that."""
    text = issubclass(kind, (str, bytes))
    fits = (
        kind is type(None)
        or isinstance(value, kind)
        and isinstance(value, bool) == (kind is bool)
        or text
        and isinstance(value, (str, bytes))
        or issubclass(kind, numbers.Number)
        and isinstance(value, numbers.Number)
        and bool not in (kind, type(value))
        and (not issubclass(kind, numbers.Integral) or isinstance(value, numbers.Integral))
    )
    if not fits:
        raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    return value if kind is type(None) or type(value) is kind else kind(value)


@public("contrib.training.HParams")
class HParams:
    """Settings of a model, as attributes.

    >>> settings = HParams(rate=0.1, layers=[64, 64])
    >>> settings.parse("rate=0.01").rate
    0.01
    """

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any) -> None:
        self._types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        if hparam_def is not None:
            self._take_over(hparam_def)
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def _take_over(self, hparam_def: Any) -> None:
        assert isinstance(hparam_def, hparam_pb2.HParamDef)
        for name, message in hparam_def.hparam.items():
            kind = message.WhichOneof("kind")
            value = getattr(message, kind)
            if kind.endswith("_list"):
                self.add_hparam(name, [item.decode() if isinstance(item, bytes) else item for item in value.value])
            else:
                self.add_hparam(name, value.decode() if isinstance(value, bytes) else value)

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds a setting; its value says the type."""
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        several = isinstance(value, (list, tuple))
        if several and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        self._types[name] = type(value[0] if several else value), several
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Sets a setting to a value of its type."""
        kind, several = self._types[name]
        if isinstance(value, list) is not several:
            raise ValueError(
                f"Must pass a list for multi-valued parameter: {name}."
                if several
                else f"Must not pass a list for single-valued parameter: {name}"
            )
        setattr(self, name, [_cast(name, kind, item) for item in value] if several else _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Takes a setting away, if it is there."""
        if hasattr(self, name):
            delattr(self, name)
            del self._types[name]

    def parse(self, values: str) -> HParams:
        """Overrides settings by a text such as `rate=0.1,layers=[3,4]`."""
        return self.override_from_dict(parse_values(values, {name: kind for name, (kind, _) in self._types.items()}))

    def override_from_dict(self, values_dict: dict[str, Any]) -> HParams:
        """Overrides settings by a dictionary."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    @deprecated(None, "Use `override_from_dict`.")
    def set_from_map(self, values_map: dict[str, Any]) -> HParams:
        """The old name of `override_from_dict`."""
        return self.override_from_dict(values_map)

    def to_json(self, indent: Any = None, separators: Any = None, sort_keys: bool = False) -> str:
        """All settings as JSON; functions are left out."""
        values = {name: value for name, value in self.values().items() if not callable(value)}
        return json.dumps(values, indent=indent, separators=separators, sort_keys=sort_keys)

    def parse_json(self, values_json: str) -> HParams:
        """Overrides settings by JSON."""
        return self.override_from_dict(json.loads(values_json))

    def values(self) -> dict[str, Any]:
        """All settings, by name."""
        return {name: getattr(self, name) for name in self._types}

    def get(self, key: str, default: Any = None) -> Any:
        """A setting, or a default, which must be of the setting's type where there is such a setting."""
        if key not in self._types:
            return default
        if default is not None:
            kind, is_list = self._types[key]
            shown = f"list<{kind}>" if is_list else str(kind)
            problem = f"Hparam '{key}' of type '{shown}' is incompatible with default={default}"
            if is_list and not isinstance(default, list):
                raise ValueError(problem)
            try:
                for item in default if is_list else [default]:
                    _cast(key, kind, item)
            except ValueError as e:
                raise ValueError(f"{problem}. {e}") from None
        return getattr(self, key)

    def __contains__(self, key: str) -> bool:
        return key in self._types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"HParams({sorted(self.values().items())})"

    def set_model_structure(self, model_structure: Any) -> None:
        """Keeps a structure beside the settings."""
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        """The structure that was kept."""
        return self._model_structure

    def to_proto(self, export_scope: Any = None) -> Any:
        """All settings as a message."""
        message = hparam_pb2.HParamDef()
        for name, value in self.values().items():
            kind, is_list = self._types[name]
            field = next((field for base, field in _FIELDS if issubclass(kind, base)), None)
            if field is None:
                raise ValueError(f"Unsupported parameter type: {kind}")
            if is_list:
                getattr(message.hparam[name], field + "_list").value.extend(map(_stored, value))
            else:
                setattr(message.hparam[name], field + "_value", _stored(value))
        return message

    @staticmethod
    def from_proto(hparam_def: Any, import_scope: Any = None) -> HParams:
        """The settings of a message."""
        return HParams(hparam_def=hparam_def)


_FIELDS = ((bool, "bool"), (int, "int64"), (str, "bytes"), (bytes, "bytes"), (float, "float"))


def _stored(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value
