"""Steps of small networks."""

import torch
from measuring import batch, case, timed
from torch import nn
from torch.nn import functional as F
from training_in_torch import outputs_of, prepared, step_of


def classifier_step(model, optimizer, size, shape):
    model = prepared(model)
    step = step_of(lambda x, y: F.cross_entropy(model(x), y), optimizer)
    arrays = batch(size, shape)
    return lambda: step(*arrays)


@case
def softmax_regression():
    model = nn.Linear(784, 10)
    return timed(classifier_step(model, torch.optim.SGD(model.parameters(), 0.5, fused=True), 100, (784,)))


@case
def mlp_adam():
    model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10))
    return timed(classifier_step(model, torch.optim.Adam(model.parameters(), 1e-3, fused=True), 128, (784,)))


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(7 * 7 * 64, 1024),
        nn.ReLU(),
        nn.Linear(1024, 10),
    ).to(memory_format=torch.channels_last)


@case
def cnn_train():
    model = cnn()
    return timed(classifier_step(model, torch.optim.Adam(model.parameters(), 1e-4, fused=True), 64, (1, 28, 28)), seconds=6)


@case
def cnn_predict():
    predict = outputs_of(prepared(nn.Sequential(cnn(), nn.Softmax(1))))
    xs, _ = batch(64, (1, 28, 28))
    return timed(lambda: predict(xs), seconds=4)


class LastOfLSTM(nn.Module):
    """The scores of a sequence by the last output of an LSTM."""

    def __init__(self, inputs, units):
        super().__init__()
        self.lstm = nn.LSTM(inputs, units, batch_first=True)
        self.scores = nn.Linear(units, 10)

    def forward(self, x):
        return self.scores(self.lstm(x)[0][:, -1])


@case
def lstm_train():
    model = LastOfLSTM(28, 128)
    return timed(classifier_step(model, torch.optim.Adam(model.parameters(), 1e-3, fused=True), 64, (28, 28)), seconds=5)
