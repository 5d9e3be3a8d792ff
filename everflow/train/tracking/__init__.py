"""Objects that checkpoints know by the attributes that lead to them."""
