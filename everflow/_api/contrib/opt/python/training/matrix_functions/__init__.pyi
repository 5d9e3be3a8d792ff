"""Written by `make index`."""
from typing import Any

from everflow.contrib.opt.matrix_functions import matrix_inverse_pth_root as matrix_inverse_pth_root
from everflow.contrib.opt.matrix_functions import matrix_square_root as matrix_square_root
