"""Written by `make index`."""
from typing import Any

absolute_import: Any
division: Any
print_function: Any
from everflow.contrib.tfprof import write_op_log as write_op_log
