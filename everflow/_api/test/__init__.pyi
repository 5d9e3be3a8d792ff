"""Written by `make index`."""
from typing import Any

from everflow.test.benchmark import TensorFlowBenchmark as _Benchmark
Benchmark = _Benchmark
from everflow.test.stubs import StubOutForTesting as StubOutForTesting
from everflow.test.case import TestCase as TestCase
from everflow.test.graph_asserts import assert_equal_graph_def as assert_equal_graph_def
from everflow.test.benchmark import benchmark_config as benchmark_config
from everflow.test.gradient_checker import compute_gradient as compute_gradient
from everflow.test.gradient_checker import compute_gradient_error as compute_gradient_error
from everflow.test.cluster import create_local_cluster as create_local_cluster
from everflow.test.program import get_temp_dir as get_temp_dir
from everflow.test.machine import gpu_device_name as gpu_device_name
from everflow.test.machine import is_built_with_cuda as is_built_with_cuda
from everflow.test.machine import is_built_with_gpu_support as is_built_with_gpu_support
from everflow.test.machine import is_built_with_rocm as is_built_with_rocm
from everflow.test.machine import is_gpu_available as is_gpu_available
from everflow.test.program import main as main
from everflow.test.program import mock as mock
from everflow.test.program import test_src_dir_path as test_src_dir_path
