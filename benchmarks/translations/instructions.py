"""Recurrent networks, attention, embeddings, element-wise chains."""

import numpy as np
import torch
from measuring import batch, case, timed
from torch import nn
from torch.nn import functional as F
from training_in_torch import outputs_of, prepared, step_of


class Repeated(nn.Module):
    """A recurrent network whose input is the same at each step: a loop in Python, as no layer of torch's does it."""

    def __init__(self, units, steps):
        super().__init__()
        self.inputs, self.states = nn.Linear(units, units, bias=False), nn.Linear(units, units, bias=False)
        self.steps = steps

    def forward(self, x):
        h = given = self.inputs(x)
        for _ in range(self.steps):
            h = torch.tanh(self.states(h) + given)
        return h


def squares_step(model, optimizer, xs):
    model = prepared(model)
    step = step_of(lambda x: model(x).square().mean(), optimizer)
    return lambda: step(xs)


@case
def while_rnn_train():
    model = Repeated(128, 50)
    return timed(squares_step(model, torch.optim.SGD(model.parameters(), 0.01, fused=True), batch(64, (128,))[0]))


class Last(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0][:, -1]


class All(Last):
    def forward(self, x):
        return self.layer(x)[0]


@case
def while_rnn_inputs():
    model = Last(nn.RNN(32, 64, batch_first=True))
    return timed(squares_step(model, torch.optim.SGD(model.parameters(), 0.01, fused=True), batch(32, (40, 32))[0]))


def forward(layer):
    predict = outputs_of(prepared(All(layer)))
    xs, _ = batch(64, (50, 128))
    return timed(lambda: predict(xs))


def training(layer):
    model = All(layer)
    return timed(squares_step(model, torch.optim.SGD(model.parameters(), 0.01, fused=True), batch(64, (50, 128))[0]))


@case
def dynamic_rnn_forward():
    return forward(nn.LSTM(128, 128, batch_first=True))


@case
def dynamic_rnn_train():
    return training(nn.LSTM(128, 128, batch_first=True))


@case
def dynamic_gru_forward():
    return forward(nn.GRU(128, 128, batch_first=True))


@case
def dynamic_gru_train():
    return training(nn.GRU(128, 128, batch_first=True))


class SelfAttention(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(size, size, bias=False) for _ in range(4))

    def split(self, y):
        return y.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x):
        found = F.scaled_dot_product_attention(self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x)))
        return F.layer_norm(x + self.output(found.transpose(1, 2).flatten(2)), x.shape[-1:], eps=1e-6) - x


@case
def attention():
    model = SelfAttention(256, 8)
    return timed(squares_step(model, torch.optim.Adam(model.parameters(), 1e-3, fused=True), batch(16, (64, 256))[0]))


class MeanOfEmbeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.scores = nn.Embedding(200000, 16, sparse=True), nn.Linear(16, 10)

    def forward(self, ids):
        return self.scores(self.table(ids).mean(1))


@case
def embedding_adagrad():
    model = MeanOfEmbeddings()
    optimizer = torch.optim.Adagrad(model.parameters(), 0.1, initial_accumulator_value=0.1)
    model = prepared(model)
    step = step_of(lambda ids, y: F.cross_entropy(model(ids), y), optimizer)
    rng = np.random.RandomState(0)
    ids, ys = rng.randint(0, 200000, (1024, 10)), rng.randint(0, 10, 1024)
    return timed(lambda: step(ids, ys))


def chain_of(n):
    x = torch.randn(n, requires_grad=True)

    def total(x):
        return (torch.tanh(x * 2.0 + 1.0) * torch.sigmoid(x) - x.square() * 0.5).sum()

    total = prepared(total)

    def run():
        x.grad = None
        total(x).backward()
        return x.grad.sum().item()

    return run


@case
def elementwise_chain():
    return timed(chain_of(1000000))
