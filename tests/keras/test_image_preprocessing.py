"""Pictures: what they become as arrays, how they are changed, and the batches that are made of them. Values of 1.15.5."""

import numpy as np
import pytest
from frames import DataFrame
from PIL import Image

import everflow as tf

image = tf.keras.preprocessing.image


def gradient(rows=4, columns=4, channels=1):
    return np.arange(rows * columns * channels, dtype=np.float32).reshape(rows, columns, channels)


@pytest.fixture
def folder(tmp_path):
    for number, name in enumerate(("cat", "dog")):
        (tmp_path / name).mkdir()
        for k in range(3):
            Image.new("RGB", (4, 2), (10 * k, 100 * number, 0)).save(tmp_path / name / f"{k}.png")
    (tmp_path / "cat" / "notes.txt").write_text("not a picture")
    return str(tmp_path)


def test_a_picture_goes_to_numbers_and_back():
    x = np.array([[[0, 50, 100]], [[150, 200, 250]]], np.float32)
    picture = image.array_to_img(x)
    assert picture.mode == "RGB" and np.asarray(picture).tolist() == [[[0, 51, 102]], [[153, 204, 255]]]
    assert np.asarray(image.array_to_img(x, scale=False)).tolist() == x.tolist()
    assert image.img_to_array(picture, data_format="channels_first").shape == (3, 2, 1)
    assert image.img_to_array(np.ones((2, 3), np.uint8)).shape == (2, 3, 1)
    with pytest.raises(ValueError, match="rank 3"):
        image.array_to_img(np.ones((2, 2)))
    with pytest.raises(ValueError, match="Unsupported channel number: 2"):
        image.array_to_img(np.ones((2, 2, 2)))
    with pytest.raises(ValueError, match="Unsupported image shape"):
        image.img_to_array(np.ones((1, 2, 2, 3)))


def test_a_file_is_read_in_the_wanted_size_and_colours(folder):
    path = f"{folder}/dog/1.png"
    assert np.asarray(image.load_img(path, target_size=(3, 5))).shape == (3, 5, 3)
    assert np.asarray(image.load_img(path, color_mode="grayscale")).tolist() == [[62] * 4] * 2
    assert image.load_img(path, color_mode="rgba").mode == "RGBA"
    with pytest.raises(ValueError, match="color_mode must be"):
        image.load_img(path, color_mode="blue")
    with pytest.raises(ValueError, match="Invalid interpolation method best"):
        image.load_img(path, target_size=(1, 1), interpolation="best")


def test_save_img_writes_a_picture(tmp_path):
    image.save_img(str(tmp_path / "a.png"), gradient(2, 2, 3), scale=False)
    assert np.asarray(Image.open(tmp_path / "a.png")).tolist() == gradient(2, 2, 3).tolist()


def test_a_picture_is_moved_and_zoomed_around_its_middle():
    x = gradient()
    moved = image.apply_affine_transform(x, tx=1, fill_mode="constant", cval=-1.0)
    assert moved[:3].tolist() == x[1:].tolist() and (moved[3] == -1).all()
    assert image.apply_affine_transform(x) is x
    np.testing.assert_allclose(image.apply_affine_transform(x, zx=0.5, zy=0.5)[:, :, 0][1], [8.25, 8.75, 9.25, 9.75], atol=1e-5)
    x = gradient(5, 5)
    np.testing.assert_allclose(image.apply_affine_transform(x, theta=180)[2:, 2:], x[:1:-1, :1:-1], atol=1e-4)


def test_random_numbers_are_drawn_in_keras_order():
    generator = image.ImageDataGenerator(
        rotation_range=20,
        width_shift_range=0.2,
        height_shift_range=[-2, 0, 2],
        brightness_range=(0.5, 1.5),
        shear_range=10,
        zoom_range=0.3,
        channel_shift_range=20.0,
        horizontal_flip=True,
        vertical_flip=True,
    )
    drawn = generator.get_random_transform((8, 8, 3), seed=1)
    expected = {
        "theta": -3.319119811897039,
        "tx": 2,
        "ty": -1.5996340005844965,
        "shear": -3.9533485473632046,
        "zx": 0.7880535344902678,
        "zy": 0.7554031568612787,
        "flip_horizontal": 1,
        "flip_vertical": 1,
        "channel_shift_intensity": -4.1293010307732025,
        "brightness": 1.038816734003357,
    }
    assert list(drawn) == list(expected) and drawn == pytest.approx(expected)


def test_a_picture_turned_at_random_is_the_one_of_tensorflow():
    x = np.arange(8 * 8 * 3, dtype=np.float32).reshape(8, 8, 3)
    turned = image.ImageDataGenerator(rotation_range=30).random_transform(x, seed=1)
    np.testing.assert_allclose(turned[0, :3, 0], [1.2225327491760254, 4.211214065551758, 7.199894905090332], rtol=1e-5)


