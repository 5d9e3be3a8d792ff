"""A stream of seeds that are made of one."""

from __future__ import annotations

import hashlib
from typing import Any

from everflow.api import public


@public("contrib.distributions.SeedStream")
class SeedStream:
    """Call it for the next seed. `salt` keeps the streams of different purposes apart; a seed of None stays None."""

    def __init__(self, seed: Any, salt: Any) -> None:
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt = salt
        self._count = 0

    @property
    def original_seed(self) -> Any:
        """What the seeds are made of."""
        return self._seed

    @property
    def salt(self) -> Any:
        """What they are for."""
        return self._salt

    def __call__(self) -> int | None:
        self._count += 1
        if self._seed is None:
            return None
        text = str((self._seed, self._count, self._salt))
        return int(hashlib.sha512(text.encode()).hexdigest(), 16)
