"""Random seeds: how a graph's seed and an op's seed become the two seeds that a random op is given."""

from __future__ import annotations

from everflow.api import internal, public
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.ops.random.eager_seeds import SEEDS

DEFAULT_GRAPH_SEED = internal("framework.random_seed.DEFAULT_GRAPH_SEED")(87654321)
LARGEST = internal("framework.random_seed._MAXINT32")(2**31 - 1)


def _shortened(seed: int) -> int:
    return seed % LARGEST


@public("get_seed", "random.get_seed")
@internal("framework.random_seed.get_seed")
def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """The graph-level and op-level seeds for a random op; two Nones ask for numbers that differ from run to run.

    With only a graph seed, the op's seed is the number of operations made before it: the same program draws the same
    numbers.
    """
    eager = SEEDS if in_eager_mode() else None
    graph = get_default_graph()
    graph_seed = graph.seed if eager is None else eager.seed
    if graph_seed is None:
        if op_seed is None:
            return None, None
        graph_seed = DEFAULT_GRAPH_SEED
    elif op_seed is None:
        if eager is None:
            op_seed, graph._seed_used = graph._op_count, True
        else:
            op_seed = eager.next_op_seed()
    seeds = _shortened(graph_seed), _shortened(op_seed)
    # Kernels take two zeros for "no seed".
    return (0, LARGEST) if seeds == (0, 0) else seeds


@public("set_random_seed", "random.set_random_seed")
@internal("framework.random_seed.set_random_seed")
def set_random_seed(seed: int) -> None:
    """Sets the graph-level seed of the default graph; where ops run at once, of what runs from now on."""
    if in_eager_mode():
        SEEDS.set(seed)
        return
    get_default_graph().seed = seed


@public("compat.v2.random.set_seed")
@internal("framework.random_seed.set_seed")
def set_seed(seed: int) -> None:
    """The same, by its later name."""
    set_random_seed(seed)
