"""tf.keras.applications: layers, weights and shapes as stored weights need them; digests are those of TensorFlow 1.15.5's models."""

import hashlib
import json

import numpy as np
import pytest
from plain import refused

import everflow as tf
from everflow.keras.applications import building, densenet, imagenet, mobilenet_v2

applications, L = tf.keras.applications, tf.keras.layers


@pytest.fixture(autouse=True)
def _own_graph():
    tf.keras.backend.clear_session()
    yield
    tf.keras.backend.clear_session()


def simple(value):
    """A config without what differs by nature: code of lambdas and the module it stood in, and types of numbers."""
    if isinstance(value, dict):
        return {k: simple(v) for k, v in value.items() if k not in ("function", "module")}
    if isinstance(value, (list, tuple)):
        return [simple(v) for v in value]
    return float(value) if isinstance(value, np.ndarray) else value


def digest(model):
    """Name, number of layers and weights, and a hash over the configs of all layers and how they are connected."""
    text = json.dumps(simple(model.get_config()), sort_keys=True, default=float)
    return [model.name, len(model.layers), model.count_params(), hashlib.md5(text.encode()).hexdigest()]


def described(name, **options):
    """The digest of a model, and the name, the place, the folder and the checksum of the file that its weights come from."""
    asked = []
    get_file, load_weights = building.get_file, tf.keras.Model.load_weights
    tf.keras.backend.set_learning_phase(0)
    try:
        building.get_file = lambda *args, **kwargs: asked.append([*args, *sorted(filter(None, kwargs.values()))])
        tf.keras.Model.load_weights = lambda self, path: None
        model = getattr(applications, name)(**options)
    finally:
        building.get_file, tf.keras.Model.load_weights = get_file, load_weights
    return [*digest(model), list(model.output_shape), *asked]


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        (
            "VGG16",
            {},
            [
                "vgg16",
                23,
                138357544,
                "e26b1b90fc8aac929b5ba0d33b5ffbc9",
                [None, 1000],
                [
                    "vgg16_weights_tf_dim_ordering_tf_kernels.h5",
                    "https://github.com/fchollet/deep-learning-models/releases/download/v0.1/vgg16_weights_tf_dim_ordering_tf_kernels.h5",
                    "64373286793e3c8b2b4e3219cbf3544b",
                    "models",
                ],
            ],
        ),
        (
            "VGG16",
            {"weights": None, "input_shape": (64, 48, 4), "classes": 3},
            ["vgg16", 23, 35707267, "e14f5edcc7f18c0e0245a166a396cf1a", [None, 3]],
        ),
        (
            "VGG19",
            {},
            [
                "vgg19",
                26,
                143667240,
                "49759353f52d68ce3a5fe67826acfe95",
                [None, 1000],
                [
                    "vgg19_weights_tf_dim_ordering_tf_kernels.h5",
                    "https://github.com/fchollet/deep-learning-models/releases/download/v0.1/vgg19_weights_tf_dim_ordering_tf_kernels.h5",
                    "cbe5617147190e668d6c5d5026f83318",
                    "models",
                ],
            ],
        ),
        (
            "VGG19",
            {"include_top": False, "pooling": "max"},
            [
                "vgg19",
                23,
                20024384,
                "a3aeda33ba9000cd5c6be08868371541",
                [None, 512],
                [
                    "vgg19_weights_tf_dim_ordering_tf_kernels_notop.h5",
                    "https://github.com/fchollet/deep-learning-models/releases/download/v0.1/vgg19_weights_tf_dim_ordering_tf_kernels_notop.h5",
                    "253f8cb515780f3b799900260a226db6",
                    "models",
                ],
            ],
        ),
        (
            "ResNet50",
            {},
            [
                "resnet50",
                177,
                25636712,
                "f1cf250b907b2b57dfb19a143d89870f",
                [None, 1000],
                [
                    "resnet50_weights_tf_dim_ordering_tf_kernels.h5",
                    "https://github.com/keras-team/keras-applications/releases/download/resnet/resnet50_weights_tf_dim_ordering_tf_kernels.h5",
                    "2cb95161c43110f7111970584f804107",
                    "models",
                ],
            ],
        ),
        (
            "ResNet50V2",
            {"include_top": False},
            [
                "resnet50v2",
                190,
                23564800,
                "475d95c815f7c64419c0f2659a338266",
                [None, None, None, 2048],
                [
                    "resnet50v2_weights_tf_dim_ordering_tf_kernels_notop.h5",
                    "https://github.com/keras-team/keras-applications/releases/download/resnet/resnet50v2_weights_tf_dim_ordering_tf_kernels_notop.h5",
                    "fac2f116257151a9d068a22e544a4917",
                    "models",
                ],
            ],
        ),
        (
            "MobileNet",
            {},
            [
                "mobilenet_1.00_224",
                93,
                4253864,
                "18c61fd2d17b6d4b2bc5df585226c4d4",
                [None, 1000],
                [
                    "mobilenet_1_0_224_tf.h5",
                    "https://github.com/fchollet/deep-learning-models/releases/download/v0.6/mobilenet_1_0_224_tf.h5",
                    "models",
                ],
            ],
        ),
        (
            "MobileNet",
            {"alpha": 0.5, "input_shape": (160, 160, 3), "include_top": False, "pooling": "avg"},
            [
                "mobilenet_0.50_160",
                88,
                829536,
                "176fe017374ee06d894ad546971bbeb8",
                [None, 512],
                [
                    "mobilenet_5_0_160_tf_no_top.h5",
                    "https://github.com/fchollet/deep-learning-models/releases/download/v0.6/mobilenet_5_0_160_tf_no_top.h5",
                    "models",
                ],
            ],
        ),
        (
            "MobileNetV2",
            {},
            [
                "mobilenetv2_1.00_224",
                157,
                3538984,
                "2efee76c395b92397956d9e6f1e3e370",
                [None, 1000],
                [
                    "mobilenet_v2_weights_tf_dim_ordering_tf_kernels_1.0_224.h5",
                    "https://github.com/JonathanCMitchell/mobilenet_v2_keras/releases/download/v1.1/mobilenet_v2_weights_tf_dim_ordering_tf_kernels_1.0_224.h5",
                    "models",
                ],
            ],
        ),
        (
            "MobileNetV2",
            {"alpha": 1.4, "input_shape": (96, 96, 3), "include_top": False, "pooling": "max"},
            [
                "mobilenetv2_1.40_96",
                156,
                4363712,
                "b9776b40df0b6c01b15f2db99b0bfcfd",
                [None, 1792],
                [
                    "mobilenet_v2_weights_tf_dim_ordering_tf_kernels_1.4_96_no_top.h5",
                    "https://github.com/JonathanCMitchell/mobilenet_v2_keras/releases/download/v1.1/mobilenet_v2_weights_tf_dim_ordering_tf_kernels_1.4_96_no_top.h5",
                    "models",
                ],
            ],
        ),
        (
            "Xception",
            {"include_top": False},
            [
                "xception",
                132,
                20861480,
                "76ccf159ecfd8d491c16ad1cb7bf0f4b",
                [None, None, None, 2048],
                [
                    "xception_weights_tf_dim_ordering_tf_kernels_notop.h5",
                    "https://github.com/fchollet/deep-learning-models/releases/download/v0.4/xception_weights_tf_dim_ordering_tf_kernels_notop.h5",
                    "b0042744bf5b25fce3cb969f33bebb97",
                    "models",
                ],
            ],
        ),
        (
            "DenseNet121",
            {},
            [
                "densenet121",
                429,
                8062504,
                "09e0c3fc89959ea89f118084274b43fa",
                [None, 1000],
                [
                    "densenet121_weights_tf_dim_ordering_tf_kernels.h5",
                    "https://github.com/keras-team/keras-applications/releases/download/densenet/densenet121_weights_tf_dim_ordering_tf_kernels.h5",
                    "9d60b8095a5708f2dcce2bca79d332c7",
                    "models",
                ],
            ],
        ),
        (
            "InceptionV3",
            {},
            [
                "inception_v3",
                313,
                23851784,
                "508115ce1c6f914821109357bb82f4fa",
                [None, 1000],
                [
                    "inception_v3_weights_tf_dim_ordering_tf_kernels.h5",
                    "https://github.com/fchollet/deep-learning-models/releases/download/v0.5/inception_v3_weights_tf_dim_ordering_tf_kernels.h5",
                    "9a0d58056eeedaa3f26cb7ebd46da564",
                    "models",
                ],
            ],
        ),
        (
            "InceptionResNetV2",
            {},
            [
                "inception_resnet_v2",
                782,
                55873736,
                "e52b8eba4e27fe60252920286b249968",
                [None, 1000],
                [
                    "inception_resnet_v2_weights_tf_dim_ordering_tf_kernels.h5",
                    "https://github.com/fchollet/deep-learning-models/releases/download/v0.7/inception_resnet_v2_weights_tf_dim_ordering_tf_kernels.h5",
                    "e693bd0210a403b3192acc6073ad2e96",
                    "models",
                ],
            ],
        ),
        (
            "NASNetMobile",
            {},
            [
                "NASNet",
                771,
                5326716,
                "24feb8470957d3a03e16224bf2b8675e",
                [None, 1000],
                [
                    "nasnet_mobile.h5",
                    "https://github.com/titu1994/Keras-NASNet/releases/download/v1.2/NASNet-mobile.h5",
                    "020fb642bf7360b370c678b08e0adf61",
                    "models",
                ],
            ],
        ),
    ],
)
def test_models_have_the_layers_that_stored_weights_need(name, options, expected):
    assert described(name, **options) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (
            lambda: applications.VGG19(classes=10),
            'ValueError: If using `weights` as `"imagenet"` with `include_top` as true, `classes` should be 1000',
        ),
        (
            lambda: applications.VGG16(weights="nowhere.h5"),
            "ValueError: The `weights` argument should be either `None` (random initialization), `imagenet` (pre-training o",
        ),
        (
            lambda: applications.VGG16(input_shape=(64, 64, 3)),
            "ValueError: When setting `include_top=True` and loading `imagenet` weights, `input_shape` should be (224, 224,",
        ),
        (
            lambda: applications.VGG16(include_top=False, input_shape=(64, 64)),
            "ValueError: `input_shape` must be a tuple of three integers.",
        ),
        (
            lambda: applications.VGG16(include_top=False, input_shape=(64, 64, 1)),
            "ValueError: The input must have 3 channels; got `input_shape=(64, 64, 1)`",
        ),
        (
            lambda: applications.VGG16(weights=None, input_shape=(None, 64, 3)),
            "ValueError: If `include_top` is True, you should specify a static `input_shape`. Got `input_shape=(None, 64, 3",
        ),
        (
            lambda: applications.VGG16(weights=None, input_shape=(31, 64, 3)),
            "ValueError: Input size must be at least 32x32; got `input_shape=(31, 64, 3)`",
        ),
        (
            lambda: applications.Xception(weights=None, include_top=False, input_shape=(70, 71, 3)),
            "ValueError: Input size must be at least 71x71; got `input_shape=(70, 71, 3)`",
        ),
        (
            lambda: applications.InceptionV3(weights=None, include_top=False, input_shape=(75, 74, 3)),
            "ValueError: Input size must be at least 75x75; got `input_shape=(75, 74, 3)`",
        ),
        (
            lambda: applications.InceptionResNetV2(weights=None, include_top=False, input_shape=(74, 75, 3)),
            "ValueError: Input size must be at least 75x75; got `input_shape=(74, 75, 3)`",
        ),
        (
            lambda: applications.ResNet50(weights=None, include_top=False, input_shape=(31, 32, 3)),
            "ValueError: Input size must be at least 32x32; got `input_shape=(31, 32, 3)`",
        ),
        (
            lambda: applications.DenseNet121(weights=None, include_top=False, input_shape=(31, 32, 3)),
            "ValueError: Input size must be at least 32x32; got `input_shape=(31, 32, 3)`",
        ),
        (
            lambda: applications.NASNetLarge(weights=None, include_top=False, input_shape=(31, 32, 3)),
            "ValueError: Input size must be at least 32x32; got `input_shape=(31, 32, 3)`",
        ),
        (
            lambda: applications.MobileNet(weights=None, include_top=False, input_shape=(31, 32, 3)),
            "ValueError: Input size must be at least 32x32; got `input_shape=(31, 32, 3)`",
        ),
        (
            lambda: applications.MobileNet(depth_multiplier=2),
            "ValueError: If imagenet weights are being loaded, depth multiplier must be 1",
        ),
        (
            lambda: applications.MobileNet(alpha=0.3),
            "ValueError: If imagenet weights are being loaded, alpha can be one of`0.25`, `0.50`, `0.75` or `1.0` only.",
        ),
        (
            lambda: applications.MobileNetV2(weights=None, include_top=False, input_shape=(31, 32, 3)),
            "ValueError: Input size must be at least 32x32; got `input_shape=(31, 32, 3)`",
        ),
        (
            lambda: applications.MobileNetV2(alpha=0.3),
            "ValueError: If imagenet weights are being loaded, alpha can be one of `0.35`, `0.50`, `0.75`, `1.0`, `1.3` or ",
        ),
        (
            lambda: applications.imagenet_utils.preprocess_input(np.zeros((1, 2, 2, 3)), data_format="channels_middle"),
            "ValueError: Unknown data_format channels_middle",
        ),
        (
            lambda: applications.vgg16.decode_predictions(np.zeros((1, 10))),
            "ValueError: `decode_predictions` expects a batch of predictions (i.e. a 2D array of shape (samples, 1000)). Fo",
        ),
        (
            lambda: applications.vgg16.decode_predictions(np.zeros(1000)),
            "ValueError: `decode_predictions` expects a batch of predictions (i.e. a 2D array of shape (samples, 1000)). Fo",
        ),
    ],
)
def test_impossible_wishes_are_refused(wrong, expected):
    assert refused(wrong) == expected


