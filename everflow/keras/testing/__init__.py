"""For tests of layers and models: each mode, each kind of model, and what every layer has to do."""
