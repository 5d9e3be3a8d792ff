"""Written by `make index`."""
from typing import Any

from everflow.ops.arrays.space_and_depth import batch_to_space_nd as batch_to_space_nd
from everflow.ops.arrays.gathering import gather_nd as gather_nd
from everflow.ops.arrays.reshaping import reshape as reshape
from everflow.ops.arrays.transposing import reverse as reverse
from everflow.ops.arrays.transposing import roll as roll
from everflow.ops.arrays.scattering import scatter_nd as scatter_nd
from everflow.ops.arrays.space_and_depth import space_to_batch_nd as space_to_batch_nd
from everflow.ops.arrays.tiling import tile as tile
