"""Warps of images: by a flow at each pixel, or by a spline through a few points."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope

# Logarithms and roots of squared distances stay finite from here on.
_SMALLEST = 1e-10


def _interpolated(grid: Any, points: Any) -> Any:
    """Values between the points of a grid [batch, height, width, depth] at [batch, count, (row, column)]."""
    batch, height, width, depth = tf.unstack(tf.shape(grid))
    floors, shares = [], []
    for axis, size in ((0, height), (1, width)):
        where = points[:, :, axis]
        floor = tf.minimum(tf.maximum(0.0, tf.floor(tf.cast(where, tf.float32))), tf.cast(size - 2, tf.float32))
        floors.append(tf.cast(floor, tf.int32))
        shares.append(tf.clip_by_value(where - tf.cast(floor, where.dtype), 0.0, 1.0)[..., None])
    rows = tf.reshape(grid, tf.stack([batch, height * width, depth]))

    def at(down: int, across: int) -> Any:
        return tf.gather(rows, (floors[0] + down) * width + floors[1] + across, batch_dims=1)

    down, across = shares
    top = across * (at(0, 1) - at(0, 0)) + at(0, 0)
    bottom = across * (at(1, 1) - at(1, 0)) + at(1, 0)
    return down * (bottom - top) + top


def _grid_points(height: Any, width: Any) -> Any:
    """[height, width, 2]: each pixel's own row and column."""
    columns, rows = tf.meshgrid(tf.range(width), tf.range(height))
    return tf.cast(tf.stack([rows, columns], axis=2), tf.float32)


@public("contrib.image.dense_image_warp")
def dense_image_warp(image: Any, flow: Any, name: str = "dense_image_warp") -> Any:
    """Images whose pixel (i, j) comes from (i, j) less the flow there, interpolated."""
    with name_scope(name):
        image, flow = convert_to_tensor(image, name="image"), convert_to_tensor(flow, name="flow")
        batch, height, width, depth = tf.unstack(tf.shape(image))
        points = tf.reshape(_grid_points(height, width)[None] - tf.cast(flow, tf.float32), tf.stack([batch, height * width, 2]))
        warped = _interpolated(image, tf.cast(points, image.dtype) if image.dtype.is_floating else points)
        warped = tf.reshape(warped, tf.stack([batch, height, width, depth]))
        warped.set_shape(image.shape)
        return warped


def _squared_distances(x: Any, y: Any) -> Any:
    x_squares, y_squares = tf.reduce_sum(tf.square(x), 2)[:, :, None], tf.reduce_sum(tf.square(y), 2)[:, None, :]
    return x_squares - 2 * tf.matmul(x, y, transpose_b=True) + y_squares


def _basis(squares: Any, order: int) -> Any:
    """The radial function of a polyharmonic spline, of squared distances."""
    squares = tf.maximum(squares, _SMALLEST)
    if order == 1:
        return tf.sqrt(squares)
    if order == 2:
        return 0.5 * squares * tf.log(squares)
    if order == 4:
        return 0.5 * tf.square(squares) * tf.log(squares)
    power = tf.pow(squares, 0.5 * order)
    return 0.5 * power * tf.log(squares) if order % 2 == 0 else power


@public("contrib.image.interpolate_spline")
def interpolate_spline(
    train_points: Any,
    train_values: Any,
    query_points: Any,
    order: int,
    regularization_weight: float = 0.0,
    name: str = "interpolate_spline",
) -> Any:
    """Values at query points of the polyharmonic spline through points with known values."""
    with name_scope(name):
        points, values = convert_to_tensor(train_points), convert_to_tensor(train_values)
        queries = convert_to_tensor(query_points)
        batch, count, size = tf.unstack(tf.shape(points), num=3)
        depth = tf.shape(values)[2]
        matrix = _basis(_squared_distances(points, points), order)
        if regularization_weight > 0:
            matrix += tf.eye(count, dtype=points.dtype)[None] * regularization_weight

        def with_ones(x: Any) -> Any:
            return tf.concat([x, tf.ones_like(x[..., :1])], 2)

        linear = with_ones(points)
        corner = tf.zeros(tf.stack([batch, size + 1, size + 1]), points.dtype)
        left = tf.concat([tf.concat([matrix, linear], 2), tf.concat([tf.transpose(linear, [0, 2, 1]), corner], 2)], 1)
        right = tf.concat([values, tf.zeros(tf.stack([batch, size + 1, depth]), points.dtype)], 1)
        solution = tf.matrix_solve(left, right)
        weights, slopes = solution[:, :count], solution[:, count:]
        return tf.matmul(_basis(_squared_distances(queries, points), order), weights) + tf.matmul(with_ones(queries), slopes)


def _boundary(height: int, width: int, points_per_edge: int) -> np.ndarray:
    """Points on the border of an image: its corners, and so many between them on each edge."""
    down, across = np.linspace(0, height - 1, points_per_edge + 2), np.linspace(0, width - 1, points_per_edge + 2)
    rows, columns = np.meshgrid(down, across, indexing="ij")
    on_edge = (rows == 0) | (rows == height - 1) | (columns == 0) | (columns == width - 1)
    return np.stack([rows[on_edge], columns[on_edge]], 1)


@public("contrib.image.sparse_image_warp")
def sparse_image_warp(
    image: Any,
    source_control_point_locations: Any,
    dest_control_point_locations: Any,
    interpolation_order: int = 2,
    regularization_weight: float = 0.0,
    num_boundary_points: int = 0,
    name: str = "sparse_image_warp",
) -> Any:
    """Images warped so that some points move to others, and the flow that does it; the border may be held in place."""
    with name_scope(name):
        image = convert_to_tensor(image)
        source, target = convert_to_tensor(source_control_point_locations), convert_to_tensor(dest_control_point_locations)
        batch, height, width, _ = image.dims
        if num_boundary_points > 0:
            fixed = _boundary(height, width, num_boundary_points - 1).astype(source.dtype.as_numpy_dtype)
            held = tf.constant(np.tile(fixed[None], (batch, 1, 1)))
            source, target = tf.concat([source, held], 1), tf.concat([target, held], 1)
        queries = tf.cast(tf.reshape(_grid_points(height, width), [1, height * width, 2]), target.dtype)
        queries = tf.tile(queries, [batch, 1, 1])
        flow = interpolate_spline(target, target - source, queries, interpolation_order, regularization_weight)
        flow = tf.reshape(flow, [batch, height, width, 2])
        return dense_image_warp(image, flow), flow
