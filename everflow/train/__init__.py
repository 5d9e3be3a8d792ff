"""Training: optimizers, slots, checkpoints, coordinators and sessions that look after themselves."""
