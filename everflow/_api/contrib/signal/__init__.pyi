"""Written by `make index`."""
from typing import Any

from everflow.signal.frames import frame as frame
from everflow.signal.windows import hamming_window as hamming_window
from everflow.signal.windows import hann_window as hann_window
from everflow.signal.spectra import inverse_stft as inverse_stft
from everflow.signal.spectra import inverse_stft_window_fn as inverse_stft_window_fn
from everflow.signal.mel import linear_to_mel_weight_matrix as linear_to_mel_weight_matrix
from everflow.signal.mel import mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms
from everflow.signal.frames import overlap_and_add as overlap_and_add
from everflow.signal.spectra import stft as stft
