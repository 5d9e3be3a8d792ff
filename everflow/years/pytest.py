"""What pytest 8 dropped."""

from __future__ import annotations

from typing import Any

from everflow.years.shims import NOT_OURS, otherwise


@otherwise("pytest", "warns", "pytest 8.0", "pytest.warns of None")
def _any_or_no_warning(error: Any, real: Any, expected_warning: Any = NOT_OURS, *args: Any, **others: Any) -> Any:
    """Recorded what came, and asked for nothing."""
    from _pytest.recwarn import WarningsRecorder

    return WarningsRecorder(_ispytest=True) if expected_warning is None and not args and not others else NOT_OURS
