"""h5py, PyYAML and Pillow as they were."""

import h5py
import numpy as np
import pytest
import yaml
from PIL import Image, ImageDraw, ImageFont

from everflow import years


def test_values_of_datasets(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = [1, 2]
        file["y"] = 3.0
        assert file["x"].value.tolist() == [1, 2] and file["y"].value == 3.0 and file.fid == file.id


def test_lists_of_bytes_are_arrays_of_bytes(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.attrs["names"] = [b"kernel", b"bias"]
        file["names"] = (b"a", b"bcd")
        file.attrs["texts"] = ["a", "b"]
        assert file.attrs["names"].dtype == "S6" and file.attrs["names"].tolist() == [b"kernel", b"bias"]
        assert file["names"].dtype == "S3" and file.attrs["texts"].tolist() == ["a", "b"]


def test_files_without_a_mode_can_be_written(tmp_path):
    with h5py.File(tmp_path / "a.h5") as file:
        file["x"] = 1
    with h5py.File(tmp_path / "a.h5") as file:
        file["y"] = 2
        assert file.mode == "r+" and sorted(file) == ["x", "y"]
    (tmp_path / "bad.h5").write_text("no such file")
    with pytest.raises(OSError, match="signature not found"):
        h5py.File(tmp_path / "bad.h5")


def test_files_with_a_mode_are_as_today(tmp_path):
    with pytest.raises(FileNotFoundError, match="Unable to .*open file"):
        h5py.File(tmp_path / "a.h5", "r")
    h5py.File(tmp_path / "a.h5", "w").close()
    with h5py.File(tmp_path / "a.h5", "r") as file:
        assert file.mode == "r"
    years.remove()
    with h5py.File(tmp_path / "a.h5") as file:
        assert file.mode == "r"
    assert not hasattr(h5py.Dataset, "value")


def test_yaml_without_a_loader():
    assert yaml.load("a: [1, 2]") == {"a": [1, 2]} and list(yaml.load_all("1\n---\n2")) == [1, 2]
    assert yaml.load("a: 1", Loader=yaml.BaseLoader) == {"a": "1"} == yaml.load("a: 1", yaml.BaseLoader)
    with pytest.raises(yaml.constructor.ConstructorError, match="could not determine a constructor"):
        yaml.load("!!python/object/apply:os.getcwd []")
    with pytest.raises(TypeError, match="missing"):
        yaml.load()


def test_names_of_filters():
    assert Image.ANTIALIAS == Image.LANCZOS and Image.LINEAR == Image.BILINEAR and Image.CUBIC == Image.BICUBIC
    assert Image.new("L", (4, 4)).resize((2, 2), Image.ANTIALIAS).size == (2, 2)


def test_sizes_of_text():
    draw, font = ImageDraw.Draw(Image.new("L", (100, 100))), ImageFont.load_default()
    width, height = font.getsize("hello")
    assert (width, height) == draw.textsize("hello", font) and 10 < width < 60 and 5 < height < 30
    assert draw.textsize("hello\nhello", font)[1] > height and font.getsize("hello, hello")[0] > width
    assert np.asarray(draw.multiline_textsize("a\nb")).dtype.kind == "i"


def test_texts_of_attributes_can_be_decoded(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.attrs["config"] = b"{}"
        file.attrs["names"] = [b"a", b"b"]
        assert file.attrs["config"].decode("utf-8") == "{}" == file.attrs["config"]
        file.attrs["texts"] = ["c", "d"]
        assert [name.decode() for name in [*file.attrs["names"], *file.attrs["texts"]]] == ["a", "b", "c", "d"]


def test_objects_that_are_like_files_need_no_mode(tmp_path):
    with open(tmp_path / "b.h5", "w+b") as like_a_file:
        with h5py.File(like_a_file) as file:
            file["x"] = [1, 2]
        with h5py.File(like_a_file) as file:
            assert file["x"].value.tolist() == [1, 2]
