"""Written by `make index`."""
from typing import Any

from everflow.contrib.image.transforms import angles_to_projective_transforms as angles_to_projective_transforms
from everflow.contrib.image.segments import bipartite_match as bipartite_match
from everflow.contrib.image.transforms import compose_transforms as compose_transforms
from everflow.contrib.image.segments import connected_components as connected_components
from everflow.contrib.image.warping import dense_image_warp as dense_image_warp
from everflow.contrib.image.transforms import flat_transforms_to_matrices as flat_transforms_to_matrices
from everflow.contrib.image.warping import interpolate_spline as interpolate_spline
from everflow.contrib.image.transforms import matrices_to_flat_transforms as matrices_to_flat_transforms
from everflow.contrib.image.transforms import rotate as rotate
from everflow.contrib.image.stereograms import single_image_random_dot_stereograms as single_image_random_dot_stereograms
from everflow.contrib.image.warping import sparse_image_warp as sparse_image_warp
from everflow.contrib.image.transforms import transform as transform
from everflow.contrib.image.transforms import translate as translate
from everflow.contrib.image.transforms import translations_to_projective_transforms as translations_to_projective_transforms
