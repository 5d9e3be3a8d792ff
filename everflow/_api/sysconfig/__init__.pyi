"""Written by `make index`."""
from typing import Any

from everflow.versions import CXX11_ABI_FLAG as CXX11_ABI_FLAG
from everflow.versions import MONOLITHIC_BUILD as MONOLITHIC_BUILD
from everflow.platform.sysconfig import get_compile_flags as get_compile_flags
from everflow.platform.sysconfig import get_include as get_include
from everflow.platform.sysconfig import get_lib as get_lib
from everflow.platform.sysconfig import get_link_flags as get_link_flags
