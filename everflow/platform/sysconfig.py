"""`tf.sysconfig`: where an extension written in C++ finds what it compiles and links against."""

from __future__ import annotations

import os

from everflow.api import public
from everflow.lazy import torch


@public("sysconfig.get_include")
def get_include() -> str:
    """The folder of the headers: those of the tensor library that Everflow's kernels use."""
    return os.path.join(os.path.dirname(torch.__file__), "include")


@public("sysconfig.get_lib")
def get_lib() -> str:
    """The folder of the shared libraries."""
    return os.path.join(os.path.dirname(torch.__file__), "lib")


@public("sysconfig.get_compile_flags")
def get_compile_flags() -> list[str]:
    return [f"-I{get_include()}", f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"]


@public("sysconfig.get_link_flags")
def get_link_flags() -> list[str]:
    return [f"-L{get_lib()}", "-ltorch", "-lc10"]
