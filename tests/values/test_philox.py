"""Random numbers: those of TensorFlow 1.15 on the CPU for the same seeds, whatever the number of threads.

The expected numbers were drawn by TensorFlow 1.15.5 with graph seed 42 and op seed 7, in two runs of a session.
"""

import threading

import numpy as np
import pytest
import torch

from everflow import _native
from everflow.graph import dtypes
from everflow.values.philox import Philox

pytestmark = pytest.mark.processor

WORD = 1 << 64

UNIFORM = {
    "float32": (
        [0.8627676963806152, 0.6567625999450684, 0.9905458688735962, 0.9031013250350952, 0.7336807250976562],
        [0.06553566455841064, 0.1508927345275879, 0.4699270725250244, 0.42449259757995605, 0.37181222438812256],
    ),
    "float64": (
        [0.9021424253597159, 0.9243672693206022, 0.8694461586329445, 0.8732768765016898, 0.8116292357541852],
        [0.5242862592467903, 0.7594170149871942, 0.9744983329991259, 0.8195398802630822, 0.05496204226789314],
    ),
    "float16": (
        [0.79296875, 0.19921875, 0.5517578125, 0.2060546875, 0.3125],
        [0.8681640625, 0.11328125, 0.642578125, 0.443359375, 0.8857421875],
    ),
}
NORMAL = {
    "float32": (
        [-0.4527415633201599, -0.3004075288772583, -0.07882861793041229, 0.11306749284267426, 0.539332389831543],
        [1.8963923454284668, 1.3616231679916382, 0.56142657995224, -1.0932316780090332, -1.3822191953659058],
    ),
    "float64": (
        [-0.20764251101661857, 0.40354718604348067, -0.37805809073269625, 0.3699592121764591, -0.5074662822323086],
        [-1.1344244867861066, 0.06720103338668566, -0.20594542581692596, 0.09618431733141683, -2.3204621711812323],
    ),
    "float16": (
        [-0.45263671875, -0.30029296875, -0.078857421875, 0.113037109375, 0.53955078125],
        [1.896484375, 1.361328125, 0.5615234375, -1.0927734375, -1.3818359375],
    ),
}
TRUNCATED_NORMAL = {
    "float32": (
        [-0.4527415633201599, -0.3004075288772583, -0.07882861793041229, 0.11306749284267426, -1.4650040864944458],
        [1.8963923454284668, 1.3616231679916382, 0.56142657995224, -1.0932316780090332, 0.7145650386810303],
    ),
    "float64": (
        [-0.20764251101661857, 0.40354718604348067, -1.2929919425062262, -0.11919838962386561, -1.052260730714152],
        [-1.1344244867861066, 0.06720103338668566, -0.2788185516736835, -1.1779134378490144, 0.38348430935031663],
    ),
}
INTEGERS = {"int32": ([976, 788, 429, 223, 332], [409, 328, 626, 866, 303]), "int64": ([524, 137, 200, 421, 434], [97, 662, 911, 233, 71])}
GAMMA = {
    0.5: [1.2541625499725342, 0.12297818064689636, 0.7408657670021057, 0.002008172683417797, 0.35386285185813904],
    1.0: [2.5818660259246826, 1.1863281726837158, 0.30254799127578735, 0.08978046476840973, 2.056995391845703],
    3.0: [3.3814303874969482, 2.091099500656128, 2.566349983215332, 3.8075101375579834, 3.130082607269287],
}
POISSON = {0.5: [4, 1, 0, 0, 2], 4.0: [12, 5, 5, 3, 7], 50.0: [62, 54, 45, 38, 53]}


@pytest.fixture
def philox():
    return Philox(42, 7)


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("name", UNIFORM)
def test_uniform_floats_are_tensorflows(philox, name):
    dtype = dtypes.as_dtype(name)
    for expected in UNIFORM[name]:
        drawn = philox.uniform([5], dtype)
        assert drawn.dtype is getattr(torch, name)
        assert drawn.tolist() == expected


@pytest.mark.parametrize("name", NORMAL)
def test_normal_floats_are_tensorflows(philox, name):
    for expected in NORMAL[name]:
        assert philox.normal([5], dtypes.as_dtype(name)).tolist() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", TRUNCATED_NORMAL)
