"""JPEG files, read and written natively and by Pillow."""

import io

import numpy as np
import pytest
from PIL import Image

import everflow as tf
from everflow.io import jpeg, pillow_jpeg

Y, X = np.mgrid[0:45, 0:70]
PICTURE = np.stack([128 + 100 * np.sin(Y / 5), 128 + 100 * np.cos(X / 7), 3 * Y + X], -1).clip(0, 255).astype(np.uint8)
NATIVE = pytest.mark.skipif(not jpeg.IS_NATIVE, reason="the extension was built without libjpeg-turbo")
both = pytest.mark.parametrize("codec", [pytest.param(jpeg, marks=NATIVE, id="native"), pytest.param(pillow_jpeg, id="pillow")])


def saved(picture=PICTURE, mode=None, **options):
    out = io.BytesIO()
    image = Image.fromarray(picture)
    (image.convert(mode) if mode else image).save(out, "JPEG", **options)
    return out.getvalue()


def apart(a, b):
    assert a.shape == b.shape
    return int(np.abs(a.astype(int) - b.astype(int)).max())


@both
@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
@pytest.mark.parametrize("is_progressive", [False, True])
def test_pixels_are_those_of_the_file(codec, mode, is_progressive):
    contents = saved(mode=mode, quality=95, subsampling=0, progressive=is_progressive)
    assert codec.jpeg_shape(contents) == (45, 70, {"L": 1, "RGB": 3, "CMYK": 4}[mode])
    found = codec.decode_jpeg(contents, accurate=True)
    assert found.shape == (45, 70, 1 if mode == "L" else 3)
    assert apart(codec.decode_jpeg(contents, channels=3, accurate=True), PICTURE if mode != "L" else found.repeat(3, 2)) < 12


@NATIVE
@pytest.mark.parametrize("subsampling", [0, 1, 2])
@pytest.mark.parametrize("ratio", [1, 2, 4, 8])
@pytest.mark.parametrize("channels", [1, 3])
def test_the_accurate_transform_is_the_same_in_both(subsampling, ratio, channels):
    contents = saved(quality=90, subsampling=subsampling)
    options = {"channels": channels, "ratio": ratio, "accurate": True}
    np.testing.assert_array_equal(jpeg.decode_jpeg(contents, **options), pillow_jpeg.decode_jpeg(contents, **options))


@NATIVE
def test_the_fast_transform_is_near_the_accurate_one():
    contents = saved(quality=90, subsampling=2)
    assert 0 < apart(jpeg.decode_jpeg(contents), jpeg.decode_jpeg(contents, accurate=True)) < 8
    assert 0 < apart(jpeg.decode_jpeg(contents), jpeg.decode_jpeg(contents, fancy_upscaling=False)) < 60


@both
def test_a_window_is_cut_out(codec):
    contents = saved(quality=90, subsampling=0)
    whole = codec.decode_jpeg(contents)
    for top, left, height, width in ((0, 0, 45, 70), (3, 5, 10, 20), (44, 69, 1, 1), (16, 0, 29, 70)):
        found = codec.decode_jpeg(contents, crop=(top, left, height, width))
        np.testing.assert_array_equal(found, whole[top : top + height, left : left + width])
    for window in ((0, 0, 46, 70), (-1, 0, 5, 5), (0, 0, 0, 5), (40, 0, 6, 5), (0, 1, 45, 70)):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"Invalid JPEG data or crop window, data size {len(contents)}"):
            codec.decode_jpeg(contents, crop=window)


@both
def test_a_cut_off_file_is_refused_or_recovered(codec):
    contents = saved(np.tile(PICTURE, (4, 4, 1)), quality=95)
    cut = contents[: len(contents) // 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data"):
        codec.decode_jpeg(cut)
    whole = codec.decode_jpeg(contents)
    np.testing.assert_array_equal(codec.decode_jpeg(cut, recover=True)[:60], whole[:60])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data, size 20"):
        codec.jpeg_shape(contents[:20])


@NATIVE
def test_a_part_of_the_rows_may_do():
    contents = saved(np.tile(PICTURE, (4, 4, 1)), quality=95)
    cut = contents[: len(contents) // 2]
    found = jpeg.decode_jpeg(cut, least=0.3)
    np.testing.assert_array_equal(found[:60], jpeg.decode_jpeg(contents)[:60])
    assert not found[-60:].any()
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data"):
        jpeg.decode_jpeg(cut, least=0.9)


@NATIVE
@pytest.mark.parametrize("tail", [b"", b"\xff", b"\xff\xff", b"\xff\xc4\xff"])
def test_recovery_comes_to_an_end(tail):
    contents = saved(quality=95)
    for size in (4, 30, 200, 500, len(contents) - 40):
        try:
            assert jpeg.decode_jpeg(contents[:size] + tail, recover=True).shape == PICTURE.shape
        except tf.errors.InvalidArgumentError:
            assert tail or size < 700


@both
@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"optimize_size": True}, {"chroma_downsampling": False}, {"quality": 30}])
def test_what_is_written_is_read_by_others(codec, options):
    contents = codec.encode_jpeg(PICTURE, **options)
    image = Image.open(io.BytesIO(contents))
    assert image.info["dpi"] == (300, 300) and bool(image.info.get("progressive")) == bool(options.get("progressive"))
    assert (image.layer[0][1:3] == (1, 1)) == ("chroma_downsampling" in options)
    if "quality" not in options:
        assert apart(np.asarray(image), PICTURE) < 30
    assert Image.open(io.BytesIO(codec.encode_jpeg(PICTURE[..., :1]))).mode == "L"


@both
def test_metadata_and_densities_are_written(codec):
    contents = codec.encode_jpeg(PICTURE, density=("cm", 12, 34), xmp=b"<x/>")
    at = contents.index(b"JFIF\0") + 7
    assert contents[at : at + 5] == b"\2\0\x0c\0\x22"
    assert b"http://ns.adobe.com/xap/1.0/\0<x/>" in contents


@NATIVE
def test_a_picture_that_is_no_jpeg_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="JPEG encoding failed"):
        jpeg.encode_jpeg(np.zeros((0, 5, 3), np.uint8))
    with pytest.raises(tf.errors.InvalidArgumentError, match="channels must be 0, 1, or 3 for JPEG, got 4"):
        jpeg.decode_jpeg(saved(), channels=4)
