"""What translations share: a model that is compiled if that is asked for, and steps of it."""

import os

import torch

COMPILED = os.environ.get("BENCH_COMPILE") == "1"


def prepared(model):
    return torch.compile(model) if COMPILED else model


def step_of(loss_of, optimizer):
    """A function that takes one step: arrays of numpy become tensors, the loss is computed, its gradients, the update."""

    def step(*arrays):
        optimizer.zero_grad()
        loss = loss_of(*(torch.from_numpy(a) for a in arrays))
        loss.backward()
        optimizer.step()
        return loss

    return step


def outputs_of(model):
    """A function that gives the outputs of a model for arrays, as an array."""

    def predict(*arrays):
        with torch.no_grad():
            return model(*(torch.from_numpy(a) for a in arrays)).numpy()

    return predict
