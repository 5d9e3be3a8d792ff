"""`tf.sysconfig`: where an op written in C++ finds what it compiles and links against."""

from __future__ import annotations

import os

from everflow.api import public

_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@public("sysconfig.get_include")
def get_include() -> str:
    """The folder of the headers."""
    return os.path.join(_FOLDER, "include")


@public("sysconfig.get_lib")
def get_lib() -> str:
    """The folder of the library that ops link with."""
    return _FOLDER


@public("sysconfig.get_compile_flags")
def get_compile_flags() -> list[str]:
    return [f"-I{get_include()}", "-D_GLIBCXX_USE_CXX11_ABI=1"]


@public("sysconfig.get_link_flags")
def get_link_flags() -> list[str]:
    return [f"-L{get_lib()}", "-l:libtensorflow_framework.so.1"]