IMAGE = np.array([[[[255.0, 0.0, 127.5], [10.0, 20.0, 30.0]]]], np.float32)
BYTES = np.array([[[[255, 0, 127]]]], np.uint8)


@pytest.mark.parametrize(
    ("module", "image", "options", "expected"),
    [
        ("mobilenet", IMAGE, {}, [[[[1.0, -1.0, 0.0], [-0.92157, -0.84314, -0.76471]]]]),
        ("vgg16", IMAGE, {}, [[[[23.561, -116.78, 131.32], [-73.939, -96.779, -113.68]]]]),
        ("densenet", IMAGE, {}, [[[[2.2489, -2.0357, 0.41778], [-1.9467, -1.6856, -1.2816]]]]),
        ("vgg16", BYTES, {}, [[[[23.061, -116.78, 131.32]]]]),
        ("xception", BYTES, {}, [[[[1.0, -1.0, -0.0039216]]]]),
        (
            "densenet",
            IMAGE.transpose(0, 3, 1, 2),
            {"data_format": "channels_first"},
            [[[[2.2489, -1.9467]], [[-2.0357, -1.6856]], [[0.41778, -1.2816]]]],
        ),
        (
            "resnet",
            IMAGE.transpose(0, 3, 1, 2),
            {"data_format": "channels_first"},
            [[[[23.561, -73.939]], [[-116.78, -96.779]], [[131.32, -113.68]]]],
        ),
        ("imagenet_utils", IMAGE[0], {}, [[[23.561, -116.78, 131.32], [-73.939, -96.779, -113.68]]]),
        (
            "imagenet_utils",
            IMAGE[0].transpose(2, 0, 1),
            {"data_format": "channels_first", "mode": "torch"},
            [[[2.2489, -1.9467]], [[-2.0357, -1.6856]], [[0.41778, -1.2816]]],
        ),
        (
            "imagenet_utils",
            IMAGE[0].transpose(2, 0, 1),
            {"data_format": "channels_first", "mode": "caffe"},
            [[[23.561, -73.939]], [[-116.78, -96.779]], [[131.32, -113.68]]],
        ),
    ],
)
def test_images_are_prepared_as_each_model_expects(module, image, options, expected):
    prepare = getattr(applications, module).preprocess_input
    np.testing.assert_allclose(prepare(image.copy(), **options), expected, rtol=1e-4)
    np.testing.assert_allclose(tf.keras.backend.eval(prepare(tf.constant(image), **options)), expected, rtol=1e-4)


