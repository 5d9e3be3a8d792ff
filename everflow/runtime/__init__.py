"""How a graph runs: plans, passes, generated steps, sessions and what they keep."""
