"""Written by `make index`."""
from typing import Any

from everflow.data.options import AUTOTUNE as AUTOTUNE
from everflow.data.pipeline_hook import CheckpointInputPipelineHook as CheckpointInputPipelineHook
from everflow.data.experimental import counter as _Counter
Counter = _Counter
from everflow.data.csv_files import CsvDataset as CsvDataset
from everflow.data.dataset import DatasetSpec as _DatasetStructure
DatasetStructure = _DatasetStructure
from everflow.data.options import DistributeOptions as DistributeOptions
from everflow.data.reducing import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from everflow.data.options import MapVectorizationOptions as MapVectorizationOptions
from everflow.data.options import OptimizationOptions as OptimizationOptions
from everflow.data.optionals import Optional as Optional
from everflow.data.optionals import OptionalSpec as _OptionalStructure
OptionalStructure = _OptionalStructure
from everflow.ragged.spec import ragged_tensor_structure as _RaggedTensorStructure
RaggedTensorStructure = _RaggedTensorStructure
from everflow.data.sources import RandomDataset as RandomDataset
from everflow.data.grouping import Reducer as Reducer
from everflow.graph.sparse_tensor import sparse_tensor_structure as _SparseTensorStructure
SparseTensorStructure = _SparseTensorStructure
from everflow.data.readers import SqlDataset as SqlDataset
from everflow.data.stats_ops import StatsAggregator as StatsAggregator
from everflow.data.options import StatsOptions as StatsOptions
from everflow.graph.type_spec import TypeSpec as _Structure
Structure = _Structure
from everflow.data.readers import TFRecordWriter as TFRecordWriter
from everflow.ops.lists.tensor_array_specs import tensor_array_structure as _TensorArrayStructure
TensorArrayStructure = _TensorArrayStructure
from everflow.graph.tensor_spec import tensor_structure as _TensorStructure
TensorStructure = _TensorStructure
from everflow.data.options import ThreadingOptions as ThreadingOptions
from everflow.data.reducing import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
from everflow.data.grouping import bucket_by_sequence_length as bucket_by_sequence_length
from everflow.data.stats_ops import bytes_produced_stats as bytes_produced_stats
from everflow.data.reducing import cardinality as cardinality
from everflow.data.experimental import choose_from_datasets as choose_from_datasets
from everflow.data.tuning import copy_to_device as copy_to_device
from everflow.data.experimental import dense_to_sparse_batch as dense_to_sparse_batch
from everflow.data.experimental import enumerate_dataset as enumerate_dataset
from everflow.data.dataset import from_variant as from_variant
from everflow.data.optionals import get_next_as_optional as get_next_as_optional
from everflow.data.reducing import get_single_element as get_single_element
from everflow.data.structure import get_structure as get_structure
from everflow.data.grouping import group_by_reducer as group_by_reducer
from everflow.data.grouping import group_by_window as group_by_window
from everflow.data.experimental import ignore_errors as ignore_errors
from everflow.data.stats_ops import latency_stats as latency_stats
from everflow.data.csv_files import make_batched_features_dataset as make_batched_features_dataset
from everflow.data.csv_files import make_csv_dataset as make_csv_dataset
from everflow.data.saving import make_saveable_from_iterator as make_saveable_from_iterator
from everflow.data.experimental import map_and_batch as map_and_batch
from everflow.data.experimental import map_and_batch_with_legacy_function as map_and_batch_with_legacy_function
from everflow.data.experimental import parallel_interleave as parallel_interleave
from everflow.data.example_parsing import parse_example_dataset as parse_example_dataset
from everflow.data.tuning import prefetch_to_device as prefetch_to_device
from everflow.data.grouping import rejection_resample as rejection_resample
from everflow.data.experimental import sample_from_datasets as sample_from_datasets
from everflow.data.experimental import scan as scan
from everflow.data.experimental import shuffle_and_repeat as shuffle_and_repeat
from everflow.data.experimental import take_while as take_while
from everflow.data.dataset import to_variant as to_variant
from everflow.data.experimental import unbatch as unbatch
from everflow.data.experimental import unique as unique
