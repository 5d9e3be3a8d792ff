"""Ops that initialize a model when it is loaded."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.scopes import control_dependencies


@public("saved_model.main_op.main_op")
def main_op() -> Any:
    """Initializes variables and tables."""
    return tf.group(tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer())


@public("saved_model.main_op_with_restore", "saved_model.main_op.main_op_with_restore")
def main_op_with_restore(restore_op_name: str) -> Any:
    """Initializes variables and tables, then restores."""
    with control_dependencies([main_op()]):
        return tf.group(restore_op_name)