def test_layers_have_the_names_that_weight_files_know():
    model = applications.resnet50.ResNet50(weights=None, include_top=False)
    names = [layer.name for layer in model.layers]
    assert names[1:7] == ["conv1_pad", "conv1_conv", "conv1_bn", "conv1_relu", "pool1_pad", "pool1_pool"]
    assert names[-1] == "conv5_block3_out" and model.output_shape == (None, None, None, 2048)


def test_a_model_without_top_can_end_in_a_pooling_and_start_in_a_tensor():
    image = tf.keras.Input((96, 96, 3))
    doubled = tf.keras.layers.Lambda(lambda x: x * 2.0)(image)
    model = applications.MobileNetV2(weights=None, include_top=False, pooling="max", input_tensor=doubled, input_shape=(96, 96, 3))
    assert model.output_shape == (None, 1280) and model.inputs[0] is image


def test_predictions_are_named(tmp_path, monkeypatch):
    path = tmp_path / "classes.json"
    path.write_text(json.dumps({str(i): [f"n{i}", f"thing{i}"] for i in range(1000)}))
    monkeypatch.setattr(imagenet, "get_file", lambda *args, **kwargs: str(path))
    monkeypatch.setattr(imagenet, "_classes", None)
    scores = np.zeros((1, 1000))
    scores[0, 7], scores[0, 3] = 0.9, 0.1
    assert applications.imagenet_utils.decode_predictions(scores, top=2) == [[("n7", "thing7", 0.9), ("n3", "thing3", 0.1)]]
    assert applications.vgg16.decode_predictions(scores)[0][:1] == [("n7", "thing7", 0.9)]
    assert len(applications.vgg16.decode_predictions(scores)[0]) == 5


