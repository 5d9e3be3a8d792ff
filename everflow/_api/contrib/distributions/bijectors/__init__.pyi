"""Written by `make index`."""
from typing import Any

from everflow.contrib.distributions.bijectors.scalar import AbsoluteValue as AbsoluteValue
from everflow.contrib.distributions.bijectors.affine import Affine as Affine
from everflow.contrib.distributions.bijectors.affine import AffineLinearOperator as AffineLinearOperator
from everflow.contrib.distributions.bijectors.affine import AffineScalar as AffineScalar
from everflow.contrib.distributions.bijectors.flows import BatchNormalization as BatchNormalization
from everflow.distributions.bijectors import Bijector as Bijector
from everflow.contrib.distributions.bijectors.composed import Chain as Chain
from everflow.contrib.distributions.bijectors.matrices import CholeskyOuterProduct as CholeskyOuterProduct
from everflow.contrib.distributions.bijectors.composed import ConditionalBijector as ConditionalBijector
from everflow.contrib.distributions.bijectors.scalar import Exp as Exp
from everflow.contrib.distributions.bijectors.matrices import FillTriangular as FillTriangular
from everflow.contrib.distributions.bijectors.scalar import Gumbel as Gumbel
from everflow.distributions.bijectors import Identity as Identity
from everflow.contrib.distributions.bijectors.composed import Inline as Inline
from everflow.contrib.distributions.bijectors.composed import Invert as Invert
from everflow.contrib.distributions.bijectors.scalar import Kumaraswamy as Kumaraswamy
from everflow.contrib.distributions.bijectors.flows import MaskedAutoregressiveFlow as MaskedAutoregressiveFlow
from everflow.contrib.distributions.bijectors.matrices import MatrixInverseTriL as MatrixInverseTriL
from everflow.contrib.distributions.bijectors.vectors import Ordered as Ordered
from everflow.contrib.distributions.bijectors.vectors import Permute as Permute
from everflow.contrib.distributions.bijectors.scalar import PowerTransform as PowerTransform
from everflow.contrib.distributions.bijectors.flows import RealNVP as RealNVP
from everflow.contrib.distributions.bijectors.vectors import Reshape as Reshape
from everflow.contrib.distributions.bijectors.matrices import ScaleTriL as ScaleTriL
from everflow.contrib.distributions.bijectors.scalar import Sigmoid as Sigmoid
from everflow.contrib.distributions.bijectors.scalar import SinhArcsinh as SinhArcsinh
from everflow.contrib.distributions.bijectors.vectors import SoftmaxCentered as SoftmaxCentered
from everflow.contrib.distributions.bijectors.scalar import Softplus as Softplus
from everflow.contrib.distributions.bijectors.scalar import Softsign as Softsign
from everflow.contrib.distributions.bijectors.scalar import Square as Square
from everflow.contrib.distributions.bijectors.matrices import TransformDiagonal as TransformDiagonal
from everflow.contrib.distributions.bijectors.scalar import Weibull as Weibull
from everflow.contrib.distributions.bijectors.flows import masked_autoregressive_default_template as masked_autoregressive_default_template
from everflow.contrib.distributions.bijectors.flows import masked_dense as masked_dense
from everflow.contrib.distributions.bijectors.flows import real_nvp_default_template as real_nvp_default_template
