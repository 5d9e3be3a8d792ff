"""The models of some cases as PyTorch's tutorials write them: modules, eager, fed from numpy, with the fused optimizers."""
