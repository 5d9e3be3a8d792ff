"""tf.contrib.nearest_neighbor: where to look for neighbours in tables hashed by hyperplanes.

Qin Lv and others, "Multi-Probe LSH: Efficient Indexing for High-Dimensional Similarity Search", 2007."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.errors import internal_error, invalid_argument
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op


def _scalar(name: str, value: Any) -> int:
    if value.ndim:
        raise invalid_argument(f"Need a scalar {name} tensor, got {value.ndim} dimensions.")
    return int(value)


def _sizes(products: Any, num_tables: Any, num_planes: Any, num_probes: Any) -> tuple[int, int, int]:
    if products.ndim != 2:
        raise invalid_argument(f"Need a two-dimensional products tensor, got {products.ndim} dimensions.")
    tables = _scalar("num_tables", num_tables)
    if tables < 1:
        raise invalid_argument(f"num_tables must be at least 1 but got {tables}.")
    if tables > 1000:
        raise invalid_argument(
            f"Need num_tables <= 1000, got {tables}. This is mostly to protect against incorrect use of this Op. If you really need more "
            "tables, change the code."
        )
    planes = _scalar("num_hyperplanes_per_table", num_planes)
    if planes < 1:
        raise invalid_argument(f"num_hyperplanes_per_table must be at least 1 but got {planes}.")
    if planes > 30:
        raise invalid_argument(
            f"Need num_hyperplanes_per_table <= 30, got {planes}. If you need more hyperplanes, change this Op to work for larger integer "
            "types (int64)."
        )
    probes = _scalar("num_probes", num_probes)
    if probes < 1:
        raise invalid_argument("num_probes must be at least 1.")
    if products.shape[1] != tables * planes:
        raise invalid_argument(
            f"Expected number of hyperplanes is {tables * planes} but received {products.shape[1]} inner products per point."
        )
    if len(products) and probes > tables << planes:
        raise internal_error(f"Failed to get probe number {tables << planes} for point number 0.")
    return tables, planes, probes


def _perturbed(products: Any, bits: Any, steps: int) -> tuple[Any, Any]:
    """For each point, the next best `steps` ways to turn bits of hashes: which bits, of which table. A way costs the sum of the squared
    distances to the planes whose sides it changes.

    Each way that was taken makes two more: the last plane of it gives way to the next nearest one of its table, or that one joins it. All
    points go step by step together."""
    count, tables, planes = products.shape
    nearest = products.abs().argsort(dim=-1, stable=True)
    costs, turns = products.gather(-1, nearest).square(), bits[nearest]
    rows = torch.arange(count, device=products.device)

    def waiting(first: Any) -> Any:
        """Room for the ways that wait: at first one a table, and one more with each step."""
        return torch.cat([first, first.new_zeros(count, steps)], 1)

    cost, mask = waiting(costs[..., 0]), waiting(turns[..., 0])
    cost[:, tables:] = torch.inf
    table, last = waiting(torch.arange(tables, device=products.device).repeat(count, 1)), waiting(torch.zeros_like(nearest[..., 0]))
    masks, places = [], []
    for step in range(steps):
        best = cost.argmin(1)
        paid, turned, where, plane = (all_of[rows, best] for all_of in (cost, mask, table, last))
        masks.append(turned)
        places.append(where)
        following = (plane + 1).clamp(max=planes - 1)
        more, turn = costs[rows, where, following], turns[rows, where, following]
        ended = plane == planes - 1
        joined = tables + step
        cost[rows, best] = (paid - costs[rows, where, plane] + more).masked_fill(ended, torch.inf)
        cost[:, joined] = (paid + more).masked_fill(ended, torch.inf)
        mask[rows, best], mask[:, joined] = turned ^ turns[rows, where, plane] ^ turn, turned ^ turn
        table[:, joined] = where
        last[rows, best] = last[:, joined] = following
    return torch.stack(masks, 1), torch.stack(places, 1)


def _probes(node: Node) -> Callable[..., Any]:
    def run(products: Any, num_tables: Any, num_planes: Any, num_probes: Any) -> tuple[Any, Any]:
        tables, planes, probes = _sizes(products, num_tables, num_planes, num_probes)
        products = products.reshape(-1, tables, planes)
        bits = 1 << torch.arange(planes - 1, -1, -1, device=products.device)
        hashes = ((products >= 0) * bits).sum(-1)
        places = torch.arange(tables, device=products.device).repeat(len(products), 1)
        found = hashes
        if probes > tables:
            masks, others = _perturbed(products, bits, probes - tables)
            found, places = torch.cat([hashes, hashes.gather(1, others) ^ masks], 1), torch.cat([places, others], 1)
        return found[:, :probes].to(torch.int32), places[:, :probes].to(torch.int32)

    return run


op("HyperplaneLSHProbes", kernel=_probes, shape=lambda o: [None, None], gradient=not_differentiable)


@internal("contrib.nearest_neighbor.python.ops.nearest_neighbor_ops.hyperplane_lsh_probes")
def hyperplane_lsh_probes(
    point_hyperplane_product: Any, num_tables: Any, num_hyperplanes_per_table: Any, num_probes: Any, name: str | None = None
) -> Any:
    """Buckets in which neighbours of points may lie, most likely first, and their tables: each point's own in every table, then those
    on the other sides of the planes that are nearest. Points are told by their products with all planes, [points, tables * planes]."""
    return apply("HyperplaneLSHProbes", point_hyperplane_product, num_tables, num_hyperplanes_per_table, num_probes, name=name)
