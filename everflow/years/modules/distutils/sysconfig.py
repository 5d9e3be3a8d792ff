"""Where Python keeps its things."""

from __future__ import annotations

import sysconfig
from sysconfig import get_config_var as get_config_var
from sysconfig import get_config_vars as get_config_vars


def get_python_inc(plat_specific: int = 0, prefix: str | None = None) -> str:
    return sysconfig.get_path("platinclude" if plat_specific else "include")


def get_python_lib(plat_specific: int = 0, standard_lib: int = 0, prefix: str | None = None) -> str:
    return sysconfig.get_path(("plat" if plat_specific else "" if standard_lib else "pure") + ("stdlib" if standard_lib else "lib"))


def get_python_version() -> str:
    return sysconfig.get_python_version()