def test_modules_of_keras_may_be_given_and_nothing_else():
    picture = np.zeros((1, 2, 2, 3), "float32")
    found = tf.keras.applications.xception.preprocess_input(picture, backend=tf.keras.backend, utils=None)
    assert found.tolist() == [[[[-1.0] * 3] * 2] * 2]
    for function in (
        tf.keras.applications.VGG16,
        tf.keras.applications.vgg16.preprocess_input,
        tf.keras.applications.nasnet.decode_predictions,
    ):
        with pytest.raises(TypeError, match="Invalid keyword argument.*colour"):
            function(colour=1)


@pytest.mark.parametrize(
    ("name", "depths"), [("DenseNet121", (6, 12, 24, 16)), ("DenseNet169", (6, 12, 32, 32)), ("DenseNet201", (6, 12, 48, 32))]
)
def test_dense_networks_differ_in_the_depths_of_their_stages(monkeypatch, name, depths):
    monkeypatch.setattr(densenet, "_densenet", lambda *given: given)
    plain = {"include_top": True, "weights": "imagenet", "input_tensor": None, "input_shape": None, "pooling": None, "classes": 1000}
    assert getattr(applications, name)() == (name.lower(), depths, plain)


# Sizes: of the images, of what they may be at least, and whether the model's end needs to know them.
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((None, 224, 32, True, "imagenet"), (224, 224, 3)),
        ((None, 224, 32, False, None), (None, None, 3)),
        (((32, 32, 3), 224, 32, False, None), (32, 32, 3)),
        (((32, 40, 3), 224, 32, False, "imagenet"), (32, 40, 3)),
        (((None, None, 3), 224, 32, False, None), (None, None, 3)),
        (((64, 64, 1), 224, 32, True, None), (64, 64, 1)),
        (((224, 224, 3), 224, 32, True, "imagenet"), (224, 224, 3)),
    ],
)
def test_pictures_have_the_size_that_is_given_or_usual(given, expected):
    assert imagenet.input_shape_for(*given) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (((31, 32, 3), 224, 32, False, None), r"must be at least 32x32.*input_shape=\(31, 32, 3\)"),
        (((32, 31, 3), 224, 32, False, None), r"must be at least 32x32.*input_shape=\(32, 31, 3\)"),
        (((64, 64, 3), 224, 32, True, "imagenet"), r"`input_shape` should be \(224, 224, 3\)"),
        (((64, 64, 1), 224, 32, False, "imagenet"), "must have 3 channels"),
        (((64, 64), 224, 32, False, None), "tuple of three integers"),
        (((None, None, 3), 224, 32, True, None), "should specify a static `input_shape`"),
    ],
)
def test_pictures_that_are_too_small_or_of_another_kind_are_refused(given, expected):
    with pytest.raises(ValueError, match=expected):
        imagenet.input_shape_for(*given)


def test_pictures_are_padded_so_that_they_come_out_at_half_the_size():
    sized = lambda *shape: tf.keras.Input(shape)
    assert mobilenet_v2.padding_before(sized(5, 4, 1), 3) == ((1, 1), (0, 1))
    assert mobilenet_v2.padding_before(sized(4, 5, 1), 5) == ((1, 2), (2, 2))
    assert mobilenet_v2.padding_before(sized(None, None, 1), 3) == ((0, 1), (0, 1))


def test_weights_may_come_from_a_file(tmp_path):
    path = str(tmp_path / "w.h5")
    files = (("a.h5", None), ("b.h5", None))

    def built(weights):
        application = building.Application({"weights": weights, "include_top": False, "pooling": "avg"}, 32, 8)
        return application.model(application.pooled(L.Conv2D(2, 1, name="c")(application.x)), "small", "https://nowhere/", files)

    first = built(None)
    first.set_weights([np.full(w.shape, 3.0, "float32") for w in first.get_weights()])
    first.save_weights(path)
    assert [w.min() for w in built(path).get_weights()] == [3, 3]
    assert first.output_shape == (None, 2) and first.name == "small"
