"""Batch and layer normalization with arguments that are seldom given; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import plain, refused

import everflow as tf

L, K, keras = tf.keras.layers, tf.keras.backend, tf.keras
V2 = tf.compat.v2.keras.layers.BatchNormalization


def some(*shape):
    return np.sin(np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(np.float32)


def digest(x):
    x = np.asarray(x, np.float64)
    return plain(x, 4) if x.size < 7 else [list(x.shape), float(f"{(x.ravel() * np.cos(np.arange(x.size))).sum():.4g}")]


def normalized(layer, x, training, fill=True, steps=2):
    """The output after some updates, and all variables by name."""
    place = (
        tf.placeholder(tf.float32, [None, *x.shape[1:]]) if layer.dtype != "float16" else tf.placeholder(tf.float16, [None, *x.shape[1:]])
    )
    fed = {} if not isinstance(training, str) else {"phase": tf.placeholder_with_default(training == "on", ())}
    out = layer(place, training=fed.get("phase", training))
    if fill:
        layer.set_weights([np.abs(some(*w.shape)) + 0.5 for w in layer.get_weights()])
    for _ in range(steps):
        found, _ = K.get_session().run([out, layer.updates], {place: x})
    return [digest(found), {w.name.split("/")[-1]: digest(K.get_value(w)) for w in layer.weights}, len(layer.updates), found.dtype.name]


def statistics(layer, shape):
    layer.build(shape)
    return [[w.name, w.shape.as_list(), w.trainable, w.dtype.base_dtype.name] for w in layer.weights]


def again(layer):
    config = layer.get_config()
    assert type(layer).from_config(config).get_config() == config
    return {k: v for k, v in config.items() if not k.endswith(("initializer", "regularizer", "constraint"))}


B, N = L.BatchNormalization, L.LayerNormalization
FLAT, IMAGE, SEQ = some(4, 3), some(2, 3, 2, 3), some(2, 3, 4)
shifted = lambda shape: (tf.fill([shape[0], 1], 2.0), tf.fill([shape[0], 1], 0.5))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: normalized(B(), FLAT, True),
            [
                [[4, 3], 0.2631],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.4914, 1.316, 1.381],
                    "moving_variance:0": [0.4913, 1.325, 1.4],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(), FLAT, False),
            [
                [[4, 3], 0.8224],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.5, 1.341, 1.409],
                    "moving_variance:0": [0.5, 1.341, 1.409],
                },
                0,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(), FLAT, "on"),
            [
                [[4, 3], 0.2631],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.4914, 1.316, 1.381],
                    "moving_variance:0": [0.4913, 1.325, 1.4],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(), FLAT, "off"),
            [
                [[4, 3], 0.8224],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.5, 1.341, 1.409],
                    "moving_variance:0": [0.5, 1.341, 1.409],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(momentum=0.5, epsilon=0.1), FLAT, True),
            [
                [[4, 3], 0.5961],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.1763, 0.3724, 0.341],
                    "moving_variance:0": [0.1717, 0.7101, 1.051],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(center=False), FLAT, True),
            [
                [[4, 3], 0.8854],
                {"gamma:0": [0.5, 1.341, 1.409], "moving_mean:0": [0.4914, 1.316, 1.381], "moving_variance:0": [0.4913, 1.325, 1.4]},
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(scale=False), FLAT, False),
            [
                [[4, 3], -0.2483],
                {"beta:0": [0.5, 1.341, 1.409], "moving_mean:0": [0.5, 1.341, 1.409], "moving_variance:0": [0.5, 1.341, 1.409]},
                0,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(), IMAGE, True),
            [
                [[2, 3, 2, 3], 4.514],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.4909, 1.316, 1.382],
                    "moving_variance:0": [0.5008, 1.32, 1.397],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(), IMAGE, "off"),
            [
                [[2, 3, 2, 3], 2.242],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.5, 1.341, 1.409],
                    "moving_variance:0": [0.5, 1.341, 1.409],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(), IMAGE, "on"),
            [
                [[2, 3, 2, 3], 4.514],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.4909, 1.316, 1.382],
                    "moving_variance:0": [0.5008, 1.32, 1.397],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(center=False, scale=False, momentum=0.7), IMAGE, True),
            [
                [[2, 3, 2, 3], 0.7878],
                {"moving_mean:0": [0.2678, 0.6885, 0.7015], "moving_variance:0": [0.5199, 0.7862, 1.093]},
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(center=False, epsilon=0.2), IMAGE, False),
            [
                [[2, 3, 2, 3], 3.227],
                {"gamma:0": [0.5, 1.341, 1.409], "moving_mean:0": [0.5, 1.341, 1.409], "moving_variance:0": [0.5, 1.341, 1.409]},
                0,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(axis=1, fused=False), IMAGE, True),
            [
                [[2, 3, 2, 3], 0.03223],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.4908, 1.316, 1.382],
                    "moving_variance:0": [0.4998, 1.324, 1.391],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(axis=2), IMAGE, True),
            [
                [[2, 3, 2, 3], -12.44],
                {"gamma:0": [0.5, 1.341], "beta:0": [0.5, 1.341], "moving_mean:0": [0.4936, 1.313], "moving_variance:0": [0.4991, 1.324]},
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(axis=2), IMAGE, False),
            [
                [[2, 3, 2, 3], 4.092],
                {"gamma:0": [0.5, 1.341], "beta:0": [0.5, 1.341], "moving_mean:0": [0.5, 1.341], "moving_variance:0": [0.5, 1.341]},
                0,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(axis=[1, 3]), IMAGE, True),
            [
                [[2, 3, 2, 3], 3.731],
                {
                    "gamma:0": [[1, 3, 1, 3], 0.9999],
                    "beta:0": [[1, 3, 1, 3], 0.9999],
                    "moving_mean:0": [[1, 3, 1, 3], 0.9815],
                    "moving_variance:0": [[1, 3, 1, 3], 0.9885],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(axis=[1, 2]), SEQ, False),
            [
                [[2, 3, 4], 1.354],
                {
                    "gamma:0": [[1, 3, 4], -0.7005],
                    "beta:0": [[1, 3, 4], -0.7005],
                    "moving_mean:0": [[1, 3, 4], -0.7005],
                    "moving_variance:0": [[1, 3, 4], -0.7005],
                },
                0,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(fused=False), IMAGE, True),
            [
                [[2, 3, 2, 3], 4.514],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.4909, 1.316, 1.382],
                    "moving_variance:0": [0.4999, 1.319, 1.396],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(axis=1), SEQ, True),
            [
                [[2, 3, 4], 1.457],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.4985, 1.307, 1.383],
                    "moving_variance:0": [0.4949, 1.321, 1.393],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(renorm=True), FLAT, True),
            [
                [[4, 3], 0.3175],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.4914, 1.316, 1.381],
                    "moving_variance:0": [0.2441, 1.765, 1.96],
                    "moving_stddev:0": [0.4951, 1.329, 1.4],
                    "renorm_mean:0": [0.4914, 1.316, 1.381],
                    "renorm_stddev:0": [0.4951, 1.329, 1.4],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(renorm=True, renorm_clipping={"rmin": 0.8, "rmax": 1.2, "dmax": 0.3}, renorm_momentum=0.5), FLAT, True),
            [
                [[4, 3], 0.2573],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.4914, 1.316, 1.381],
                    "moving_variance:0": [0.2441, 1.765, 1.96],
                    "moving_stddev:0": [0.4951, 1.329, 1.4],
                    "renorm_mean:0": [0.1763, 0.3724, 0.341],
                    "renorm_stddev:0": [0.3137, 0.866, 1.076],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(renorm=True, axis=1, momentum=0.6), SEQ, True),
            [
                [[2, 3, 4], 0.4542],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.4533, 0.2278, 0.5675],
                    "moving_variance:0": [0.2468, 0.6855, 0.9877],
                    "moving_stddev:0": [0.4978, 0.8285, 0.9943],
                    "renorm_mean:0": [0.4985, 1.307, 1.383],
                    "renorm_stddev:0": [0.4999, 1.326, 1.396],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(renorm=True), FLAT, False),
            [
                [[4, 3], 0.8224],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.5, 1.341, 1.409],
                    "moving_variance:0": [0.5, 1.341, 1.409],
                    "moving_stddev:0": [0.5, 1.341, 1.409],
                    "renorm_mean:0": [0.5, 1.341, 1.409],
                    "renorm_stddev:0": [0.5, 1.341, 1.409],
                },
                0,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(renorm=True, renorm_clipping={"rmax": 1.1}), FLAT, "on"),
            [
                [[4, 3], 0.3175],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.4914, 1.316, 1.381],
                    "moving_variance:0": [0.2441, 1.765, 1.96],
                    "moving_stddev:0": [0.4951, 1.329, 1.4],
                    "renorm_mean:0": [0.4914, 1.316, 1.381],
                    "renorm_stddev:0": [0.4951, 1.329, 1.4],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(renorm=True, center=False, scale=False), FLAT, "off"),
            [
                [[4, 3], 0.374],
                {
                    "moving_mean:0": [0.5, 1.341, 1.409],
                    "moving_variance:0": [0.5, 1.341, 1.409],
                    "moving_stddev:0": [0.5, 1.341, 1.409],
                    "renorm_mean:0": [0.5, 1.341, 1.409],
                    "renorm_stddev:0": [0.5, 1.341, 1.409],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(virtual_batch_size=2), FLAT, True),
            [
                [[4, 3], -0.5604],
                {
                    "gamma:0": [[[0.5, 1.341, 1.409]]],
                    "beta:0": [[[0.5, 1.341, 1.409]]],
                    "moving_mean:0": [[[0.4914, 1.316, 1.381]]],
                    "moving_variance:0": [[[0.4904, 1.315, 1.381]]],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(virtual_batch_size=2, renorm=True), FLAT, True),
            [
                [[4, 3], -0.008991],
                {
                    "gamma:0": [[[0.5, 1.341, 1.409]]],
                    "beta:0": [[[0.5, 1.341, 1.409]]],
                    "moving_mean:0": [[[0.4914, 1.316, 1.381]]],
                    "moving_variance:0": [[[0.2419, 1.733, 1.909]]],
                    "moving_stddev:0": [[[0.4929, 1.317, 1.382]]],
                    "renorm_mean:0": [[[0.4914, 1.316, 1.381]]],
                    "renorm_stddev:0": [[[0.4929, 1.317, 1.382]]],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(virtual_batch_size=2, momentum=0.5), IMAGE, "on"),
            [
                [[2, 3, 2, 3], 4.514],
                {
                    "gamma:0": [[[[[0.5, 1.341, 1.409]]]]],
                    "beta:0": [[[[[0.5, 1.341, 1.409]]]]],
                    "moving_mean:0": [[[[[0.1585, 0.3813, 0.3684]]]]],
                    "moving_variance:0": [[[[[0.4956, 0.5091, 0.8951]]]]],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(adjustment=shifted), FLAT, True),
            [
                [[4, 3], 0.8373],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.4914, 1.316, 1.381],
                    "moving_variance:0": [0.4913, 1.325, 1.4],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(adjustment=shifted, scale=False), FLAT, "off"),
            [
                [[4, 3], -0.2483],
                {"beta:0": [0.5, 1.341, 1.409], "moving_mean:0": [0.5, 1.341, 1.409], "moving_variance:0": [0.5, 1.341, 1.409]},
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(B(dtype="float16"), FLAT, True),
            [
                [[4, 3], 0.2591],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.4914, 1.316, 1.381],
                    "moving_variance:0": [0.4913, 1.325, 1.4],
                },
                2,
                "float16",
            ],
        ),
        (
            lambda: normalized(V2(), IMAGE, True),
            [
                [[2, 3, 2, 3], 4.514],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.4909, 1.316, 1.382],
                    "moving_variance:0": [0.5008, 1.32, 1.397],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(V2(trainable=False), FLAT, True),
            [
                [[4, 3], 0.8224],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.5, 1.341, 1.409],
                    "moving_variance:0": [0.5, 1.341, 1.409],
                },
                0,
                "float32",
            ],
        ),
        (
            lambda: normalized(V2(fused=True), IMAGE, True, fill=False),
            [
                [[2, 3, 2, 3], 0.7878],
                {
                    "gamma:0": [1.0, 1.0, 1.0],
                    "beta:0": [0.0, 0.0, 0.0],
                    "moving_mean:0": [0.0008887, 0.001218, 0.0004276],
                    "moving_variance:0": [0.9908, 0.9851, 0.9958],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(V2(momentum=0.5), FLAT, "on"),
            [
                [[4, 3], 0.2631],
                {
                    "gamma:0": [0.5, 1.341, 1.409],
                    "beta:0": [0.5, 1.341, 1.409],
                    "moving_mean:0": [0.1763, 0.3724, 0.341],
                    "moving_variance:0": [0.1717, 0.7101, 1.051],
                },
                2,
                "float32",
            ],
        ),
        (
            lambda: normalized(N(), SEQ, None, steps=1),
            [[[2, 3, 4], 0.2857], {"gamma:0": [0.5, 1.341, 1.409, 0.6411], "beta:0": [0.5, 1.341, 1.409, 0.6411]}, 0, "float32"],
        ),
        (
            lambda: normalized(N(axis=1, epsilon=0.1), SEQ, None, steps=1),
            [[[2, 3, 4], -0.09529], {"gamma:0": [0.5, 1.341, 1.409], "beta:0": [0.5, 1.341, 1.409]}, 0, "float32"],
        ),
        (
            lambda: normalized(N(axis=(1, 2)), SEQ, None, steps=1),
            [[[2, 3, 4], 1.887], {"gamma:0": [[3, 4], -0.7005], "beta:0": [[3, 4], -0.7005]}, 0, "float32"],
        ),
        (
            lambda: normalized(N(axis=[1, -1], center=False), IMAGE, None, steps=1),
            [[[2, 3, 2, 3], 1.767], {"gamma:0": [[3, 3], 0.9999]}, 0, "float32"],
        ),
        (
            lambda: normalized(N(axis=-2, scale=False), IMAGE, None, steps=1),
            [[[2, 3, 2, 3], -10.32], {"beta:0": [0.5, 1.341]}, 0, "float32"],
        ),
        (
            lambda: statistics(B(renorm=True, name="b"), (None, 3)),
            [
                ["gamma:0", [3], True, "float32"],
                ["beta:0", [3], True, "float32"],
                ["moving_mean:0", [3], False, "float32"],
                ["moving_variance:0", [3], False, "float32"],
                ["moving_stddev:0", [3], False, "float32"],
                ["renorm_mean:0", [3], False, "float32"],
                ["renorm_stddev:0", [3], False, "float32"],
            ],
        ),
        (
            lambda: statistics(B(virtual_batch_size=2, name="b"), (None, 4, 3)),
            [
                ["gamma:0", [1, 1, 1, 3], True, "float32"],
                ["beta:0", [1, 1, 1, 3], True, "float32"],
                ["moving_mean:0", [1, 1, 1, 3], False, "float32"],
                ["moving_variance:0", [1, 1, 1, 3], False, "float32"],
            ],
        ),
        (
            lambda: statistics(B(axis=[1, 3], name="b"), (None, 2, 4, 3)),
            [
                ["gamma:0", [1, 2, 1, 3], True, "float32"],
                ["beta:0", [1, 2, 1, 3], True, "float32"],
                ["moving_mean:0", [1, 2, 1, 3], False, "float32"],
                ["moving_variance:0", [1, 2, 1, 3], False, "float32"],
            ],
        ),
        (
            lambda: statistics(B(name="b", dtype="float64", moving_mean_initializer="ones"), (None, 3)),
            [
                ["gamma:0", [3], True, "float64"],
                ["beta:0", [3], True, "float64"],
                ["moving_mean:0", [3], False, "float64"],
                ["moving_variance:0", [3], False, "float64"],
            ],
        ),
        (
            lambda: again(
                B(axis=2, momentum=0.5, epsilon=0.1, center=False, renorm=True, renorm_clipping={"dmax": 3}, renorm_momentum=0.2)
            ),
            {
                "name": "batch_normalization",
                "trainable": True,
                "dtype": None,
                "axis": 2,
                "momentum": 0.5,
                "epsilon": 0.1,
                "center": False,
                "scale": True,
                "renorm": True,
                "renorm_clipping": {"dmax": 3},
                "renorm_momentum": 0.2,
            },
        ),
        (
            lambda: again(B(virtual_batch_size=4, scale=False, trainable=False)),
            {
                "name": "batch_normalization",
                "trainable": False,
                "dtype": None,
                "axis": -1,
                "momentum": 0.99,
                "epsilon": 0.001,
                "center": True,
                "scale": False,
                "virtual_batch_size": 4,
            },
        ),
        (
            lambda: again(N(axis=(1, 2), epsilon=0.5, center=False, scale=False)),
            {
                "name": "layer_normalization",
                "trainable": True,
                "dtype": None,
                "axis": [1, 2],
                "epsilon": 0.5,
                "center": False,
                "scale": False,
            },
        ),
        (
            lambda: [B().compute_output_shape((2, 3)), N().compute_output_shape((4, 5)), B().supports_masking, N().supports_masking],
            [[2, 3], [4, 5], True, True],
        ),
        (
            lambda: [
                B(beta_regularizer="l2", gamma_constraint="non_neg").get_config()[k] for k in ("beta_regularizer", "gamma_constraint")
            ],
            [{"class_name": "L1L2", "config": {"l1": 0.0, "l2": 0.01}}, {"class_name": "NonNeg", "config": {}}],
        ),
        (
            lambda: [
                N(gamma_regularizer="l1", beta_constraint="unit_norm").get_config()[k] for k in ("gamma_regularizer", "beta_constraint")
            ],
            [{"class_name": "L1L2", "config": {"l1": 0.01, "l2": 0.0}}, {"class_name": "UnitNorm", "config": {"axis": 0}}],
        ),
    ],
)
def test_what_is_normalized(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda: B().build(None), "ValueError: ('Input has undefined rank:', TensorShape(None))"),
        (lambda: B(axis=1).build((None, None)), "ValueError: ('Input has undefined `axis` dimension. Input shape: ', TensorShape("),
        (lambda: B(axis=-3).build((None, 2)), "ValueError: Invalid axis: -1"),
        (lambda: B(axis=(1,)), "TypeError: axis must be int or list, type given: <class 'tuple'>"),
        (
            lambda: B(virtual_batch_size=0).build((None, 2)),
            "ValueError: virtual_batch_size must be a positive integer that divides the true ",
        ),
        (
            lambda: B(virtual_batch_size=2, adjustment=shifted).build((None, 2)),
            "ValueError: When using virtual_batch_size, adjustment cannot be specified",
        ),
        (
            lambda: B(renorm=True, renorm_clipping={"odd": 1}),
            "ValueError: renorm_clipping {'odd': 1} contains keys not in ['rmax', 'rmin', 'dm",
        ),
        (lambda: V2(fused=True).build((None, 2)), "ValueError: Batch normalization layers with fused=True only support 4D input ten"),
        (lambda: V2(fused=True, axis=2), "ValueError: Passing fused=True is only supported when axis is 1 or 3"),
        (lambda: V2(fused=True, axis=[1, 2]), "ValueError: Passing fused=True is only supported when axis is 1 or 3"),
        (lambda: V2(fused=True, virtual_batch_size=2), "ValueError: Passing fused=True is unsupported when virtual_batch_size is specifi"),
        (lambda: V2(fused=True, adjustment=shifted), "ValueError: Passing fused=True is unsupported when adjustment is specified."),
        (lambda: V2(fused=True, renorm=True), "ValueError: Passing both fused=True and renorm=True is unsupported"),
        (lambda: N(axis=[1, 1]).build((None, 2)), "ValueError: Duplicate axis: (1, 1)"),
        (lambda: N(axis=-3).build((None, 2)), "ValueError: Invalid axis: -1"),
        (lambda: N(axis=1.5), "ValueError: Expected an int or a list/tuple of ints for the argument 'axis', but"),
    ],
)
def test_what_cannot_be_normalized(wrong, expected):
    assert refused(wrong)[:80] == expected
