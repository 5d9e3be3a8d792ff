"""pandas, scikit-learn, scikit-image, matplotlib and networkx as they were, where they are installed."""

import io

import numpy as np
import pytest


def test_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [4.0, 5.0, 6.0]}, index=list("xyz"))
    assert frame.ix[0].tolist() == [1, 4] and frame.ix["y", "b"] == 5 and frame.ix[0:2, "b"].tolist() == [4, 5]
    assert frame.ix[:, 0].tolist() == [1, 2, 3] and frame.ix["x":"y", "a"].tolist() == [1, 2]
    assert frame.ix[[0, 2], ["a"]].a.tolist() == [1, 3]
    numbered = pd.DataFrame({"a": [1, 2, 3]})
    numbered.ix[0, "a"] = 9
    assert numbered.ix[1:2, "a"].tolist() == [2, 3] and numbered.ix[numbered.a > 2, "a"].tolist() == [9, 3]
    assert frame.as_matrix().shape == (3, 2) and frame.a.as_matrix().tolist() == [1, 2, 3] and frame.get_value("x", "b") == 4
    assert frame.append({"a": 0, "b": 0}, ignore_index=True).a.tolist() == [1, 2, 3, 0] and len(frame.append([frame, frame])) == 9
    assert frame.a.append(frame.b).tolist() == [1, 2, 3, 4, 5, 6] and [name for name, _ in frame.iteritems()] == ["a", "b"]
    assert list(frame.drop("a", 1).columns) == ["b"] and pd.np is np
    assert frame.a[0] == 1 and frame.iloc[-1][1] == 6
    with pytest.raises(KeyError):
        numbered.a[7]
    with pytest.raises(TypeError, match="ignore_index=True"):
        frame.append(pd.Series({"a": 1}))


@pytest.mark.filterwarnings("ignore:.*Skipping line")
def test_reading_tables():
    pd = pytest.importorskip("pandas")
    assert len(pd.read_csv(io.StringIO("a,b\n1,2\n1,2,3\n"), error_bad_lines=False)) == 1
    assert pd.read_csv(io.StringIO("a\n1\n2\n"), squeeze=True).tolist() == [1, 2]
    with pytest.raises(TypeError, match="colour"):
        pd.read_csv(io.StringIO("a\n1\n"), colour=3)


def test_folds():
    pytest.importorskip("sklearn")
    from sklearn.cross_validation import KFold, StratifiedKFold, train_test_split

    assert [test.tolist() for _, test in KFold(6, n_folds=3)] == [[0, 1], [2, 3], [4, 5]] and len(KFold(6, 2)) == 2
    assert all(sorted(np.array([0, 0, 1, 1])[test]) == [0, 1] for _, test in StratifiedKFold([0, 0, 1, 1], 2))
    assert [len(part) for part in train_test_split(np.arange(10), test_size=0.2)] == [8, 2]


def test_modules_of_scikit_learn():
    pytest.importorskip("sklearn")
    import joblib
    from sklearn.cluster import KMeans
    from sklearn.datasets import fetch_mldata
    from sklearn.datasets.samples_generator import make_blobs
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.externals import joblib as former
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.grid_search import GridSearchCV
    from sklearn.linear_model.logistic import LogisticRegression
    from sklearn.manifold import TSNE
    from sklearn.metrics import mean_squared_error
    from sklearn.preprocessing import Imputer, OneHotEncoder
    from sklearn.utils.linear_assignment_ import linear_assignment

    x, y = make_blobs(20, centers=2, random_state=0)
    assert former is joblib and GridSearchCV(LogisticRegression(), {"C": [1.0]}).fit(x, y).score(x, y) > 0.5
    assert linear_assignment([[1, 2], [2, 0]]).tolist() == [[0, 0], [1, 1]]
    assert Imputer().fit_transform([[1, np.nan], [2, 3.0]]).tolist() == [[1, 3], [2, 3]]
    assert OneHotEncoder(sparse=False).fit_transform([[1], [2]]).tolist() == [[1, 0], [0, 1]]
    assert TSNE(n_iter=300).max_iter == 300 and KMeans(2, n_jobs=1).n_clusters == 2
    assert AdaBoostClassifier(base_estimator=LogisticRegression(), algorithm="SAMME.R").fit(x, y).score(x, y) > 0.5
    assert mean_squared_error([1, 2], [1, 4], squared=True) == 2 and mean_squared_error([1, 2], [1, 4], squared=False) == pytest.approx(
        2**0.5
    )
    assert CountVectorizer().fit(["one dog"]).get_feature_names() == ["dog", "one"]
    with pytest.raises(TypeError, match="nothing"):
        TSNE(nothing=1)
    with pytest.raises(OSError, match="fetch_openml"):
        fetch_mldata("MNIST original")
    with pytest.raises(ModuleNotFoundError, match="sklearn.nothing"):
        __import__("sklearn.nothing")


