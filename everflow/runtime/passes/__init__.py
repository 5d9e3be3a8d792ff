"""Rewrites of a plan before code is made of it, which change nothing but speed: functions of the plan, and tables of rules (patterns)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from everflow.runtime.passes import showing
from everflow.runtime.passes.added_convolutions import add_convolutions
from everflow.runtime.passes.biases import fuse_biases, sum_small_gradients
from everflow.runtime.passes.broadcast_gradients import find_broadcast_axes, sum_to_shape
from everflow.runtime.passes.compiled_parts import compile_parts
from everflow.runtime.passes.concat_gradients import slice_concat_gradients
from everflow.runtime.passes.constants import fold_constants
from everflow.runtime.passes.early_shapes import measure_early
from everflow.runtime.passes.elementwise_groups import group_elementwise
from everflow.runtime.passes.fixed_parts import compute_ahead
from everflow.runtime.passes.host_sizes import keep_sizes_on_host
from everflow.runtime.passes.identities import drop_default_scales, drop_identities, drop_reshapes
from everflow.runtime.passes.known_quotients import find_known_quotients
from everflow.runtime.passes.late_spreading import spread_late
from everflow.runtime.passes.matrix_products import add_products, sum_products, transpose_matrices_once
from everflow.runtime.passes.normalized_convolutions import normalize_in_convolutions
from everflow.runtime.passes.overwritten_inputs import overwrite_inputs
from everflow.runtime.passes.padded_normalizations import pad_normalizations
from everflow.runtime.passes.pending_enqueues import begin_enqueues
from everflow.runtime.passes.pooling import (
    pool_before_relu,
    pool_convolutions,
    rectify_maxima,
    share_pooling_positions,
    sum_before_spreading,
)
from everflow.runtime.passes.python_functions import run_python_functions_together
from everflow.runtime.passes.random_masks import draw_masks
from everflow.runtime.passes.rectified_normalizations import rectify_normalizations
from everflow.runtime.passes.resized_images import resize_single_images
from everflow.runtime.passes.row_regions import join_rows
from everflow.runtime.passes.single_rows import take_rows
from everflow.runtime.passes.subexpressions import share_subexpressions
from everflow.runtime.passes.used_results import ask_for_used_results
from everflow.runtime.passes.variable_updates import batch_optimizer_steps, scale_updates, take_counted_powers, take_values
from everflow.runtime.plan import Plan

PASSES = (
    begin_enqueues,
    run_python_functions_together,
    drop_identities,
    find_known_quotients,
    fold_constants,
    drop_default_scales,
    find_broadcast_axes,
    share_subexpressions,
    sum_to_shape,
    drop_reshapes,
    slice_concat_gradients,
    compute_ahead,
    sum_products,
    take_rows,
    fuse_biases,
    draw_masks,
    pool_before_relu,
    pool_convolutions,
    rectify_maxima,
    share_pooling_positions,
    sum_before_spreading,
    scale_updates,
    take_counted_powers,
    batch_optimizer_steps,
    add_convolutions,
    normalize_in_convolutions,
    rectify_normalizations,
    pad_normalizations,
    resize_single_images,
    compile_parts,
    measure_early,
    spread_late,
    join_rows,
    sum_small_gradients,
    group_elementwise,
    add_products,
    overwrite_inputs,
    take_values,
    transpose_matrices_once,
    keep_sizes_on_host,
    ask_for_used_results,
)


def run(plan: Plan, passes: Iterable[Callable[[Plan], bool]] = PASSES) -> None:
    """Runs the passes in order; shows what each does if EVERFLOW_DEBUG=passes asks for that."""
    plan.drop_unused()
    before = showing.listed(plan) if showing.is_asked_for() else None
    if before is not None:
        showing.show(f"plan for {', '.join(v.node.name for v in plan.fetches) or 'effects'}", before)
    for rewrite in passes:
        if rewrite(plan):
            plan.drop_unused()
            if before is not None:
                before = _shown(rewrite, before, showing.listed(plan))


def _shown(rewrite: Callable[[Plan], bool], before: list[str], after: list[str]) -> list[str]:
    if before != after:
        showing.show(f"{rewrite.__name__}: {len(before)} nodes, then {len(after)}", showing.changes(before, after))
    return after
