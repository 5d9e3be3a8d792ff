"""Pictures changed, prepared and batched; values are those of TensorFlow 1.15.5's keras_preprocessing."""

import contextlib
import io
import os
import tempfile
import warnings

import numpy as np
import pytest
from frames import DataFrame
from plain import plain, refused

import everflow as tf

I = tf.keras.preprocessing.image
Image = pytest.importorskip("PIL.Image")
pytest.importorskip("scipy")


def some(*shape):
    return (np.sin(np.arange(np.prod(shape, dtype=int))) * 100 + 120).reshape(shape).astype(np.float32)


def digest(x):
    if isinstance(x, (list, tuple)):
        return [digest(v) for v in x]
    x = np.asarray(x, np.float64)
    return plain(x, 4) if x.size < 7 else [list(x.shape), float(f"{(x.ravel() * np.cos(np.arange(x.size))).sum():.3g}")]


def seeded(function, *args, **kwargs):
    np.random.seed(3)
    return digest(function(*args, **kwargs))


PICTURE, PICTURES = some(4, 5, 3), some(6, 4, 4, 3)
GRAY = some(4, 4, 1)


def folder():
    """A folder of two classes: three pictures and two, one of them deeper, and a file that is none."""
    root = tempfile.mkdtemp()
    for i, name in enumerate(["cat/a.png", "cat/b.PNG", "cat/deep/c.bmp", "dog/d.png", "dog/e.png", "dog/notes.txt"]):
        os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
        if name.endswith("txt"):
            with open(os.path.join(root, name), "w") as f:
                f.write("none")
        else:
            pixels = (np.arange(4 * 3 * 3).reshape(4, 3, 3) * (i + 1) % 251).astype(np.uint8)
            Image.fromarray(pixels).save(os.path.join(root, name))
    return root


def quiet(function, *args, **kwargs):
    """What a function gives, what it prints and warns."""
    with contextlib.redirect_stdout(io.StringIO()) as out, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        made = function(*args, **kwargs)
    return made, [
        out.getvalue().strip(),
        *[str(w.message).splitlines()[0] for w in warned if "image" in str(w.message) or "class" in str(w.message)],
    ]


def flow(x, y=None, batches=3, generator=None, **options):
    np.random.seed(3)
    it = (generator or I.ImageDataGenerator()).flow(x, y, **options)
    return [len(it), it.n, [digest(next(it)) for _ in range(batches)], digest(it[0])]


def of_folder(batches=2, generator=None, **options):
    np.random.seed(3)
    it, said = quiet((generator or I.ImageDataGenerator()).flow_from_directory, folder(), target_size=(3, 3), **options)
    return [
        said,
        it.filenames,
        it.class_indices,
        it.classes,
        it.num_classes,
        it.samples,
        it.image_shape,
        [digest(next(it)) for _ in range(batches)],
    ]


TABLE = {
    "filename": ["cat/a.png", "dog/d.png", "dog/e.png", "cat/missing.png", "dog/notes.txt"],
    "class": ["cat", "dog", "dog", "cat", "dog"],
    "one": [1.0, 2.0, 3.0, 4.0, 5.0],
    "two": [5.0, 4.0, 3.0, 2.0, 1.0],
    "words": [["cat"], ["dog", "cat"], ["dog"], ["cat"], ["dog"]],
}


def of_table(batches=1, generator=None, rows=slice(None), **options):
    np.random.seed(3)
    table = DataFrame(TABLE)[rows]
    options = {"shuffle": False, **options}
    it, said = quiet((generator or I.ImageDataGenerator()).flow_from_dataframe, table, folder(), target_size=(3, 3), **options)
    return [said, it.filenames, getattr(it, "class_indices", None), digest([next(it) for _ in range(batches)])]


def saved(**options):
    place = tempfile.mkdtemp()
    np.random.seed(3)
    next(I.ImageDataGenerator().flow(PICTURES, batch_size=2, shuffle=False, save_to_dir=place, save_prefix="p", **options))
    return [len(os.listdir(place)), sorted(n.split("_")[0] + n.split("_")[1] + n[-3:] for n in os.listdir(place))]


def transformed(**options):
    generator = I.ImageDataGenerator(**options)
    np.random.seed(3)
    first = digest(generator.random_transform(PICTURE, seed=5))
    settings = generator.get_random_transform(PICTURE.shape, seed=6)
    return [first, {k: plain(v, 4) for k, v in sorted(settings.items())}, digest(generator.apply_transform(PICTURE, settings))]


