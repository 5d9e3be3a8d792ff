"""tf.keras.applications: layers, weights and shapes as stored weights need them."""

import json

import numpy as np
import pytest

import everflow as tf
from everflow.keras.applications import imagenet

applications = tf.keras.applications


@pytest.fixture(autouse=True)
def _own_graph():
    tf.keras.backend.clear_session()
    yield
    tf.keras.backend.clear_session()


@pytest.mark.parametrize(
    ("name", "model_name", "layers", "parameters"),
    [
        ("VGG16", "vgg16", 23, 138357544),
        ("MobileNet", "mobilenet_1.00_224", 93, 4253864),
        ("MobileNetV2", "mobilenetv2_1.00_224", 157, 3538984),
        ("Xception", "xception", 134, 22910480),
        ("ResNet50V2", "resnet50v2", 192, 25613800),
    ],
)
def test_models_have_the_known_number_of_layers_and_weights(name, model_name, layers, parameters):
    model = getattr(applications, name)(weights=None)
    assert (model.name, len(model.layers), model.count_params()) == (model_name, layers, parameters)
    assert model.output_shape == (None, 1000)


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


def test_impossible_wishes_are_refused():
    with pytest.raises(ValueError, match="`classes` should be 1000"):
        applications.VGG19(classes=10)
    with pytest.raises(ValueError, match="at least 71x71"):
        applications.Xception(weights=None, include_top=False, input_shape=(50, 50, 3))
    with pytest.raises(ValueError, match="The `weights` argument"):
        applications.VGG16(weights="nowhere.h5")


def test_images_are_prepared_as_each_model_expects():
    image = np.full((1, 1, 1, 3), (255.0, 0.0, 127.5), np.float32)
    np.testing.assert_allclose(applications.mobilenet.preprocess_input(image.copy()).ravel(), [1, -1, 0])
    caffe = [127.5 - 103.939, -116.779, 255 - 123.68]
    np.testing.assert_allclose(applications.vgg16.preprocess_input(image.copy()).ravel(), caffe, rtol=1e-5)
    expected = (np.array([1.0, 0.0, 0.5]) - imagenet.TORCH_MEANS) / imagenet.TORCH_DEVIATIONS
    tensor = applications.densenet.preprocess_input(tf.constant(image))
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(tensor).ravel(), expected, rtol=1e-5)


def test_predictions_are_named(tmp_path, monkeypatch):
    path = tmp_path / "classes.json"
    path.write_text(json.dumps({str(i): [f"n{i}", f"thing{i}"] for i in range(1000)}))
    monkeypatch.setattr(imagenet, "get_file", lambda *args, **kwargs: str(path))
    monkeypatch.setattr(imagenet, "_classes", None)
    scores = np.zeros((1, 1000))
    scores[0, 7], scores[0, 3] = 0.9, 0.1
    assert applications.imagenet_utils.decode_predictions(scores, top=2) == [[("n7", "thing7", 0.9), ("n3", "thing3", 0.1)]]
    with pytest.raises(ValueError, match="expects a batch of predictions"):
        applications.vgg16.decode_predictions(np.zeros((1, 10)))
