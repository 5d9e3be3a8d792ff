"""librosa as it was: here a stand-in with the parameters of today's, since installing Everflow brings none."""

import importlib
import sys
import wave

import numpy as np
import pytest

SPECTRUM = """
def stft(y, *, n_fft=2048, hop_length=None): return ("stft", y, n_fft, hop_length)
def istft(stft_matrix, *, hop_length=None, win_length=None, n_fft=None, window="hann"): return (hop_length, win_length, n_fft, window)
def power_to_db(S, *, ref=1.0, amin=1e-10, top_db=80.0): return (S, ref, top_db)
"""
LAZY = """
import importlib
def __getattr__(name):
    if name in ("stft", "istft", "power_to_db"): return getattr(importlib.import_module("librosa.core.spectrum"), name)
    if name in ("core", "feature"): return importlib.import_module("librosa." + name)
    raise AttributeError(name)
"""
FILES = {
    "__init__.py": LAZY,
    "core/__init__.py": "",
    "core/spectrum.py": SPECTRUM,
    "feature/__init__.py": "def rms(*, y, S, frame_length, hop_length, center, pad_mode): return (y, frame_length, pad_mode)",
}


@pytest.fixture
def librosa(tmp_path, monkeypatch):
    for name, text in FILES.items():
        file = tmp_path / "librosa" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("librosa")
    for name in [name for name in sys.modules if name.partition(".")[0] == "librosa"]:
        monkeypatch.delitem(sys.modules, name)


def test_arguments_by_position(librosa):
    assert librosa.stft("y", 512, 128) == librosa.stft("y", 512, hop_length=128) == ("stft", "y", 512, 128)
    assert librosa.istft("s", 128, 400, "hamming") == (128, 400, None, "hamming")
    with pytest.raises(TypeError, match="positional"):
        librosa.stft("y", 1, 2, 3)
    with pytest.raises(TypeError, match="unexpected keyword"):
        librosa.stft("y", window="hann")


def test_names_that_went(librosa, tmp_path):
    assert librosa.feature.rmse("y", frame_length=3) == ("y", 3, "reflect")
    assert librosa.logamplitude("S", 2.0) == librosa.core.logamplitude("S", 2.0) == ("S", 2.0, 80.0)
    librosa.output.write_wav(str(tmp_path / "a.wav"), np.int16([[1, 2, 3], [4, 5, 6]]), 8000)
    with wave.open(str(tmp_path / "a.wav")) as file:
        assert (file.getnchannels(), file.getnframes(), file.getframerate()) == (2, 3, 8000)
