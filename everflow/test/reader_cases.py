"""Bases of tests of datasets that read files: they write small files and say what reading them gives."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import os
import zlib
from collections.abc import Iterator
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.data.csv_files import make_batched_features_dataset
from everflow.data.readers import TFRecordDataset
from everflow.graph import dtypes
from everflow.io.records import RecordWriter
from everflow.proto import example_pb2
from everflow.test.dataset_case import DatasetTestBase

FILES, RECORDS = 2, 7
BASES = "data.experimental.kernel_tests.reader_dataset_ops_test_base."


def in_turns(sources: list[Iterator[Any]], cycle: int) -> Iterator[Any]:
    """One item of each of `cycle` sources in turn; a source that ends leaves its place to the next."""
    waiting = iter(sources)
    places: list[Any] = list(itertools.islice(waiting, cycle))
    while any(p is not None for p in places):
        for i, source in enumerate(places):
            if source is None:
                continue
            with contextlib.suppress(StopIteration):
                yield next(source)
                continue
            places[i] = next(waiting, None)


def records_in_order(files: Any, cycle: int, records: int) -> Iterator[tuple[int, int]]:
    """The numbers of files and records as a reader of several files gives them."""
    return in_turns([zip([f] * records, range(records)) for f in files], cycle)


class _WithFiles(DatasetTestBase):
    _num_files, _num_records = FILES, RECORDS

    def _files(self, chosen: Any) -> Any:
        """The numbers of the files that are read: all, one or several."""
        if chosen is None:
            return range(self._num_files)
        return chosen if isinstance(chosen, (list, tuple)) else [chosen]

    def _path(self, name: str) -> str:
        return os.path.join(self.get_temp_dir(), name)


@internal(BASES + "FixedLengthRecordDatasetTestBase")
class FixedLengthRecordDatasetTestBase(_WithFiles):
    """Files of records of three bytes between a header and a footer."""

    def setUp(self) -> None:
        super().setUp()
        self._num_files, self._num_records = FILES, RECORDS
        self._header_bytes, self._record_bytes, self._footer_bytes = 5, 3, 2

    def _record(self, f: int, r: int) -> bytes:
        return str(f * 2 + r).encode() * self._record_bytes

    def _createFiles(self) -> list[str]:
        names = []
        for f in range(self._num_files):
            body = b"".join(self._record(f, r) for r in range(self._num_records))
            names.append(self._path(f"fixed_length_record.{f}.txt"))
            with open(names[-1], "wb") as out:
                out.write(b"H" * self._header_bytes + body + b"F" * self._footer_bytes)
        return names


@internal(BASES + "TextLineDatasetTestBase")
class TextLineDatasetTestBase(_WithFiles):
    """Files of lines; only the first ends with a line's end."""

    def _lineText(self, f: int, line: int) -> bytes:
        return b"%d: %d" % (f, line)

    def _createFiles(self, num_files: int, num_lines: int, crlf: bool = False, compression_type: str | None = None) -> list[str]:
        pack: Any = {None: bytes, "": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}[compression_type]
        end = b"\r\n" if crlf else b"\n"
        names = []
        for f in range(num_files):
            content = end.join(self._lineText(f, i) for i in range(num_lines)) + (end if f == 0 else b"")
            names.append(self._path(f"text_line.{f}.txt"))
            with open(names[-1], "wb") as out:
                out.write(pack(content))
        return names


@internal(BASES + "TFRecordDatasetTestBase")
class TFRecordDatasetTestBase(_WithFiles):
    """TFRecord files."""

    def setUp(self) -> None:
        super().setUp()
        self._num_files, self._num_records = FILES, RECORDS
        self.test_filenames = self._createFiles()

    def _record(self, f: int, r: int) -> bytes:
        return b"Record %d of file %d" % (r, f)

    def _createFiles(self) -> list[str]:
        names = [self._path(f"tf_record.{f}.txt") for f in range(self._num_files)]
        for f, name in enumerate(names):
            with RecordWriter(name) as out:
                for r in range(self._num_records):
                    out.write(self._record(f, r))
        return names

    def _next_expected_batch(
        self, file_indices: Any, batch_size: int, num_epochs: int, cycle_length: int, drop_final_batch: bool, use_parser_fn: Any
    ) -> Iterator[list[bytes]]:
        every = (
            self._record(*n)[1 if use_parser_fn else 0 :]
            for _ in range(num_epochs)
            for n in records_in_order(file_indices, cycle_length, self._num_records)
        )
        while batch := list(itertools.islice(every, batch_size)):
            if len(batch) == batch_size or not drop_final_batch:
                yield batch

    def _verify_records(
        self,
        outputs: Any,
        batch_size: int,
        file_index: Any,
        num_epochs: int,
        interleave_cycle_length: int,
        drop_final_batch: bool,
        use_parser_fn: Any,
    ) -> None:
        files = self._files(file_index)
        for expected in self._next_expected_batch(files, batch_size, num_epochs, interleave_cycle_length, drop_final_batch, use_parser_fn):
            self.assertAllEqual(expected, self.evaluate(outputs()))


