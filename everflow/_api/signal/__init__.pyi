"""Written by `make index`."""
from typing import Any

from everflow.signal.cosine_transforms import dct as dct
from everflow.ops.math.fourier import fft as fft
from everflow.ops.math.fourier import fft2d as fft2d
from everflow.ops.math.fourier import fft3d as fft3d
from everflow.ops.math.fourier import fftshift as fftshift
from everflow.signal.frames import frame as frame
from everflow.signal.windows import hamming_window as hamming_window
from everflow.signal.windows import hann_window as hann_window
from everflow.signal.cosine_transforms import idct as idct
from everflow.ops.math.fourier import ifft as ifft
from everflow.ops.math.fourier import ifft2d as ifft2d
from everflow.ops.math.fourier import ifft3d as ifft3d
from everflow.ops.math.fourier import ifftshift as ifftshift
from everflow.signal.spectra import inverse_stft as inverse_stft
from everflow.signal.spectra import inverse_stft_window_fn as inverse_stft_window_fn
from everflow.ops.math.fourier import irfft as irfft
from everflow.ops.math.fourier import irfft2d as irfft2d
from everflow.ops.math.fourier import irfft3d as irfft3d
from everflow.signal.mel import linear_to_mel_weight_matrix as linear_to_mel_weight_matrix
from everflow.signal.mel import mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms
from everflow.signal.frames import overlap_and_add as overlap_and_add
from everflow.ops.math.fourier import rfft as rfft
from everflow.ops.math.fourier import rfft2d as rfft2d
from everflow.ops.math.fourier import rfft3d as rfft3d
from everflow.signal.spectra import stft as stft
