"""Whether layers are of the default float type, as in TensorFlow 2, or of the type of their first input."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from everflow.api import internal
from everflow.platform import version2_switch


class _State:
    # None: as the program's version says.
    enabled: bool | None = None


@internal("keras.engine.base_layer_utils.v2_dtype_behavior_enabled")
def v2_dtype_behavior_enabled() -> bool:
    """Whether layers are of the default float type and cast their inputs to it."""
    return version2_switch.enabled() if _State.enabled is None else _State.enabled


@internal("keras.engine.base_layer_utils.enable_v2_dtype_behavior")
def enable_v2_dtype_behavior() -> None:
    """Has layers be of the default float type."""
    _State.enabled = True


@internal("keras.engine.base_layer_utils.disable_v2_dtype_behavior")
def disable_v2_dtype_behavior() -> None:
    """Has layers be of the type of their inputs."""
    _State.enabled = False


@contextlib.contextmanager
def v2_dtype_behavior(enabled: bool) -> Iterator[None]:
    """Sets it within a `with` block."""
    before, _State.enabled = _State.enabled, enabled
    try:
        yield
    finally:
        _State.enabled = before