def test_truncated_normal_floats_are_tensorflows(philox, name):
    for expected in TRUNCATED_NORMAL[name]:
        assert philox.truncated_normal([5], dtypes.as_dtype(name)).tolist() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_are_tensorflows(philox, name):
    for expected in INTEGERS[name]:
        drawn = philox.uniform_int([5], -100, 1000, dtypes.as_dtype(name))
        assert drawn.dtype is getattr(torch, name)
        assert drawn.tolist() == expected


def test_shuffles_are_tensorflows(philox):
    assert [philox.shuffle_permutation(5).tolist() for _ in range(3)] == [[1, 0, 2, 4, 3], [2, 3, 0, 4, 1], [4, 2, 1, 0, 3]]


@pytest.mark.parametrize("alpha", GAMMA)
def test_gamma_numbers_are_tensorflows(philox, alpha):
    assert philox.gamma([5], torch.tensor(alpha), dtypes.float32).tolist() == pytest.approx(GAMMA[alpha], rel=1e-6)


@pytest.mark.parametrize("rate", POISSON)
def test_poisson_numbers_are_tensorflows(philox, rate):
    assert philox.poisson([5], torch.tensor(rate), dtypes.int32).tolist() == POISSON[rate]


def test_multinomial_classes_are_tensorflows(philox):
    logits = torch.tensor([[0.0, 1.0, -1.0], [2.0, 0.0, 0.5]])
    assert philox.multinomial(logits, 5, dtypes.int64).tolist() == [[1, 2, 1, 1, 1], [0, 1, 0, 2, 1]]
    assert philox.multinomial(logits, 5, dtypes.int32).tolist() == [[1, 1, 0, 1, 1], [1, 0, 2, 0, 0]]


def test_stateless_numbers_are_tensorflows():
    def draws():
        return Philox.stateless(1, 2)

    uniform = [0.8440604209899902, 0.19204533100128174, 0.9962232112884521, 0.16038739681243896, 0.27199018001556396]
    normal = [-0.1423118100189212, 0.7406072461585091, -1.469047669443883, 1.147747453689489, -0.7218813856153005]
    assert draws().uniform([5], dtypes.float32).tolist() == uniform
    assert draws().normal([5], dtypes.float64).tolist() == pytest.approx(normal, rel=1e-6)
    assert draws().uniform_int([5], -5, 50, dtypes.int32).tolist() == [10, 44, 29, 34, 2]


def test_words_one_by_one_are_tensorflows(philox):
    words = philox.words()
    expected = [1743679276, 3847491788, 1820248629, 1433639123, 3856525632, 1611620758]
    assert [words.uint32() for _ in expected] == expected


def test_wide_words_and_floats_follow_the_same_stream():
    words, again = Philox(42, 7).words(), Philox(42, 7).words()
    low, high = again.uint32(), again.uint32()
    assert words.uint64() == low + (high << 32)
    assert Philox(42, 7).words().uniform() == Philox(42, 7).uniform([1], dtypes.float64).item()


