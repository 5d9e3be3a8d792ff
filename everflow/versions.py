"""What programs read to learn which TensorFlow they run on."""

from __future__ import annotations

import platform

import everflow
from everflow.api import internal, public

VERSION = public("VERSION", "version.VERSION")(everflow.__version__)
GIT_VERSION = public("GIT_VERSION", "version.GIT_VERSION")(everflow.__git_version__)
COMPILER_VERSION = public("COMPILER_VERSION", "version.COMPILER_VERSION")(platform.python_compiler())
CXX11_ABI_FLAG = public("CXX11_ABI_FLAG", "sysconfig.CXX11_ABI_FLAG")(0)
MONOLITHIC_BUILD = public("MONOLITHIC_BUILD", "sysconfig.MONOLITHIC_BUILD")(0)

# The version that TensorFlow 1.15 writes into a GraphDef, and the oldest readers and writers that it accepts.
GRAPH_DEF_VERSION = public("GRAPH_DEF_VERSION", "version.GRAPH_DEF_VERSION")(134)
GRAPH_DEF_VERSION_MIN_CONSUMER = public("GRAPH_DEF_VERSION_MIN_CONSUMER", "version.GRAPH_DEF_VERSION_MIN_CONSUMER")(0)
GRAPH_DEF_VERSION_MIN_PRODUCER = public("GRAPH_DEF_VERSION_MIN_PRODUCER", "version.GRAPH_DEF_VERSION_MIN_PRODUCER")(0)

for _name, _value in {
    "__version__": VERSION,
    "__git_version__": GIT_VERSION,
    "__compiler_version__": COMPILER_VERSION,
    "__cxx11_abi_flag__": CXX11_ABI_FLAG,
    "__monolithic_build__": MONOLITHIC_BUILD,
    "VERSION": VERSION,
    "GIT_VERSION": GIT_VERSION,
    "COMPILER_VERSION": COMPILER_VERSION,
    "CXX11_ABI_FLAG": CXX11_ABI_FLAG,
    "MONOLITHIC_BUILD": MONOLITHIC_BUILD,
    "GRAPH_DEF_VERSION": GRAPH_DEF_VERSION,
    "GRAPH_DEF_VERSION_MIN_CONSUMER": GRAPH_DEF_VERSION_MIN_CONSUMER,
    "GRAPH_DEF_VERSION_MIN_PRODUCER": GRAPH_DEF_VERSION_MIN_PRODUCER,
}.items():
    internal("framework.versions." + _name)(_value)
    if _name.startswith("__"):
        internal(f"pywrap_tensorflow.{_name}", f"pywrap_tensorflow_internal.{_name}")(_value)
