"""Well-known models, a step each, and what they are made of."""

import numpy as np
import torch
from measuring import batch, case, timed
from torch import nn
from torch.nn import functional as F
from training_in_torch import prepared, step_of

from translations.instructions import chain_of


class BertLayer(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.attended = (nn.Linear(size, size) for _ in range(4))
        self.widened, self.output = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)
        self.attention_norm, self.output_norm = nn.LayerNorm(size, eps=1e-12), nn.LayerNorm(size, eps=1e-12)

    def split(self, y):
        return y.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x):
        context = F.scaled_dot_product_attention(self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x)))
        attended = self.attention_norm(self.attended(context.transpose(1, 2).flatten(2)) + x)
        return self.output_norm(self.output(F.gelu(self.widened(attended))) + attended)


@case
def bert_layer_train():
    model = BertLayer(768, 12)
    optimizer = torch.optim.Adam(model.parameters(), 1e-4, fused=True)
    model = prepared(model)
    step = step_of(lambda x: model(x).square().mean(), optimizer)
    xs, _ = batch(8, (128, 768))
    return timed(lambda: step(xs).item(), seconds=5)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(100, 7 * 7 * 128)
        self.rest = nn.Sequential(
            nn.BatchNorm2d(128),
            nn.ReLU(True),
            nn.ConvTranspose2d(128, 64, 4, 2, 1, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(True),
            nn.ConvTranspose2d(64, 1, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, noise):
        return self.rest(self.first(noise).view(-1, 128, 7, 7))


def discriminator():
    return nn.Sequential(
        nn.Conv2d(1, 64, 4, 2, 1, bias=False),
        nn.LeakyReLU(0.2, True),
        nn.Conv2d(64, 128, 4, 2, 1, bias=False),
        nn.BatchNorm2d(128),
        nn.LeakyReLU(0.2, True),
        nn.Flatten(),
        nn.Linear(7 * 7 * 128, 1),
    )


@case
def dcgan_step():
    generator, judge = Generator(), discriminator()
    of_generator, of_judge = (torch.optim.Adam(m.parameters(), 2e-4, betas=(0.5, 0.999), fused=True) for m in (generator, judge))
    generator, judge = prepared(generator), prepared(judge)
    ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)

    def loss_of_judge(pictures, noise):
        return F.binary_cross_entropy_with_logits(judge(pictures), ones) + F.binary_cross_entropy_with_logits(
            judge(generator(noise).detach()), zeros
        )

    steps = (
        step_of(loss_of_judge, of_judge),
        step_of(lambda _, noise: F.binary_cross_entropy_with_logits(judge(generator(noise)), ones), of_generator),
    )
    xs, _ = batch(64, (1, 28, 28))
    zs = np.random.RandomState(1).randn(64, 100).astype(np.float32)
    return timed(lambda: [step(xs, zs) for step in steps], seconds=5)


class WideAndDeep(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide, self.table = nn.Embedding(80000, 2, sparse=True), nn.Embedding(80000, 16, sparse=True)
        self.deep = nn.Sequential(
            nn.Linear(141, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 2)
        )
        self.register_buffer("starts", torch.arange(8) * 10000)

    def forward(self, ids, numbers):
        places = ids + self.starts
        return self.deep(torch.cat([self.table(places).flatten(1), numbers], 1)) + self.wide(places).sum(1)


@case
def wide_and_deep_step():
    model = WideAndDeep()
    optimizer = torch.optim.Adagrad(model.parameters(), 0.05, initial_accumulator_value=0.1)
    model = prepared(model)
    step = step_of(lambda ids, numbers, y: F.cross_entropy(model(ids, numbers), y), optimizer)
    rng = np.random.RandomState(0)
    arrays = rng.randint(0, 10000, (256, 8)), rng.rand(256, 13).astype(np.float32), rng.randint(0, 2, 256)
    return timed(lambda: step(*arrays))


@case
def elementwise_small():
    return timed(chain_of(1000), seconds=1.5)


def gradients_step(loss_of, tensors):
    loss_of = prepared(loss_of)

    def run():
        for t in tensors:
            t.grad = None
        loss_of().backward()
        return sum(t.grad.sum() for t in tensors).item()

    return run


@case
def layer_norm_train():
    x, norm = torch.randn(4096, 512, requires_grad=True), nn.LayerNorm(512, eps=1e-12)
    return timed(gradients_step(lambda: norm(x).square().sum(), [x, *norm.parameters()]))


@case
def softmax_loss():
    logits = torch.randn(2048, 5000, requires_grad=True)
    labels = torch.from_numpy(np.random.RandomState(0).randint(0, 5000, 2048))
    return timed(gradients_step(lambda: F.cross_entropy(logits, labels), [logits]))


def update(optimizer, **settings):
    tensors = [torch.randn(1000, 1000, requires_grad=True) for _ in range(8)]
    for t in tensors:
        t.grad = torch.randn(1000, 1000)
    return timed(optimizer(tensors, fused=True, **settings).step)


@case
def adam_update():
    return update(torch.optim.Adam, lr=1e-3)


@case
def momentum_update():
    return update(torch.optim.SGD, lr=1e-2, momentum=0.9)