@pytest.mark.parametrize(
    ("key", "low", "high", "expected"),
    [
        (0, 0, 0, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        (WORD - 1, WORD - 1, WORD - 1, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    ],
)
def test_the_generator_gives_its_published_answers(key, low, high, expected):
    words = np.empty(4, np.uint32)
    _native.fill_bits(words, key, low, high, 1)
    assert words.tolist() == expected


@pytest.mark.parametrize("low", [0, WORD - 5, WORD - 40])
def test_bulk_fills_are_the_samples_one_by_one_even_across_a_carry(low):
    bulk, single = np.empty(4 * 50 + 3, np.uint32), np.empty(4, np.uint32)
    _native.fill_bits(bulk, 11, low, 3, 1)
    for i in range(51):
        position = (3 * WORD + low + i) % (WORD * WORD)
        _native.fill_bits(single, 11, position % WORD, position // WORD, 1)
        assert bulk[4 * i : 4 * i + 4].tolist() == single[: min(4, bulk.size - 4 * i)].tolist()


@pytest.mark.parametrize("distribution", ["uniform", "normal", "truncated_normal"])
@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
def test_threads_do_not_change_the_numbers(two_threads, distribution, name):
    size, dtype = 150_001, dtypes.as_dtype(name)
    in_threads = getattr(Philox(42, 7), distribution)([size], dtype)
    torch.set_num_threads(1)
    alone = getattr(Philox(42, 7), distribution)([size], dtype)
    assert torch.equal(in_threads, alone)


def test_narrow_normals_are_rounded_float32_normals():
    wide = Philox(42, 7).normal([4000], dtypes.float32)
    assert torch.equal(Philox(42, 7).normal([4000], dtypes.float16), wide.half())
    assert torch.equal(Philox(42, 7).normal([4000], dtypes.bfloat16), wide.bfloat16())


def test_bfloat16_uniforms_are_multiples_of_a_128th(philox):
    drawn = philox.uniform([4000], dtypes.bfloat16).float() * 128
    assert torch.equal(drawn, drawn.round())
    assert drawn.min() == 0 and drawn.max() == 127


def test_distributions_have_their_moments(philox):
    assert philox.uniform([200_000], dtypes.float32).mean().item() == pytest.approx(0.5, abs=0.005)
    normal = philox.normal([200_000], dtypes.float32)
    assert normal.mean().item() == pytest.approx(0, abs=0.01)
    assert normal.std().item() == pytest.approx(1, abs=0.01)
    truncated = philox.truncated_normal([200_000], dtypes.float64)
    assert truncated.abs().max() < 2
    assert truncated.std().item() == pytest.approx(0.8796, abs=0.01)
    gamma = philox.gamma([50_000], torch.tensor([0.5, 4.0]), dtypes.float64)
    assert gamma.mean(0).tolist() == pytest.approx([0.5, 4.0], rel=0.03)
    poisson = philox.poisson([50_000], torch.tensor([0.5, 40.0]), dtypes.float32)
    assert poisson.mean(0).tolist() == pytest.approx([0.5, 40.0], rel=0.03)


def test_shapes_follow_the_request(philox):
    assert philox.uniform([], dtypes.float32).shape == ()
    assert philox.normal([2, 0, 3], dtypes.float16).shape == (2, 0, 3)
    assert philox.gamma([4], torch.ones(2, 3), dtypes.float32).shape == (4, 2, 3)
    assert philox.multinomial(torch.zeros(3, 2), 0, dtypes.int64).shape == (3, 0)
    assert philox.shuffle_permutation(0).tolist() == []
    assert philox.shuffle_permutation(1).tolist() == [0]


def test_integers_reach_the_ends_of_their_type(philox):
    drawn = philox.uniform_int([1000], -(2**63), 2**63 - 1, dtypes.int64)
    assert drawn.min() < -(2**62) and drawn.max() > 2**62
    bits = philox.uniform_bits([1000], dtypes.int32)
    assert bits.min() < -(2**30) and bits.max() > 2**30


def test_impossible_rates_give_nan(philox):
    drawn = philox.poisson([2], torch.tensor([float("nan"), -1.0, float("inf")]), dtypes.float32)
    assert drawn.isnan().all()


def test_without_seeds_no_two_generators_agree():
    first, second = (Philox().uniform([8], dtypes.float64) for _ in range(2))
    assert not torch.equal(first, second)


def test_negative_seeds_are_seeds_too():
    first, second = (Philox(-3, -1).uniform([8], dtypes.float64) for _ in range(2))
    assert torch.equal(first, second)


def test_threads_that_share_a_generator_never_draw_the_same_numbers(philox):
    drawn = []

    def draw():
        drawn.extend(philox.uniform([], dtypes.float64).item() for _ in range(200))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = Philox(42, 7)
    assert sorted(drawn) == sorted(again.uniform([], dtypes.float64).item() for _ in range(800))


def test_types_without_random_numbers_are_refused(philox):
    with pytest.raises(TypeError, match="not tf.int32"):
        philox.uniform([1], dtypes.int32)
    with pytest.raises(TypeError, match="not tf.float32"):
        philox.uniform_int([1], 0, 5, dtypes.float32)


def test_an_empty_range_of_integers_is_refused(philox):
    with pytest.raises(ValueError, match="low value below"):
        philox.uniform_int([1], 5, 5, dtypes.int32)
