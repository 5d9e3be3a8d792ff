"""Written by `make index`."""
from typing import Any

from everflow.contrib.specs.layers import Ap as Ap
from everflow.contrib.specs.layers import Bn as Bn
from everflow.contrib.specs.combinators import Callable as Callable
from everflow.contrib.specs.layers import Cl as Cl
from everflow.contrib.specs.layers import Cm as Cm
from everflow.contrib.specs.combinators import Composable as Composable
from everflow.contrib.specs.combinators import Composition as Composition
from everflow.contrib.specs.layers import Conc as Conc
from everflow.contrib.specs.layers import Cr as Cr
from everflow.contrib.specs.layers import Cs as Cs
from everflow.contrib.specs.layers import Ct as Ct
from everflow.contrib.specs.layers import Cx as Cx
from everflow.contrib.specs.layers import Do as Do
from everflow.contrib.specs.layers import Dwm as Dwm
from everflow.contrib.specs.layers import Dws as Dws
from everflow.contrib.specs.layers import Expand as Expand
from everflow.contrib.specs.combinators import External as External
from everflow.contrib.specs.layers import Fl as Fl
from everflow.contrib.specs.layers import Flat as Flat
from everflow.contrib.specs.layers import Fm as Fm
from everflow.contrib.specs.layers import Fr as Fr
from everflow.contrib.specs.layers import Fs as Fs
from everflow.contrib.specs.layers import Ft as Ft
from everflow.contrib.specs.combinators import Function as _Fun
Fun = _Fun
from everflow.contrib.specs.combinators import Function as Function
from everflow.contrib.specs.layers import Fx as Fx
from everflow.contrib.specs.layers import Id as Id
from everflow.contrib.specs.layers import Idx as Idx
from everflow.contrib.specs.combinators import Import as Import
from everflow.contrib.specs.combinators import KEYWORDS as KEYWORDS
from everflow.contrib.specs.draws import Lf as Lf
from everflow.contrib.specs.draws import Li as Li
from everflow.contrib.specs.reading import LocalImport as LocalImport
from everflow.contrib.specs.layers import Lrn as Lrn
from everflow.contrib.specs.layers import Mp as Mp
from everflow.contrib.specs.draws import Nt as Nt
from everflow.contrib.specs.combinators import Operator as Operator
from everflow.contrib.specs.layers import Print as Print
from everflow.contrib.specs.combinators import QUOTED as QUOTED
from everflow.contrib.specs.layers import Relu as Relu
from everflow.contrib.specs.layers import Reshape as Reshape
from everflow.contrib.specs.summaries import SHORT_NAMES as SHORT_NAMES
SHORT_NAMES_SRC: Any
from everflow.contrib.specs.layers import Shared as Shared
from everflow.contrib.specs.layers import Sig as Sig
from everflow.contrib.specs.layers import Smax as Smax
from everflow.contrib.specs.layers import Squeeze as Squeeze
from everflow.contrib.specs.layers import Tanh as Tanh
from everflow.contrib.specs.layers import Transpose as Transpose
from everflow.contrib.specs.draws import Uf as Uf
from everflow.contrib.specs.draws import Ui as Ui
from everflow.contrib.specs.layers import Unit as Unit
from everflow.contrib.specs.layers import Var as Var
acos: Any
acosh: Any
asin: Any
asinh: Any
atan: Any
atan2: Any
atanh: Any
cbrt: Any
ceil: Any
from everflow.contrib.specs.combinators import check_keywords as check_keywords
comb: Any
copysign: Any
cos: Any
cosh: Any
from everflow.contrib.specs.reading import create_net as create_net
from everflow.contrib.specs.reading import create_net_fun as create_net_fun
from everflow.contrib.specs.combinators import debug as debug
from everflow.contrib.specs.combinators import debug_ as debug_
degrees: Any
dist: Any
e: Any
erf: Any
erfc: Any
from everflow.contrib.specs.reading import eval_params as eval_params
from everflow.contrib.specs.reading import eval_spec as eval_spec
from everflow.contrib.specs.combinators import exec_ as exec_
exp: Any
exp2: Any
expm1: Any
fabs: Any
factorial: Any
floor: Any
fmod: Any
frexp: Any
fsum: Any
gamma: Any
gcd: Any
from everflow.contrib.specs.combinators import get_positional as get_positional
hypot: Any
inf: Any
isclose: Any
isfinite: Any
isinf: Any
isnan: Any
isqrt: Any
lcm: Any
ldexp: Any
lgamma: Any
log: Any
log10: Any
log1p: Any
log2: Any
modf: Any
from everflow.contrib.specs.draws import _value as _nan
nan = _nan
nextafter: Any
perm: Any
pi: Any
pow: Any
prod: Any
radians: Any
remainder: Any
sin: Any
sinh: Any
sqrt: Any
tan: Any
tanh: Any
tau: Any
from everflow.contrib.specs.summaries import tf_left_split as tf_left_split
from everflow.contrib.specs.summaries import tf_num_params as tf_num_params
from everflow.contrib.specs.summaries import tf_parameter_iter as tf_parameter_iter
from everflow.contrib.specs.summaries import tf_parameter_summary as tf_parameter_summary
from everflow.contrib.specs.summaries import tf_print as tf_print
from everflow.contrib.specs.summaries import tf_spec_print as tf_spec_print
from everflow.contrib.specs.summaries import tf_spec_structure as tf_spec_structure
from everflow.contrib.specs.summaries import tf_spec_summary as tf_spec_summary
from everflow.contrib.specs.summaries import tf_structure as tf_structure
trunc: Any
ulp: Any
