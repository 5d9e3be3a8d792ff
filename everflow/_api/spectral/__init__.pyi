"""Written by `make index`."""
from typing import Any

from everflow.signal.cosine_transforms import dct as dct
from everflow.ops.math.fourier import fft as fft
from everflow.ops.math.fourier import fft2d as fft2d
from everflow.ops.math.fourier import fft3d as fft3d
from everflow.signal.cosine_transforms import idct as idct
from everflow.ops.math.fourier import ifft as ifft
from everflow.ops.math.fourier import ifft2d as ifft2d
from everflow.ops.math.fourier import ifft3d as ifft3d
from everflow.ops.math.fourier import irfft as irfft
from everflow.ops.math.fourier import irfft2d as irfft2d
from everflow.ops.math.fourier import irfft3d as irfft3d
from everflow.ops.math.fourier import rfft as rfft
from everflow.ops.math.fourier import rfft2d as rfft2d
from everflow.ops.math.fourier import rfft3d as rfft3d
