"""Image files."""

import io

import numpy as np
import pytest
from PIL import Image

import everflow as tf
from everflow.io import images, png
from running import run

Y, X = np.mgrid[0:24, 0:40]
PICTURE = np.stack([128 + 100 * np.sin(Y / 5), 128 + 100 * np.cos(X / 7), 4 * Y + 2 * X], -1).clip(0, 255).astype(np.uint8)


def saved(picture, kind, mode=None, **options):
    out = io.BytesIO()
    image = Image.fromarray(picture)
    (image.convert(mode) if mode else image).save(out, kind, **options)
    return out.getvalue()


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_png_there_and_back(channels, dtype):
    image = np.random.RandomState(1).randint(0, np.iinfo(dtype).max, (6, 9, channels)).astype(dtype)
    np.testing.assert_array_equal(png.decode_png(png.encode_png(image), sixteen_bits=dtype == np.uint16), image)
    other = np.asarray(Image.open(io.BytesIO(png.encode_png(image))))
    if dtype == np.uint8:
        np.testing.assert_array_equal(other.reshape(image.shape), image)


def test_filters_make_smooth_pngs_small():
    assert len(png.encode_png(PICTURE)) < PICTURE.size / 5


def test_png_channels_and_depths():
    contents = saved(PICTURE, "PNG")
    assert run(tf.image.decode_png(contents, channels=4))[..., 3].min() == 255
    np.testing.assert_array_equal(run(tf.image.decode_png(contents, dtype=tf.uint16)), PICTURE.astype(np.uint16) * 257)
    gray = run(tf.image.decode_png(contents, channels=1))[..., 0]
    np.testing.assert_allclose(gray, PICTURE @ [0.299, 0.587, 0.114], atol=1.1)
    assert run(tf.image.decode_png(saved(PICTURE, "PNG", "P"))).shape == (24, 40, 3)


def test_jpeg_there_and_back():
    found = run(tf.image.decode_jpeg(tf.image.encode_jpeg(PICTURE, quality=95, chroma_downsampling=False)))
    assert np.abs(found.astype(int) - PICTURE).max() < 12
    assert run(tf.image.extract_jpeg_shape(saved(PICTURE, "JPEG"))).tolist() == [24, 40, 3]


def test_jpeg_at_a_part_of_its_size_and_inside_a_window():
    contents = saved(PICTURE, "JPEG")
    whole = run(tf.image.decode_jpeg(contents))
    assert run(tf.image.decode_jpeg(contents, ratio=4)).shape == (6, 10, 3)
    np.testing.assert_array_equal(run(tf.image.decode_and_crop_jpeg(contents, [3, 5, 10, 20])), whole[3:13, 5:25])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data or crop window"):
        run(tf.image.decode_and_crop_jpeg(contents, [3, 5, 100, 20]))


def test_chroma_may_be_repeated_instead_of_interpolated():
    contents = saved(PICTURE, "JPEG", quality=95, subsampling=2)
    smooth, blocky = (run(tf.image.decode_jpeg(contents, fancy_upscaling=fancy)).astype(int) for fancy in (True, False))
    assert 0 < np.abs(smooth - blocky).max() < 60
    halves = np.asarray(Image.fromarray(blocky.astype(np.uint8)).convert("YCbCr"))[..., 1:].astype(int)
    assert np.abs(halves[::2] - halves[1::2]).max() <= 2


def test_a_truncated_jpeg_may_be_recovered():
    contents = saved(np.tile(PICTURE, (4, 4, 1)), "JPEG", quality=95)
    cut = contents[: len(contents) * 3 // 4]
    found = run(tf.image.decode_jpeg(cut, try_recover_truncated=True))
    np.testing.assert_array_equal(found[:40], run(tf.image.decode_jpeg(contents))[:40])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data"):
        run(tf.image.decode_jpeg(cut))


def test_headers_say_density_in_the_unit_asked_for():
    contents = run(tf.image.encode_jpeg(PICTURE, density_unit="cm", x_density=12, y_density=34))
    at = contents.index(b"JFIF\0") + 7
    assert contents[at : at + 5] == b"\2\0\x0c\0\x22"


@pytest.mark.parametrize(("mode", "channels"), [("RGB", 3), ("L", 1)])
def test_bmp_rows_are_padded_and_upside_down(mode, channels):
    odd = PICTURE[:, :37]
    found = images.decode_bmp(saved(odd, "BMP", mode))
    np.testing.assert_array_equal(found, np.asarray(Image.fromarray(odd).convert(mode)).reshape(24, 37, channels))


def test_gif_frames_and_any_kind():
    frames = [Image.fromarray(p).quantize(256) for p in (PICTURE, PICTURE[::-1].copy())]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    assert run(tf.image.decode_gif(out.getvalue())).shape == (2, 24, 40, 3)
    assert run(tf.image.decode_image(out.getvalue(), expand_animations=False)).shape == (24, 40, 3)
    np.testing.assert_array_equal(run(tf.image.decode_image(saved(PICTURE, "BMP"))), PICTURE)
    np.testing.assert_allclose(run(tf.image.decode_image(saved(PICTURE, "PNG"), dtype=tf.float32)), PICTURE / 255, rtol=1e-6)


def test_what_is_no_image_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="got unknown format starting with 'hello'"):
        run(tf.image.decode_png(b"hello"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="got empty file"):
        run(tf.image.decode_jpeg(b""))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to decode bytes as JPEG, PNG, GIF, or BMP"):
        run(tf.image.decode_image(b"hello"))
