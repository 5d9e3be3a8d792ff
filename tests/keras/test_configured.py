"""Configs follow from constructors: the keys of TensorFlow's in their order (measured with 1.15.5), values as they are written."""

import inspect

import pytest

import everflow as tf

layers = tf.keras.layers
BASE = ["name", "trainable", "dtype"]
RUN = ["return_sequences", "return_state", "go_backwards", "stateful", "unroll", "time_major"]


def named_in_signature(layer, *without):
    return [n for n in inspect.signature(type(layer)).parameters if n not in ("kwargs", "name", "trainable", *RUN, *without)]


@pytest.mark.parametrize(
    "layer",
    [
        lambda: layers.Dense(2),
        lambda: layers.Conv1D(2, 3),
        lambda: layers.Conv2D(2, 3),
        lambda: layers.Conv3D(2, 3),
        lambda: layers.LocallyConnected1D(2, 3),
        lambda: layers.LocallyConnected2D(2, 3),
        lambda: layers.Embedding(2, 3, input_shape=()),
        lambda: layers.LayerNormalization(),
        lambda: layers.PReLU(),
        lambda: layers.GRUCell(2),
        lambda: layers.LSTMCell(2),
        lambda: layers.SimpleRNNCell(2),
    ],
)
def test_a_config_has_the_arguments_in_the_order_of_the_signature(layer):
    made = layer()
    keys = [k for k in made.get_config() if k != "batch_input_shape"]
    assert keys == BASE + named_in_signature(made)


@pytest.mark.parametrize("layer", [layers.SimpleRNN, layers.GRU, layers.LSTM])
def test_a_recurrent_config_has_how_it_runs_before_what_its_cell_takes(layer):
    made = layer(2)
    assert list(made.get_config()) == BASE + RUN + named_in_signature(made)


def test_pooling_writes_its_keys_in_two_orders():
    assert list(layers.MaxPooling1D().get_config())[3:] == ["strides", "pool_size", "padding", "data_format"]
    assert list(layers.MaxPooling2D().get_config())[3:] == ["pool_size", "padding", "strides", "data_format"]


def test_what_a_base_class_takes_and_a_layer_does_not_is_not_written():
    depthwise = layers.DepthwiseConv2D(3).get_config()
    assert not {"filters", "kernel_initializer", "kernel_regularizer", "kernel_constraint"} & set(depthwise)
    assert list(depthwise)[-4:] == ["depth_multiplier", "depthwise_initializer", "depthwise_regularizer", "depthwise_constraint"]
    assert "dilation_rate" not in layers.Conv3DTranspose(2, 3).get_config()
    assert "output_padding" in layers.Conv3DTranspose(2, 3).get_config()


def test_batch_normalization_writes_renormalization_only_where_it_is_used():
    plain = layers.BatchNormalization().get_config()
    assert not {"renorm", "renorm_clipping", "renorm_momentum", "virtual_batch_size", "fused", "adjustment"} & set(plain)
    renormed = layers.BatchNormalization(renorm=True, virtual_batch_size=2).get_config()
    assert list(renormed)[-4:] == ["renorm", "renorm_clipping", "renorm_momentum", "virtual_batch_size"]
    with pytest.raises(ValueError, match="contains keys not in"):
        layers.BatchNormalization(renorm=True, renorm_clipping={"most": 1.0})


def test_objects_given_by_name_are_made_and_written_as_data():
    dense = layers.Dense(2, activation="relu", kernel_regularizer="l2", bias_constraint="non_neg", activity_regularizer="l1")
    assert dense.activation is tf.keras.activations.relu
    assert isinstance(dense.activity_regularizer, tf.keras.regularizers.Regularizer)
    config = dense.get_config()
    assert config["activation"] == "relu"
    assert config["bias_constraint"] == {"class_name": "NonNeg", "config": {}}
    assert config["kernel_regularizer"]["class_name"] == config["activity_regularizer"]["class_name"] == "L1L2"
    assert layers.Dense.from_config(config).get_config() == config


def test_a_subclass_with_arguments_of_its_own_writes_those_of_its_base():
    class Scaled(layers.Dense):
        def __init__(self, factor, **kwargs):
            super().__init__(units=2, **kwargs)
            self.factor = factor

    assert list(Scaled(3.0).get_config()) == list(layers.Dense(2).get_config())


def test_the_signature_stays_and_wrong_arguments_are_pythons_to_refuse():
    assert list(inspect.signature(tf.layers.Conv2D).parameters)[:3] == ["filters", "kernel_size", "strides"]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'kernel_size'"):
        layers.Conv2D(3)
    with pytest.raises(TypeError, match="Keyword argument not understood"):
        layers.Dense(3, colour="red")