def standardized(fit=True, augment=False, **options):
    generator = I.ImageDataGenerator(**options)
    np.random.seed(3)
    if fit:
        generator.fit(PICTURES, augment=augment, rounds=2, seed=4)
    return digest(generator.standardize(PICTURES[0].copy()))


def opened(*args, mode="RGB", **kwargs):
    place = os.path.join(tempfile.mkdtemp(), "p.png")
    Image.fromarray((np.arange(48).reshape(4, 4, 3) * 5).astype(np.uint8)).convert(mode).save(place)
    picture = I.load_img(place, *args, **kwargs)
    return [picture.mode, picture.size, digest(I.img_to_array(picture))]


def found(made):
    return plain(made(), 4)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: seeded(I.random_rotation, PICTURE, 40, 0, 1, 2), [[4, 5, 3], 143.0]),
        (lambda: seeded(I.random_shift, PICTURE, 0.3, 0.4, 0, 1, 2, fill_mode="wrap"), [[4, 5, 3], 238.0]),
        (lambda: seeded(I.random_shear, PICTURE, 30, 0, 1, 2, fill_mode="reflect"), [[4, 5, 3], 151.0]),
        (lambda: seeded(I.random_zoom, PICTURE, (0.5, 1.5), 0, 1, 2), [[4, 5, 3], -13.5]),
        (lambda: seeded(I.random_zoom, PICTURE, (1, 1), 0, 1, 2), [[4, 5, 3], 72.1]),
        (lambda: seeded(I.random_channel_shift, PICTURE, 30, 2), [[4, 5, 3], 74.3]),
        (lambda: seeded(I.random_brightness, PICTURE, (0.5, 1.5)), [[4, 5, 3], 78.1]),
        (lambda: digest(I.apply_channel_shift(PICTURE, 40)), [[4, 5, 3], 99.4]),
        (lambda: digest(I.apply_channel_shift(PICTURE, 40, channel_axis=2)), [[4, 5, 3], 99.4]),
        (lambda: digest(I.apply_brightness_shift(PICTURE, 0.5)), [[4, 5, 3], 33.7]),
        (lambda: digest(I.apply_affine_transform(PICTURE, theta=30, row_axis=0, col_axis=1, channel_axis=2)), [[4, 5, 3], -2.13]),
        (
            lambda: digest(I.apply_affine_transform(PICTURE, tx=1, ty=2, row_axis=0, col_axis=1, channel_axis=2, order=0)),
            [[4, 5, 3], 1080.0],
        ),
        (
            lambda: digest(I.apply_affine_transform(PICTURE, shear=20, zx=0.5, zy=2, row_axis=0, col_axis=1, channel_axis=2)),
            [[4, 5, 3], 241.0],
        ),
        (
            lambda: digest(I.apply_affine_transform(PICTURE, theta=20, tx=1, shear=5, zx=0.7, row_axis=0, col_axis=1, channel_axis=2)),
            [[4, 5, 3], 129.0],
        ),
        (
            lambda: digest(
                I.apply_affine_transform(
                    PICTURE.transpose(2, 0, 1), theta=20, fill_mode="constant", cval=3.0, row_axis=1, col_axis=2, channel_axis=0
                )
            ),
            [[3, 4, 5], -296.0],
        ),
        (
            lambda: [
                I.array_to_img(PICTURE).mode,
                I.array_to_img(GRAY).mode,
                I.array_to_img(some(4, 4, 4)).mode,
                I.array_to_img(PICTURE).size,
            ],
            ["RGB", "L", "RGBA", [5, 4]],
        ),
        (lambda: digest(np.asarray(I.array_to_img(PICTURE / 10))), [[4, 5, 3], 73.7]),
        (lambda: digest(np.asarray(I.array_to_img(PICTURE, scale=False))), [[4, 5, 3], 69.8]),
        (lambda: digest(np.asarray(I.array_to_img(PICTURE.transpose(2, 0, 1), data_format="channels_first"))), [[4, 5, 3], 73.7]),
        (lambda: digest(np.asarray(I.array_to_img(np.zeros((2, 2, 1))))), [[0.0, 0.0], [0.0, 0.0]]),
        (lambda: digest(I.img_to_array(I.array_to_img(PICTURE), data_format="channels_first")), [[3, 4, 5], 83.9]),
        (lambda: digest(I.img_to_array(I.array_to_img(GRAY))), [[4, 4, 1], 77.2]),
        (lambda: digest(I.img_to_array(I.array_to_img(GRAY), data_format="channels_first")), [[1, 4, 4], 77.2]),
        (
            lambda: [str(I.img_to_array(I.array_to_img(GRAY), dtype="float64").dtype), str(I.img_to_array(I.array_to_img(GRAY)).dtype)],
            ["float64", "float32"],
        ),
        (lambda: opened(), ["RGB", [4, 4], [[4, 4, 3], -101.0]]),
        (lambda: opened(grayscale=True), ["L", [4, 4], [[4, 4, 1], 22.6]]),
        (lambda: opened(color_mode="grayscale"), ["L", [4, 4], [[4, 4, 1], 22.6]]),
        (lambda: opened(color_mode="rgba"), ["RGBA", [4, 4], [[4, 4, 4], 41.3]]),
        (lambda: opened(mode="L"), ["RGB", [4, 4], [[4, 4, 3], -93.3]]),
        (lambda: opened(target_size=(2, 3)), ["RGB", [3, 2], [[2, 3, 3], -262.0]]),
        (lambda: opened(target_size=(2, 2), interpolation="bilinear"), ["RGB", [2, 2], [[2, 2, 3], -114.0]]),
        (lambda: opened(target_size=(6, 6), interpolation="bicubic"), ["RGB", [6, 6], [[6, 6, 3], 159.0]]),
        (
            lambda: flow(PICTURES, batch_size=4, shuffle=False),
            [2, 6, [[[4, 4, 4, 3], 64.6], [[2, 4, 4, 3], -1580.0], [[4, 4, 4, 3], 64.6]], [[4, 4, 4, 3], 64.6]],
        ),
        (
            lambda: flow(PICTURES, np.arange(6), batch_size=4, seed=2),
            [
                2,
                6,
                [
                    [[[4, 4, 4, 3], -658.0], [4.0, 1.0, 3.0, 2.0]],
                    [[[2, 4, 4, 3], 4300.0], [5.0, 0.0]],
                    [[[4, 4, 4, 3], -2330.0], [4.0, 5.0, 3.0, 0.0]],
                ],
                [[[4, 4, 4, 3], -2330.0], [4.0, 5.0, 3.0, 0.0]],
            ],
        ),
        (
            lambda: flow(PICTURES, np.arange(6), batch_size=4),
            [
                2,
                6,
                [
                    [[[4, 4, 4, 3], -2070.0], [3.0, 5.0, 4.0, 1.0]],
                    [[[2, 4, 4, 3], -1700.0], [0.0, 2.0]],
                    [[[4, 4, 4, 3], -1120.0], [0.0, 3.0, 5.0, 1.0]],
                ],
                [[[4, 4, 4, 3], -1120.0], [0.0, 3.0, 5.0, 1.0]],
            ],
        ),
        (
            lambda: flow(PICTURES, np.arange(6), batch_size=2, shuffle=False, sample_weight=np.arange(6) * 0.5),
            [
                3,
                6,
                [
                    [[[2, 4, 4, 3], 219.0], [0.0, 1.0], [0.0, 0.5]],
                    [[[2, 4, 4, 3], 4930.0], [2.0, 3.0], [1.0, 1.5]],
                    [[[2, 4, 4, 3], -1580.0], [4.0, 5.0], [2.0, 2.5]],
                ],
                [[[2, 4, 4, 3], 219.0], [0.0, 1.0], [0.0, 0.5]],
            ],
        ),
        (
            lambda: flow((PICTURES, np.arange(6)), np.arange(6), batch_size=4, shuffle=False),
            [
                2,
                6,
                [
                    [[[[4, 4, 4, 3], 64.6], [0.0, 1.0, 2.0, 3.0]], [0.0, 1.0, 2.0, 3.0]],
                    [[[[2, 4, 4, 3], -1580.0], [4.0, 5.0]], [4.0, 5.0]],
                    [[[[4, 4, 4, 3], 64.6], [0.0, 1.0, 2.0, 3.0]], [0.0, 1.0, 2.0, 3.0]],
                ],
                [[[[4, 4, 4, 3], 64.6], [0.0, 1.0, 2.0, 3.0]], [0.0, 1.0, 2.0, 3.0]],
            ],
        ),
        (
            lambda: flow((PICTURES, [np.arange(6), np.ones(6)]), batch_size=4, shuffle=False),
            [
                2,
                6,
                [
                    [[[4, 4, 4, 3], 64.6], [0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 1.0, 1.0]],
                    [[[2, 4, 4, 3], -1580.0], [4.0, 5.0], [1.0, 1.0]],
                    [[[4, 4, 4, 3], 64.6], [0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 1.0, 1.0]],
                ],
                [[[4, 4, 4, 3], 64.6], [0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 1.0, 1.0]],
            ],
        ),
        (
            lambda: flow(PICTURES, [0, 1] * 3, generator=I.ImageDataGenerator(validation_split=0.34), subset="training", shuffle=False),
            [
                1,
                4,
                [
                    [[[4, 4, 4, 3], 9540.0], [0.0, 1.0, 0.0, 1.0]],
                    [[[4, 4, 4, 3], 9540.0], [0.0, 1.0, 0.0, 1.0]],
                    [[[4, 4, 4, 3], 9540.0], [0.0, 1.0, 0.0, 1.0]],
                ],
                [[[4, 4, 4, 3], 9540.0], [0.0, 1.0, 0.0, 1.0]],
            ],
        ),
        (
            lambda: flow(PICTURES, [0, 1] * 3, generator=I.ImageDataGenerator(validation_split=0.34), subset="validation", shuffle=False),
            [
                1,
                2,
                [[[[2, 4, 4, 3], 219.0], [0.0, 1.0]], [[[2, 4, 4, 3], 219.0], [0.0, 1.0]], [[[2, 4, 4, 3], 219.0], [0.0, 1.0]]],
                [[[2, 4, 4, 3], 219.0], [0.0, 1.0]],
            ],
        ),
        (
            lambda: flow(PICTURES, generator=I.ImageDataGenerator(horizontal_flip=True, rescale=0.5), batch_size=3, seed=1),
            [2, 6, [[[3, 4, 4, 3], -2290.0], [[3, 4, 4, 3], 1710.0], [[3, 4, 4, 3], -2170.0]], [[3, 4, 4, 3], 86.8]],
        ),
        (lambda: saved(), [2, ["p0png", "p1png"]]),
        (lambda: saved(save_format="jpg"), [2, ["p0jpg", "p1jpg"]]),
        (
            lambda: of_folder(),
            [
                ["Found 5 images belonging to 2 classes."],
                ["cat/a.png", "cat/b.PNG", "cat/deep/c.bmp", "dog/d.png", "dog/e.png"],
                {"cat": 0, "dog": 1},
                [0, 0, 0, 1, 1],
                2,
                5,
                [3, 3, 3],
                [[[[5, 3, 3, 3], 149.0], [[5, 2], -0.289]], [[[5, 3, 3, 3], 133.0], [[5, 2], -0.289]]],
            ],
        ),
        (
            lambda: of_folder(shuffle=False, batch_size=2, class_mode="binary"),
            [
                ["Found 5 images belonging to 2 classes."],
                ["cat/a.png", "cat/b.PNG", "cat/deep/c.bmp", "dog/d.png", "dog/e.png"],
                {"cat": 0, "dog": 1},
                [0, 0, 0, 1, 1],
                2,
                5,
                [3, 3, 3],
                [[[[2, 3, 3, 3], 34.9], [0.0, 0.0]], [[[2, 3, 3, 3], 97.7], [0.0, 1.0]]],
            ],
        ),
        (
            lambda: of_folder(shuffle=False, classes=["dog", "cat"], class_mode="sparse", color_mode="grayscale"),
            [
                ["Found 5 images belonging to 2 classes."],
                ["dog/d.png", "dog/e.png", "cat/a.png", "cat/b.PNG", "cat/deep/c.bmp"],
                {"dog": 0, "cat": 1},
                [0, 0, 1, 1, 1],
                2,
                5,
                [3, 3, 1],
                [[[[5, 3, 3, 1], -22.1], [0.0, 0.0, 1.0, 1.0, 1.0]], [[[5, 3, 3, 1], -22.1], [0.0, 0.0, 1.0, 1.0, 1.0]]],
            ],
        ),
        (
            lambda: of_folder(shuffle=False, class_mode="input", color_mode="rgba"),
            [
                ["Found 5 images belonging to 2 classes."],
                ["cat/a.png", "cat/b.PNG", "cat/deep/c.bmp", "dog/d.png", "dog/e.png"],
                {"cat": 0, "dog": 1},
                [0, 0, 0, 1, 1],
                2,
                5,
                [3, 3, 4],
                [[[[5, 3, 3, 4], -279.0], [[5, 3, 3, 4], -279.0]], [[[5, 3, 3, 4], -279.0], [[5, 3, 3, 4], -279.0]]],
            ],
        ),
        (
            lambda: of_folder(shuffle=False, class_mode=None, interpolation="bilinear"),
            [
                ["Found 5 images belonging to 2 classes."],
                ["cat/a.png", "cat/b.PNG", "cat/deep/c.bmp", "dog/d.png", "dog/e.png"],
                {"cat": 0, "dog": 1},
                [0, 0, 0, 1, 1],
                2,
                5,
                [3, 3, 3],
                [[[5, 3, 3, 3], 111.0], [[5, 3, 3, 3], 111.0]],
            ],
        ),
        (
            lambda: of_folder(generator=I.ImageDataGenerator(validation_split=0.5), subset="validation", seed=5),
            [
                ["Found 2 images belonging to 2 classes."],
                ["cat/a.png", "dog/d.png"],
                {"cat": 0, "dog": 1},
                [0, 1],
                2,
                2,
                [3, 3, 3],
                [[[[2, 3, 3, 3], 42.0], [[1.0, 0.0], [0.0, 1.0]]], [[[2, 3, 3, 3], 115.0], [[0.0, 1.0], [1.0, 0.0]]]],
            ],
        ),
        (
            lambda: of_folder(generator=I.ImageDataGenerator(validation_split=0.5), subset="training", shuffle=False),
            [
                ["Found 3 images belonging to 2 classes."],
                ["cat/b.PNG", "cat/deep/c.bmp", "dog/e.png"],
                {"cat": 0, "dog": 1},
                [0, 0, 1],
                2,
                3,
                [3, 3, 3],
                [
                    [[[3, 3, 3, 3], -83.3], [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]],
                    [[[3, 3, 3, 3], -83.3], [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]],
                ],
            ],
        ),
        (
            lambda: of_folder(generator=I.ImageDataGenerator(data_format="channels_first"), shuffle=False),
            [
                ["Found 5 images belonging to 2 classes."],
                ["cat/a.png", "cat/b.PNG", "cat/deep/c.bmp", "dog/d.png", "dog/e.png"],
                {"cat": 0, "dog": 1},
                [0, 0, 0, 1, 1],
                2,
                5,
                [3, 3, 3],
                [[[[5, 3, 3, 3], 49.7], [[5, 2], -0.227]], [[[5, 3, 3, 3], 49.7], [[5, 2], -0.227]]],
            ],
        ),
        (
            lambda: transformed(),
            [
                [[4, 5, 3], 72.1],
                {
                    "brightness": None,
                    "channel_shift_intensity": None,
                    "flip_horizontal": 0,
                    "flip_vertical": 0,
                    "shear": 0,
                    "theta": 0,
                    "tx": 0,
                    "ty": 0,
                    "zx": 1,
                    "zy": 1,
                },
                [[4, 5, 3], 72.1],
            ],
        ),
        (
            lambda: transformed(rotation_range=40, width_shift_range=0.3, height_shift_range=0.2),
            [
                [[4, 5, 3], -97.4],
                {
                    "brightness": None,
                    "channel_shift_intensity": None,
                    "flip_horizontal": 0,
                    "flip_vertical": 0,
                    "shear": 0,
                    "theta": 31.43,
                    "tx": -0.2688,
                    "ty": 0.9637,
                    "zx": 1,
                    "zy": 1,
                },
                [[4, 5, 3], 18.6],
            ],
        ),
        (
            lambda: transformed(width_shift_range=2, height_shift_range=[-1, 1]),
            [
                [[4, 5, 3], 800.0],
                {
                    "brightness": None,
                    "channel_shift_intensity": None,
                    "flip_horizontal": 0,
                    "flip_vertical": 0,
                    "shear": 0,
                    "theta": 0,
                    "tx": -1,
                    "ty": -1,
                    "zx": 1,
                    "zy": 1,
                },
                [[4, 5, 3], 1010.0],
            ],
        ),
        (
            lambda: transformed(shear_range=20, zoom_range=0.3, channel_shift_range=20.0),
            [
                [[4, 5, 3], -4.65],
                {
                    "brightness": None,
                    "channel_shift_intensity": 3.802,
                    "flip_horizontal": 0,
                    "flip_vertical": 0,
                    "shear": 15.71,
                    "theta": 0,
                    "tx": 0,
                    "ty": 0,
                    "zx": 0.8992,
                    "zy": 1.193,
                },
                [[4, 5, 3], 437.0],
            ],
        ),
        (
            lambda: transformed(zoom_range=[0.5, 0.8], horizontal_flip=True, vertical_flip=True),
            [
                [[4, 5, 3], 246.0],
                {
                    "brightness": None,
                    "channel_shift_intensity": None,
                    "flip_horizontal": 0,
                    "flip_vertical": 1,
                    "shear": 0,
                    "theta": 0,
                    "tx": 0,
                    "ty": 0,
                    "zx": 0.7679,
                    "zy": 0.5996,
                },
                [[4, 5, 3], 125.0],
            ],
        ),
        (
            lambda: transformed(brightness_range=(0.5, 1.5), fill_mode="constant", cval=7.0, rotation_range=20),
            [
                [[4, 5, 3], -483.0],
                {
                    "brightness": 0.5417,
                    "channel_shift_intensity": None,
                    "flip_horizontal": 0,
                    "flip_vertical": 0,
                    "shear": 0,
                    "theta": 15.71,
                    "tx": 0,
                    "ty": 0,
                    "zx": 1,
                    "zy": 1,
                },
                [[4, 5, 3], -155.0],
            ],
        ),
        (lambda: standardized(False, rescale=0.1), [[4, 4, 3], 0.839]),
        (lambda: standardized(False, samplewise_center=True, samplewise_std_normalization=True), [[4, 4, 3], -0.0872]),
        (lambda: standardized(featurewise_center=True), [[4, 4, 3], -6.03]),
        (lambda: standardized(featurewise_center=True, featurewise_std_normalization=True), [[4, 4, 3], -0.27]),
        # It divides by what is nearly zero, and rounded otherwise by each kind of processor.
        (lambda: standardized(zca_whitening=True, featurewise_center=True), [[4, 4, 3], pytest.approx(-0.632, abs=0.01)]),
        (lambda: standardized(False, preprocessing_function=lambda x: x * 2, rescale=0.5), [[4, 4, 3], 8.39]),
        (lambda: standardized(augment=True, rotation_range=30, featurewise_center=True), [[4, 4, 3], -10.8]),
    ],
)
def test_pictures(made, expected):
    assert found(made) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: of_table(),
            [
                [
                    "Found 3 validated image filenames belonging to 2 classes.",
                    'Found 2 invalid image filename(s) in x_col="filename". These filename(s) will be ignored.',
                ],
                ["cat/a.png", "dog/d.png", "dog/e.png"],
                {"cat": 0, "dog": 1},
                [[[[3, 3, 3, 3], -108.0], [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]]],
            ],
        ),
        (
            lambda: of_table(2, shuffle=True, seed=4, batch_size=2),
            [
                [
                    "Found 3 validated image filenames belonging to 2 classes.",
                    'Found 2 invalid image filename(s) in x_col="filename". These filename(s) will be ignored.',
                ],
                ["cat/a.png", "dog/d.png", "dog/e.png"],
                {"cat": 0, "dog": 1},
                [[[[2, 3, 3, 3], 115.0], [[0.0, 1.0], [1.0, 0.0]]], [[[1, 3, 3, 3], 139.0], [[0.0, 1.0]]]],
            ],
        ),
        (
            lambda: of_table(validate_filenames=False, rows=slice(3)),
            [
                ["Found 3 non-validated image filenames belonging to 2 classes."],
                ["cat/a.png", "dog/d.png", "dog/e.png"],
                {"cat": 0, "dog": 1},
                [[[[3, 3, 3, 3], -108.0], [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]]],
            ],
        ),
        (
            lambda: of_table(class_mode="binary", classes=["dog", "cat"]),
            [
                [
                    "Found 3 validated image filenames belonging to 2 classes.",
                    'Found 2 invalid image filename(s) in x_col="filename". These filename(s) will be ignored.',
                ],
                ["cat/a.png", "dog/d.png", "dog/e.png"],
                {"cat": 0, "dog": 1},
                [[[[3, 3, 3, 3], -108.0], [0.0, 1.0, 1.0]]],
            ],
        ),
        (
            lambda: of_table(class_mode="sparse", classes=["dog"]),
            [
                [
                    "Found 2 validated image filenames belonging to 1 classes.",
                    'Found 2 invalid image filename(s) in x_col="filename". These filename(s) will be ignored.',
                ],
                ["dog/d.png", "dog/e.png"],
                {"dog": 0},
                [[[[2, 3, 3, 3], 129.0], [0.0, 0.0]]],
            ],
        ),
        (
            lambda: of_table(class_mode="categorical", y_col="words"),
            [
                [
                    "Found 3 validated image filenames belonging to 2 classes.",
                    'Found 2 invalid image filename(s) in x_col="filename". These filename(s) will be ignored.',
                ],
                ["cat/a.png", "dog/d.png", "dog/e.png"],
                {"cat": 0, "dog": 1},
                [[[[3, 3, 3, 3], -108.0], [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]]],
            ],
        ),
        (
            lambda: of_table(class_mode="categorical", y_col="words", classes=["cat"]),
            [
                [
                    "Found 2 validated image filenames belonging to 1 classes.",
                    'Found 2 invalid image filename(s) in x_col="filename". These filename(s) will be ignored.',
                ],
                ["cat/a.png", "dog/d.png"],
                {"cat": 0},
                [[[[2, 3, 3, 3], 42.0], [[1.0], [1.0]]]],
            ],
        ),
        (
            lambda: of_table(class_mode="raw", y_col="one"),
            [
                [
                    "Found 3 validated image filenames.",
                    'Found 2 invalid image filename(s) in x_col="filename". These filename(s) will be ignored.',
                ],
                ["cat/a.png", "dog/d.png", "dog/e.png"],
                None,
                [[[[3, 3, 3, 3], -108.0], [1.0, 2.0, 3.0]]],
            ],
        ),
        (
            lambda: of_table(class_mode="raw", y_col=["one", "two"], weight_col="two"),
            [
                [
                    "Found 3 validated image filenames.",
                    'Found 2 invalid image filename(s) in x_col="filename". These filename(s) will be ignored.',
                ],
                ["cat/a.png", "dog/d.png", "dog/e.png"],
                None,
                [[[[3, 3, 3, 3], -108.0], [[1.0, 5.0], [2.0, 4.0], [3.0, 3.0]], [5.0, 4.0, 3.0]]],
            ],
        ),
        (
            lambda: of_table(class_mode="multi_output", y_col=["one", "two"]),
            [
                [
                    "Found 3 validated image filenames.",
                    'Found 2 invalid image filename(s) in x_col="filename". These filename(s) will be ignored.',
                ],
                ["cat/a.png", "dog/d.png", "dog/e.png"],
                None,
                [[[[3, 3, 3, 3], -108.0], [[1.0, 2.0, 3.0], [5.0, 4.0, 3.0]]]],
            ],
        ),
        (
            lambda: of_table(class_mode="input"),
            [
                [
                    "Found 3 validated image filenames.",
                    'Found 2 invalid image filename(s) in x_col="filename". These filename(s) will be ignored.',
                ],
                ["cat/a.png", "dog/d.png", "dog/e.png"],
                None,
                [[[[3, 3, 3, 3], -108.0], [[3, 3, 3, 3], -108.0]]],
            ],
        ),
        (
            lambda: of_table(class_mode=None, classes=["cat"]),
            [
                [
                    "Found 3 validated image filenames.",
                    '`classes` will be ignored given the class_mode="None"',
                    'Found 2 invalid image filename(s) in x_col="filename". These filename(s) will be ignored.',
                ],
                ["cat/a.png", "dog/d.png", "dog/e.png"],
                None,
                [[[3, 3, 3, 3], -108.0]],
            ],
        ),
        (
            lambda: of_table(generator=I.ImageDataGenerator(validation_split=0.4), subset="validation"),
            [
                [
                    "Found 1 validated image filenames belonging to 2 classes.",
                    'Found 2 invalid image filename(s) in x_col="filename". These filename(s) will be ignored.',
                ],
                ["cat/a.png"],
                {"cat": 0, "dog": 1},
                [[[[1, 3, 3, 3], 27.9], [[1.0, 0.0]]]],
            ],
        ),
    ],
)
def test_pictures_of_a_table(made, expected):
    assert found(made) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (
            lambda: I.random_brightness(PICTURE, (1, 2, 3)),
            "ValueError: `brightness_range should be tuple or list of two floats. Received: (1, 2, 3)",
        ),
        (
            lambda: I.random_zoom(PICTURE, (1, 2, 3)),
            "ValueError: `zoom_range` should be a tuple or list of two floats. Received: (1, 2, 3)",
        ),
        (
            lambda: I.array_to_img(np.zeros((2, 2))),
            "ValueError: Expected image array to have rank 3 (single image). Got array with shape: (2, 2)",
        ),
        (lambda: I.array_to_img(np.zeros((2, 2, 2))), "ValueError: Unsupported channel number: 2"),
        (lambda: I.array_to_img(PICTURE, data_format="rows"), "ValueError: Invalid data_format: rows"),
        (lambda: I.img_to_array(I.array_to_img(PICTURE), data_format="rows"), "ValueError: Unknown data_format: rows"),
        (lambda: opened(color_mode="pink"), 'ValueError: color_mode must be "grayscale", "rgb", or "rgba"'),
        (
            lambda: opened(target_size=(2, 2), interpolation="odd"),
            "ValueError: Invalid interpolation method odd specified. Supported methods are nearest, bilinear, bicubic, hamm",
        ),
        (
            lambda: I.ImageDataGenerator(data_format="rows"),
            'ValueError: `data_format` should be `"channels_last"` (channel after row and column) or `"channels_first"` (ch',
        ),
        (
            lambda: I.ImageDataGenerator(zoom_range=(1, 2, 3)),
            "ValueError: `zoom_range` should be a float or a tuple or list of two floats. Received: (1, 2, 3)",
        ),
        (lambda: I.ImageDataGenerator(validation_split=2), "ValueError: `validation_split` must be strictly between 0 and 1.  Received: 2"),
        (
            lambda: I.ImageDataGenerator(brightness_range=(1, 2, 3)).random_transform(PICTURE),
            "ValueError: `brightness_range should be tuple or list of two floats. Received: (1, 2, 3)",
        ),
        (
            lambda: I.ImageDataGenerator().fit(np.zeros((2, 2))),
            "ValueError: Input to `.fit()` should have rank 4. Got array with shape: (2, 2)",
        ),
        (
            lambda: flow(PICTURES[0]),
            "ValueError: ('Input data in `NumpyArrayIterator` should have rank 4. You passed an array with shape', (4, 4, 3",
        ),
        (
            lambda: flow(PICTURES, np.arange(5)),
            "ValueError: `x` (images tensor) and `y` (labels) should have the same length. Found: x.shape = (6, 4, 4, 3), y",
        ),
        (
            lambda: flow(PICTURES, np.arange(6), sample_weight=np.arange(5)),
            "ValueError: `x` (images tensor) and `sample_weight` should have the same length. Found: x.shape = (6, 4, 4, 3)",
        ),
        (
            lambda: flow(PICTURES, np.arange(6), subset="other"),
            "ValueError: ('Invalid subset name:', 'other', '; expected \"training\" or \"validation\".')",
        ),
        (
            lambda: flow((PICTURES, np.arange(5))),
            "ValueError: All of the arrays in `x` should have the same length. Found a pair with: len(x[0]) = 6, len(x[?]) ",
        ),
        (
            lambda: flow(PICTURES, [0, 0, 1, 1, 1, 1], generator=I.ImageDataGenerator(validation_split=0.34), subset="training"),
            "ValueError: Training and validation subsets have different number of classes after the split. If your numpy ar",
        ),
        (lambda: I.ImageDataGenerator().flow(PICTURES)[1], "ValueError: Asked to retrieve element 1, but the Sequence has length 1"),
        (
            lambda: of_folder(color_mode="pink"),
            "ValueError: ('Invalid color mode:', 'pink', '; expected \"rgb\", \"rgba\", or \"grayscale\".')",
        ),
        (lambda: of_folder(subset="other"), 'ValueError: Invalid subset name: other;expected "training" or "validation"'),
    ],
)
def test_pictures_that_cannot_be(wrong, expected):
    assert refused(wrong) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda: of_table(class_mode="multi_output"), 'TypeError: If class_mode="multi_output", y_col must be a list. Received str.'),
        (
            lambda: of_table(class_mode="binary", classes=["dog", "cat", "cow"]),
            'ValueError: If class_mode="binary" there must be 2 classes. 3 class/es were given.',
        ),
        (
            lambda: of_table(class_mode="binary", rows=slice(1, 3)),
            'ValueError: If class_mode="binary" there must be 2 classes. Found 1 classes.',
        ),
        (
            lambda: of_table(class_mode="sparse", y_col="one"),
            'TypeError: If class_mode="sparse", y_col="one" column values must be strings.',
        ),
        (
            lambda: of_table(class_mode="categorical", y_col="one"),
            'TypeError: If class_mode="categorical", y_col="one" column values must be type string, list or tuple.',
        ),
        (lambda: of_table(x_col="one"), "TypeError: All values in column x_col=one must be strings."),
        (lambda: of_table(weight_col="class"), "TypeError: Column weight_col=class must be numeric."),
    ],
)
def test_tables_that_cannot_be(wrong, expected):
    assert refused(wrong) == expected
