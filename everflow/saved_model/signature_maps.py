"""The functions that a SavedModel offers under the keys of its signatures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from everflow import nest
from everflow.api import internal
from everflow.eager.functions import ConcreteFunction, TracedFunction, function
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.graph.trackable import Trackable
from everflow.saved_model import revived_types
from everflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY

_DEFAULT_FUNCTION = "_default_save_signature"


@internal("saved_model.signature_serialization._SignatureMap")
class SignatureMap(Mapping, Trackable):
    """{key: concrete function}; attributes of objects that were loaded are of this type."""

    def __init__(self) -> None:
        self._signatures: dict[str, Any] = {}

    def _add_signature(self, name: str, concrete_function: Any) -> None:
        self._signatures[name] = concrete_function

    def __getitem__(self, key: str) -> Any:
        return self._signatures[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signatures)

    def __len__(self) -> int:
        return len(self._signatures)

    def __repr__(self) -> str:
        return f"_SignatureMap({self._signatures})"

    def _list_functions_for_serialization(self, serialization_cache: Any) -> dict[str, Any]:
        return dict(self._signatures)


revived_types.register_revived_type(
    "signature_map",
    lambda obj: isinstance(obj, SignatureMap),
    [
        revived_types.VersionedTypeRegistration(
            object_factory=lambda proto: SignatureMap(),
            version=1,
            min_producer_version=1,
            min_consumer_version=1,
            setter=SignatureMap._add_signature,
        )
    ],
)


@internal("saved_model.signature_serialization.create_signature_map")
def create_signature_map(signatures: Mapping[str, ConcreteFunction]) -> SignatureMap:
    """An object with these functions, to hang on the root of what is saved."""
    found = SignatureMap()
    for key, concrete in signatures.items():
        found._add_signature(key, concrete)
    return found


def _as_signature(value: Any) -> ConcreteFunction | None:
    """The concrete function that can serve as a signature, or None."""
    if isinstance(value, ConcreteFunction):
        return value
    if isinstance(value, TracedFunction) and value.input_signature is not None:
        return value.get_concrete_function()
    return None


@internal("saved_model.signature_serialization.find_function_to_export")
def find_function_to_export(functions: dict[str, Any]) -> Any:
    """The function of an object that its only signature comes from: the one it names itself, or the only one there is."""
    if _DEFAULT_FUNCTION in functions:
        return functions[_DEFAULT_FUNCTION]
    candidates = [f for f in functions.values() if isinstance(f, ConcreteFunction) or getattr(f, "input_signature", None) is not None]
    return candidates[0] if len(candidates) == 1 else None


@internal("saved_model.signature_serialization.canonicalize_signatures")
def canonicalize_signatures(signatures: Any) -> dict[str, ConcreteFunction]:
    """{key: concrete function that takes tensors by name and returns a dictionary of tensors}."""
    if signatures is None:
        return {}
    if not isinstance(signatures, Mapping):
        signatures = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    found = {}
    for key, given in signatures.items():
        concrete = _as_signature(given)
        if concrete is None:
            raise ValueError(
                f"Expected a TensorFlow function to generate a signature for, but got {given}. Only `tf.functions` with an input "
                "signature or concrete functions can be used as a signature."
            )
        found[key] = _by_name(concrete, key)
    return found


def _by_name(concrete: ConcreteFunction, key: str) -> ConcreteFunction:
    def signature_wrapper(**kwargs: Any) -> dict[str, Any]:
        return _named_outputs(concrete(**kwargs), concrete.function_name, key)

    specs = {keyword: TensorSpec(t.shape, t.dtype, keyword) for keyword, t in zip(concrete._arg_keywords, concrete.inputs)}
    wrapped = function(signature_wrapper, autograph=False).get_concrete_function(**specs)
    # Names say what is what; only a single argument needs none.
    wrapped._num_positional_args = int(len(specs) == 1)
    return wrapped


def _named_outputs(outputs: Any, function_name: str, key: str) -> dict[str, Any]:
    if isinstance(outputs, Mapping):
        for name, value in outputs.items():
            if not isinstance(name, str):
                raise ValueError(
                    f"Got a dictionary with a non-string key {name!r} in the output of the function {function_name} used to "
                    f"generate the SavedModel signature {key!r}."
                )
            if not isinstance(value, Tensor):
                raise ValueError(
                    f"Got a dictionary containing non-Tensor value {value} for key {name} in the output of the function {function_name} "
                    "used to generate a SavedModel signature. Dictionaries outputs for functions used as signatures should have one "
                    "Tensor output per string key."
                )
        return dict(outputs)
    flat = outputs if isinstance(outputs, (list, tuple)) else nest.flatten(outputs, expand_composites=True)
    if not all(isinstance(t, Tensor) for t in flat):
        raise ValueError(
            f"Got non-flat outputs '{outputs}' from '{function_name}' for SavedModel signature '{key}'. Signatures have one Tensor per "
            "output, so to have predictable names Python functions used to generate these signatures should avoid outputting Tensors in "
            "nested structures."
        )
    return {f"output_{i}": t for i, t in enumerate(flat)}
