"""Non-maximum suppression: of boxes that overlap, the one with the highest score stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.shape_rules import axis_of, ranked
from everflow.ops.image.checks import exactly

Kernel = Callable[..., Any]
Overlap = Callable[[int], np.ndarray]


def _box_overlap(boxes: np.ndarray) -> Overlap:
    """Intersection over union of a box with all others; corners may be any two opposite ones."""
    top, bottom = np.minimum(boxes[:, 0], boxes[:, 2]), np.maximum(boxes[:, 0], boxes[:, 2])
    left, right = np.minimum(boxes[:, 1], boxes[:, 3]), np.maximum(boxes[:, 1], boxes[:, 3])
    areas = (bottom - top) * (right - left)

    def of(i: int) -> np.ndarray:
        down = np.maximum(np.minimum(bottom[i], bottom) - np.maximum(top[i], top), 0)
        across = np.maximum(np.minimum(right[i], right) - np.maximum(left[i], left), 0)
        shared = down * across
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where((areas[i] > 0) & (areas > 0), shared / (areas[i] + areas - shared), np.float32(0))

    return of


def _kept(scores: np.ndarray, overlap: Overlap, most: int, limit: float, least: float) -> list[int]:
    """The boxes that stay, best first; a box whose overlap with a better one reaches the limit does not."""
    order = np.argsort(-scores, kind="stable")
    alive = order[scores[order] > least]
    kept: list[int] = []
    while alive.size and len(kept) < most:
        best = int(alive[0])
        kept.append(best)
        alive = alive[1:]
        alive = alive[overlap(best)[alive] < limit]
    return kept


def _softly_kept(
    scores: np.ndarray, overlap: Overlap, most: int, limit: float, least: float, sigma: float
) -> tuple[list[int], list[float]]:
    """The same, where boxes that overlap lose score instead of being dropped at once."""
    left = scores.astype(np.float32).copy()
    left[left <= least] = -np.inf
    kept: list[int] = []
    final: list[float] = []
    while len(kept) < most and left.size:
        best = int(np.argmax(left))
        if left[best] == -np.inf:
            break
        kept.append(best)
        final.append(float(left[best]))
        left[best] = -np.inf
        shared = overlap(best)
        weight = np.exp(np.float32(-0.5 / sigma) * shared * shared)
        left = np.where(shared < limit, left * weight, -np.inf)
        left[left <= least] = -np.inf
    return kept, final


def _check(boxes: Any, scores: Any, columns: int | None = 4) -> None:
    if boxes.ndim != 2:
        raise invalid_argument(f"boxes must be 2-D{list(boxes.shape)}")
    if columns is not None and boxes.shape[1] != columns:
        raise invalid_argument("boxes must have 4 columns")
    if scores.ndim != 1:
        raise invalid_argument(f"scores must be 1-D{list(scores.shape)}")
    if scores.shape[0] != boxes.shape[0]:
        raise invalid_argument("scores has incompatible shape")


def _limit(value: Any, name: str = "iou_threshold") -> float:
    found = float(value)
    if not 0 <= found <= 1:
        raise invalid_argument(f"{name} must be in [0, 1]")
    return found


def _numpy(t: Any) -> np.ndarray:
    return t.cpu().to(torch.float32).numpy()


def _int32(values: Any) -> Any:
    return torch.tensor(values, dtype=torch.int32)


def _suppress(node: Node) -> Kernel:
    fixed = node.attr("iou_threshold") if "iou_threshold" in node.attrs else None

    def run(boxes: Any, scores: Any, most: Any, limit: Any = None, least: Any = None) -> Any:
        _check(boxes, scores)
        bound = _limit(fixed if limit is None else limit)
        floor = -np.inf if least is None else float(least)
        return _int32(_kept(_numpy(scores), _box_overlap(_numpy(boxes)), int(most), bound, floor))

    return run


def _padded(node: Node) -> Kernel:
    pad = node.attr("pad_to_max_output_size")

    def run(boxes: Any, scores: Any, most: Any, limit: Any, least: Any) -> Any:
        _check(boxes, scores)
        kept = _kept(_numpy(scores), _box_overlap(_numpy(boxes)), int(most), _limit(limit), float(least))
        return _int32(kept + [0] * (int(most) - len(kept)) if pad else kept), _int32(len(kept))

    return run


def _soft(node: Node) -> Kernel:
    pad = node.attr("pad_to_max_output_size")

    def run(boxes: Any, scores: Any, most: Any, limit: Any, least: Any, sigma: Any) -> Any:
        _check(boxes, scores)
        values, overlap, count = _numpy(scores), _box_overlap(_numpy(boxes)), int(most)
        if float(sigma) < 0:
            raise invalid_argument("soft_nms_sigma must be >= 0")
        if float(sigma):
            kept, final = _softly_kept(values, overlap, count, _limit(limit), float(least), float(sigma))
        else:
            kept = _kept(values, overlap, count, _limit(limit), float(least))
            final = values[kept].tolist()
        valid = len(kept)
        if pad:
            kept, final = kept + [0] * (count - valid), final + [0.0] * (count - valid)
        return _int32(kept), torch.tensor(final, dtype=scores.dtype), _int32(valid)

    return run


def _by_overlaps(node: Node) -> Kernel:
    def run(overlaps: Any, scores: Any, most: Any, limit: Any, least: Any) -> Any:
        if overlaps.ndim != 2 or overlaps.shape[0] != overlaps.shape[1]:
            raise invalid_argument(f"overlaps must be square{list(overlaps.shape)}")
        if scores.ndim != 1:
            raise invalid_argument(f"scores must be 1-D{list(scores.shape)}")
        if scores.shape[0] != overlaps.shape[0]:
            raise invalid_argument("scores has incompatible shape")
        table = _numpy(overlaps)
        return _int32(_kept(_numpy(scores), lambda i: table[:, i], int(most), float(limit), float(least)))

    return run


def _combined(node: Node) -> Kernel:
    per_class, clip = node.attr("pad_per_class"), node.attr("clip_boxes")

    def run(boxes: Any, scores: Any, most_of_class: Any, most: Any, limit: Any, least: Any) -> Any:
        if boxes.ndim != 4:
            raise invalid_argument(f"boxes must be 4-D{list(boxes.shape)}")
        if scores.ndim != 3:
            raise invalid_argument(f"scores must be 3-D{list(scores.shape)}")
        bound, floor, each, total = _limit(limit), float(least), int(most_of_class), int(most)
        if total <= 0:
            raise invalid_argument("max_total_size must be > 0")
        if each <= 0:
            raise invalid_argument("max_size_per_class must be > 0")
        # Other than the ops for one class, this one keeps a box whose overlap is just the limit.
        above = np.nextafter(np.float32(bound), np.float32(2))
        all_boxes, all_scores = _numpy(boxes), _numpy(scores)
        batch, _, classes = all_scores.shape
        size = min(total, each * classes) if per_class else total
        out_boxes, out_scores = np.zeros((batch, size, 4), np.float32), np.zeros((batch, size), np.float32)
        out_classes, valid = np.zeros((batch, size), np.float32), np.zeros(batch, np.int32)
        for b in range(batch):
            found = []
            for c in range(classes):
                own = all_boxes[b, :, c if all_boxes.shape[2] > 1 else 0]
                kept = _kept(all_scores[b, :, c], _box_overlap(own), each, above, floor)
                found += [(all_scores[b, i, c], c, own[i]) for i in kept]
            found.sort(key=lambda entry: -entry[0])
            found = found[:size]
            for i, (score, c, box) in enumerate(found):
                out_scores[b, i], out_classes[b, i] = score, c
                out_boxes[b, i] = np.clip(box, 0, 1) if clip else box
            valid[b] = len(found)
        return tuple(torch.from_numpy(a) for a in (out_boxes, out_scores, out_classes, valid))

    return run


def _check_shapes(o: Operation) -> None:
    boxes, scores = shapes.with_rank(o.inputs[0].dims, 2), shapes.with_rank(o.inputs[1].dims, 1)
    for size in o.inputs[2:]:
        shapes.with_rank(size.dims, 0)
    shapes.merge_size(boxes[0], scores[0])
    exactly(boxes[1], 4)


def _indices_shape(o: Operation) -> Any:
    _check_shapes(o)
    return (None,)


def _padded_shape(o: Operation) -> Any:
    _check_shapes(o)
    size = (axis_of(o, 2),) if o.attr("pad_to_max_output_size") else (None,)
    return [size, ()] if len(o.outputs) == 2 else [size, size, ()]


def _combined_shape(o: Operation) -> Any:
    boxes, scores = shapes.with_rank(o.inputs[0].dims, 4), shapes.with_rank(o.inputs[1].dims, 3)
    each, total, classes = axis_of(o, 2), axis_of(o, 3), scores[2]
    if total is not None and total <= 0:
        raise ValueError("max_total_size should be > 0 ")
    size = total
    if o.attr("pad_per_class"):
        size = None if None in (each, total, classes) else min(total, each * classes)  # type: ignore[operator,type-var]
    return [(boxes[0], size, 4), (boxes[0], size), (boxes[0], size), (boxes[0],)]


op("NonMaxSuppression", kernel=_suppress, shape=_indices_shape, gradient=not_differentiable)
op("NonMaxSuppressionV2", kernel=_suppress, shape=_indices_shape, gradient=not_differentiable)
op("NonMaxSuppressionV3", kernel=_suppress, shape=_indices_shape)
op("NonMaxSuppressionV4", kernel=_padded, shape=_padded_shape)
op("NonMaxSuppressionV5", kernel=_soft, shape=_padded_shape)
op("NonMaxSuppressionWithOverlaps", kernel=_by_overlaps, shape=ranked(lambda o: (None,), 2, 1, 0, 0, 0), gradient=not_differentiable)
op("CombinedNonMaxSuppression", kernel=_combined, shape=_combined_shape)


@public("image.non_max_suppression")
def non_max_suppression(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5, score_threshold: Any = float("-inf"), name: str | None = None
) -> Any:
    """The boxes that stay, best first, when those that overlap a better one are dropped."""
    with name_scope(name, "non_max_suppression"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        return apply("NonMaxSuppressionV3", boxes, scores, max_output_size, iou_threshold, score_threshold)


@public("image.non_max_suppression_with_scores")
def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    soft_nms_sigma: Any = 0.0,
    name: str | None = None,
) -> Any:
    """The boxes that stay and their scores; with a sigma, overlapping boxes lose score instead of being dropped."""
    with name_scope(name, "non_max_suppression_with_scores"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        soft_nms_sigma = convert_to_tensor(soft_nms_sigma, name="soft_nms_sigma")
        kept, final, _ = apply(
            "NonMaxSuppressionV5",
            boxes,
            scores,
            max_output_size,
            iou_threshold,
            score_threshold,
            soft_nms_sigma,
            pad_to_max_output_size=False,
        )
        return kept, final


@public("image.non_max_suppression_padded")
def non_max_suppression_padded(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> Any:
    """The boxes that stay, filled up with zeros to a fixed number if asked, and how many of them count."""
    with name_scope(name, "non_max_suppression_padded"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        return apply(
            "NonMaxSuppressionV4",
            boxes,
            scores,
            max_output_size,
            iou_threshold,
            score_threshold,
            pad_to_max_output_size=pad_to_max_output_size,
        )


@public("image.non_max_suppression_overlaps")
def non_max_suppression_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> Any:
    """The same for overlaps that the caller has computed."""
    with name_scope(name, "non_max_suppression_overlaps"):
        overlap_threshold = convert_to_tensor(overlap_threshold, name="overlap_threshold")
        return apply("NonMaxSuppressionWithOverlaps", overlaps, scores, max_output_size, overlap_threshold, score_threshold)


@public("image.combined_non_max_suppression")
def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> Any:
    """Suppression for a batch, class by class; the best of all classes together stay."""
    with name_scope(name, "combined_non_max_suppression"):
        iou_threshold = convert_to_tensor(iou_threshold, dtypes.float32, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, dtypes.float32, name="score_threshold")
        return apply(
            "CombinedNonMaxSuppression",
            boxes,
            scores,
            max_output_size_per_class,
            max_total_size,
            iou_threshold,
            score_threshold,
            pad_per_class=pad_per_class,
            clip_boxes=clip_boxes,
        )
