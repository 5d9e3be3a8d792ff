"""tf.contrib.model_pruning.Pruning: how many weights are masked at a step, and which."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.model_pruning.blocks import expand_tensor, factorized_pool, partitioned_variable_assign, variable_assign
from everflow.contrib.model_pruning.masks import get_masks, get_thresholds, get_weights
from everflow.graph.scopes import control_dependencies, name_scope
from everflow.ops.variables.partitioned import PartitionedVariable


@public("contrib.model_pruning.get_pruning_hparams")
def get_pruning_hparams() -> Any:
    """The settings of pruning: when it goes on, what part of weights it masks, and in what blocks."""
    return tf.contrib.training.HParams(
        name="model_pruning",
        begin_pruning_step=0,
        end_pruning_step=-1,
        weight_sparsity_map=[""],
        block_dims_map=[""],
        threshold_decay=0.0,
        pruning_frequency=10,
        nbins=256,
        block_height=1,
        block_width=1,
        block_pooling_function="AVG",
        initial_sparsity=0.0,
        target_sparsity=0.5,
        sparsity_function_begin_step=0,
        sparsity_function_end_step=100,
        sparsity_function_exponent=3.0,
        use_tpu=False,
    )


@public("contrib.model_pruning.Pruning")
class Pruning:
    """Masks the smallest weights of those that have masks. The part that is masked grows from `initial_sparsity` to `target_sparsity`."""

    def __init__(self, spec: Any = None, global_step: Any = None, sparsity: Any = None) -> None:
        self._spec = spec if spec else get_pruning_hparams()
        self._check()
        step = global_step if global_step is not None else tf.train.get_global_step()
        self._global_step = tf.cast(step, tf.int32)
        self._sparsity = sparsity if sparsity is not None else self._scheduled()
        with tf.variable_scope(self._spec.name, reuse=tf.AUTO_REUSE, use_resource=False):
            self._last_update_step = tf.get_variable(
                "last_mask_update_step", [], initializer=tf.zeros_initializer(), trainable=False, dtype=tf.int32
            )
        self._block_dims = [self._spec.block_height, self._spec.block_width]
        self._block_pooling_function = self._spec.block_pooling_function
        self._block_dims_map = _by_name(self._spec.block_dims_map, "block_dims_map", lambda text: [int(d) for d in text.split("x")])
        self._weight_sparsity_map = _by_name(self._spec.weight_sparsity_map, "weight_sparsity_map", float)
        if any(not 0.0 <= part <= 1.0 for part in self._weight_sparsity_map.values()):
            raise ValueError("Weight sparsity can not exceed 1.0")

    def _check(self) -> None:
        spec = self._spec
        starts, ends = (
            (spec.begin_pruning_step, spec.sparsity_function_begin_step),
            (spec.end_pruning_step, spec.sparsity_function_end_step),
        )
        wrong = {
            "Illegal value for begin_pruning_step": starts[0] < 0,
            f"Pruning must begin before it can end. begin_step={starts[0]}, end_step={ends[0]}."
            "Set end_pruning_step to -1 if pruning is required till training stops": starts[0] >= ends[0] != -1,
            "Illegal value for sparsity_function_begin_step": starts[1] < 0,
            "Sparsity function requires begin_step < end_step": starts[1] >= ends[1],
        }
        for share in ("threshold_decay", "initial_sparsity", "target_sparsity"):
            wrong[f"{share} must be in range [0,1)"] = not 0 <= getattr(spec, share) < 1
        for message, holds in wrong.items():
            if holds:
                raise ValueError(message)

    def _scheduled(self) -> Any:
        spec = self._spec
        start, end = spec.sparsity_function_begin_step, spec.sparsity_function_end_step
        with name_scope(spec.name):
            done = tf.clip_by_value(tf.cast(self._global_step - start, tf.float32) / (end - start), 0.0, 1.0)
            left = tf.pow(1 - done, spec.sparsity_function_exponent)
            return tf.add((spec.initial_sparsity - spec.target_sparsity) * left, spec.target_sparsity, name="sparsity")

    def _get_block_dims(self, weight_name: str) -> list[int]:
        found = _matching(self._block_dims_map, weight_name)
        return self._block_dims if found is None else found

    def _get_sparsity(self, weight_name: str) -> Any:
        found = _matching(self._weight_sparsity_map, weight_name)
        return self._sparsity if found is None else tf.multiply(self._sparsity, found / self._spec.target_sparsity)

    def _update_mask(self, weights: Any, threshold: Any, name: str | None = None) -> tuple[Any, Any]:
        """(threshold, mask) for weights: the smallest are below the threshold."""
        if self._sparsity is None:
            raise ValueError("Sparsity variable undefined")
        name = name or weights.op.name
        sparsity = self._get_sparsity(name)
        with name_scope(name + "_pruning_ops"):
            size = tf.size(weights)
            sizes = tf.abs(weights)
            kept = tf.cast(tf.round(tf.cast(size, tf.float32) * (1 - sparsity)), tf.int32)
            ordered = tf.nn.top_k(tf.reshape(sizes, [-1]), k=size).values
            found = tf.gather(ordered, tf.maximum(kept - 1, 0))
            decay = self._spec.threshold_decay
            smooth = tf.add(found * (1 - decay), threshold * decay)
            return smooth, tf.cast(tf.greater_equal(sizes, smooth), tf.float32)

    def _maybe_update_block_mask(self, weights: Any, threshold: Any) -> tuple[Any, Any]:
        """The same, with blocks of matrices kept or masked as one."""
        dims = self._get_block_dims(weights.op.name)
        squeezed = tf.squeeze(weights)
        if squeezed.shape.rank != 2 or dims == [1, 1]:
            return self._update_mask(weights, threshold)
        sizes = squeezed.shape.as_list()
        block = [size if dim == -1 else dim for dim, size in zip(dims, sizes)]
        kind = self._block_pooling_function
        if kind not in ("AVG", "MAX"):
            raise ValueError(f"Unknown pooling function for block sparsity: {kind}")
        pooled = factorized_pool(tf.abs(squeezed), block, kind, block, "SAME", weights.op.name + "_pooled")
        found, mask = self._update_mask(pooled, threshold, weights.op.name)
        whole = expand_tensor(mask, block)[: sizes[0], : sizes[1]]
        return found, tf.reshape(whole, weights.shape.as_list())

    def _get_mask_assign_ops(self) -> list[Any]:
        masks, weights, thresholds = get_masks(), get_weights(), get_thresholds()
        if len(masks) != len(thresholds):
            raise ValueError(f"Number of masks {len(masks)} and number of thresholds {len(thresholds)} mismatch")
        changes = []
        for mask, weight, threshold in zip(masks, weights, thresholds):
            in_parts = isinstance(weight, PartitionedVariable)
            found, new = self._maybe_update_block_mask(weight.as_tensor() if in_parts else weight, threshold)
            changes.append(variable_assign(threshold, found))
            changes.append(partitioned_variable_assign(mask, new) if isinstance(mask, PartitionedVariable) else variable_assign(mask, new))
        return changes

    def mask_update_op(self) -> Any:
        """An op that masks anew."""
        with name_scope(self._spec.name):
            with control_dependencies([tf.assign(self._last_update_step, self._global_step, name="last_mask_update_step_assign")]):
                with control_dependencies(self._get_mask_assign_ops()):
                    tf.logging.info("Updating masks.")
                    return tf.no_op("mask_update")

    def conditional_mask_update_op(self) -> Any:
        """The same, every `pruning_frequency` steps between the first and the last step of pruning."""
        spec, step = self._spec, self._global_step
        with name_scope(spec.name):
            is_time = tf.greater_equal(step, spec.begin_pruning_step)
            if spec.end_pruning_step >= 0:
                is_time = tf.logical_and(is_time, tf.less_equal(step, spec.end_pruning_step))
            is_time = tf.logical_and(is_time, tf.less_equal(tf.add(self._last_update_step, spec.pruning_frequency), step))
            return tf.cond(is_time, lambda: tf.group(self.mask_update_op()), tf.no_op)

    def add_pruning_summaries(self) -> None:
        """Summaries of sparsities and thresholds."""
        with name_scope(self._spec.name + "_summaries"):
            tf.summary.scalar("sparsity", self._sparsity)
            tf.summary.scalar("last_mask_update_step", self._last_update_step)
            for mask, threshold in zip(get_masks(), get_thresholds()):
                tf.summary.scalar(mask.op.name + "/sparsity", tf.nn.zero_fraction(mask))
                tf.summary.scalar(threshold.op.name + "/threshold", threshold)

    def print_hparams(self) -> None:
        """Logs the settings."""
        tf.logging.info(self._spec.to_json())


def _by_name(entries: Sequence[str], setting: str, read: Any) -> dict[Any, Any]:
    """{pattern: value} of entries such as "conv1:0.8"."""
    found: dict[Any, Any] = {}
    for entry in entries:
        if not entry:
            continue
        pattern, _, value = entry.rpartition(":")
        if not pattern:
            raise ValueError(f"Each entry of {setting} should be a name and a value such as conv1:0.8, not {entry}")
        found[re.compile(pattern)] = read(value)
    return found


def _matching(values: dict[Any, Any], name: str) -> Any:
    matches = [value for pattern, value in values.items() if pattern.search(name)]
    if len(matches) > 1:
        raise ValueError(f"Multiple matches in the map for weight {name}")
    return matches[0] if matches else None
