"""Written by `make index`."""
from typing import Any

from everflow.ops.sparse.sets import set_difference as _difference
difference = _difference
from everflow.ops.sparse.sets import set_intersection as _intersection
intersection = _intersection
from everflow.ops.sparse.sets import set_difference as set_difference
from everflow.ops.sparse.sets import set_intersection as set_intersection
from everflow.ops.sparse.sets import set_size as set_size
from everflow.ops.sparse.sets import set_union as set_union
from everflow.ops.sparse.sets import set_size as _size
size = _size
from everflow.ops.sparse.sets import set_union as _union
union = _union
