"""What types layers compute in and keep their variables in: tf.keras.mixed_precision.experimental.Policy."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.keras import config
from everflow.keras.v2_dtypes import v2_dtype_behavior_enabled
from everflow.platform import logging as tf_logging
from everflow.train.loss_scaling import MixedPrecision, loss_scale_of

_ROOM = "keras.mixed_precision.experimental.policy."
_FLOAT32_VARIABLES = "_with_float32_vars"
# Names that say both types: (what is computed in, what variables are kept in).
_NAMED = {
    "mixed_float16": ("float16", "float32"),
    "mixed_bfloat16": ("bfloat16", "float32"),
    "infer": (None, None),
    "infer" + _FLOAT32_VARIABLES: (None, "float32"),
}
_FROM_NAME = "USE_DEFAULT"


@public("keras.mixed_precision.experimental.Policy")
@internal(_ROOM + "Policy")
class Policy:
    """The type that a layer computes in, that of its variables, and how losses are scaled in training.

    `Policy("mixed_float16")` computes in half precision with variables of `float32`, and scales losses.
    """

    def __init__(self, name: str, loss_scale: Any = _FROM_NAME) -> None:
        if isinstance(name, dtypes.DType):
            raise TypeError(f"'name' must be a string, not a DType. Instead, pass DType.name. Got: {name.name}")
        if not isinstance(name, str):
            raise TypeError(f"'name' must be a string, but got: {name}")
        self._name = {"infer_float32_vars": "infer" + _FLOAT32_VARIABLES, "float32" + _FLOAT32_VARIABLES: "float32"}.get(name, name)
        self._compute_dtype, self._variable_dtype = _types_of(self._name)
        if isinstance(loss_scale, str) and loss_scale == _FROM_NAME:
            loss_scale = "dynamic" if name == "mixed_float16" else None
        elif loss_scale and self._compute_dtype not in (None, "float16"):
            tf_logging.warn(
                "Creating a Policy with a loss scale is only useful for float16 policies. You passed "
                f"loss_scale={loss_scale!r} for policy {name}. Consider not passing any loss_scale instead."
            )
        self._loss_scale = loss_scale_of(loss_scale)

    @property
    def name(self) -> str:
        """What the policy is called."""
        return self._name

    @property
    def compute_dtype(self) -> str | None:
        """The type that is computed in; None until the first input tells."""
        return self._compute_dtype

    @property
    def variable_dtype(self) -> str | None:
        """The type of variables; None until the first input tells."""
        return self._variable_dtype

    @property
    def should_cast_variables(self) -> bool:
        """Whether variables are of another type than what is computed of them."""
        return self._variable_dtype != self._compute_dtype

    @property
    def loss_scale(self) -> Any:
        """How losses are scaled, if they are."""
        return self._loss_scale

    def __repr__(self) -> str:
        return f'<Policy "{self._name}", loss_scale={self._loss_scale}>'


def _types_of(name: str) -> tuple[str | None, str | None]:
    if name in _NAMED:
        return _NAMED[name]
    base = name.removesuffix(_FLOAT32_VARIABLES)
    try:
        dtype = dtypes.as_dtype(base).name
    except TypeError:
        error = (
            f"Cannot convert value {name} to a mixed precision Policy. Valid policies include include those in the form "
            '"<dtype>" and "<dtype>_with_float32_vars", where <dtype> is the name of a dtype.'
        )
        if base != name:
            error += f" The value {name} ends with {_FLOAT32_VARIABLES}, but {base} cannot be converted to a DType"
        raise ValueError(error) from None
    return dtype, dtype if base == name else "float32"


@functools.cache
def plain_policy(dtype: str) -> Policy:
    """The policy of one type for all, or of none yet ("infer")."""
    return Policy(dtype)


@internal(_ROOM + "with_input_dtype")
def with_input_dtype(policy: Policy, dtype: Any) -> Policy:
    """What becomes of a policy that waits for the type of the first input."""
    assert not policy.compute_dtype
    name = dtypes.as_dtype(dtype).name
    if policy.variable_dtype is None and policy.loss_scale is None:
        return plain_policy(name)
    return Policy(name if policy.variable_dtype is None else name + _FLOAT32_VARIABLES, loss_scale=policy.loss_scale)


class _State:
    chosen: Policy | None = None


def _default() -> Policy:
    return plain_policy(config.floatx() if v2_dtype_behavior_enabled() else "infer")


@public("keras.mixed_precision.experimental.global_policy")
@internal(_ROOM + "global_policy")
def global_policy() -> Policy:
    """The policy of layers that are given no type: the default float type in programs for TensorFlow 2, else that of the first input."""
    return _default() if _State.chosen is None else _State.chosen


@internal(_ROOM + "policy_defaults_to_floatx")
def policy_defaults_to_floatx() -> bool:
    """Whether layers are of the default float type because nobody said otherwise."""
    return _State.chosen is None and v2_dtype_behavior_enabled()


@public("keras.mixed_precision.experimental.set_policy")
@internal(_ROOM + "set_policy")
def set_policy(policy: Any) -> None:
    """Sets the policy of layers that are given no type; None for the default."""
    if MixedPrecision.rewrites_graphs:
        raise ValueError(
            "The mixed precision policy cannot be set, because the mixed precision graph rewrite has already been enabled. "
            "Call either tf.train.experimental.enable_mixed_precision_graph_rewrite() (you called this first) or "
            "tf.keras.mixed_precision.experimental.set_policy() (you called this second), not both."
        )
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy(policy)
    if policy is not None and policy.compute_dtype is not None and not v2_dtype_behavior_enabled():
        raise ValueError("The global policy can only be set to a non-infer policy in TensorFlow 2")
    _State.chosen = policy
    MixedPrecision.policy_is_set = policy is not None


@internal(_ROOM + "policy_scope")
@contextlib.contextmanager
def policy_scope(policy: Any) -> Iterator[None]:
    """Sets the policy within a `with` block."""
    before = _State.chosen
    try:
        set_policy(policy)
        yield
    finally:
        _State.chosen = before
        MixedPrecision.policy_is_set = before is not None


def policy_for(dtype: Any) -> Policy:
    """The policy that a layer's argument `dtype` stands for."""
    if isinstance(dtype, Policy):
        return dtype
    if dtype is None:
        return global_policy()
    return plain_policy(getattr(dtype, "name", None) or dtypes.as_dtype(dtype).name)
