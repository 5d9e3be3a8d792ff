"""Connectionist temporal classification: the loss of label sequences under networks that emit labels and blanks over time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import SparseTensor
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import ranked
from everflow.platform.deprecation import deprecated_argument_lookup as either

Kernel = Callable[..., Any]


@internal("ops.nn_grad._BroadcastMul")
def scaled_rows(vec: Any, mat: Any) -> Any:
    """The rows of a matrix, each times its element of a vector: what libraries of losses write their gradients with."""
    return tf.expand_dims(vec, -1) * mat


def _label_rows(indices: Any, values: Any, batch: int, blank: int) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in range(batch)]
    for (b, _), value in zip(indices.tolist(), values.tolist()):
        if not 0 <= b < batch:
            raise invalid_argument(f"labels batch index must be between 0 and {batch} but saw: {b}")
        rows[b].append(value)
    for b, row in enumerate(rows):
        for at, value in enumerate(row):
            if value >= blank:
                following = [v for v in row[at:] if v < blank]
                if following:
                    raise invalid_argument(
                        "Saw a non-null label (index >= num_classes - 1) following a null label, batch: "
                        f"{b} num_classes: {blank + 1} labels: {','.join(map(str, row))} labels seen so far: "
                        f"{','.join(map(str, row[:at]))}"
                    )
                rows[b] = row[:at]
                break
            if value < 0:
                raise invalid_argument(f"All labels must be nonnegative integers, batch: {b} labels: {','.join(map(str, row))}")
    return rows


class _Lattice:
    """The states of a batch: a blank, then each label followed by a blank."""

    def __init__(self, rows: list[list[int]], blank: int, merge_repeated: bool, device: Any) -> None:
        longest = max((len(r) for r in rows), default=0)
        states = np.full((len(rows), 2 * longest + 1), blank, np.int64)
        for b, row in enumerate(rows):
            states[b, 1 : 2 * len(row) : 2] = row
        self.states = torch.from_numpy(states).to(device)
        self.sizes = torch.tensor([2 * len(r) + 1 for r in rows], device=device)
        places = torch.arange(states.shape[1], device=device)
        is_label = self.states != blank
        self.inside = places[None] < self.sizes[:, None]
        skips = is_label.clone()
        skips[:, :2] = False
        if merge_repeated:
            skips[:, 2:] &= self.states[:, 2:] != self.states[:, :-2]
        never = torch.tensor(float("-inf"), dtype=torch.float64, device=device)
        none = torch.zeros((), dtype=torch.float64, device=device)
        # Costs of going on to a state from itself and from two states before it.
        self.stay = torch.where(is_label & (not merge_repeated), never, none)
        self.skip = torch.where(skips, none, never)
        # A sequence ends in its last label or in the blank after it.
        last = places[None] - self.sizes[:, None]
        self.end = torch.where((last == -1) | ((last == -2) & (self.sizes[:, None] > 1)), none, never)
        self.start = torch.where((places[None] < 2) & self.inside, none, never)


def _shifted(x: Any, by: int) -> Any:
    """States moved up (or down, for negative numbers), with no way in at the end."""
    out = torch.full_like(x, float("-inf"))
    if by > 0:
        out[:, by:] = x[:, :-by] if x.shape[1] > by else x[:, :0]
    elif x.shape[1] > -by:
        out[:, :by] = x[:, -by:]
    return out


def _either(*ways: Any) -> Any:
    return torch.logsumexp(torch.stack(ways), 0)


def _loss_and_gradient(logits: Any, lengths: Any, lattice: _Lattice) -> tuple[Any, Any]:
    steps, batch, classes = logits.shape
    log_p = torch.log_softmax(logits.double(), 2)
    emitted = log_p.gather(2, lattice.states[None].expand(steps, -1, -1))
    alive = [(t < lengths)[:, None] for t in range(steps)]
    forward = [lattice.start + emitted[0]]
    for t in range(1, steps):
        before = forward[-1]
        ways = _either(before + lattice.stay, _shifted(before, 1), _shifted(before, 2) + lattice.skip)
        forward.append(torch.where(alive[t], ways + emitted[t], before))
    total = torch.logsumexp(forward[-1] + lattice.end, 1)
    backward = [lattice.end]
    for t in range(steps - 1, 0, -1):
        after = backward[-1] + emitted[t]
        ways = _either(after + lattice.stay, _shifted(after, -1), _shifted(after + lattice.skip, -2))
        backward.append(torch.where(alive[t], ways, backward[-1]))
    backward.reverse()
    possible = torch.isfinite(total)
    share = torch.stack(forward) + torch.stack(backward) - torch.where(possible, total, 0.0)[None, :, None]
    share = torch.where(lattice.inside & possible[:, None], share.exp(), 0.0)
    expected = torch.zeros_like(log_p).scatter_add_(2, lattice.states[None].expand(steps, -1, -1), share)
    gradient = torch.where(torch.stack(alive), log_p.exp() - expected, 0.0)
    return -total, gradient


def _ctc(node: Node) -> Kernel:
    collapse, merge = node.attr("preprocess_collapse_repeated"), node.attr("ctc_merge_repeated")
    ignore_longer = node.attr("ignore_longer_outputs_than_inputs")

    def run(logits: Any, indices: Any, values: Any, lengths: Any) -> Any:
        if logits.ndim != 3:
            raise invalid_argument("inputs is not a 3-Tensor")
        steps, batch, classes = logits.shape
        if batch == 0:
            raise invalid_argument("batch_size must not be 0")
        if lengths.shape != (batch,):
            raise invalid_argument(f"len(sequence_length) != batch_size.  len(sequence_length):  {lengths.shape[0]} batch_size: {batch}")
        if indices.shape[0] != values.shape[0]:
            raise invalid_argument(
                "labels_indices and labels_values must contain the same number of rows, but saw shapes: "
                f"{shapes.describe(indices.shape)} vs. {shapes.describe(values.shape)}"
            )
        if int(lengths.max()) > steps:
            raise invalid_argument(f"sequence_length({int(lengths.argmax())}) <= {steps}")
        rows = _label_rows(indices, values, batch, classes - 1)
        if collapse:
            rows = [[v for i, v in enumerate(r) if i == 0 or v != r[i - 1]] for r in rows]
        too_long = [len(row) > length for row, length in zip(rows, lengths.tolist())]
        if any(too_long) and not ignore_longer:
            b = too_long.index(True)
            raise invalid_argument(
                "Not enough time for target transition sequence (required: "
                f"{len(rows[b])}, available: {int(lengths[b])}){b}"
                "You can turn this error into a warning by using the flag ignore_longer_outputs_than_inputs"
            )
        lattice = _Lattice([[] if skip else row for row, skip in zip(rows, too_long)], classes - 1, merge, logits.device)
        loss, gradient = _loss_and_gradient(logits, lengths.to(logits.device), lattice)
        left_out = torch.tensor(too_long, device=logits.device) | (lengths.to(logits.device) == 0)
        loss, gradient = torch.where(left_out, 0.0, loss), torch.where(left_out[None, :, None], 0.0, gradient)
        return loss.to(logits.dtype), gradient.to(logits.dtype)

    return run


def _ctc_shape(o: Operation) -> Any:
    inputs, lengths = shapes.with_rank(o.inputs[0].dims, 3), shapes.with_rank(o.inputs[3].dims, 1)
    shapes.with_rank(o.inputs[1].dims, 2)
    batch = shapes.merge_size(inputs[1], lengths[0])
    return [(batch,), (inputs[0], batch, inputs[2])]


def _ctc_gradient(o: Operation, of_loss: Any, _: Any) -> Any:
    found = apply(
        "PreventGradient",
        o.outputs[1],
        message=(
            "Currently there is no way to take the second derivative of ctc_loss due to the fused implementation's interaction with "
            "tf.gradients()"
        ),
    )
    return [tf.expand_dims(tf.expand_dims(of_loss, -1), 0) * found, None, None, None]


op("CTCLoss", kernel=_ctc, shape=ranked(_ctc_shape, 3, 2, 1, 1), gradient=_ctc_gradient)


@public("nn.ctc_loss")
def ctc_loss(
    labels: Any,
    inputs: Any = None,
    sequence_length: Any = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: Any = None,
) -> Any:
    """The loss of sparse labels, of which the last class is the blank."""
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    inputs = either("logits", logits, "inputs", inputs)
    inputs = convert_to_tensor(inputs, name="logits")
    if not time_major:
        inputs = tf.transpose(inputs, [1, 0, 2])
    loss, _ = apply(
        "CTCLoss",
        inputs,
        labels.indices,
        labels.values,
        sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )
    return loss


@public("nn.ctc_loss_v2")
def ctc_loss_v2(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Any:
    """The loss of dense or sparse labels, with any class as the blank."""
    if not isinstance(labels, SparseTensor):
        return ctc_loss_dense(labels, logits, label_length, logit_length, logits_time_major, unique, blank_index or 0, name)
    if blank_index is None:
        raise ValueError("blank_index must be given when using SparseTensor labels.")
    logits, labels = _blank_last(logits, labels, blank_index)
    return ctc_loss(labels=labels, inputs=logits, sequence_length=logit_length, time_major=logits_time_major)


@internal("ops.ctc_ops.ctc_loss_dense")
def ctc_loss_dense(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int = 0,
    name: str | None = None,
) -> Any:
    """The same for dense labels; what `unique` says the kernel finds out by itself."""
    with name_scope(name, "ctc_loss_dense", [logits, labels, label_length, logit_length]):
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        label_length = convert_to_tensor(label_length, name="label_length")
        logit_length = convert_to_tensor(logit_length, name="logit_length")
        logits, sparse = _blank_last(logits, dense_labels_to_sparse(labels, label_length), blank_index)
        return ctc_loss(labels=sparse, inputs=logits, sequence_length=tf.cast(logit_length, tf.int32), time_major=logits_time_major)


def _blank_last(logits: Any, labels: SparseTensor, blank: int) -> tuple[Any, SparseTensor]:
    """Logits and labels with the blank moved behind all other classes."""
    logits = convert_to_tensor(logits, name="logits")
    classes = logits.dims[2]
    blank = blank + classes if blank < 0 else blank
    if blank == classes - 1:
        return logits, labels
    logits = tf.concat([logits[:, :, :blank], logits[:, :, blank + 1 :], logits[:, :, blank : blank + 1]], axis=2)
    values = tf.where(labels.values < blank, labels.values, labels.values - 1)
    return logits, SparseTensor(labels.indices, values, labels.dense_shape)


@internal("ops.ctc_ops.dense_labels_to_sparse")
def dense_labels_to_sparse(dense: Any, length: Any) -> SparseTensor:
    """The first so many labels of each row."""
    dense = convert_to_tensor(dense)
    mask = tf.sequence_mask(length, maxlen=tf.shape(dense)[1])
    longest = tf.cast(tf.reduce_max(length), tf.int64)
    values = tf.cast(tf.boolean_mask(dense, mask), tf.int32)
    return SparseTensor(tf.where(mask), values, tf.stack([tf.shape(dense, out_type=tf.int64)[0], longest]))


@public("nn.collapse_repeated")
@internal("ops.ctc_ops.collapse_repeated")
def collapse_repeated(labels: Any, seq_length: Any, name: str | None = None) -> tuple[Any, Any]:
    """Rows of labels without immediate repetitions, and their new lengths."""
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = convert_to_tensor(labels, name="labels")
        seq_length = convert_to_tensor(seq_length, name="seq_length")
        differs = tf.concat([tf.ones_like(labels[:, :1], tf.bool), tf.not_equal(labels[:, 1:], labels[:, :-1])], axis=1)
        kept = tf.logical_and(differs, tf.sequence_mask(seq_length, maxlen=tf.shape(labels)[1]))
        lengths = tf.reduce_sum(tf.cast(kept, seq_length.dtype), axis=1)
        width = tf.reduce_max(lengths)
        places = tf.where(tf.sequence_mask(lengths, maxlen=width))
        dims = tf.stack([tf.shape(labels, out_type=tf.int64)[0], tf.cast(width, tf.int64)])
        return tf.scatter_nd(places, tf.boolean_mask(labels, kept), dims), lengths


@public("nn.ctc_unique_labels")
def ctc_unique_labels(labels: Any, name: str | None = None) -> tuple[Any, Any]:
    """Each row's different labels in order, filled up with zeros, and where each label is among them."""
    with name_scope(name, "ctc_unique_labels", [labels]):
        labels = convert_to_tensor(labels, name="labels")
        same = tf.equal(labels[:, :, None], labels[:, None, :])
        first = tf.argmax(tf.cast(same, tf.int32), axis=2, output_type=tf.int32)
        is_first = tf.equal(first, tf.range(tf.shape(labels)[1])[None])
        rank = tf.cumsum(tf.cast(is_first, tf.int32), axis=1) - 1
        index = tf.gather(rank, first, batch_dims=1)
        count = tf.reduce_sum(tf.cast(is_first, tf.int32), axis=1)
        places = tf.where(tf.sequence_mask(count, maxlen=tf.shape(labels)[1]))
        unique = tf.scatter_nd(places, tf.boolean_mask(labels, is_first), tf.shape(labels, out_type=tf.int64))
        return unique, index