def test_a_seed_gives_the_same_batches_as_in_tensorflow():
    batches = image.ImageDataGenerator(horizontal_flip=True).flow(gradient(5, 4).reshape(5, 2, 2, 1), np.arange(5), batch_size=2, seed=3)
    assert iter(batches) is batches and len(batches) == 3
    found = [next(batches) for _ in range(4)]
    assert [y.tolist() for _, y in found] == [[3, 4], [1, 0], [2], [3, 4]]
    assert found[0][0].reshape(2, 4).tolist() == [[13, 12, 15, 14], [16, 17, 18, 19]]
    assert batches.index_array.tolist() == [3, 4, 0, 1, 2] and (batches.total_batches_seen, batches.batch_index) == (4, 1)
    with pytest.raises(ValueError, match="Asked to retrieve element 3, but the Sequence has length 3"):
        batches[3]


def test_pictures_are_brought_to_scale():
    x = np.stack([gradient(), gradient() * 3])
    sample = next(image.ImageDataGenerator(samplewise_center=True, samplewise_std_normalization=True).flow(x, batch_size=2, shuffle=False))
    np.testing.assert_allclose([sample.mean(), sample[0].std(), sample[1].std()], [0, 1, 1], atol=1e-5)
    assert image.ImageDataGenerator(rescale=0.5, preprocessing_function=lambda a: a + 1).standardize(np.array([3.0])).tolist() == [2.0]
    features = image.ImageDataGenerator(featurewise_center=True, featurewise_std_normalization=True)
    with pytest.warns(UserWarning, match="hasn't been fit"):
        features.standardize(gradient())
    features.fit(x)
    assert features.mean.tolist() == [[[15.0]]]
    np.testing.assert_allclose(np.std([features.standardize(one.copy()) for one in x]), 1, atol=1e-5)


def test_whitened_pictures_are_uncorrelated():
    x = np.random.RandomState(0).rand(200, 2, 2, 1).astype(np.float32)
    x[:, 0] += x[:, 1]
    whitening = image.ImageDataGenerator(featurewise_center=True, zca_whitening=True)
    whitening.fit(x)
    white = np.stack([whitening.standardize(one.copy()) for one in x]).reshape(200, 4)
    np.testing.assert_allclose(white.T @ white / 200, np.eye(4), atol=1e-3)


def test_a_part_is_held_back_for_validation():
    generator = image.ImageDataGenerator(validation_split=0.25)
    x, y = gradient(8, 1).reshape(8, 1, 1, 1), np.array([0, 1] * 4)
    assert [len(next(generator.flow(x, y, subset=subset))[0]) for subset in ("training", "validation")] == [6, 2]
    with pytest.raises(ValueError, match="different number of classes"):
        generator.flow(x, np.sort(y), subset="training")


def test_a_folder_of_classes_gives_batches(folder, capsys):
    flow = image.ImageDataGenerator().flow_from_directory(folder, target_size=(2, 4), batch_size=4, shuffle=False)
    assert capsys.readouterr().out == "Found 6 images belonging to 2 classes.\n"
    assert flow.class_indices == {"cat": 0, "dog": 1} and flow.classes.tolist() == [0, 0, 0, 1, 1, 1] and flow.filenames[0] == "cat/0.png"
    x, y = next(flow)
    assert x.shape == (4, 2, 4, 3) and y.tolist() == [[1, 0]] * 3 + [[0, 1]] and x[3, 0, 0].tolist() == [0, 100, 0]
    binary = image.ImageDataGenerator().flow_from_directory(folder, class_mode="binary", target_size=(2, 4), shuffle=False)
    assert next(binary)[1].tolist() == [0, 0, 0, 1, 1, 1]
    with pytest.raises(ValueError, match="Invalid class_mode: other"):
        image.ImageDataGenerator().flow_from_directory(folder, class_mode="other")


def test_a_table_of_files_gives_batches(folder, capsys):
    table = DataFrame(
        {
            "filename": ["cat/0.png", "dog/2.png", "none.png"],
            "class": ["a", "b", "a"],
            "age": [1.0, 2.0, 3.0],
            "tags": [["x"], ["x", "y"], ["y"]],
        }
    )
    with pytest.warns(UserWarning, match="1 invalid image filename"):
        flow = image.ImageDataGenerator().flow_from_dataframe(table, folder, target_size=(2, 4), shuffle=False, weight_col="age")
    assert capsys.readouterr().out == "Found 2 validated image filenames belonging to 2 classes.\n"
    assert [part.tolist() for part in next(flow)[1:]] == [[[1, 0], [0, 1]], [1, 2]]
    plain = image.ImageDataGenerator()
    raw = plain.flow_from_dataframe(table[:2], folder, y_col="age", class_mode="raw", target_size=(2, 4), shuffle=False)
    assert next(raw)[1].tolist() == [1, 2]
    tags = plain.flow_from_dataframe(table[:2], folder, y_col="tags", target_size=(2, 4), shuffle=False)
    assert next(tags)[1].tolist() == [[1, 0], [1, 1]]


def test_a_model_learns_from_a_flow(folder):
    model = tf.keras.Sequential([tf.keras.layers.Flatten(input_shape=(2, 4, 3)), tf.keras.layers.Dense(2, activation="softmax")])
    model.compile("sgd", "categorical_crossentropy")
    generator = image.ImageDataGenerator(rescale=1 / 255, horizontal_flip=True)
    history = model.fit_generator(generator.flow_from_directory(folder, target_size=(2, 4), batch_size=2), epochs=2, verbose=0)
    assert len(history.history["loss"]) == 2
