"""The arithmetic of a beam search: scores, the best continuations, and tensors that follow their beams."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.contrib.seq2seq.attention_wrapper import AttentionWrapperState
from everflow.contrib.seq2seq.memory import size_of
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import TensorShape
from everflow.ops.control_flow.bodies import is_tensor_array

HOME = "contrib.seq2seq.python.ops.beam_search_decoder."

_State = namedtuple(  # type: ignore[name-match]
    "BeamSearchDecoderState", ("cell_state", "log_probs", "finished", "lengths", "accumulated_attention_probs")
)
_Output = namedtuple("BeamSearchDecoderOutput", ("scores", "predicted_ids", "parent_ids"))  # type: ignore[name-match]
_Final = namedtuple("FinalBeamDecoderOutput", ("predicted_ids", "beam_search_decoder_output"))  # type: ignore[name-match]


@public("contrib.seq2seq.BeamSearchDecoderState")
class BeamSearchDecoderState(_State):
    """What a beam search knows after a step: of each beam the cell's state, its log-probability, whether it ended, its length."""


@public("contrib.seq2seq.BeamSearchDecoderOutput")
class BeamSearchDecoderOutput(_Output):
    """What a step gives: of each beam its score, its last id, and the beam that it continues."""


@public("contrib.seq2seq.FinalBeamSearchDecoderOutput")
class FinalBeamSearchDecoderOutput(_Final):
    """What a search gives: the best sequences, and the outputs of its steps."""


@internal(HOME + "_tile_batch")
def _tiled(t: Any, multiplier: Any) -> Any:
    t = convert_to_tensor(t, name="t")
    shape = tf.shape(t)
    rank = t.shape.rank
    if rank is None or rank < 1:
        raise ValueError("t must have statically known rank")
    static = t.shape.as_list()[0]
    tiled = tf.tile(tf.expand_dims(t, 1), [1, multiplier, *[1] * (rank - 1)])
    tiled = tf.reshape(tiled, tf.concat(([shape[0] * multiplier], shape[1:]), 0))
    size = static * multiplier if static is not None and isinstance(multiplier, int) else None
    tiled.set_shape(TensorShape([size]).concatenate(t.shape[1:]))
    return tiled


@public("contrib.seq2seq.tile_batch")
def tile_batch(t: Any, multiplier: Any, name: str | None = None) -> Any:
    """Each element of a batch so many times in a row: what a search with `multiplier` beams needs of memories and states."""
    with name_scope(name, "tile_batch", [*nest.flatten(t), multiplier]):
        return nest.map_structure(lambda part: _tiled(part, multiplier), t)


@internal(HOME + "gather_tree_from_array")
def gather_tree_from_array(t: Any, parent_ids: Any, sequence_length: Any) -> Any:
    """A stacked array [time, batch, beam, ...] in the order of the final beams rather than of those at each step.

    Batch and beam may be one axis, [time, batch * beam, ...]."""
    max_time, batch_size, beam_width = (size_of(parent_ids, axis) for axis in range(3))
    beams = tf.tile(tf.reshape(tf.range(beam_width), [1, 1, -1]), [max_time, batch_size, 1])
    longest = tf.cast(tf.reduce_max(sequence_length, axis=1), "int32")
    found = tf.contrib.seq2seq.gather_tree(step_ids=beams, parent_ids=parent_ids, max_sequence_lengths=longest, end_token=beam_width + 1)
    inside = tf.transpose(tf.sequence_mask(sequence_length, maxlen=max_time), perm=[2, 0, 1])
    found = tf.where(inside, x=found, y=beams)
    times = tf.tile(tf.reshape(tf.range(max_time), [-1, 1, 1]), [1, batch_size, beam_width])
    rows = tf.tile(tf.reshape(tf.range(batch_size), [1, -1, 1]), [max_time, 1, beam_width])
    by_beam = tf.reshape(t, [max_time, batch_size, beam_width, -1])
    ordered = tf.reshape(tf.gather_nd(by_beam, tf.stack([times, rows, found], -1)), tf.shape(t))
    ordered.set_shape(t.shape)
    return ordered


@internal(HOME + "_check_ndims")
def check_rank(t: Any) -> None:
    """Raises ValueError unless the rank is known."""
    if t.shape.rank is None:
        raise ValueError(f"Expected tensor ({t}) to have known rank, but ndims == None.")


@internal(HOME + "_check_static_batch_beam_maybe")
def fits_beams(shape: Any, batch_size: Any, beam_width: int) -> bool:
    """Whether the order of beams can be restored in elements of this shape; warns if not.

    As in TensorFlow, what is known to be a matrix [batch * beam, n] can't: it stays a TensorArray.
    """
    sizes = shape.as_list()
    if batch_size is None or sizes[0] is None:
        return True
    if sizes[0] == batch_size * beam_width and (len(sizes) < 2 or sizes[1] is None or (sizes[0], sizes[1]) == (batch_size, beam_width)):
        return True
    tf.logging.warn(
        "TensorArray reordering expects elements to be reshapable to %s which is incompatible with the current shape %s. Consider setting "
        "reorder_tensor_arrays to False to disable TensorArray reordering during the beam search.",
        TensorShape([batch_size, beam_width, None]),
        shape,
    )
    return False