def test_plots():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg", warn=False)
    import matplotlib.mlab
    import matplotlib.pyplot as plt

    plt.hold(True)
    plt.grid(b=True)
    plt.style.use("seaborn-paper")
    heights, *_ = plt.hist([1, 1, 2], bins=2, normed=True)
    assert heights.tolist() == pytest.approx([4 / 3, 2 / 3]) and plt.cm.spectral(0.5) == plt.cm.nipy_spectral(0.5)
    assert plt.figure().gca(projection="3d").name == "3d" and matplotlib.cm.get_cmap("jet", 3).N == 3
    assert matplotlib.mlab.normpdf(0, 0, 1) == pytest.approx(0.39894228)
    with pytest.raises(OSError, match="nothing"):
        plt.style.use("nothing")
    plt.close("all")


def test_linear_models_never_stop_early_with_a_tolerance_below_zero():
    pytest.importorskip("sklearn")
    from sklearn.linear_model import Perceptron, SGDClassifier

    x, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    for kind in (Perceptron, SGDClassifier):
        model = kind(max_iter=7, tol=-np.inf, random_state=0).fit(x, y)
        assert model.n_iter_ == 7 and model.tol == -np.inf
    with pytest.raises(ValueError, match="max_iter"):
        Perceptron(max_iter=-1, tol=-np.inf).fit(x, y)


def test_masks_are_pictures_of_zeros_and_ones():
    pytest.importorskip("skimage")
    from skimage.transform import rescale, resize

    mask = np.zeros((4, 4), bool)
    mask[:, 2:] = True
    half = resize(mask, (2, 2), order=1, mode="constant", preserve_range=True, anti_aliasing=False)
    assert half.dtype == float and half.tolist() == [[0, 1], [0, 1]]
    assert rescale(mask, 2, order=1, multichannel=False).shape == (8, 8)
    with pytest.raises(ValueError, match="order"):
        resize(np.zeros((4, 4)), (2, 2), order=9)


def test_names_of_scikit_image():
    pytest.importorskip("skimage")
    from skimage.color import rgb2grey
    from skimage.draw import circle
    from skimage.filters import gaussian
    from skimage.measure import compare_mse, compare_nrmse, compare_psnr, compare_ssim
    from skimage.morphology import dilation, watershed
    from skimage.morphology.selem import square
    from skimage.segmentation import watershed as today

    a = np.random.RandomState(0).randint(0, 255, (16, 16, 3)).astype(np.uint8)
    assert compare_ssim(a, a, multichannel=True) == 1 and compare_mse(a, a) == 0 and compare_nrmse(a, a, "Euclidean") == 0
    assert compare_psnr(a, np.uint8(255) - a, 255) < 20 and compare_ssim(a / 255.0, a / 510.0, multichannel=True) < 1
    assert len(circle(5, 5, 3)[0]) == 25 and rgb2grey(a).shape == (16, 16) and watershed is today
    assert gaussian(a, 1, multichannel=True).shape == a.shape and dilation(a[..., 0], selem=square(3)).shape == (16, 16)
    with pytest.raises(TypeError, match="nothing"):
        gaussian(a, nothing=1)


def test_graphs_of_networkx(tmp_path):
    nx = pytest.importorskip("networkx")
    sparse = pytest.importorskip("scipy.sparse")
    graph = nx.OrderedMultiDiGraph()
    assert isinstance(graph, nx.MultiDiGraph)
    graph.add_path([3, 1, 2])
    assert graph.node[3] == {} and list(graph.nodes_iter()) == [3, 1, 2] and list(graph.edges_iter()) == [(3, 1), (1, 2)]
    pair = nx.from_numpy_matrix(np.matrix([[0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    assert [sorted(part) for part in nx.connected_component_subgraphs(pair)] == [[0, 1], [2]]
    dense = nx.to_numpy_matrix(pair)
    assert isinstance(dense, np.matrix) and (dense * dense)[0, 0] == 1
    adjacency = nx.adjacency_matrix(pair)
    assert sparse.isspmatrix(adjacency) and (adjacency * adjacency).toarray().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert (nx.to_scipy_sparse_matrix(pair) != adjacency).nnz == 0
    nx.write_gpickle(pair, tmp_path / "pair")
    assert sorted(nx.read_gpickle(tmp_path / "pair").edges) == [(0, 1)]
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = nx.no_such_name
