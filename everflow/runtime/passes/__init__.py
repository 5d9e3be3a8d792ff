"""Rewrites of a plan before code is made of it. Each is one function that changes nothing but speed."""
from __future__ import annotations

from everflow.runtime.passes.borders import surround_normalized
from everflow.runtime.passes.broadcasts import resolve_broadcasts
from everflow.runtime.passes.buffers import reuse_buffers, take_restored
from everflow.runtime.passes.constants import fold_constants
from everflow.runtime.passes.elementwise import fuse_elementwise
from everflow.runtime.passes.first_layers import pool_first_layers
from everflow.runtime.passes.fusion import fuse_conv_bias, fuse_matmul_bias, pool_before_relu, share_pooling
from everflow.runtime.passes.host import keep_sizes_on_host
from everflow.runtime.passes.identities import drop_default_scales, drop_identities
from everflow.runtime.passes.inference import fold_normalizations
from everflow.runtime.passes.joins import add_products, join_products, narrow_parts, transpose_once
from everflow.runtime.passes.normalization import rectify_normalized
from everflow.runtime.passes.pictures import resize_single_pictures
from everflow.runtime.passes.python_functions import run_together
from everflow.runtime.passes.residuals import add_residuals
from everflow.runtime.passes.results import ask_for_used_results
from everflow.runtime.passes.rows import take_rows
from everflow.runtime.passes.subexpressions import share_subexpressions
from everflow.runtime.passes.sums import sum_to_shape
from everflow.runtime.passes.updates import batch_updates, scale_updates
from everflow.runtime.plan import Plan

PASSES = (
    run_together, drop_identities, fold_constants, drop_default_scales, resolve_broadcasts, share_subexpressions, sum_to_shape,
    narrow_parts, join_products, take_rows, fuse_matmul_bias, fuse_conv_bias, pool_before_relu, pool_first_layers, share_pooling,
    scale_updates, batch_updates, add_residuals, fold_normalizations, rectify_normalized, surround_normalized, resize_single_pictures,
    fuse_elementwise, add_products, reuse_buffers, take_restored, transpose_once, keep_sizes_on_host, ask_for_used_results,
)


def run(plan: Plan, passes: tuple = PASSES) -> None:
    """Runs the passes in order."""
    for rewrite in passes:
        rewrite(plan)
        plan.drop_unused()