@internal(HOME + "_check_batch_beam")
def check_beams(t: Any, batch_size: Any, beam_width: int) -> Any:
    """An op that fails unless a stacked array is [time, batch * beam, ...] or [time, batch, beam, ...]."""
    shape = tf.shape(t)
    condition = tf.equal(shape[1], batch_size * beam_width)
    if t.shape.rank != 2:
        condition = tf.logical_or(condition, tf.logical_and(tf.equal(shape[1], batch_size), tf.equal(shape[2], beam_width)))
    return tf.Assert(
        condition,
        [
            f"TensorArray reordering expects elements to be reshapable to [batch_size, beam_size, -1] which is incompatible with the "
            f"dynamic shape of {t.name} elements. Consider setting reorder_tensor_arrays to False to disable TensorArray reordering "
            f"during the beam search."
        ],
    )


@internal(HOME + "attention_probs_from_attn_state")
def attention_probs_from_attn_state(attention_state: Any) -> Any:
    """The alignments of an AttentionWrapperState; their mean where it looks at several memories."""
    return _mean(attention_state.alignments) if isinstance(attention_state.alignments, tuple) else attention_state.alignments


def _mean(parts: Any) -> Any:
    return tf.reduce_mean(tf.concat([tf.expand_dims(part, -1) for part in parts], axis=-1), axis=-1)


@internal(HOME + "get_attention_probs")
def get_attention_probs(next_cell_state: Any, coverage_penalty_weight: Any) -> Any:
    """Where the cells looked; None where nobody asks (the weight is zero)."""
    if coverage_penalty_weight == 0.0:
        return None
    states = [next_cell_state]
    if not isinstance(next_cell_state, AttentionWrapperState):
        states = list(next_cell_state) if isinstance(next_cell_state, tuple) else []
    found = [attention_probs_from_attn_state(s) for s in states if isinstance(s, AttentionWrapperState)]
    if not found:
        raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
    return found[0] if len(found) == 1 else _mean(found)


@internal(HOME + "_length_penalty")
def length_penalty(sequence_lengths: Any, penalty_factor: Any) -> Any:
    """`((5 + length) / 6) ** factor`, by which log-probabilities are divided; 1 where the factor is zero."""
    penalty_factor = convert_to_tensor(penalty_factor, name="penalty_factor")
    penalty_factor.set_shape(())
    known = constant_value(penalty_factor)
    if known is not None and known == 0:
        return 1.0
    return tf.div((5.0 + tf.cast(sequence_lengths, "float32")) ** penalty_factor, (5.0 + 1.0) ** penalty_factor)


@internal(HOME + "_get_scores")
def scores_of(
    log_probs: Any,
    sequence_lengths: Any,
    length_penalty_weight: Any,
    coverage_penalty_weight: Any,
    finished: Any,
    accumulated_attention_probs: Any,
) -> Any:
    """Log-probabilities [batch, beam, classes], corrected for length and for what of the memory was not looked at."""
    penalty = tf.cast(length_penalty(sequence_lengths, length_penalty_weight), dtype=log_probs.dtype)
    scores = log_probs / penalty
    coverage_penalty_weight = convert_to_tensor(coverage_penalty_weight, name="coverage_penalty_weight")
    if coverage_penalty_weight.shape.rank != 0:
        raise ValueError(f"coverage_penalty_weight should be a scalar, but saw shape: {coverage_penalty_weight.shape}")
    if accumulated_attention_probs is None:
        if constant_value(coverage_penalty_weight) != 0.0:
            raise ValueError("accumulated_attention_probs can be None only if coverage penalty is disabled.")
        return scores
    # What is exactly zero is beyond the end of the memory.
    seen = tf.where(tf.equal(accumulated_attention_probs, 0.0), tf.ones_like(accumulated_attention_probs), accumulated_attention_probs)
    coverage = tf.reduce_sum(tf.log(tf.minimum(seen, 1.0)), 2)
    weighted = coverage * tf.cast(finished, "float32") * coverage_penalty_weight
    return scores + tf.expand_dims(weighted, 2)


@internal(HOME + "_mask_probs")
def end_after_finished(probs: Any, eos_token: Any, finished: Any) -> Any:
    """Log-probabilities of the next id, of which finished beams have only one: the end again."""
    classes = tf.shape(probs)[2]
    only_end = tf.one_hot(
        eos_token, classes, dtype=probs.dtype, on_value=convert_to_tensor(0.0, dtype=probs.dtype), off_value=probs.dtype.min
    )
    ends = tf.tile(tf.reshape(only_end, [1, 1, -1]), tf.concat([tf.shape(finished), [1]], 0))
    return tf.where(tf.tile(tf.expand_dims(finished, 2), [1, 1, classes]), ends, probs)


