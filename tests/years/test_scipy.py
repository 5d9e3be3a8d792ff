"""What scipy dropped is there again."""

import importlib

import numpy as np
import pytest

scipy = pytest.importorskip("scipy")


def test_numpys_functions_under_its_name():
    assert scipy.pi == np.pi and scipy.array is np.array and scipy.randn(2, 3).shape == (2, 3) and scipy.interp(0.5, [0, 1], [2, 4]) == 3
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = scipy.nothing


def test_images_in_misc(tmp_path):
    from scipy.misc import bytescale, imread, imresize, imrotate, imsave, toimage

    gray = np.arange(16).reshape(4, 4)
    assert bytescale(gray)[0].tolist() == [0, 17, 34, 51] and bytescale(gray, cmin=0, cmax=30).max() == 128
    assert bytescale(np.uint8([3])).tolist() == [3]
    imsave(tmp_path / "gray.png", gray)
    assert imread(tmp_path / "gray.png").tolist() == bytescale(gray).tolist()
    assert imread(tmp_path / "gray.png", mode="RGB").shape == (4, 4, 3) and imread(tmp_path / "gray.png", flatten=True).dtype == np.float32
    assert imresize(gray, (2, 3)).shape == (2, 3) and imresize(gray, 50).shape == (2, 2) and imresize(gray, 1.5).shape == (6, 6)
    assert imresize(gray, (2, 2), "nearest").tolist() == bytescale(gray)[1::2, 1::2].tolist()
    assert imresize(gray.astype(np.float32), (2, 2), mode="F").dtype == np.float32
    assert imrotate(gray, 90).tolist() == np.rot90(bytescale(gray)).tolist()
    colours = np.zeros((3, 5, 6))
    colours[1] = 1
    image = toimage(colours)
    assert image.size == (6, 5) and image.getpixel((0, 0)) == (0, 255, 0)
    with pytest.raises(ValueError, match="suitable array shape"):
        toimage(np.zeros((2, 2, 2)))


def test_what_moved_out_of_misc():
    import scipy.misc
    from scipy.misc.common import logsumexp

    assert logsumexp([0, 0]) == pytest.approx(np.log(2)) and scipy.misc.comb(4, 2) == 6 and scipy.misc.factorial(4) == 24


def test_what_moved_elsewhere():
    import scipy.integrate
    import scipy.linalg
    import scipy.signal
    import scipy.spatial.distance
    import scipy.stats

    assert scipy.signal.hann(3).tolist() == scipy.signal.hanning(3).tolist() == [0, 1, 0] and len(scipy.signal.gaussian(5, 1.0)) == 5
    assert scipy.integrate.simps([1, 1, 1]) == 2 and scipy.integrate.cumtrapz([1, 1]).tolist() == [1]
    assert scipy.linalg.pinv2(np.eye(2)).tolist() == np.eye(2).tolist() and scipy.linalg.triu([[1, 2], [3, 4]]).tolist() == [[1, 2], [0, 4]]
    assert scipy.stats.binom_test([5, 5]) == 1.0 and scipy.stats.itemfreq([3, 3, 1]).tolist() == [[1, 1], [3, 2]]
    assert scipy.spatial.distance.wminkowski([0, 0], [1, 1], 2, [3, 4]) == pytest.approx(5)


def test_sparse_matrices():
    import scipy.sparse as sp
    from scipy.sparse.linalg.eigen.arpack import eigsh

    assert eigsh is sp.linalg.eigsh is sp.linalg.eigen.arpack.eigsh
    matrix = sp.csr_matrix([[0, 1j], [2, 0]])
    assert matrix.A.tolist() == [[0, 1j], [2, 0]] and matrix.H.toarray().tolist() == [[0, 2], [-1j, 0]]


def test_modules_that_are_private_now():
    assert importlib.import_module("scipy.integrate.quadrature").simpson
    with pytest.raises(ModuleNotFoundError, match="scipy.integrate.nothing"):
        importlib.import_module("scipy.integrate.nothing")