@internal(BASES + "MakeBatchedFeaturesDatasetTestBase")
class MakeBatchedFeaturesDatasetTestBase(_WithFiles):
    """TFRecord files of Examples with numbers, keywords and a label."""

    def setUp(self) -> None:
        super().setUp()
        self._num_files, self._num_records = FILES, RECORDS
        self.test_filenames = self._createFiles()

    def make_batch_feature(
        self,
        filenames: Any,
        num_epochs: int,
        batch_size: int,
        label_key: Any = None,
        reader_num_threads: int = 1,
        parser_num_threads: int = 1,
        shuffle: bool = False,
        shuffle_seed: Any = None,
        drop_final_batch: bool = False,
    ) -> Any:
        self.filenames, self.num_epochs, self.batch_size = filenames, num_epochs, batch_size
        one, several = tf.FixedLenFeature, tf.VarLenFeature
        features = {
            "file": one([], dtypes.int64),
            "record": one([], dtypes.int64),
            "keywords": several(dtypes.string),
            "label": one([], dtypes.string),
        }
        return make_batched_features_dataset(
            filenames,
            batch_size,
            features,
            reader=TFRecordDataset,
            label_key=label_key,
            num_epochs=num_epochs,
            shuffle=shuffle,
            shuffle_seed=shuffle_seed,
            reader_num_threads=reader_num_threads,
            parser_num_threads=parser_num_threads,
            drop_final_batch=drop_final_batch,
        )

    def _get_keywords(self, f: int, r: int) -> list[bytes]:
        return [b"keyword%d" % i for i in range(1 + (f + r) % 2)]

    def _sum_keywords(self, num_files: int) -> int:
        return sum(len(self._get_keywords(f, r)) for f in range(num_files) for r in range(self._num_records))

    def _record(self, f: int, r: int, label: str) -> bytes:
        example = example_pb2.Example()
        feature = example.features.feature
        feature["file"].int64_list.value.append(f)
        feature["record"].int64_list.value.append(r)
        feature["keywords"].bytes_list.value.extend(self._get_keywords(f, r))
        feature["label"].bytes_list.value.append(label.encode())
        return example.SerializeToString()

    def _createFiles(self) -> list[str]:
        names = [self._path(f"tf_record.{f}.txt") for f in range(self._num_files)]
        for f, name in enumerate(names):
            with RecordWriter(name) as out:
                for r in range(self._num_records):
                    out.write(self._record(f, r, "fake-label"))
        return names

    def _run_actual_batch(self, outputs: Any, label_key_provided: bool = False) -> list[Any]:
        found = self.evaluate(outputs())
        features, label = found if label_key_provided else (found, found["label"])
        words = features["keywords"]
        return [features["file"], words.indices, words.values, words.dense_shape, features["record"], label]

    def _next_actual_batch(self, label_key_provided: bool = False) -> list[Any]:
        return self._run_actual_batch(self.outputs, label_key_provided)  # type: ignore[attr-defined]

    def _next_expected_batch(self, file_indices: Any, batch_size: int, num_epochs: int, cycle_length: int = 1) -> Iterator[list[Any]]:
        every = (n for _ in range(num_epochs) for n in records_in_order(file_indices, cycle_length, self._num_records))
        while batch := list(itertools.islice(every, batch_size)):
            words = [self._get_keywords(*n) for n in batch]
            places = [[i, j] for i, found in enumerate(words) for j in range(len(found))]
            yield [
                [f for f, _ in batch],
                places,
                sum(words, []),
                [len(batch), max(map(len, words))],
                [r for _, r in batch],
                [b"fake-label"] * len(batch),
            ]

    def verify_records(
        self,
        batch_size: int,
        file_index: Any = None,
        num_epochs: int = 1,
        label_key_provided: bool = False,
        interleave_cycle_length: int = 1,
    ) -> None:
        """Batches are what the files hold."""
        files = self._files(file_index)
        for expected in self._next_expected_batch(files, batch_size, num_epochs, interleave_cycle_length):
            for want, got in zip(expected, self._next_actual_batch(label_key_provided)):
                self.assertAllEqual(want, got)
