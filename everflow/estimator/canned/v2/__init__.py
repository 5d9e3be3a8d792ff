"""The canned estimators of version 2: heads, layers and optimizers of Keras."""
