"""`numpy.dual`: functions that scipy might have had faster."""

from numpy import i0 as i0
from numpy.fft import fft as fft
from numpy.fft import fft2 as fft2
from numpy.fft import fftn as fftn
from numpy.fft import ifft as ifft
from numpy.fft import ifft2 as ifft2
from numpy.fft import ifftn as ifftn
from numpy.linalg import cholesky as cholesky
from numpy.linalg import det as det
from numpy.linalg import eig as eig
from numpy.linalg import eigh as eigh
from numpy.linalg import eigvals as eigvals
from numpy.linalg import eigvalsh as eigvalsh
from numpy.linalg import inv as inv
from numpy.linalg import lstsq as lstsq
from numpy.linalg import norm as norm
from numpy.linalg import pinv as pinv
from numpy.linalg import solve as solve
from numpy.linalg import svd as svd
