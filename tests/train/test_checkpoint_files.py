"""The files of checkpoints: what is written is read, and damage is noticed."""

import io
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from everflow import errors
from everflow.graph import dtypes
from everflow.io.filesystems import LocalFileSystem
from everflow.train.checkpoints import bundle_writer
from everflow.train.checkpoints.bundle import BundleReader
from everflow.train.checkpoints.bundle_writer import BundleWriter, merge_bundles
from everflow.train.checkpoints.legacy import LegacyReader, write_legacy
from everflow.train.checkpoints.reader import open_checkpoint
from everflow.train.checkpoints.slices import TensorSlice, parse_spec, slice_key
from everflow.train.checkpoints.snappy import decompressed
from everflow.train.checkpoints.table import Table, masked, unmasked, write_table

VALUES = {
    "half": (np.array([1, 2], np.float16), dtypes.float16),
    "bf": (np.array([[1.5], [-2]], dtypes.bfloat16.as_numpy_dtype), dtypes.bfloat16),
    "f": (np.arange(6, dtype=np.float32).reshape(2, 3), dtypes.float32),
    "c": (np.array(1 + 2j, np.complex64), dtypes.complex64),
    "b": (np.array([True, False]), dtypes.bool),
    "q": (np.array([-3, 4], np.int8).view(dtypes.qint8.as_numpy_dtype), dtypes.qint8),
    "empty": (np.zeros((0, 3), np.int64), dtypes.int64),
    "s": (np.array([b"", b"\x00\xff", b"x" * 300], object), dtypes.string),
}


def bundle(prefix, values=VALUES):
    with BundleWriter(str(prefix)) as writer:
        for name, (value, dtype) in values.items():
            writer.add(name, value, dtype)
    return str(prefix)


def test_tables_keep_pairs_in_order():
    pairs = [(b"%06d" % i, b"v" * (i % 700)) for i in range(3000)]
    file = io.BytesIO()
    write_table(file, pairs)
    assert list(Table(file.getvalue()).items()) == pairs


def test_checksums_are_masked_and_back():
    assert masked(0) == 0xA282EAD8 and unmasked(masked(0x12345678)) == 0x12345678


def test_snappy_copies_what_overlaps():
    # "abc", then nine bytes from three back.
    assert decompressed(bytes([12, 2 << 2]) + b"abc" + bytes([(9 - 4) << 2 | 1, 3])) == b"abc" * 4
    with pytest.raises(errors.DataLossError, match="corrupted compressed block"):
        decompressed(bytes([12, 2 << 2]) + b"abc" + bytes([(9 - 4) << 2 | 1, 4]))


def test_every_type_comes_back(tmp_path):
    reader = BundleReader(bundle(tmp_path / "c"))
    for name, (value, dtype) in VALUES.items():
        assert reader.dtype(name) is dtype and reader.shape(name) == value.shape
        found = reader.read(name)
        assert found.dtype == value.dtype and found.tolist() == value.tolist()
    assert [p.name for p in sorted(tmp_path.iterdir())] == ["c.data-00000-of-00001", "c.index"]


def test_slices_are_put_together_as_asked(tmp_path):
    whole = np.arange(40, dtype=np.float32).reshape(10, 4)
    with BundleWriter(str(tmp_path / "c")) as writer:
        for start, length in ((0, 4), (4, 3), (7, 3)):
            writer.add_slice("w", whole.shape, TensorSlice([(start, length), (0, -1)]), whole[start : start + length], dtypes.float32)
    reader = BundleReader(str(tmp_path / "c"))
    assert (reader.read("w") == whole).all()
    assert (reader.reading("w", TensorSlice([(2, 6), (1, 2)]))() == whole[2:8, 1:3]).all()


def test_a_slice_that_is_not_there_is_missed(tmp_path):
    with BundleWriter(str(tmp_path / "c")) as writer:
        writer.add_slice("w", (4,), TensorSlice([(0, 2)]), np.zeros(2, np.float32), dtypes.float32)
    with pytest.raises(errors.NotFoundError, match="lacks parts of tensor w"):
        BundleReader(str(tmp_path / "c")).read("w")


def test_specs_are_parsed():
    shape, part = parse_spec("10 20 0,5:-")
    assert shape == (10, 20) and part.shape_in(shape) == (5, 20) and str(part) == "0,5:-"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "Need least two elements"),
        ("10", "Need least two elements"),
        ("10 0,11", "Extent in dimension out of bounds"),
        ("10 x 0,5:-", "Non numerical dimension"),
        ("10 20 0,5", "Mismatching ranks"),
    ],
)
def test_bad_specs(spec, message):
    with pytest.raises(errors.InvalidArgumentError, match=message):
        parse_spec(spec)


