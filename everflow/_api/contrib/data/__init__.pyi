"""Written by `make index`."""
from typing import Any

from everflow.data.options import AUTOTUNE as AUTOTUNE
from everflow.data.pipeline_hook import CheckpointInputPipelineHook as CheckpointInputPipelineHook
from everflow.data.experimental import counter as _Counter
Counter = _Counter
from everflow.data.csv_files import CsvDataset as CsvDataset
from everflow.data.lmdb_ops import LMDBDataset as LMDBDataset
from everflow.data.optionals import Optional as Optional
from everflow.data.sources import RandomDataset as RandomDataset
from everflow.data.grouping import Reducer as Reducer
from everflow.data.readers import SqlDataset as SqlDataset
from everflow.data.readers import TFRecordWriter as TFRecordWriter
from everflow.data.experimental import assert_element_shape as assert_element_shape
from everflow.data.experimental import batch_and_drop_remainder as batch_and_drop_remainder
from everflow.data.grouping import bucket_by_sequence_length as bucket_by_sequence_length
from everflow.data.experimental import choose_from_datasets as choose_from_datasets
from everflow.data.tuning import copy_to_device as copy_to_device
from everflow.data.experimental import dense_to_sparse_batch as dense_to_sparse_batch
from everflow.data.experimental import enumerate_dataset as enumerate_dataset
from everflow.data.optionals import get_next_as_optional as get_next_as_optional
from everflow.data.reducing import get_single_element as get_single_element
from everflow.data.grouping import group_by_reducer as group_by_reducer
from everflow.data.grouping import group_by_window as group_by_window
from everflow.data.experimental import ignore_errors as ignore_errors
from everflow.data.csv_files import make_batched_features_dataset as make_batched_features_dataset
from everflow.data.csv_files import make_csv_dataset as make_csv_dataset
from everflow.data.saving import make_saveable_from_iterator as make_saveable_from_iterator
from everflow.data.experimental import map_and_batch as map_and_batch
from everflow.data.experimental import padded_batch_and_drop_remainder as padded_batch_and_drop_remainder
from everflow.data.experimental import parallel_interleave as parallel_interleave
from everflow.data.example_parsing import parse_example_dataset as parse_example_dataset
from everflow.data.tuning import prefetch_to_device as prefetch_to_device
from everflow.data.csv_files import read_batch_features as read_batch_features
from everflow.data.reducing import reduce_dataset as reduce_dataset
from everflow.data.grouping import rejection_resample as rejection_resample
from everflow.data.experimental import sample_from_datasets as sample_from_datasets
from everflow.data.experimental import scan as scan
from everflow.data.experimental import shuffle_and_repeat as shuffle_and_repeat
from everflow.data.experimental import sliding_window_batch as sliding_window_batch
from everflow.data.experimental import sloppy_interleave as sloppy_interleave
from everflow.data.experimental import unbatch as unbatch
from everflow.data.experimental import unique as unique
