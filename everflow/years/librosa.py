"""What librosa dropped since 0.6."""

from __future__ import annotations

import inspect
from typing import Any

from everflow.years.shims import NOT_OURS, modules, names, otherwise, own

# Where today's parameters have another order than those that could be given by position.
FORMER_ORDER = {"istft": ("stft_matrix", "hop_length", "win_length", "window", "center", "dtype", "length")}

BY_POSITION = {
    "core.audio": "load to_mono resample get_duration autocorrelate lpc zero_crossings clicks tone chirp mu_compress mu_expand",
    "core.convert": "frames_to_samples samples_to_frames frames_to_time time_to_frames time_to_samples samples_to_time hz_to_mel mel_to_hz "
    "fft_frequencies mel_frequencies cqt_frequencies A_weighting",
    "core.spectrum": "stft istft magphase phase_vocoder power_to_db db_to_power amplitude_to_db db_to_amplitude perceptual_weighting "
    "griffinlim",
    "core.constantq": "cqt hybrid_cqt pseudo_cqt icqt",
    "effects": "hpss harmonic percussive time_stretch pitch_shift remix trim split",
    "filters": "mel chroma constant_q window_bandwidth",
    "feature.spectral": "spectral_centroid spectral_bandwidth spectral_contrast spectral_rolloff spectral_flatness rms poly_features "
    "zero_crossing_rate chroma_stft chroma_cqt chroma_cens tonnetz mfcc melspectrogram",
    "feature.utils": "delta stack_memory",
    "onset": "onset_detect onset_strength",
    "beat": "beat_track tempo",
    "util.utils": "frame pad_center fix_length normalize",
}


def _named(error: Any, real: Any, *args: Any, **kwargs: Any) -> Any:
    """Today's function with arguments by the names of the parameters that they were once given to by position."""
    if "positional argument" not in str(error):
        return NOT_OURS
    order = FORMER_ORDER.get(real.__name__) or tuple(inspect.signature(real).parameters)
    if len(args) > len(order) or set(order[: len(args)]) & set(kwargs):
        return NOT_OURS
    return real(**dict(zip(order, args)), **kwargs)


for _module, _functions in BY_POSITION.items():
    for _function in _functions.split():
        otherwise(f"librosa.{_module}", _function, "librosa 0.10", "functions of librosa with arguments by position")(_named)


def _rmse() -> Any:
    from librosa.feature import rms

    def rmse(
        y: Any = None, S: Any = None, frame_length: int = 2048, hop_length: int = 512, center: bool = True, pad_mode: str = "reflect"
    ) -> Any:
        return rms(y=y, S=S, frame_length=frame_length, hop_length=hop_length, center=center, pad_mode=pad_mode)

    return rmse


def _logamplitude() -> Any:
    from librosa import power_to_db

    def logamplitude(S: Any, ref: Any = 1.0, amin: float = 1e-10, top_db: Any = 80.0, ref_power: Any = None) -> Any:
        return power_to_db(S, ref=ref if ref_power is None else ref_power, amin=amin, top_db=top_db)

    return logamplitude


names("librosa", "librosa 0.6", logamplitude=_logamplitude)
names("librosa.core", "librosa 0.6", logamplitude=_logamplitude)
names("librosa.feature", "librosa 0.7", rmse=_rmse)
names("librosa", "librosa 0.8", output=own("librosa_output"))
modules("librosa 0.8", {"librosa.output": own("librosa_output")})
