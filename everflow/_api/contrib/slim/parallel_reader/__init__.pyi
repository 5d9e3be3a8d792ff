"""Written by `make index`."""
from typing import Any

from everflow.contrib.slim.parallel_reading import ParallelReader as ParallelReader
from everflow.contrib.slim.parallel_reading import get_data_files as get_data_files
from everflow.contrib.slim.parallel_reading import parallel_read as parallel_read
from everflow.contrib.slim.parallel_reading import single_pass_read as single_pass_read
