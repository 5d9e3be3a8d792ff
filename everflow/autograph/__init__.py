"""AutoGraph: Python's if, while, for, and, or, not on tensors become ops of the graph that is being built."""
