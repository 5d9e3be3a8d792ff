"""Gives the weights of recurrent networks in a checkpoint the names that they have since 1.1 (`kernel` and `bias`)."""

from __future__ import annotations

import argparse
import collections
import sys
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.train.checkpoints.state import V1, V2

_HOME = "contrib.rnn.python.tools.checkpoint_convert"

public(_HOME)(sys.modules[__name__])

# Where weights were called `weights` and `biases`, by those who made them.
_LAYERS = (
    *("basic_rnn_cell", "gru_cell", "gru_cell/gates", "gru_cell/candidate", "basic_lstm_cell", "lstm_cell", "lstm_cell/projection"),
    *("output_projection_wrapper", "input_projection_wrapper", "lstm_block_wrapper", "layer_norm_basic_lstm_cell", "ugrnn_cell"),
    "nas_rnn",
    *("intersection_rnn_cell", "intersection_rnn_cell/in_projection"),
    *("phased_lstm_cell/mask_gates", "phased_lstm_cell/new_input", "phased_lstm_cell/output_gate"),
    *("attention_cell_wrapper", "attention_cell_wrapper/attn_output_projection", "attention_cell_wrapper/attention"),
    *("attention_decoder", "attention_decoder/Attention_0", "attention_decoder/AttnOutputProjection"),
)

# Programs read this table to know the older names of weights.
RNN_NAME_REPLACEMENTS = collections.OrderedDict(
    [
        *(
            (f"{layer}/{old}", f"{layer}/{new}")
            for layer in _LAYERS
            for old, new in (("weights", "kernel"), ("recurrent_weights", "recurrent_kernel") if layer == "nas_rnn" else ("biases", "bias"))
        ),
        *(
            (f"attention_decoder/{layer}Linear/{old}", f"attention_decoder/{layer}{new}")
            for layer in ("Attention_0/", "AttnOutputProjection/")
            for old, new in (("Bias", "bias"), ("Matrix", "kernel"))
        ),
        ("attention_decoder/LSTMCell/B", "attention_decoder/lstm_cell/bias"),
        ("attention_decoder/LSTMCell/W_0", "attention_decoder/lstm_cell/kernel"),
        ("attention_decoder/Linear/Bias", "attention_decoder/bias"),
        ("attention_decoder/Linear/Matrix", "attention_decoder/kernel"),
    ]
)


def new_name(name: str) -> str:
    """What a variable is called now."""
    old = next((old for old in RNN_NAME_REPLACEMENTS if old in name), None)
    if old is None:
        return name
    found = name.replace(old, RNN_NAME_REPLACEMENTS[old])
    tf.logging.info("Converted: %s --> %s", name, found)
    return found


def convert_names(
    checkpoint_from_path: str, checkpoint_to_path: str, write_v1_checkpoint: bool = False
) -> tuple[dict[str, Any], dict[str, str]]:
    """Writes a checkpoint again with new names; returns the variables by their new names, and new names by the old ones that changed."""
    tf.logging.info("Reading checkpoint_from_path %s", checkpoint_from_path)
    with tf.Graph().as_default(), tf.Session() as session:
        reader = tf.train.NewCheckpointReader(checkpoint_from_path)
        names = {name: new_name(name) for name in reader.get_variable_to_shape_map()}
        variables = {new: tf.Variable(reader.get_tensor(old), name=old) for old, new in names.items()}
        session.run(tf.global_variables_initializer())
        tf.logging.info("Writing checkpoint_to_path %s", checkpoint_to_path)
        tf.train.Saver(variables, write_version=V1 if write_v1_checkpoint else V2).save(session, checkpoint_to_path)
    tf.logging.info("Summary:")
    tf.logging.info("  Converted %d variable name(s).", len(variables))
    return variables, {old: new for old, new in names.items() if old != new}


def command(arguments: list[str]) -> None:
    """`python -m tensorflow.contrib.rnn.python.tools.checkpoint_convert`."""
    parser = argparse.ArgumentParser(prog="checkpoint_convert", description=__doc__)
    parser.add_argument("checkpoint_from_path", help="checkpoint to read")
    parser.add_argument("checkpoint_to_path", help="checkpoint to write")
    parser.add_argument("--write_v1_checkpoint", action="store_true", help="write the format of version 1")
    given = parser.parse_args(arguments)
    convert_names(given.checkpoint_from_path, given.checkpoint_to_path, given.write_v1_checkpoint)


if __name__ == "__main__":
    command(sys.argv[1:])
