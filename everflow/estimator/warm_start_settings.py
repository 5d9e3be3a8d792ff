"""What variables start from when they start from another model."""

from __future__ import annotations

import collections
import os
from typing import Any

import everflow as tf
from everflow.api import public


@public("estimator.WarmStartSettings")
class WarmStartSettings(
    collections.namedtuple(
        "WarmStartSettings", ["ckpt_to_initialize_from", "vars_to_warm_start", "var_name_to_vocab_info", "var_name_to_prev_var_name"]
    )
):
    """A checkpoint, which variables to take from it, and what their names and vocabularies were there."""

    def __new__(
        cls,
        ckpt_to_initialize_from: Any,
        vars_to_warm_start: Any = ".*",
        var_name_to_vocab_info: Any = None,
        var_name_to_prev_var_name: Any = None,
    ) -> WarmStartSettings:
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(
            cls, ckpt_to_initialize_from, vars_to_warm_start, var_name_to_vocab_info or {}, var_name_to_prev_var_name or {}
        )


def settings_for(warm_start_from: Any) -> Any:
    """The settings that a path or settings stand for."""
    if warm_start_from is None:
        return None
    if isinstance(warm_start_from, (str, bytes)):
        warm_start_from = os.fsdecode(warm_start_from)
        variables = os.path.join(warm_start_from, "variables", "variables")
        if tf.gfile.Exists(variables + ".index"):
            tf.logging.info("Warm-starting from a SavedModel")
            return WarmStartSettings(ckpt_to_initialize_from=variables)
        return WarmStartSettings(ckpt_to_initialize_from=warm_start_from)
    if isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    raise ValueError(f"warm_start_from must be a string or a WarmStartSettings, instead got {type(warm_start_from)}")
