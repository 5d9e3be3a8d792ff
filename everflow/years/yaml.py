"""What PyYAML 6 dropped."""

from __future__ import annotations

from typing import Any

from everflow.years.shims import NOT_OURS, otherwise


def _without_loader(error: Any, real: Any, stream: Any = NOT_OURS, **others: Any) -> Any:
    """FullLoader, which PyYAML 5.1 took: it runs no code."""
    import yaml

    return NOT_OURS if stream is NOT_OURS or others else real(stream, Loader=yaml.FullLoader)


for _name in ("load", "load_all"):
    otherwise("yaml", _name, "PyYAML 6.0", f"yaml.{_name} without Loader")(_without_loader)
