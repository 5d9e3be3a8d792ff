"""Written by `make index`."""
from typing import Any

from everflow.saved_model.main_ops import main_op as main_op
from everflow.saved_model.main_ops import main_op_with_restore as main_op_with_restore
