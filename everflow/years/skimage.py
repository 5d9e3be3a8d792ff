"""What scikit-image dropped since 0.14."""

from __future__ import annotations

import importlib
from typing import Any

from everflow.years.shims import NOT_OURS, modules, names, otherwise


def _of(module: str, name: str) -> Any:
    return lambda: getattr(importlib.import_module(module), name)


names(
    "skimage.measure",
    "scikit-image 0.18",
    compare_ssim=lambda: _compare_ssim,
    compare_psnr=lambda: _compare_psnr,
    compare_mse=_of("skimage.metrics", "mean_squared_error"),
    compare_nrmse=lambda: _compare_nrmse,
)
names("skimage.measure", "scikit-image 0.19", marching_cubes_lewiner=_of("skimage.measure", "marching_cubes"))
names("skimage.draw", "scikit-image 0.19", circle=lambda: _circle)
names("skimage.color", "scikit-image 0.19", rgb2grey=_of("skimage.color", "rgb2gray"), grey2rgb=_of("skimage.color", "gray2rgb"))
names("skimage.morphology", "scikit-image 0.19", watershed=_of("skimage.segmentation", "watershed"))
names("skimage.morphology", "scikit-image 0.25", skeletonize_3d=_of("skimage.morphology", "skeletonize"))
names("skimage.transform", "scikit-image 0.18", match_histograms=_of("skimage.exposure", "match_histograms"))
names("skimage.util", "scikit-image 0.19", pad=_of("numpy", "pad"))
names(
    "skimage.feature",
    "scikit-image 0.23",
    greycomatrix=_of("skimage.feature", "graycomatrix"),
    greycoprops=_of("skimage.feature", "graycoprops"),
)
names("skimage.feature", "scikit-image 0.19", register_translation=_of("skimage.registration", "phase_cross_correlation"))
modules("scikit-image 0.21", {"skimage.morphology.selem": lambda: importlib.import_module("skimage.morphology.footprints")})


def _compare_ssim(
    X: Any, Y: Any, win_size: Any = None, gradient: bool = False, data_range: Any = None, multichannel: bool = False, **others: Any
) -> Any:
    """The range was that of the type of the pictures, also for those of floats (2: from -1 to 1)."""
    from skimage.metrics import structural_similarity
    from skimage.util import dtype_limits

    if data_range is None:
        least, most = dtype_limits(X)
        data_range = most - least
    others["channel_axis"] = -1 if multichannel else None
    return structural_similarity(X, Y, win_size=win_size, gradient=gradient, data_range=data_range, **others)


def _compare_psnr(im_true: Any, im_test: Any, data_range: Any = None) -> Any:
    from skimage.metrics import peak_signal_noise_ratio

    return peak_signal_noise_ratio(im_true, im_test, data_range=data_range)


def _compare_nrmse(im_true: Any, im_test: Any, norm_type: str = "euclidean") -> Any:
    from skimage.metrics import normalized_root_mse

    return normalized_root_mse(im_true, im_test, normalization=norm_type.lower())


def _circle(r: float, c: float, radius: float, shape: Any = None) -> Any:
    from skimage.draw import disk

    return disk((r, c), radius, shape=shape)


def _of_masks(error: Any, real: Any, image: Any, *args: Any, **others: Any) -> Any:
    """True is 1: a mask became a picture of floats."""
    return real(image.astype(float), *args, **others) if "dtype is bool" in str(error) else NOT_OURS


def _with_channels(error: Any, real: Any, *args: Any, multichannel: Any = NOT_OURS, **others: Any) -> Any:
    return NOT_OURS if multichannel is NOT_OURS else real(*args, channel_axis=-1 if multichannel else None, **others)


def _with_footprint(error: Any, real: Any, *args: Any, selem: Any = NOT_OURS, **others: Any) -> Any:
    return NOT_OURS if selem is NOT_OURS else real(*args, footprint=selem, **others)


# By module: the functions in it that took the argument.
MULTICHANNEL = {
    "transform._warps": "rescale",
    "transform.pyramids": "pyramid_reduce pyramid_expand pyramid_gaussian pyramid_laplacian",
    "filters._gaussian": "gaussian difference_of_gaussians",
    "filters._unsharp_mask": "unsharp_mask",
    "feature._hog": "hog",
    "exposure.histogram_matching": "match_histograms",
    "metrics._structural_similarity": "structural_similarity",
    "restoration._denoise": "denoise_tv_chambolle denoise_bilateral denoise_wavelet estimate_sigma",
    "restoration.non_local_means": "denoise_nl_means",
    "restoration.inpaint": "inpaint_biharmonic",
    "segmentation.slic_superpixels": "slic",
    "segmentation._felzenszwalb": "felzenszwalb",
    "segmentation.random_walker_segmentation": "random_walker",
    "util._montage": "montage",
}
SELEM = {
    "morphology.gray": "erosion dilation opening closing white_tophat black_tophat",
    "morphology.binary": "binary_erosion binary_dilation binary_opening binary_closing",
    "morphology.grayreconstruct": "reconstruction",
    "filters._median": "median",
}

for _module, _functions in {"transform._warps": "resize rescale warp"}.items():
    for _function in _functions.split():
        otherwise(f"skimage.{_module}", _function, "scikit-image 0.19", "resize, rescale and warp of masks", ValueError)(_of_masks)
for _module, _functions in MULTICHANNEL.items():
    for _function in _functions.split():
        otherwise(f"skimage.{_module}", _function, "scikit-image 0.21", "functions of skimage with multichannel=")(_with_channels)
for _module, _functions in SELEM.items():
    for _function in _functions.split():
        otherwise(f"skimage.{_module}", _function, "scikit-image 0.23", "functions of skimage with selem=")(_with_footprint)


@otherwise("skimage.io._io", "imread", "scikit-image 0.16", "imread with as_grey=")
def _as_grey(error: Any, real: Any, *args: Any, as_grey: Any = NOT_OURS, **others: Any) -> Any:
    return NOT_OURS if as_grey is NOT_OURS else real(*args, as_gray=bool(as_grey), **others)
