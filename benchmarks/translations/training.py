"""Residual blocks with batch normalization."""

import torch
from measuring import batch, case, timed
from torch import nn
from torch.nn import functional as F
from training_in_torch import outputs_of, prepared, step_of


class Bottleneck(nn.Module):
    """A block of a ResNet of the second version."""

    def __init__(self, inputs, filters, stride):
        super().__init__()
        self.norms = nn.ModuleList(nn.BatchNorm2d(n, eps=1e-3) for n in (inputs, filters, filters))
        self.around = nn.Conv2d(inputs, 4 * filters, 1, stride, bias=False)
        self.first = nn.Conv2d(inputs, filters, 1, bias=False)
        self.second = nn.Conv2d(filters, filters, 3, stride, padding=1, bias=False)
        self.third = nn.Conv2d(filters, 4 * filters, 1, bias=False)

    def forward(self, x):
        y = F.relu(self.norms[0](x))
        around = self.around(y)
        y = F.relu(self.norms[1](self.first(y)))
        return around + self.third(F.relu(self.norms[2](self.second(y))))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 32, 3, padding=1, bias=False)
        self.blocks = nn.Sequential(Bottleneck(32, 16, 1), Bottleneck(64, 32, 2), Bottleneck(128, 64, 2))
        self.norm, self.scores = nn.BatchNorm2d(256, eps=1e-3), nn.Linear(256, 10, bias=False)

    def forward(self, x):
        return self.scores(F.relu(self.norm(self.blocks(self.first(x)))).mean((2, 3)))


@case
def resnet_block_train():
    model = ResNet().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9, weight_decay=1e-4, fused=True)
    model = prepared(model)
    step = step_of(lambda x, y: F.cross_entropy(model(x.to(memory_format=torch.channels_last)), y), optimizer)
    xs, ys = batch(32, (3, 32, 32))
    return timed(lambda: step(xs, ys).item())


@case
def resnet_block_predict():
    model = prepared(nn.Sequential(ResNet(), nn.Softmax(1)).to(memory_format=torch.channels_last).eval())
    predict = outputs_of(lambda x: model(x.to(memory_format=torch.channels_last)))
    xs, _ = batch(32, (3, 32, 32))
    return timed(lambda: predict(xs))
