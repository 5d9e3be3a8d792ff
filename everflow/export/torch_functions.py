"""What TensorFlow has and torch has not under one name: exported modules hold a copy of each of these functions that they call.

Images are [batch, height, width, channels] unless `channels_first` is said; filters are [height, width, in, out].
"""

import math

import torch
import torch.nn.functional as F


def to_channels_first(x):
    return x.movedim(-1, 1)


def to_channels_last(x):
    return x.movedim(1, -1)


def same_padding(x, windows, strides, dilations, value=0.0):
    """Pads the axes after the first two such that each window that begins inside has all of its elements."""
    pads = []
    for size, window, stride, dilation in reversed(list(zip(x.shape[2:], windows, strides, dilations))):
        total = max((math.ceil(size / stride) - 1) * stride + (window - 1) * dilation + 1 - size, 0)
        pads += [total // 2, total - total // 2]
    return F.pad(x, pads, value=value)


def convolution(x, filters, strides, padding, dilations, groups=1, channels_first=False):
    x = x if channels_first else to_channels_first(x)
    filters = filters.movedim((-1, -2), (0, 1))
    if padding == "SAME":
        x = same_padding(x, filters.shape[2:], strides, dilations)
    convolve = {3: F.conv1d, 4: F.conv2d, 5: F.conv3d}[x.dim()]
    y = convolve(x, filters, stride=strides, dilation=dilations, groups=groups)
    return y if channels_first else to_channels_last(y)


def depthwise_convolution(x, filters, strides, padding, dilations, channels_first=False):
    height, width, channels, multiplier = filters.shape
    filters = filters.reshape(height, width, 1, channels * multiplier)
    return convolution(x, filters, strides, padding, dilations, groups=channels, channels_first=channels_first)


def transposed_convolution(shape, filters, y, strides, padding, channels_first=False):
    """The image of this shape whose convolution would be y-shaped, as conv2d_transpose makes it."""
    y = y if channels_first else to_channels_first(y)
    sizes = shape[2:] if channels_first else shape[1:-1]
    windows = filters.shape[:-2]
    transpose = {3: F.conv_transpose1d, 4: F.conv_transpose2d, 5: F.conv_transpose3d}[y.dim()]
    x = transpose(y, filters.movedim((-1, -2), (0, 1)), stride=strides)
    pads: list[int] = []
    for axis, (size, window, stride) in enumerate(zip(sizes, windows, strides)):
        total = max((math.ceil(size / stride) - 1) * stride + window - size, 0) if padding == "SAME" else 0
        x = x.narrow(axis + 2, total // 2, min(size, x.shape[axis + 2] - total // 2))
        pads = [0, size - x.shape[axis + 2], *pads]
    x = F.pad(x, pads)
    return x if channels_first else to_channels_last(x)


def max_pool(x, windows, strides, padding, channels_first=False):
    x = x if channels_first else to_channels_first(x)
    if padding == "SAME":
        x = same_padding(x, windows, strides, [1] * len(windows), value=-math.inf)
    y = {4: F.max_pool2d, 5: F.max_pool3d}[x.dim()](x, windows, strides)
    return y if channels_first else to_channels_last(y)


def average_pool(x, windows, strides, padding, channels_first=False):
    x = x if channels_first else to_channels_first(x)
    pool = {4: F.avg_pool2d, 5: F.avg_pool3d}[x.dim()]
    if padding == "SAME":
        # Only elements of the image count.
        ones = [1] * len(windows)
        y = pool(same_padding(x, windows, strides, ones), windows, strides)
        y = y / pool(same_padding(torch.ones_like(x), windows, strides, ones), windows, strides)
    else:
        y = pool(x, windows, strides)
    return y if channels_first else to_channels_last(y)


def normalized(x, scale, offset, mean, variance, epsilon, channels_first=False):
    y = x if not channels_first else to_channels_last(x)
    y = (y - mean) * (scale * torch.rsqrt(variance + epsilon)) + offset
    return y if not channels_first else to_channels_first(y)


def normalized_by_batch(x, scale, offset, epsilon, channels_first=False):
    axes = [0, *range(2, x.dim())] if channels_first else list(range(x.dim() - 1))
    mean, variance = x.mean(axes), x.var(axes, unbiased=False)
    return normalized(x, scale, offset, mean, variance, epsilon, channels_first)


def add_bias(x, bias):
    """Adds to the channels, the second axis."""
    return x + bias.reshape(-1, *[1] * (x.dim() - 2))


def local_response_normalization(x, radius, bias, alpha, beta):
    squares = F.pad(torch.square(x), [radius, radius]).unfold(-1, 2 * radius + 1, 1).sum(-1)
    return x * torch.pow(bias + alpha * squares, -beta)


def select(condition, x, y):
    """Elements, or rows where the condition is a vector."""
    if condition.dim() == 1 and x.dim() > 1:
        condition = condition.reshape(-1, *[1] * (x.dim() - 1))
    return torch.where(condition, x, y)


def taken(x, indices, axis):
    """Slices of x along an axis."""
    axis = axis % x.dim()
    found = x.index_select(axis, indices.reshape(-1).long())
    return found.reshape(x.shape[:axis] + indices.shape + x.shape[axis + 1 :])


def taken_at(x, indices):
    """Slices of x at the coordinates in the last axis of the indices."""
    return x[tuple(indices.long().unbind(-1))]


def scattered(indices, updates, shape):
    """Zeros, with updates added at coordinates."""
    zeros = torch.zeros(shape, dtype=updates.dtype)
    return zeros.index_put_(tuple(indices.long().unbind(-1)), updates, accumulate=True)


def stitched(indices, data):
    """Rows put in the places that the indices say."""
    places = torch.cat([i.reshape(-1) for i in indices]).long()
    rows = torch.cat([d.reshape(-1, *d.shape[i.dim() :]) for i, d in zip(indices, data)])
    found = rows.new_zeros([int(places.max()) + 1 if places.numel() else 0, *rows.shape[1:]])
    found[places] = rows
    return found


def one_hot(indices, depth, on, off, axis):
    axis = indices.dim() if axis == -1 else axis
    shape = [1] * (indices.dim() + 1)
    shape[axis] = depth
    places = torch.arange(depth, dtype=indices.dtype).reshape(shape)
    return torch.where(indices.unsqueeze(axis) == places, on, off)


def every_nth(x, axis, start, stop, step):
    """What x[start:stop:step] is along an axis, for a negative step."""
    return x.index_select(axis, torch.tensor(range(*slice(start, stop, step).indices(x.shape[axis])), dtype=torch.long))


def padded(x, paddings, value=0.0):
    return F.pad(x, [size for pair in reversed(paddings) for size in pair], value=value)


def mirrored(x, paddings, reflect):
    """Pads with a mirror image, which does not repeat the edge where it reflects."""
    for axis, (before, after) in enumerate(paddings):
        size = x.shape[axis]
        period = max(2 * size - 2, 1) if reflect else 2 * size
        places = torch.arange(-before, size + after) % period
        places = torch.where(places < size, places, (period if reflect else period - 1) - places)
        x = x.index_select(axis, places)
    return x


def cumulated(x, axis, exclusive, reverse):
    x = torch.flip(x, [axis]) if reverse else x
    y = torch.cumsum(x, axis, dtype=x.dtype)
    y = y - x if exclusive else y
    return torch.flip(y, [axis]) if reverse else y


def product(x, axes, keepdim):
    for axis in sorted((a % x.dim() for a in axes), reverse=True):
        x = torch.prod(x, axis, keepdim, dtype=x.dtype)
    return x


def reversed_parts(x, lengths, sequence_axis, batch_axis):
    """The first elements of each sequence in reverse."""
    x = x.movedim((batch_axis, sequence_axis), (0, 1))
    steps = torch.arange(x.shape[1])
    ends = lengths.reshape(-1, 1).long()
    places = torch.where(steps < ends, ends - 1 - steps, steps)
    x = torch.stack([row[order] for row, order in zip(x, places)])
    return x.movedim((0, 1), (batch_axis, sequence_axis))


def resized(x, sizes, bilinear, align_corners, half_pixel_centers):
    """An image in another size."""
    for axis, size in ((1, sizes[0]), (2, sizes[1])):
        old = x.shape[axis]
        scale = (old - 1) / (size - 1) if align_corners and size > 1 else old / size
        places = torch.arange(size, dtype=torch.float32)
        shape = [-1 if i == axis else 1 for i in range(4)]
        if bilinear:
            places = (places + 0.5) * scale - 0.5 if half_pixel_centers else places * scale
            low = torch.floor(places)
            share = (places - low).reshape(shape)
            first, second = low.long().clamp(0, old - 1), (low.long() + 1).clamp(0, old - 1)
            x = x.float()
            x = x.index_select(axis, first) * (1 - share) + x.index_select(axis, second) * share
        else:
            places = (places + 0.5) * scale if half_pixel_centers else places * scale
            places = torch.floor(places + 0.5) if align_corners else torch.floor(places)
            x = x.index_select(axis, places.long().clamp(0, old - 1))
    return x


def space_to_depth(x, block):
    batch, height, width, channels = x.shape
    x = x.reshape(batch, height // block, block, width // block, block, channels).permute(0, 1, 3, 2, 4, 5)
    return x.reshape(batch, height // block, width // block, block * block * channels)


def depth_to_space(x, block):
    batch, height, width, channels = x.shape
    x = x.reshape(batch, height, width, block, block, channels // (block * block)).permute(0, 1, 3, 2, 4, 5)
    return x.reshape(batch, height * block, width * block, channels // (block * block))


def no_nan_division(x, y):
    return torch.where(y == 0, torch.zeros_like(x), x / y)


def with_item(items, index, value):
    """A copy of a list with another item."""
    items = list(items)
    items[int(index)] = value
    return items