def test_keys_of_slices_sort_by_place():
    numbers = [0, 1, 63, 64, 8191, 8192, 1 << 20, 1 << 40]
    keys = [slice_key("v", TensorSlice([(n, 1)])) for n in numbers]
    assert keys == sorted(keys)
    assert slice_key("a\0", TensorSlice([])) < slice_key("ab", TensorSlice([]))


def test_merging_makes_shards_of_files(tmp_path):
    a = bundle(tmp_path / "a/part", {"x": VALUES["f"]})
    b = bundle(tmp_path / "b/part", {"y": VALUES["s"]})
    merge_bundles([a, b], str(tmp_path / "all"), delete_old_dirs=True)
    reader = BundleReader(str(tmp_path / "all"))
    assert reader.shards == 2 and reader.read("y").tolist() == VALUES["s"][0].tolist() and reader.read("x")[1, 2] == 5
    assert not (tmp_path / "a").exists()


def test_version_1_comes_back(tmp_path):
    path = str(tmp_path / "old")
    supported = {k: v for k, v in VALUES.items() if k not in ("bf",)}
    write_legacy(path, [(k, v.shape, TensorSlice.whole(v.ndim), v, t) for k, (v, t) in supported.items()])
    reader = open_checkpoint(path)
    assert isinstance(reader, LegacyReader)
    for name, (value, _) in supported.items():
        assert reader.read(name).tolist() == value.tolist() and reader.read(name).dtype == value.dtype


def test_a_failed_write_leaves_what_was_there(tmp_path):
    prefix = bundle(tmp_path / "c")
    before = {p: p.read_bytes() for p in tmp_path.iterdir()}
    with pytest.raises(errors.InvalidArgumentError, match="Adding duplicate key: f"), BundleWriter(prefix) as writer:
        writer.add("f", *VALUES["f"])
        writer.add("f", *VALUES["f"])
    assert {p: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_damage_is_an_error_and_nothing_worse(tmp_path):
    prefix = bundle(tmp_path / "c")
    files = {p: p.read_bytes() for p in tmp_path.iterdir()}
    chance = random.Random(5)
    noticed = 0
    for _ in range(400):
        path = chance.choice(sorted(files))
        data = bytearray(files[path])
        kind = chance.randrange(3)
        if kind == 0:
            data = data[: chance.randrange(len(data))]
        elif kind == 1:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        else:
            at = chance.randrange(len(data))
            data[at : at + 8] = b"\xff" * 8
        path.write_bytes(data)
        try:
            reader = open_checkpoint(prefix)
            for name, (value, _) in VALUES.items():
                assert reader.read(name).tolist() == value.tolist()
        except errors.OpError:
            noticed += 1
        path.write_bytes(files[path])
    # What is left over: bytes of the footer that nobody reads.
    assert noticed > 370


def test_a_checkpoint_that_is_replaced_leaves_the_same_files(tmp_path):
    prefix = bundle(tmp_path / "c", {"v": (np.zeros(3), dtypes.float64)})
    names = sorted(p.name for p in tmp_path.iterdir())
    bundle(tmp_path / "c", {"v": (np.ones(4), dtypes.float64)})
    assert names == sorted(p.name for p in tmp_path.iterdir()) == ["c.data-00000-of-00001", "c.index"]
    assert BundleReader(prefix).read("v").tolist() == [1, 1, 1, 1]


def test_a_checkpoint_can_be_read_at_each_step_of_replacing_it(tmp_path, monkeypatch):
    seen = []

    def looking(step):
        def run(*arguments):
            result = step(*arguments)
            seen.append(BundleReader(str(tmp_path / "c")).read("v").tolist())
            return result

        return run

    bundle(tmp_path / "c", {"v": (np.zeros(2), dtypes.float64)})
    for step in ("rename", "duplicate", "_write_index", "remove"):
        monkeypatch.setattr(bundle_writer, step, looking(getattr(bundle_writer, step)))
    bundle(tmp_path / "c", {"v": (np.ones(2), dtypes.float64)})
    assert seen[0] == [0, 0] and seen[-1] == [1, 1] and len(seen) == 5


def test_data_are_replaced_where_files_have_one_name_only(tmp_path, monkeypatch):
    prefix = bundle(tmp_path / "c", {"v": (np.zeros(2), dtypes.float64)})
    monkeypatch.delattr(LocalFileSystem, "link")
    bundle(tmp_path / "c", {"v": (np.ones(2), dtypes.float64)})
    assert BundleReader(prefix).read("v").tolist() == [1, 1]


def test_threads_read_one_checkpoint_at_once(tmp_path):
    values = {f"v{i}": (np.full(300_000, i, np.int64), dtypes.int64) for i in range(8)}
    reader = BundleReader(bundle(tmp_path / "c", values))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda read: read(), [reader.reading(name) for name in values]))
    for array, (value, _) in zip(found, values.values()):
        np.testing.assert_array_equal(array, value)
        assert array.ctypes.data % 64 == 0
