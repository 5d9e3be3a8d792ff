"""What the machine under a test can do, decorators that ask for it, and blocks that place ops on a device."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.lazy import torch
from everflow.test.decorating import for_tests


@public("test.is_built_with_cuda")
@internal("framework.test_util.IsGoogleCudaEnabled")
def is_built_with_cuda() -> bool:
    return torch.backends.cuda.is_built() and torch.version.hip is None


@public("test.is_built_with_rocm")
@internal("framework.test_util.IsBuiltWithROCm")
def is_built_with_rocm() -> bool:
    return torch.version.hip is not None


@public("test.is_built_with_gpu_support")
def is_built_with_gpu_support() -> bool:
    return is_built_with_cuda() or is_built_with_rocm()


@public("test.is_gpu_available")
def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: tuple[int, int] | None = None) -> bool:
    """Whether there is a GPU to run on, with at least the given compute capability."""
    if not torch.cuda.is_available() or cuda_only and not is_built_with_cuda():
        return False
    needed = min_cuda_compute_capability or (0, 0)
    return torch.cuda.get_device_capability() >= tuple(needed)


@public("test.gpu_device_name")
def gpu_device_name() -> str:
    """The name of the first GPU, or an empty string."""
    return "/device:GPU:0" if torch.cuda.is_available() else ""


@internal("framework.test_util.GpuSupportsHalfMatMulAndConv")
def gpu_supports_half() -> bool:
    return torch.cuda.is_available()


@internal("framework.test_util.IsMklEnabled")
def is_mkl_enabled() -> bool:
    """Asks for TensorFlow's MKL-DNN graph rewriting, which changes op names; Everflow has no such rewriting."""
    return False


@internal("framework.test_util.is_xla_enabled")
def is_xla_enabled() -> bool:
    """Asks whether all clusters are compiled without being told to; Everflow compiles only when told to."""
    return False


@internal("framework.test_util.device")
@contextlib.contextmanager
def device(use_gpu: bool) -> Iterator[None]:
    """Ops made inside go to the GPU if one is asked for and there, else to the CPU."""
    with tf.device("/device:GPU:0" if use_gpu and is_gpu_available() else "/device:CPU:0"):
        yield


@internal("framework.test_util.use_gpu")
def use_gpu() -> Any:
    return device(use_gpu=True)


@internal("framework.test_util.force_gpu")
def force_gpu() -> Any:
    return tf.device("/device:GPU:0")


@internal("framework.test_util.force_cpu")
def force_cpu() -> Any:
    return tf.device("/device:CPU:0")


@internal("framework.test_util.run_gpu_only")
def run_gpu_only(func: Callable[..., Any] | None = None) -> Any:
    """The test is skipped where there is no GPU."""
    return for_tests(func, unless=is_gpu_available, reason="Test requires GPU")


@internal("framework.test_util.run_cuda_only")
def run_cuda_only(func: Callable[..., Any] | None = None) -> Any:
    """The test is skipped where there is no CUDA GPU."""
    return for_tests(func, unless=lambda: is_gpu_available(cuda_only=True), reason="Test requires CUDA GPU")


@internal("framework.test_util.use_deterministic_cudnn")
def use_deterministic_cudnn(func: Callable[..., Any]) -> Callable[..., Any]:
    """The function runs with deterministic convolutions."""

    @functools.wraps(func)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        before = os.environ.get("TF_CUDNN_DETERMINISTIC")
        os.environ["TF_CUDNN_DETERMINISTIC"] = "true"
        try:
            return func(*args, **kwargs)
        finally:
            if before is None:
                del os.environ["TF_CUDNN_DETERMINISTIC"]
            else:
                os.environ["TF_CUDNN_DETERMINISTIC"] = before

    return decorated


def _described(decorate: Callable[..., Any]) -> Callable[[str], Callable[..., Any]]:
    """Decorators that take the reason first."""
    return lambda description: decorate


# These say what a test does under compilation of everything, which is never on: the test runs as it is.
internal(
    "framework.test_util.disable_xla",
    "framework.test_util.no_xla_auto_jit",
    "framework.test_util.xla_allow_fallback",
    "framework.test_util.enable_tf_xla_constant_folding",
    "framework.test_util.disable_all_xla",
)(_described(lambda test: test))