@internal(HOME + "_tensor_gather_helper")
def of_beams(gather_indices: Any, gather_from: Any, batch_size: Any, range_size: Any, gather_shape: Any, name: str | None = None) -> Any:
    """Of each row of a batch the elements at these indices; `range_size` is the number of elements a row has."""
    with name_scope(name, "tensor_gather_helper"):
        first = tf.expand_dims(tf.range(batch_size) * range_size, 1)
        picked = tf.gather(tf.reshape(gather_from, gather_shape), tf.reshape(gather_indices + first, [-1]))
        kept = gather_from.shape.rank if len(gather_shape) > 1 else 2
        static = TensorShape([constant_value(batch_size) if isinstance(batch_size, tf.Tensor) else batch_size])
        picked = tf.reshape(picked, tf.shape(gather_from)[:kept], name="output")
        picked.set_shape(static.concatenate(gather_from.shape[1:kept]))
        return picked


@internal(HOME + "_maybe_tensor_gather_helper")
def of_beams_if_any(gather_indices: Any, gather_from: Any, batch_size: Any, range_size: Any, gather_shape: Any) -> Any:
    """The same for a part of a state, which stays what it is if it has no beams: a TensorArray, a counter."""
    if is_tensor_array(gather_from):
        return gather_from
    check_rank(gather_from)
    if gather_from.shape.rank < len(gather_shape):
        return gather_from
    return of_beams(gather_indices, gather_from, batch_size, range_size, gather_shape)


@internal(HOME + "_beam_search_step")
def beam_search_step(
    time: Any,
    logits: Any,
    next_cell_state: Any,
    beam_state: Any,
    batch_size: Any,
    beam_width: int,
    end_token: Any,
    length_penalty_weight: Any,
    coverage_penalty_weight: Any,
) -> tuple[Any, Any]:
    """The best continuations of all beams by all ids: (what the step gives, the state after it)."""
    static_batch = constant_value(batch_size) if isinstance(batch_size, tf.Tensor) else batch_size
    before = beam_state.finished
    going_on = tf.logical_not(before)
    step_log_probs = end_after_finished(tf.nn.log_softmax(logits), end_token, before)
    total = tf.expand_dims(beam_state.log_probs, 2) + step_log_probs
    classes = size_of(logits, -1)
    longer = tf.one_hot(
        indices=tf.fill([batch_size, beam_width], end_token),
        depth=classes,
        on_value=tf.constant(0, dtype="int64"),
        off_value=tf.constant(1, dtype="int64"),
        dtype="int64",
    )
    longer *= tf.expand_dims(tf.cast(going_on, "int64"), 2)
    lengths = longer + tf.expand_dims(beam_state.lengths, 2)
    accumulated = None
    attention = get_attention_probs(next_cell_state, coverage_penalty_weight)
    if attention is not None:
        attention *= tf.expand_dims(tf.cast(going_on, "float32"), 2)
        accumulated = beam_state.accumulated_attention_probs + attention
    scores = scores_of(
        log_probs=total,
        sequence_lengths=lengths,
        length_penalty_weight=length_penalty_weight,
        coverage_penalty_weight=coverage_penalty_weight,
        finished=before,
        accumulated_attention_probs=accumulated,
    )
    best, places = tf.nn.top_k(tf.reshape(scores, [batch_size, -1]), k=convert_to_tensor(beam_width, dtype="int32", name="beam_width"))
    best.set_shape([static_batch, beam_width])
    places.set_shape([static_batch, beam_width])
    log_probs = of_beams(places, total, batch_size, beam_width * classes, [-1], name="next_beam_probs")
    ids = tf.cast(tf.mod(places, classes, name="next_beam_word_ids"), "int32")
    parents = tf.cast(tf.floordiv(places, classes), "int32", name="next_beam_parent_ids")
    finished = of_beams(parents, before, batch_size, beam_width, [-1])
    next_finished = tf.logical_or(finished, tf.equal(ids, end_token), name="next_beam_finished")
    next_lengths = of_beams(parents, beam_state.lengths, batch_size, beam_width, [-1])
    next_lengths += tf.cast(tf.logical_not(finished), "int64")
    rows = [batch_size * beam_width, -1]
    next_accumulated: Any = ()
    if accumulated is not None:
        next_accumulated = of_beams(parents, accumulated, batch_size, beam_width, rows, name="next_accumulated_attention_probs")
    next_cell_state = nest.map_structure(lambda part: of_beams_if_any(parents, part, batch_size, beam_width, rows), next_cell_state)
    state = BeamSearchDecoderState(
        cell_state=next_cell_state,
        log_probs=log_probs,
        lengths=next_lengths,
        finished=next_finished,
        accumulated_attention_probs=next_accumulated,
    )
    return BeamSearchDecoderOutput(scores=best, predicted_ids=ids, parent_ids=parents), state
