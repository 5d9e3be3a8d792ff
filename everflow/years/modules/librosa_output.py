"""librosa.output: sounds into files, as librosa did until 0.8."""

from __future__ import annotations

from typing import Any

import numpy as np


def write_wav(path: Any, y: Any, sr: int, norm: bool = False) -> None:
    """Writes a sound, the channels of which are rows, scaled to its largest value if asked to."""
    import scipy.io.wavfile

    sound = np.asarray(y)
    if norm and np.issubdtype(sound.dtype, np.floating):
        sound = sound / max(np.abs(sound).max(), np.finfo(sound.dtype).tiny)
    scipy.io.wavfile.write(path, sr, sound.T if sound.ndim > 1 and sound.shape[0] == 2 else sound)
