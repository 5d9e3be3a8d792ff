"""Written by `make index`."""
from typing import Any

from everflow.ragged.values import RaggedTensorValue as RaggedTensorValue
from everflow.ragged.arrays import boolean_mask as boolean_mask
from everflow.ragged.constants import constant as constant
from everflow.ragged.constants import constant_value as constant_value
from everflow.ragged.functional import map_flat_values as map_flat_values
from everflow.ragged.constants import placeholder as placeholder
from everflow.ragged.math import ragged_range as _range
range = _range
from everflow.ragged.partitions import row_splits_to_segment_ids as row_splits_to_segment_ids
from everflow.ragged.partitions import segment_ids_to_row_splits as segment_ids_to_row_splits
from everflow.ragged.arrays import stack as stack
from everflow.ragged.arrays import stack_dynamic_partitions as stack_dynamic_partitions
