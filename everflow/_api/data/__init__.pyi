"""Written by `make index`."""
from typing import Any

from everflow.data.dataset import DatasetV1 as _Dataset
Dataset = _Dataset
from everflow.data.dataset import DatasetSpec as DatasetSpec
from everflow.data.readers import FixedLengthRecordDataset as FixedLengthRecordDataset
from everflow.data.iterators import Iterator as Iterator
from everflow.data.options import Options as Options
from everflow.data.readers import TFRecordDataset as TFRecordDataset
from everflow.data.readers import TextLineDataset as TextLineDataset
from everflow._api.data import experimental as experimental
from everflow.data.structure import get_output_classes as get_output_classes
from everflow.data.structure import get_output_shapes as get_output_shapes
from everflow.data.structure import get_output_types as get_output_types
from everflow.data.dataset import make_initializable_iterator as make_initializable_iterator
from everflow.data.dataset import make_one_shot_iterator as make_one_shot_iterator
