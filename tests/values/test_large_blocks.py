"""Memory of large results is kept for the next one of its size."""

import gc

import pytest
import torch

from everflow.values import large_blocks


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(large_blocks, "LARGE", 1 << 16)
    large_blocks._spare.clear()
    yield
    large_blocks._spare.clear()


def test_a_block_is_used_again_when_nobody_has_it_any_more():
    like = torch.zeros(128, 256)
    first = large_blocks.empty_like(like)
    part = first.fill_(7.0)[5:]
    place = first.data_ptr()
    second = large_blocks.empty_like(like)
    assert second.data_ptr() != place and second.shape == like.shape and second.dtype == like.dtype
    del first
    gc.collect()
    assert large_blocks.empty_like(like).data_ptr() != place, "a view still has it"
    assert part[0, 0] == 7.0
    del part
    gc.collect()
    assert place in [large_blocks.empty_like(like).data_ptr()]


def test_blocks_of_another_size_are_given_back():
    large_blocks.empty_like(torch.zeros(128, 256))
    gc.collect()
    assert sum(map(len, large_blocks._spare.values())) == 1
    kept = large_blocks.empty_like(torch.zeros(256, 256))
    assert kept.is_contiguous() and kept.data_ptr() % 64 == 0
    assert sum(map(len, large_blocks._spare.values())) == 0


def test_small_results_are_left_to_torch():
    large_blocks.empty_like(torch.zeros(8))
    gc.collect()
    assert not any(large_blocks._spare.values())
