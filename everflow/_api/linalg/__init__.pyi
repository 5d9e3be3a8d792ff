"""Written by `make index`."""
from typing import Any

from everflow.linear_operators.base import LinearOperator as LinearOperator
from everflow.linear_operators.wrapped import LinearOperatorAdjoint as LinearOperatorAdjoint
from everflow.linear_operators.combined import LinearOperatorBlockDiag as LinearOperatorBlockDiag
from everflow.linear_operators.fourier import LinearOperatorCirculant as LinearOperatorCirculant
from everflow.linear_operators.fourier import LinearOperatorCirculant2D as LinearOperatorCirculant2D
from everflow.linear_operators.fourier import LinearOperatorCirculant3D as LinearOperatorCirculant3D
from everflow.linear_operators.combined import LinearOperatorComposition as LinearOperatorComposition
from everflow.linear_operators.diagonal import LinearOperatorDiag as LinearOperatorDiag
from everflow.linear_operators.dense import LinearOperatorFullMatrix as LinearOperatorFullMatrix
from everflow.linear_operators.householder import LinearOperatorHouseholder as LinearOperatorHouseholder
from everflow.linear_operators.diagonal import LinearOperatorIdentity as LinearOperatorIdentity
from everflow.linear_operators.wrapped import LinearOperatorInversion as LinearOperatorInversion
from everflow.linear_operators.combined import LinearOperatorKronecker as LinearOperatorKronecker
from everflow.linear_operators.low_rank import LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate
from everflow.linear_operators.dense import LinearOperatorLowerTriangular as LinearOperatorLowerTriangular
from everflow.linear_operators.diagonal import LinearOperatorScaledIdentity as LinearOperatorScaledIdentity
from everflow.linear_operators.fourier import LinearOperatorToeplitz as LinearOperatorToeplitz
from everflow.linear_operators.diagonal import LinearOperatorZeros as LinearOperatorZeros
from everflow.ops.linalg.norms import adjoint as adjoint
from everflow.ops.linalg.diagonals import matrix_band_part as _band_part
band_part = _band_part
from everflow.ops.linalg.decompositions import cholesky as cholesky
from everflow.ops.linalg.solving import cholesky_solve as cholesky_solve
from everflow.ops.linalg.products import cross as cross
from everflow.ops.linalg.solving import matrix_determinant as _det
det = _det
from everflow.ops.linalg.diagonals import matrix_diag as _diag
diag = _diag
from everflow.ops.linalg.diagonals import matrix_diag_part as _diag_part
diag_part = _diag_part
from everflow.ops.linalg.decompositions import self_adjoint_eig as _eigh
eigh = _eigh
from everflow.ops.linalg.decompositions import self_adjoint_eigvals as _eigvalsh
eigvalsh = _eigvalsh
from everflow.ops.linalg.einsum import einsum as einsum
from everflow.ops.linalg.matrix_functions import matrix_exponential as _expm
expm = _expm
from everflow.ops.linalg.diagonals import eye as eye
from everflow.ops.math.clipping import global_norm as global_norm
from everflow.ops.linalg.solving import matrix_inverse as _inv
inv = _inv
from everflow.ops.nn.moments_and_dropout import l2_normalize as l2_normalize
from everflow.ops.linalg.norms import logdet as logdet
from everflow.ops.linalg.matrix_functions import logm as logm
from everflow.ops.linalg.solving import matrix_solve_ls as _lstsq
lstsq = _lstsq
from everflow.ops.linalg.decompositions import lu as lu
from everflow.ops.linalg.products import matmul as matmul
from everflow.ops.linalg.norms import matrix_rank as matrix_rank
from everflow.ops.arrays.transposing import matrix_transpose as matrix_transpose
from everflow.ops.linalg.products import matvec as matvec
from everflow.ops.linalg.norms import norm as norm
from everflow.ops.nn.moments_and_dropout import normalize as normalize
from everflow.ops.linalg.norms import pinv as pinv
from everflow.ops.linalg.decompositions import qr as qr
from everflow.ops.linalg.diagonals import matrix_set_diag as _set_diag
set_diag = _set_diag
from everflow.ops.linalg.solving import slogdet as slogdet
from everflow.ops.linalg.solving import matrix_solve as _solve
solve = _solve
from everflow.ops.linalg.matrix_functions import matrix_square_root as _sqrtm
sqrtm = _sqrtm
from everflow.ops.linalg.decompositions import svd as svd
from everflow.ops.linalg.diagonals import tensor_diag as tensor_diag
from everflow.ops.linalg.diagonals import tensor_diag_part as tensor_diag_part
from everflow.ops.linalg.einsum import tensordot as tensordot
from everflow.ops.linalg.products import trace as trace
from everflow.ops.arrays.transposing import matrix_transpose as _transpose
transpose = _transpose
from everflow.ops.linalg.solving import matrix_triangular_solve as _triangular_solve
triangular_solve = _triangular_solve
from everflow.ops.linalg.tridiagonal import tridiagonal_matmul as tridiagonal_matmul
from everflow.ops.linalg.tridiagonal import tridiagonal_solve as tridiagonal_solve
