"""Written by `make index`."""
from typing import Any

from everflow.ops.queues.accumulator_functions import SparseConditionalAccumulator as SparseConditionalAccumulator
from everflow.graph.sparse_tensor import SparseTensor as SparseTensor
from everflow.ops.sparse.math import sparse_add as _add
add = _add
from everflow.ops.sparse.layout import sparse_concat as _concat
concat = _concat
from everflow.ops.sparse.cross import sparse_cross as _cross
cross = _cross
from everflow.ops.sparse.cross import sparse_cross_hashed as _cross_hashed
cross_hashed = _cross_hashed
from everflow.ops.sparse.ids import sparse_expand_dims as _expand_dims
expand_dims = _expand_dims
from everflow.ops.sparse.ids import sparse_eye as _eye
eye = _eye
from everflow.ops.sparse.layout import sparse_fill_empty_rows as _fill_empty_rows
fill_empty_rows = _fill_empty_rows
from everflow.ops.sparse.dense import from_dense as from_dense
from everflow.ops.arrays.gathering import sparse_mask as _mask
mask = _mask
from everflow.ops.sparse.dense import sparse_tensor_dense_matmul as _matmul
matmul = _matmul
from everflow.ops.sparse.math import sparse_maximum as _maximum
maximum = _maximum
from everflow.ops.sparse.ids import sparse_merge as _merge
merge = _merge
from everflow.ops.sparse.math import sparse_minimum as _minimum
minimum = _minimum
from everflow.graph.sparse_tensor import sparse_placeholder as _placeholder
placeholder = _placeholder
from everflow.ops.sparse.math import sparse_reduce_max as _reduce_max
reduce_max = _reduce_max
from everflow.ops.sparse.math import sparse_reduce_max_sparse as _reduce_max_sparse
reduce_max_sparse = _reduce_max_sparse
from everflow.ops.sparse.math import sparse_reduce_sum as _reduce_sum
reduce_sum = _reduce_sum
from everflow.ops.sparse.math import sparse_reduce_sum_sparse as _reduce_sum_sparse
reduce_sum_sparse = _reduce_sum_sparse
from everflow.ops.sparse.layout import sparse_reorder as _reorder
reorder = _reorder
from everflow.ops.sparse.layout import sparse_reset_shape as _reset_shape
reset_shape = _reset_shape
from everflow.ops.sparse.layout import sparse_reshape as _reshape
reshape = _reshape
from everflow.ops.sparse.layout import sparse_retain as _retain
retain = _retain
segment_mean: Any
segment_sqrt_n: Any
segment_sum: Any
from everflow.ops.sparse.layout import sparse_slice as _slice
slice = _slice
from everflow.ops.sparse.math import sparse_softmax as _softmax
softmax = _softmax
from everflow.ops.sparse.dense import sparse_tensor_dense_matmul as _sparse_dense_matmul
sparse_dense_matmul = _sparse_dense_matmul
from everflow.ops.sparse.layout import sparse_split as _split
split = _split
from everflow.ops.sparse.dense import sparse_tensor_to_dense as _to_dense
to_dense = _to_dense
from everflow.ops.sparse.ids import sparse_to_indicator as _to_indicator
to_indicator = _to_indicator
from everflow.ops.sparse.layout import sparse_transpose as _transpose
transpose = _transpose
