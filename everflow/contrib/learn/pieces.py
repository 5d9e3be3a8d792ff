"""tf.contrib.learn.ops: small pieces of models: losses, embeddings, sequences to sequences."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.learn.publishing import learn

_LOSSES, _EMBEDDINGS, _SEQUENCES = "ops.losses_ops", "ops.embeddings_ops", "ops.seq2seq_ops"


@learn(_LOSSES, "mean_squared_error_regressor")
def mean_squared_error_regressor(tensor_in: Any, labels: Any, weights: Any, biases: Any, name: str | None = None) -> tuple[Any, Any]:
    """Linear predictions, and their mean squared error."""
    with tf.name_scope(name, "mean_squared_error_regressor", [tensor_in, labels]):
        found = tf.nn.xw_plus_b(tensor_in, weights, biases)
        ranks = (len(labels.get_shape()), len(found.get_shape()))
        found = tf.squeeze(found, axis=[1]) if ranks == (1, 2) else found
        return found, tf.losses.mean_squared_error(labels, found)


@learn(_LOSSES, "softmax_classifier")
def softmax_classifier(
    tensor_in: Any, labels: Any, weights: Any, biases: Any, class_weight: Any = None, name: str | None = None
) -> tuple[Any, Any]:
    """Probabilities of classes, and their cross entropy; logits may be weighted by class."""
    with tf.name_scope(name, "softmax_classifier", [tensor_in, labels]):
        scores = tf.nn.xw_plus_b(tensor_in, weights, biases)
        scores = scores if class_weight is None else tf.multiply(scores, class_weight)
        return tf.nn.softmax(scores), tf.losses.softmax_cross_entropy(labels, scores)


@learn(_EMBEDDINGS, "embedding_lookup")
def embedding_lookup(params: Any, ids: Any, name: str = "embedding_lookup") -> Any:
    """The vectors of ids of any shape."""
    with tf.name_scope(name, "embedding_lookup", [params, ids]):
        params, ids = tf.convert_to_tensor(params), tf.convert_to_tensor(ids)
        shape = tf.shape(ids)
        flat = tf.reshape(ids, tf.reduce_prod(shape, keepdims=True))
        found = tf.reshape(tf.nn.embedding_lookup(params, flat, name=name), tf.concat([shape, [-1]], 0))
        found.set_shape(ids.get_shape().concatenate(params.get_shape()[1:]))
        return found


@learn(_EMBEDDINGS, "categorical_variable")
def categorical_variable(tensor_in: Any, n_classes: int, embedding_size: int, name: str) -> Any:
    """The vectors of classes, of a variable of its own."""
    with tf.variable_scope(name):
        return embedding_lookup(tf.get_variable(name + "_embeddings", [n_classes, embedding_size]), tensor_in)


@learn(_SEQUENCES, "sequence_classifier")
def sequence_classifier(decoding: Any, labels: Any, sampling_decoding: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """Probabilities for each step, and the sum of their cross entropies."""
    with tf.name_scope(name, "sequence_classifier", [decoding, labels]):
        entropies = [
            tf.nn.softmax_cross_entropy_with_logits(labels=labels[i], logits=logits, name=f"sequence_loss/xent_raw{i}")
            for i, logits in enumerate(decoding)
        ]
        predictions = [tf.nn.softmax(logits) for logits, _ in zip(sampling_decoding or decoding, decoding)]
        loss = tf.reduce_sum(tf.add_n(entropies, name="sequence_loss/xent"), name="sequence_loss")
        return tf.stack(predictions, axis=1), loss


@learn(_SEQUENCES, "seq2seq_inputs")
def seq2seq_inputs(
    x: Any, y: Any, input_length: int, output_length: int, sentinel: Any = None, name: str | None = None
) -> tuple[list[Any], list[Any], list[Any]]:
    """Steps of the input, and those of the output after and before a mark."""
    with tf.name_scope(name, "seq2seq_inputs", [x, y]):
        steps, outputs = tf.unstack(x, axis=1), tf.unstack(y, axis=1)
        if sentinel is None:
            sentinel = tf.zeros(tf.stack([tf.shape(x)[0], outputs[0].get_shape()[1]]))
            sentinel.set_shape(outputs[0].get_shape())
        return steps, [sentinel, *outputs], [*outputs, sentinel]


@learn(_SEQUENCES, "rnn_decoder")
def rnn_decoder(decoder_inputs: Any, initial_state: Any, cell: Any, scope: Any = None) -> tuple[Any, Any, Any, Any]:
    """Outputs and states for given inputs, and the same where each output is the next input."""
    with tf.variable_scope(scope or "dnn_decoder"):
        states, outputs = [initial_state], []
        with tf.name_scope("training", values=[*decoder_inputs]):
            for i, given in enumerate(decoder_inputs):
                if i > 0:
                    tf.get_variable_scope().reuse_variables()
                output, state = cell(given, states[-1])
                outputs.append(output)
                states.append(state)
        sampled_states: list[Any] = [initial_state]
        sampled: list[Any] = []
        with tf.name_scope("sampling"):
            for i in range(len(decoder_inputs)):
                # The first step is that of training.
                output, state = (outputs[0], states[0]) if i == 0 else cell(sampled[-1], sampled_states[-1])
                sampled.append(output)
                sampled_states.append(state)
    return outputs, states, sampled, sampled_states


@learn(_SEQUENCES, "rnn_seq2seq")
def rnn_seq2seq(
    encoder_inputs: Any, decoder_inputs: Any, encoder_cell: Any, decoder_cell: Any = None, dtype: Any = tf.float32, scope: Any = None
) -> tuple[Any, Any, Any, Any]:
    """Decodes from the last state of an encoder."""
    with tf.variable_scope(scope or "rnn_seq2seq"):
        _, state = tf.nn.static_rnn(encoder_cell, encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, decoder_cell or encoder_cell)
