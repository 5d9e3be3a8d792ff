"""What the installed kernels were built for. The values need torch: only who asks for them imports this module."""

from __future__ import annotations

from everflow.api import internal
from everflow.test.machine import is_built_with_cuda, is_built_with_rocm

is_cuda_build = internal("platform.build_info.is_cuda_build")(is_built_with_cuda())
is_rocm_build = internal("platform.build_info.is_rocm_build")(is_built_with_rocm())
