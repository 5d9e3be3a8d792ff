"""Batches that hold each matrix several times."""

import numpy as np
import pytest
import torch

from everflow.ops.linalg.grouped_products import in_groups


@pytest.mark.parametrize(
    "places, times",
    [([0, 0, 1, 1, 2, 2], 2), ([0, 0, 0, 0, 1, 1], 2), ([1, 1, 1], 3), ([0, 0, 1], 1), ([0, 1, 0, 1], 1), ([0], 1), ([], 1)],
)
def test_groups_are_as_large_as_all_can_be(places, times):
    batch = torch.tensor(np.random.RandomState(0).randn(3, 2, 2))[places]
    groups = in_groups(batch)
    assert groups.times == times
    assert torch.equal(groups.firsts.repeat_interleave(times, 0), batch)


def test_what_is_not_a_number_equals_nothing():
    assert in_groups(torch.full((4, 2, 2), float("nan"))).times == 1
