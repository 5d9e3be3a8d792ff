"""What makes the inputs of ops fit together, so that calls that are drawn are often answered.

A form is a few statements in terms of sizes: it assigns the shapes of inputs (a tuple), their values (a list or an array) or attributes. A lower-case
letter is a size from 1 to 3, now and then 0; `H`, `W` and `D` are the sizes of pictures, `F` and `G` those of windows, `S` a stride, `B` the
sizes of a batch. A size keeps its value throughout a call. What a form does not name is drawn as for ops that have none.
"""

from __future__ import annotations

import base64
import random
import re
import struct
import zlib
from typing import Any

import numpy as np

# How convolutions and pooling lay out pictures, windows and steps, by what `data_format` says.
LAYOUT = """
first = str(data_format)[1:2] == 'C'
def laid(c, *sizes): return (b, c, *sizes) if first else (b, *sizes, c)
def steps(*sizes): return [1, 1, *sizes] if first else [1, *sizes, 1]
def sized(n, f, s, same): return -(-n // s) if same else max(0, -(-(n - f + 1) // s))
"""
CONV2D = LAYOUT + "strides = steps(S, S); padding = pick('SAME', 'VALID'); dilations = steps(1, 1); explicit_paddings = []\n"
CONV3D = LAYOUT + "strides = steps(S, S, S); padding = pick('SAME', 'VALID'); dilations = steps(1, 1, 1)\n"
POOL = LAYOUT + "strides = steps(S, S); ksize = steps(F, G); padding = pick('SAME', 'VALID')\n"
POOL3D = LAYOUT + "strides = steps(S, S, S); ksize = steps(F, G, F); padding = pick('SAME', 'VALID')\n"
# The sizes of what comes out of a window moved over a picture.
OUT2D = "out = (sized(H, F, S, padding == 'SAME'), sized(W, G, S, padding == 'SAME'))\n"
OUT3D = "out = (sized(D, F, S, padding == 'SAME'), sized(H, G, S, padding == 'SAME'), sized(W, F, S, padding == 'SAME'))\n"
LSTM = "w = (c + n, 4 * n); wci = wcf = wco = (n,) if use_peephole else pick((n,), (n,), (0,)); b = (4 * n,); cs_prev = h_prev = (r, n)\n"
RANGES = "Tinput = Tfilter = T1 = T2 = pick('quint8', 'quint8', 'quint8', 'qint8'); out_type = Toutput = pick(*['qint32'] * 9, 'quint8')\n" + "".join(f"{low} = near((), -3, 0.5); {high} = near((), 0.5, 3)\n" for low, high in [
    ("min_input", "max_input"), ("min_filter", "max_filter"), ("min_freezed_output", "max_freezed_output"), ("min_summand", "max_summand"),
    ("min_a", "max_a"), ("min_b", "max_b"), ("min_x", "max_x"), ("min_y", "max_y"), ("min_bias", "max_bias"), ("min_features", "max_features"),
    ("input_min", "input_max"), ("requested_output_min", "requested_output_max"), ("min_range", "max_range"), ("x_min", "x_max"),
    ("t_min", "t_max"), ("m_min", "m_max"), ("v_min", "v_max"), ("beta_min", "beta_max"), ("gamma_min", "gamma_max"), ("min", "max"),
])  # fmt: skip
AXES = "axis = reduction_indices = ints(pick((), (), (1,), (0,), (min(2, len(P)),)), -len(P), len(P)) if len(P) else pick([], [], 0)\n"

FORMS = {
    # -- linear algebra
    "^(MatMul|SparseMatMul|QuantizedMatMul.*)$": "a = (k, m) if transpose_a else (m, k); b = (n, k) if transpose_b else (k, n); bias = (n,)\n" + RANGES,
    "^BatchMatMul(V2)?$": "x = (*B, k, m) if adj_x else (*B, m, k); y = (*pick(B, B, B[1:]), n, k) if adj_y else (*pick(B, B, B[1:]), k, n)",
    "^(Batch)?Cholesky$": "input = definite((*B, m, m))",
    "^(Batch)?CholeskyGrad$": "l = lower(definite((*B, m, m))); grad = (*B, m, m)",
    "^(Batch)?SelfAdjointEig(V2)?$": "input = definite((*B, m, m))",
    "^(Batch)?(MatrixInverse|MatrixDeterminant)$|^(LogMatrixDeterminant|MatrixExponential|MatrixLogarithm|Lu)$": "input = pick((*B, m, m), definite((*B, m, m)))",
    "^MatrixSquareRoot$": "input = definite((*B, m, m))",
    "^(Batch)?(Qr|Svd)$": "input = (*B, m, n)",
    "^(Batch)?MatrixSolve$": "matrix = definite((*B, m, m)); rhs = (*B, m, k)",
    "^(Batch)?MatrixTriangularSolve$": "matrix = definite((*B, m, m)); rhs = (*B, m, k)",
    "^(Batch)?MatrixSolveLs$": "matrix = (*B, m, n); rhs = (*B, m, k); l2_regularizer = near((), 0, 1)",
    "^(Batch)?MatrixBandPart$": "input = (*B, m, n); num_lower = ints((), -1, m + 1); num_upper = ints((), -1, n + 1)",
    "^(Batch)?MatrixDiag$": "diagonal = (*B, n)",
    "^(Batch)?MatrixDiagPart$": "input = (*B, m, n)",
    "^(Batch)?MatrixSetDiag$": "input = (*B, m, n); diagonal = (*B, min(m, n))",
    "^MatrixDiagPartV2$": "input = (*B, m, n); k = pick([-1, 1], [0], 0, [0, 1], 1); padding_value = ()",
    "^MatrixDiagV2$": "diagonal = (*B, 2, n); k = pick([-1, 0], [0, 1]); num_rows = num_cols = pick([-1], -1, n, n + 1); padding_value = ()",
    "^MatrixSetDiagV2$": "input = (*B, n, n); k = pick([-1, 0], [0, 1]); diagonal = (*B, 2, n)",
    "^TridiagonalSolve$": "diagonals = (*B, 3, m); rhs = (*B, m, k)",
    "^TridiagonalMatMul$": "superdiag = maindiag = subdiag = (*B, 1, m); rhs = (*B, m, n)",
    "^Einsum$": "T = pick('float', 'double', 'complex64', 'int32', 'bfloat16'); equation, *shapes = pick(('ij,jk->ik', (m, k), (k, n)), ('bij,bjk->bik', (b, m, k), (b, k, n)), ('ii->i', (m, m)), ('ij->ji', (m, n)), ('...ij,...jk->...ik', (*B, m, k), (*B, k, n)), ('ij->', (m, n)), ('i,i->', (m,), (m,)), ('iij->j', (m, m, n))); N = len(shapes); inputs = shapes",
    "^Cross$": "a = b = (*B, 3)",
    # -- convolutions, pooling and what else moves windows
    "^Conv2D$": CONV2D + "input = laid(c, H, W); filter = (F, G, c, o)",
    "^Conv2DBackpropInput$": CONV2D + OUT2D + "input_sizes = list(laid(c, H, W)); filter = (F, G, c, o); out_backprop = laid(o, *out)",
    "^Conv2DBackpropFilter$": CONV2D + OUT2D + "input = laid(c, H, W); filter_sizes = [F, G, c, o]; out_backprop = laid(o, *out)",
    "^Conv3D$": CONV3D + "input = laid(c, D, H, W); filter = (F, G, F, c, o)",
    "^Conv3DBackpropInputV2$": CONV3D + OUT3D + "input_sizes = list(laid(c, D, H, W)); filter = (F, G, F, c, o); out_backprop = laid(o, *out)",
    "^Conv3DBackpropFilterV2$": CONV3D + OUT3D + "input = laid(c, D, H, W); filter_sizes = [F, G, F, c, o]; out_backprop = laid(o, *out)",
    "^Conv3DBackprop(Input|Filter)$": "data_format = 'NDHWC'" + CONV3D + OUT3D + "input = laid(c, D, H, W); filter = (F, G, F, c, o); out_backprop = laid(o, *out)",
    "^DepthwiseConv2dNative$": CONV2D + "input = laid(c, H, W); filter = (F, G, c, m)",
    "^DepthwiseConv2dNativeBackpropInput$": CONV2D + OUT2D + "input_sizes = list(laid(c, H, W)); filter = (F, G, c, m); out_backprop = laid(c * m, *out)",
    "^DepthwiseConv2dNativeBackpropFilter$": CONV2D + OUT2D + "input = laid(c, H, W); filter_sizes = [F, G, c, m]; out_backprop = laid(c * m, *out)",
    "^Dilation2D$": "input = (b, H, W, c); filter = (F, G, c); strides = [1, S, S, 1]; rates = pick([1, 1, 1, 1], [1, 2, 1, 1])",
    "^Dilation2DBackprop": "data_format = 'NHWC'\n" + LAYOUT + OUT2D + "input = (b, H, W, c); filter = (F, G, c); strides = [1, S, S, 1]; rates = [1, 1, 1, 1]; out_backprop = (b, *out, c)",
    "^(Max|Avg)Pool$": POOL + "value = input = laid(c, H, W)",
    "^MaxPoolV2$": POOL + "input = laid(c, H, W)",
    "^MaxPoolWithArgmax$": "T = pick('float', 'float', 'half', 'int32'); ksize = [1, F, G, 1]; strides = [1, S, S, 1]; input = (b, H, W, c)",
    "^MaxPoolGrad(V2)?$": POOL + OUT2D + "orig_input = near(laid(c, H, W), 0, 9); orig_output = maxima(orig_input, ksize, strides, padding); grad = laid(c, *out)",
    "^MaxPoolGradGrad(V2)?$": POOL + "orig_input = near(laid(c, H, W), 0, 9); orig_output = maxima(orig_input, ksize, strides, padding); grad = laid(c, H, W)",
    "^MaxPoolGradWithArgmax$": "data_format = 'NHWC'\n" + POOL + OUT2D + "input = laid(c, H, W); grad = laid(c, *out); argmax = ints(laid(c, *out), 0, H * W * c)",
    "^MaxPoolGradGradWithArgmax$": "data_format = 'NHWC'\n" + POOL + OUT2D + "input = grad = laid(c, H, W); argmax = ints(laid(c, *out), 0, H * W * c)",
    "^AvgPoolGrad$": POOL + OUT2D + "orig_input_shape = list(laid(c, H, W)); grad = laid(c, *out)",
    "^(Max|Avg)Pool3D$": POOL3D + "input = laid(c, D, H, W)",
    "^MaxPool3DGrad$": POOL3D + OUT3D + "orig_input = near(laid(c, D, H, W), 0, 9); orig_output = maxima(orig_input, ksize, strides, padding); grad = laid(c, *out)",
    "^MaxPool3DGradGrad$": POOL3D + "orig_input = near(laid(c, D, H, W), 0, 9); orig_output = maxima(orig_input, ksize, strides, padding); grad = laid(c, D, H, W)",
    "^AvgPool3DGrad$": POOL3D + OUT3D + "orig_input_shape = list(laid(c, D, H, W)); grad = laid(c, *out)",
    "^Quantized(Max|Avg)Pool$": "T = 'quint8'; ksize = [1, F, G, 1]; strides = [1, S, S, 1]; input = (b, H, W, c)\n" + RANGES,
    "^QuantizedConv2D": "input = (b, H, W, c); filter = (F, G, c, o); bias = (o,); strides = [1, S, S, 1]; dilations = [1, 1, 1, 1]; padding_list = []\n" + RANGES,
    "^QuantizedDepthwiseConv2D": "input = (b, H, W, c); filter = (F, G, c, 1); bias = (c,); strides = [1, S, S, 1]; dilations = [1, 1, 1, 1]; padding_list = []\n" + RANGES,
    "^SparseSliceGrad$": "T = pick('float', 'int64', 'complex64'); input_indices = sparse(m + 1, n)[0]; input_start = [1, 0]; output_indices = input_indices[input_indices[:, 0] > 0] - [1, 0]; backprop_val_grad = (len(output_indices),)",
    "^FusedPadConv2D$": "input = (b, H, W, c); paddings = [[0, 0], [p, 1], [1, p], [0, 0]]; filter = (F, G, c, o); strides = [1, S, S, 1]; padding = pick('SAME', 'VALID')",
    "^FusedResizeAndPadConv2D$": "input = (b, H, W, c); size = [H + 1, W]; paddings = [[0, 0], [p, 1], [1, p], [0, 0]]; filter = (F, G, c, o); strides = [1, S, S, 1]; padding = pick('SAME', 'VALID')",
    "^FractionalAvgPool$|^FractionalMaxPool$": "value = (b, H + 2, W + 2, c); pooling_ratio = [1.0, pick(1.0, 1.4), pick(1.2, 1.7), 1.0]; seed, seed2 = pick((1, 2), (5, 7)); deterministic = True",
    "^FractionalAvgPoolGrad$": "orig_input_tensor_shape = [b, H, W, c]; row_pooling_sequence = [0, 1, H]; col_pooling_sequence = [0, 2, W]; out_backprop = (b, 2, 2, c)",
    "^FractionalMaxPoolGrad$": "orig_input = (b, H, W, c); row_pooling_sequence = [0, 1, H]; col_pooling_sequence = [0, 2, W]; orig_output = out_backprop = (b, 2, 2, c)",
    "^ExtractImagePatches$": "images = (b, H, W, c); ksizes = [1, F, G, 1]; strides = [1, S, S, 1]; rates = pick([1, 1, 1, 1], [1, 2, 1, 1])",
    "^ExtractVolumePatches$": "input = (b, D, H, W, c); ksizes = [1, F, G, F, 1]; strides = [1, S, S, S, 1]",
    "^LRN$": "input = (b, H, W, c)",
    "^LRNGrad$": "input_grads = input_image = output_image = (b, H, W, c)",
    "^FusedBatchNorm(V[23])?$": LAYOUT + "x = laid(c, H, W); scale = offset = (c,); mean = variance = (0,) if is_training else (c,)",
    "^FusedBatchNormGrad(V[23])?$": LAYOUT + "x = y_backprop = laid(c, H, W); scale = reserve_space_1 = reserve_space_2 = (c,)",
    "^BatchNormWithGlobalNormalization$": "t = (b, H, W, c); m = v = beta = gamma = (c,)",
    "^BatchNormWithGlobalNormalizationGrad$": "t = backprop = (b, H, W, c); m = v = gamma = (c,)",
    "^QuantizedBatchNorm": "t = (b, H, W, c); m = v = beta = gamma = (c,)\n" + RANGES,
    "^QuantizedInstanceNorm$": "T = 'quint8'; x = (b, H, W, c)\n" + RANGES,
    "^SpaceToDepth$": LAYOUT + "block_size = 2; input = laid(c, 2 * m, 2 * n)",
    "^DepthToSpace$": LAYOUT + "block_size = 2; input = laid(4 * c, m, n)",
    "^SpaceToBatch$": "block_size = 2; input = (b, 2 * m, 2 * n + 1, c); paddings = pick([[0, 0], [0, 1]], [[1, 1], [1, 0]])",
    "^BatchToSpace$": "block_size = 2; input = (4 * b, m, n, c); crops = pick([[0, 0], [0, 1]], [[1, 1], [0, 0]])",
    "^SpaceToBatchND$": "block_shape = [2, 3]; input = (b, 2 * m, 3 * n, c); paddings = pick([[0, 0], [0, 0]], [[1, 1], [3, 0]], [[2, 0], [0, 3]])",
    "^BatchToSpaceND$": "block_shape = [2, 3]; input = (6 * b, m, n, c); crops = pick([[0, 0], [0, 1]], [[1, 1], [0, 0]], [[0, 1], [1, 1]])",
    "^BiasAdd$": LAYOUT + "value = pick(laid(c, H, W), laid(c, n), (b, c)); bias = (c,)",
    "^BiasAddV1$": "value = (*B, n, c); bias = (c,)",
    "^BiasAddGrad$": LAYOUT + "out_backprop = pick(laid(c, H, W), laid(c, n), (b, c))",
    "^QuantizedBiasAdd$": "input = (*B, n, c); bias = (c,)\n" + RANGES,
    "^(Log)?Softmax$": "logits = (*B, n)",
    "^SoftmaxCrossEntropyWithLogits$": "features = (m, n); labels = pick((m, n), near((m, n), 0, 1), (1, n))",
    "^SparseSoftmaxCrossEntropyWithLogits$": "features = (m, n); labels = ints((m,), 0, n)",
    "^LSTMBlockCell$": "x = (r, c); " + LSTM,
    "^LSTMBlockCellGrad$": "x = (r, c); i = cs = f = o = ci = co = cs_grad = h_grad = (r, n); " + LSTM,
    "^BlockLSTM(V2)?$": "seq_len_max = ints((), 0, t + 1); x = (t, r, c); " + LSTM,
    "^BlockLSTMGrad(V2)?$": "seq_len_max = ints((), 0, t + 1); x = (t, r, c); i = cs = f = o = ci = co = h = cs_grad = h_grad = (t, r, n); " + LSTM,
    "^GRUBlockCell(Grad)?$": "x = (r, c); h_prev = u = d_h = (r, n); w_ru = (c + n, 2 * n); w_c = (c + n, n); b_ru = (2 * n,); b_c = (n,)\nif 'Grad' in op: c = h_prev; r = h_prev",
    "^CTC(Greedy|BeamSearch)": "inputs = (t + 1, b, c + 1); sequence_length = ints((b,), 0, t + 2); beam_width = 3; top_paths = pick(1, 2)",
    "^CTCLoss$": "inputs = (t + 2, b, c + 1); labels_indices = [[i, 0] for i in range(b)]; labels_values = ints((b,), 0, c); sequence_length = ints((b,), 1, t + 3)",
    # -- pictures
    "^(Adjust(Contrastv2|Hue|Saturation)|RGBToHSV|HSVToRGB)$": "images = (*B, H, W, 3); contrast_factor = delta = scale = near((), -1, 2)",
    "^AdjustContrast$": "images = (*B, H, W, c); contrast_factor = near((), 0, 2); min_value = near((), -1, 0); max_value = near((), 0, 9)",
    "^Resize(Area|Bicubic|Bilinear|NearestNeighbor)$": "images = (b, H, W, c); size = [pick(H, 2 * H, 2, 1), pick(W, 7, 3, 1)]",
    "^QuantizedResizeBilinear$": "T = pick('float', 'quint8', 'qint32'); images = (b, H, W, c); size = [pick(H, 2 * H, 2), pick(W, 7, 3)]\n" + RANGES,
    "^Resize(Bicubic|Bilinear)Grad$": "grads = (b, F + 1, G + 2, c); original_image = (b, H, W, c)",
    "^ResizeNearestNeighborGrad$": "grads = (b, F + 1, G + 2, c); size = [H, W]",
    "^ScaleAndTranslate$": "images = (b, H, W, c); size = [F + 1, G + 2]; scale = near((2,), 0.2, 2); translation = near((2,), -1, 1); kernel_type = pick('lanczos1', 'lanczos3', 'lanczos5', 'gaussian', 'box', 'triangle', 'keyscubic', 'mitchellcubic')",
    "^ScaleAndTranslateGrad$": "grads = (b, F + 1, G + 2, c); original_image = (b, H, W, c); scale = near((2,), 0.2, 2); translation = near((2,), -1, 1); kernel_type = pick('lanczos1', 'lanczos3', 'lanczos5', 'gaussian', 'box', 'triangle', 'keyscubic', 'mitchellcubic')",
    "^CropAndResize$": "image = (b, H, W, c); boxes = near((n, 4), -0.3, 1.3); box_ind = ints((n,), 0, b); crop_size = [F, G + 1]; method = pick('bilinear', 'nearest')",
    "^CropAndResizeGradBoxes$": "grads = (n, F, G + 1, c); image = (b, H, W, c); boxes = near((n, 4), -0.3, 1.3); box_ind = ints((n,), 0, b)",
    "^CropAndResizeGradImage$": "grads = (n, F, G + 1, c); image_size = [b, H, W, c]; boxes = near((n, 4), -0.3, 1.3); box_ind = ints((n,), 0, b); method = pick('bilinear', 'nearest')",
    "^DrawBoundingBoxes(V2)?$": "images = (b, H, W, pick(1, 3, 4)); boxes = near((b, n, 4), 0, 1); colors = near((m, 4), 0, 1)",
    "^NonMaxSuppression(V[2345])?$": "boxes = near((m + n, 4), 0, 1); scores = near((m + n,), -1, 1); max_output_size = ints((), 0, 5); iou_threshold = near((), 0, 1) if op[-1] in '2345' else pick(0.5, 0.2); score_threshold = near((), -1, 1); soft_nms_sigma = near((), 0, 1)",
    "^NonMaxSuppressionWithOverlaps$": "overlaps = near((n, n), 0, 1); scores = near((n,), -1, 1); max_output_size = ints((), 0, 5); overlap_threshold = near((), 0, 1); score_threshold = near((), -1, 1)",
    "^CombinedNonMaxSuppression$": "boxes = near((b, n, pick(1, c), 4), 0, 1); scores = near((b, n, c), 0, 1); max_output_size_per_class = ints((), 1, 4); max_total_size = ints((), 1, 6); iou_threshold = near((), 0, 1); score_threshold = near((), 0, 0.5)",
    "^ExtractGlimpse$": "input = (b, H, W, c); size = [F, G]; offsets = near((b, 2), -1, 1); uniform_noise = False; noise = 'zero'",
    "^SampleDistortedBoundingBox(V2)?$": "image_size = [9 * H, 9 * W, 3]; bounding_boxes = [[[0.1, 0.2, 0.8, 0.9]] * n]; min_object_covered = near((), 0, 0.5) if op[-1] == '2' else 0.1; seed, seed2 = 3, 4",
    "^Decode(Png|Bmp|Gif|Jpeg|AndCropJpeg)$|^ExtractJpegShape$": "contents = picture(op); crop_window = [0, 1, 2, 2]; channels = pick(0, 0, 1, 3, 4)",
    "^EncodePng$": "image = (*B, H, W, pick(1, 2, 3, 4)); compression = pick(-1, 5)",
    "^EncodeJpeg$": "image = (H, W, pick(1, 3)); format = ''; quality = pick(95, 60); density_unit = 'in'",
    "^EncodeJpegVariableQuality$": "images = (H, W, pick(1, 3)); quality = pick(95, 60)",
    "^ImageSummary$": "tag = texts((), 'a', 'b/c'); tensor = (b, H, W, pick(1, 3, 4)); max_images = pick(1, 3)",
    # -- sparse tensors and sets
    "^SparseAdd$": "a_indices, a_values, a_shape = sparse(m, n); b_indices, b_values, b_shape = sparse(m, n); thresh = near((), 0, 1)",
    "^SparseSparse(Max|Min)imum$": "a_indices, a_values, a_shape = sparse(m, n); b_indices, b_values, b_shape = sparse(m, n)",
    "^SparseAddGrad$": "a_indices = sparse(m, n)[0]; b_indices = sparse(m, n)[0]; sum_indices = union(a_indices, b_indices); backprop_val_grad = (len(sum_indices),)",
    "^SparseConcat$": "N = 2; (i, v, s), (j, w, z) = sparse(m, n), sparse(m, n); indices = [i, j]; values = [v, w]; shapes = [s, z]; concat_dim = pick(0, 1, -1)",
    "^SparseDenseCwise": "sp_indices, sp_values, sp_shape = sparse(m, n); dense = pick((m, n), (1, n), (n,), ())",
    "^SparseFillEmptyRows$": "indices, values, dense_shape = sparse(m + 1, n); default_value = ()",
    "^SparseFillEmptyRowsGrad$": "reverse_index_map = ints((m,), 0, m + n); grad_values = (m + n,)",
    "^SparseReduce": "input_indices, input_values, input_shape = sparse(m, n, k); reduction_axes = pick([0], [1, 2], [-1], 1, [0, 1, 2], [])",
    "^SparseReorder$": "input_indices, input_values, input_shape = sparse(m, n); input_indices = input_indices[::-1]",
    "^SparseReshape$": "input_indices, _, input_shape = sparse(m, n); new_shape = pick([n, m], [-1], [m * n], [m, -1, 1], [-1, n])",
    "^SparseSegment.*Grad$": "grad = (3, n); indices = ints((m,), 0, 4); segment_ids = ordered((m,), 0, 3); output_dim0 = 4",
    "^SparseSegment": "data = (r + 1, n); indices = ints((m,), 0, r + 1); segment_ids = ordered((m,), 0, 3); num_segments = 4",
    "^SparseSlice$": "indices, values, shape = sparse(m, n); start = ints((2,), 0, 2); size = ints((2,), 0, 3)",
    "^SparseSoftmax$": "sp_indices, sp_values, sp_shape = sparse(m, n, k)",
    "^SparseSplit$": "split_dim = pick(0, 1); indices, values, shape = sparse(m + 1, n + 1); num_split = pick(1, 2)",
    "^SparseTensorDenseAdd$": "a_indices, a_values, a_shape = sparse(m, n); b = (m, n)",
    "^SparseTensorDenseMatMul$": "a_indices, a_values, a_shape = sparse(k, m) if adjoint_a else sparse(m, k); b = (n, k) if adjoint_b else (k, n)",
    "^SparseToDense$": "sparse_indices, sparse_values, output_shape = sparse(m, n); sparse_values = pick(sparse_values, ()); default_value = ()",
    "^SparseCross$": "N = 2; (i, v, s), (j, w, z) = sparse(m, n), sparse(m, k); indices = [i, j]; values = [v, w]; shapes = [s, z]; sparse_types = [pick('int64', 'string')] * 2; dense_types = []; dense_inputs = []; hashed_output = pick(True, False); num_buckets = pick(0, 7); hash_key = 956888297470; out_type = internal_type = 'int64' if hashed_output else 'string'",
    "^(SerializeSparse|SerializeManySparse)$": "sparse_indices, sparse_values, sparse_shape = sparse(m, n); out_type = 'string'",
    "^DenseToDenseSetOperation$": "T = pick('int32', 'int64', 'string'); set1 = (m, n); set2 = (m, k); set_operation = pick('a-b', 'b-a', 'intersection', 'union')",
    "^DenseToSparseSetOperation$": "T = pick('int32', 'int64', 'string'); set1 = (m, n); set2_indices, set2_values, set2_shape = sparse(m, k); set_operation = pick('a-b', 'b-a', 'intersection', 'union')",
    "^SparseToSparseSetOperation$": "T = pick('int32', 'int64', 'string'); set1_indices, set1_values, set1_shape = sparse(m, n); set2_indices, set2_values, set2_shape = sparse(m, k); set_operation = pick('a-b', 'b-a', 'intersection', 'union')",
    "^SetSize$": "T = pick('int32', 'int64', 'string'); set_indices, set_values, set_shape = sparse(m, n)",
    "^EditDistance$": "hypothesis_indices, hypothesis_values, hypothesis_shape = sparse(m, n); truth_indices, truth_values, truth_shape = sparse(m, k)",
    # -- text
    "^StringNGrams$": "data = texts((4,), 'a', 'b', 'cc'); data_splits = pick([0, 2, 4], [0, 0, 4], [0, 4]); separator = ' '; ngram_widths = pick([1], [2], [1, 2], [3]); left_pad = pick('', 'L'); right_pad = pick('', 'R'); pad_width = pick(-1, 0, 1)",
    "^String(Split|SplitV2)$": "input = texts((m,), 'a b', ' a  b ', '', 'x,y,,z', 'ab\\tc'); delimiter = sep = texts((), '', ' ', ',', ',,')",
    "^UnicodeDecode": "input = texts((m,), 'a', '', 'caf\\u00e9', '\\u65e5\\u672c', b'\\xff a'); input_encoding = pick('UTF-8', 'UTF-8', 'UTF-16-BE', 'UTF-32-BE', 'latin1')",
    "^UnicodeTranscode$": "input = texts(B, 'a', '', 'caf\\u00e9', '\\u65e5\\u672c', b'\\xff a', 'a\\x01b'); input_encoding = pick('UTF-8', 'UTF-8', 'UTF-16-BE', 'latin1'); output_encoding = pick('UTF-8', 'UTF-16-BE', 'UTF-32-BE')",
    "^UnicodeEncode$": "input_values = ints((4,), 60, 1200); input_splits = pick([0, 2, 4], [0, 0, 4], [0, 4]); output_encoding = pick('UTF-8', 'UTF-16-BE', 'UTF-32-BE')",
    "^UnicodeScript$": "input = ints(P, 0, 5000)",
    "^Regex(FullMatch|Replace)$": "input = texts(P, 'a', 'abc', 'b12', ''); pattern = texts((), 'a.*', '[0-9]+', '(a)(b)', '', '(', '\\\\d', 'a|b'); rewrite = texts((), '', 'x', '\\\\1', '\\\\2\\\\1', '\\\\0y')",
    "^StaticRegex": "input = texts(P, 'a', 'abc', 'b12', ''); pattern = pick('a.*', '[0-9]+', '(a)(b)', '', '(', '\\\\d', 'a|b'); rewrite = pick('', 'x', '\\\\1', '\\\\2\\\\1', '\\\\0y')",
    "^Substr$": "input = texts(P, 'abcdef', 'caf\\u00e9s!', '\\u65e5\\u672c\\u8a9e'); pos = ints(pick(P, ()), -3, 4); len = ints(pos.shape, 0, 4)",
    "^StringToNumber$": "string_tensor = texts(P, '1', '-2', '3.5', '1e3', ' 4 ', 'nan', 'inf', '0x10', '', '9999999999', '+5', '1.', 'abc')",
    "^StringLength$|^String(Lower|Upper|Strip)$": "input = texts(P, 'aB', ' \\t a ', 'CAF\\u00c9', '\\u00df', ''); encoding = pick('', 'utf-8')",
    "^StringToHashBucket": "num_buckets = pick(1, 7, 1000, 2 ** 40); key = [1, 2]",
    "^DecodeRaw$": "bytes = texts(P, 'abcdefgh', '12345678')",
    "^DecodePaddedRaw$": "input_bytes = texts(P, 'abcdefgh', '12', '1234'); fixed_length = pick(8, 16, 4)",
    "^DecodeBase64$": "input = texts(P, 'YWJj', 'YWI', 'YQ==', '', '-_-_', 'a')",
    "^DecodeCompressed$": "bytes = packed(P, compression_type)",
    "^DecodeJSONExample$": "json_examples = texts(P, '{}', '{\"features\": {\"feature\": {\"a\": {\"int64List\": {\"value\": [1, 2]}}}}}', 'x')",
    "^DecodeCSV$": "records = texts((m,), '1,2,x', '3,,\"y,z\"', ',4,', '5,6', '1,2,a\"b', '\"q\"\"\",1,2'); OUT_TYPE = pick(['float', 'int32', 'string'], ['string'] * 3, ['string', 'float', 'string']); record_defaults = [pick((1,), (0,)) for _ in OUT_TYPE]; select_cols = []; field_delim = pick(',', ',', ';'); na_value = pick('', 'x')",
    "^StringFormat$": "T = [pick('float', 'int32', 'string', 'bool') for _ in range(2)]; inputs = [pick(P, B), pick((), (7,))]; template = pick('%s and %s', 'a %s%s', '%s', 'none'); placeholder = '%s'; summarize = pick(3, -1, 1)",
    "^AsString$": "precision = pick(-1, -1, 3); width = pick(-1, -1, 5); fill = pick('', '0', ' '); scientific = pick(False, False, True); shortest = pick(False, False, True)",
    "^UnsortedSegmentJoin$": "inputs = (m, n); segment_ids = ints(pick((m,), (m, n)), 0, 3); num_segments = pick(3, 4)",
    "^ReduceJoin$": "inputs = P\n" + AXES,
    "^StringJoin$": "inputs = [pick(P, P, ()) for _ in range(N)]",
    "^ParseTensor$": "out_type = pick('float', 'int32', 'string'); serialized = proto(out_type)",
    "^ParseSingleExample$": "serialized = example(); num_sparse = 2; sparse_keys = ['i', pick('t', 'f')]; sparse_types = ['int64', pick('string', 'float')]; dense_keys = ['f', 'none']; Tdense = ['float', 'int64']; dense_shapes = [pick([2], [1, 2], [1]), [1]]; dense_defaults = [pick((2,), (0,)), pick((1,), (0,))]",
    "^ParseExample$": "serialized = [example() for _ in range(m)]; names = pick([], ['e'] * m); Nsparse = 2; sparse_keys = [texts((), 'i'), texts((), 't', 'f')]; sparse_types = ['int64', pick('string', 'float')]; Ndense = 2; dense_keys = [texts((), 'f'), texts((), 'none')]; Tdense = ['float', 'int64']; dense_shapes = [pick([2], [1, 2], [1]), [1]]; dense_defaults = [pick((2,), (0,)), pick((1,), (0,))]",
    # -- quantization
    "^QuantizeV2$": "input = P; mode = pick('MIN_COMBINED', 'MIN_FIRST', 'SCALED'); round_mode = 'HALF_TO_EVEN' if mode == 'SCALED' and pick(0, 1) else 'HALF_AWAY_FROM_ZERO'\n" + RANGES,
    "^Dequantize$": "input = P\n" + RANGES,
    "^(QuantizeDownAndShrinkRange|RequantizationRange|Requantize)$": "input = P\n" + RANGES + "Tinput = 'qint32'; out_type = pick('quint8', 'quint8', 'qint8')",
    "^QuantizedRelu6?$": "features = P\n" + RANGES + "Tinput = out_type = 'quint8'",
    "^QuantizedReshape$": "T = pick('quint8', 'qint32'); tensor = (m, n); shape = pick([n, m], [-1], [m * n]); input_min = near((), -3, 0); input_max = near((), 0.5, 3)",
    "^QuantizedReluX$": "features = P; max_value = near((), 0.5, 2)\n" + RANGES + "Tinput = out_type = 'quint8'",
    "^Quantized(Add|Mul)$": "T1 = T2 = 'quint8'; Toutput = 'qint32'; x = P; y = pick(P, P[-1:], ())\n" + RANGES,
    "^QuantizedConcat$": "T = pick('quint8', 'qint32'); concat_dim = ints((), -len(P), max(1, len(P))); values = [P] * N; input_mins = [near((), -3, 0)] * N; input_maxes = [near((), 0.5, 3)] * N",
    "^Requantiz.*PerChannel$": "T = 'qint32'; input = (b, m, n, c); input_min = near((c,), -3, 0); input_max = near((c,), 0, 3); requested_output_min = near((), -3, 0); requested_output_max = near((), 0, 3); clip_value_max = pick(1.0, 6.0)",
    "^FakeQuantWithMinMax(Args|Vars)(Gradient)?$": "inputs = gradients = P; num_bits = pick(8, 2, 4, 16)\nmin, max = (pick(-6.0, -0.5, 0.0), pick(6.0, 0.7)) if 'Args' in op else (near((), -3, 0.5), near((), 0.5, 3))",
    "^FakeQuantWithMinMaxVarsPerChannel": "inputs = gradients = pick((b, m, n, c), (b, c), (c,)); num_bits = pick(8, 2, 4); min = near((c,), -3, 0.5); max = near((c,), 0.5, 3)",
    "^QuantizeAndDequantize(V[23])?$": "input = P; num_bits = pick(8, 4, 2); input_min, input_max = (near((), -3, 0), near((), 0, 3)) if op[-1] in '23' else (-1.0, 2.0)",
    # -- picking, cutting and joining
    "^(Sum|Prod|Max|Min|Mean|All|Any|EuclideanNorm)$": "input = P\n" + AXES,
    "^Arg(Max|Min)$": "input = (n, *P[:2]); dimension = ints((), -len(input), len(input))",
    "^(Cumsum|Cumprod|CumulativeLogsumexp)$": "x = (n, *P[:2]); axis = ints((), -len(x), len(x))",
    "^Gather$": "params = (n, *P[:2]); indices = ints(B, 0, n)",
    "^GatherV2$": "params = (m, n, *P[:1]); axis = pick(0, 1, -1); batch_dims = 0; indices = ints(B, 0, params[int(axis)])",
    "^GatherNd$": "params = (m, n, k); indices = pick(ints((2, 1), 0, m), ints((*B, 3), 0, [m, n, k]), ints((2, 2), 0, [m, n]), [[]])",
    "^ScatterNd(NonAliasingAdd)?$": "shape = [m, n]; input = (m, n); indices = ints((3, pick(1, 2)), 0, min(m, n)); updates = (3, n) if indices.shape[1] == 1 else (3,)",
    "^TensorScatter": "tensor = (m, n); indices = ints((3, pick(1, 2)), 0, min(m, n)); updates = (3, n) if indices.shape[1] == 1 else (3,)",
    "^(Resource)?ScatterNd(Add|Sub|Update)$": "ref = (m, n); indices = ints((3, pick(1, 2)), 0, min(m, n)); updates = (3, n) if indices.shape[1] == 1 else (3,)",
    "^(Resource)?Scatter(Add|Sub|Mul|Div|Min|Max|Update)$": "ref = resource = (m, n); indices = ints((*B,), 0, m); updates = pick((*B, n), (*B, n), ())",
    "^ResourceGather$": "resource = (m, n); indices = ints(B, 0, m); batch_dims = 0",
    "^ResourceGatherNd$": "resource = (m, n); indices = ints((*B, pick(1, 2)), 0, min(m, n))",
    "^StridedSlice$": "input = (m, n, k); begin = ints((2,), -2, 3); end = ints((2,), -2, 4); strides = ints((2,), pick(-2, 1), 3)",
    "^StridedSliceGrad$": "shape = [m + 1, n + 1]; begin = [0, 1]; end = [m + 1, n + 1]; strides = [1, 1]; dy = (m + 1, n); begin_mask = end_mask = ellipsis_mask = new_axis_mask = shrink_axis_mask = 0",
    "StridedSlice(Assign|Update)$": "ref = input = (m + 1, n + 1); begin = [0, 1]; end = [m + 1, n + 1]; strides = [1, 1]; value = pick((m + 1, n), ()); begin_mask = end_mask = ellipsis_mask = new_axis_mask = shrink_axis_mask = 0",
    "^Slice$": "input = (m + 1, n + 1); begin = ints((2,), 0, 2); size = ints((2,), -1, 2)",
    "^Split$": "split_dim = pick(0, 1, -1); value = (2 * m, 2 * n); num_split = pick(1, 2)",
    "^SplitV$": "split_dim = pick(0, -2); value = (m + n, k); num_split = 2; size_splits = pick([m, n], [m, -1])",
    "^Pack$": "values = [P] * N; axis = pick(0, 0, len(P), -1)",
    "^(ParallelConcat)$": "values = [(1, *P)] * N; shape = [N, *P]",
    "^Unpack$": "value = (n, *P); num = n; axis = 0",
    "^Concat$": "concat_dim = pick(0, 1); values = [(m, n)] * N",
    "^ConcatV2$": "axis = pick(0, 1, -1); values = [(m, n)] * N",
    "^ConcatOffset$": "concat_dim = pick(0, 1); shape = [[m, n]] * N",
    "^Tile$": "input = P; multiples = ints((len(P),), 0, 3)",
    "^Pad(V2)?$": "input = (m, n); paddings = ints((2, 2), 0, 3); constant_values = ()",
    "^MirrorPad$": "input = (m + 1, n + 1); paddings = ints((2, 2), 0, 3); mode = pick('REFLECT', 'SYMMETRIC')",
    "^MirrorPadGrad$": "input = (m + 4, n + 4); paddings = ints((2, 2), 0, 2); mode = pick('REFLECT', 'SYMMETRIC')",
    "^(Conjugate)?Transpose$": "x = P; perm = shuffled(len(P))",
    "^InvertPermutation$": "x = shuffled(n)",
    "^Reshape$": "tensor = (m, n); shape = pick([n, m], [-1], [m * n], [m, 1, -1], [-1, n])",
    "^BroadcastTo$": "input = pick((m, n), (1, n), (n,), ()); shape = [m, n]",
    "^ExpandDims$": "input = P; dim = ints((), -len(P) - 1, len(P) + 1)",
    "^Squeeze$": "input = (m, 1, n); squeeze_dims = pick([], [1], [-2], [0])",
    "^Reverse$": "tensor = P; dims = (len(P),)",
    "^ReverseV2$": "tensor = P; axis = ints((pick(0, 1),), -len(P), len(P)) if len(P) else []",
    "^ReverseSequence$": "input = (m, n, k); seq_dim, batch_dim = pick((1, 0), (0, 1), (2, 0)); seq_lengths = ints((input[batch_dim],), 0, input[seq_dim] + 1)",
    "^Roll$": "input = (m, n); shift = pick(ints((2,), -3, 4), ints((), -3, 4)); axis = pick([0, 1], [1, 0], [-1, 0]) if shift.ndim else pick(0, 1, -1)",
    "^TopK(V2)?$": "input = (*B, n); k = ints((), 0, n + 1) if op[-1] == '2' else pick(0, 1, n)",
    "^NthElement$": "input = (*B, n); n = ints((), 0, 2)",
    "^InTopK(V2)?$": "predictions = (m, n + 1); targets = ints((m,), 0, n + 1); k = ints((), 0, 3) if op[-1] == '2' else pick(1, 2)",
    "^OneHot$": "indices = ints(P, -1, 4); depth = ints((), 0, 5); on_value = off_value = (); axis = pick(-1, 0, 1)",
    "^Range$": "start = ints((), -3, 3); limit = ints((), -3, 9); delta = pick(1, 2, -1)",
    "^LinSpace$": "start = stop = (); num = ints((), 1, 5)",
    "^Fill$": "dims = ints((pick(0, 1, 2, 3),), 0, 4); value = ()",
    "^Bincount$": "arr = ints(P, 0, 6); size = ints((), 0, 6); weights = pick(P, (0,))",
    "^HistogramFixedWidth$": "values = P; value_range = pick([-1, 2], [0, 1]); nbins = ints((), 1, 5)",
    "^Bucketize$": "input = P; boundaries = [-1.0, 0.0, 2.0]",
    "^DynamicPartition$": "num_partitions = 3; data = (m, *P[:2]); partitions = ints((m,), 0, 3)",
    "^(Parallel)?DynamicStitch$": "N = 2; indices = [ints((m,), 0, 4), ints((n,), 0, 4)]; data = [(m, *P[:2]), (n, *P[:2])]",
    "^Segment": "data = (m, *P[:2]); segment_ids = ordered((m,), 0, 3)",
    "^UnsortedSegment": "data = (m, n); segment_ids = ints(pick((m,), (m, n)), -1, 3); num_segments = pick(3, 4)",
    "^Unique(WithCounts)?$": "x = (n + m,)",
    "^Unique(WithCounts)?V2$": "x = (n + m, k); axis = pick([0], [1], [-1], [])",
    "^ListDiff$": "x = (m + n,); y = (n,)",
    "^UnravelIndex$": "indices = ints(pick((), (m,)), 0, 4); dims = [2, 3]",
    "^(Lower|Upper)Bound$": "sorted_inputs = ordered((m, n), -2, 5); values = (m, k)",
    "^(SelectV2)$": "condition = pick(P, P[1:], ()); t = pick(P, P[1:], ()); e = P",
    "^Select$": "condition = pick(P, P, P[:1], ()); t = e = P",
    "^ClipByValue$": "t = P; clip_value_min = clip_value_max = pick(P, (), ())",
    "^InplaceUpdate$|^InplaceAdd$|^InplaceSub$": "x = (m, n); i = ints((k,), 0, m); v = (k, n)",
    "^RaggedGather$": "PARAMS_RAGGED_RANK = OUTPUT_RAGGED_RANK = 1; params_nested_splits = [[0, 2, 2, 5]]; params_dense_values = (5, *P[:1]); indices = ints((m,), 0, 3)",
    "^RaggedTensorToSparse$": "RAGGED_RANK = 1; rt_nested_splits = [[0, 2, 2, 5]]; rt_dense_values = (5, *P[:1])",
    "^RaggedTensorToTensor$": "shape = pick([-1, -1], [3, 4], [2, 2], -1); values = (5,); default_value = (); num_row_partition_tensors = 1; row_partition_tensors = [[0, 2, 2, 5]]; row_partition_types = ['ROW_SPLITS']",
    "^RaggedRange$": "starts = limits = deltas = pick((m,), ())",
    "^BoostedTreesBucketize$": "float_values = [(m,)] * num_features; bucket_boundaries = [ordered((n,), -1, 3)] * num_features",
    "^BoostedTreesAggregateStats$": "max_splits = 3; num_buckets = 4; node_ids = ints((m,), 0, 3); gradients = hessians = (m, 1); feature = ints((m, n), 0, 4)",
    "^BoostedTreesMakeStatsSummary$": "max_splits = 3; num_buckets = 4; num_features = 2; node_ids = ints((m,), 0, 3); gradients = hessians = (m, 1); bucketized_features_list = [ints((m,), 0, 4)] * 2",
    "^BoostedTreesCalculateBestGainsPerFeature$": "node_id_range = [0, 2]; max_splits = 3; num_features = 2; stats_summary_list = [near((3, 4, 2), 0, 2)] * 2; l1 = near((), 0, 0.1); l2 = near((), 0, 1); tree_complexity = near((), 0, 0.1); min_node_weight = near((), 0, 0.5)",
    "^BoostedTreesCalculateBestFeatureSplit$": "node_id_range = [0, 2]; logits_dimension = 1; one = near((3, 5, 2), 0, 2); stats_summary = stacked([one, one[:, ::-1], one[:, [1, 3, 0, 2, 4]]][: max(n, 1)]); l1 = near((), 0, 0.1); l2 = near((), 0, 1); tree_complexity = near((), 0, 0.1); min_node_weight = near((), 0, 0.5)",
    "^BoostedTreesMakeQuantileSummaries$": "num_features = 2; float_values = [(m,)] * 2; example_weights = near((m,), 0.1, 2); epsilon = near((), 0.01, 0.5)",
    "^BoostedTreesSparseAggregateStats$": "max_splits = 3; num_buckets = 4; node_ids = ints((m,), 0, 3); gradients = hessians = (m, 1); feature_indices = sparse(m, n)[0]; feature_values = ints((len(feature_indices),), 0, 4); feature_shape = [m, n]",
    # -- sound and summaries
    "^AudioSpectrogram$": "input = (40 + n, c); window_size = pick(8, 10, 16); stride = pick(4, 8)",
    "^Mfcc$": "spectrogram = near((c, n, 17), 0, 2); sample_rate = pick(16000, 8000); filterbank_channel_count = pick(5, 10); dct_coefficient_count = pick(4, 5); lower_frequency_limit = 100.0; upper_frequency_limit = 3000.0",
    "^AudioSummary(V2)?$": "tag = texts((), 'a'); tensor = near(pick((b, 9, c), (b, 9)), -1, 1); max_outputs = pick(1, 3); sample_rate = pick(8000.0, 44100.0) if op[-1] == 'y' else near((), 1000, 9000)",
    "^EncodeWav$": "audio = near((m, c), -1, 1); sample_rate = pick(8000, 44100)",
    "^DecodeWav$": "contents = wave(); desired_channels = pick(-1, 1, 2); desired_samples = pick(-1, 2, 20)",
    "^ScalarSummary$": "tags = P; values = P",
    "^HistogramSummary$": "tag = texts((), 'a'); values = P",
    "^TensorSummaryV2$": "tag = texts((), 'a'); tensor = P; serialized_summary_metadata = texts((), '')",
    "^MergeSummary$": "inputs = [texts((), '')] * N",
    "^(FFT|IFFT)$": "input = (*B, n)",
    "^I?FFT2D$": "input = (*B, m, n)",
    "^I?FFT3D$": "input = (*B, k, m, n)",
    "^I?RFFT$": "input = (*B, n + 1); fft_length = pick([n + 1], [2 * n], [4], [1])",
    "^I?RFFT2D$": "input = (*B, m, n + 1); fft_length = pick([m, n + 1], [m, 2 * n], [2, 4])",
    "^I?RFFT3D$": "input = (*B, k, m, n + 1); fft_length = pick([k, m, n + 1], [k, m, 2 * n], [1, 1, 2], [2, 3, 4])",
    "^CompareAndBitpack$": "input = (*B, 8 * n); threshold = ()",
    "^DataFormatVecPermute$": "x = pick((4,), (4, 2)); src_format, dst_format = pick(('NHWC', 'NCHW'), ('NCHW', 'NHWC'), ('HWNC', 'NCHW'))",
    "^DataFormatDimMap$": "x = ints(P, -4, 4); src_format, dst_format = pick(('NHWC', 'NCHW'), ('NCHW', 'NHWC'), ('HWNC', 'NCHW'))",
    "^Broadcast(Gradient)?Args$": "s0 = [m, n]; s1 = pick([n], [1, n], [], [m, n], [m, 1])",
    "^Fingerprint$": "data = (m, n); method = texts((), 'farmhash64')",
    "^Where$": "input = P",
    "^(Betainc)$": "a = near(P, 0.1, 5); b = near(P, 0.1, 5); x = near(P, 0, 1)",
    "^(Igamma|Igammac|IgammaGradA|RandomGammaGrad)$": "a = near(P, 0.1, 5); x = near(P, 0.1, 5); alpha = a; sample = x",
    "^(Polygamma)$": "a = ints(P, 0, 4); x = near(P, 0.1, 5)",
    "^(Zeta)$": "x = near(P, 1.1, 5); q = near(P, 0.1, 5)",
    "^[A-Z][a-z0-9]+Grad$": "dy = x = y = gradients = features = outputs = backprops = P",
    # -- random numbers
    "^Stateless(RandomUniformInt)$": "shape = ints((pick(0, 1, 2),), 0, 5); seed = ints((2,), 0, 99); minval = pick(-3, 0); maxval = pick(4, 1000)",
    "^StatelessMultinomial$": "logits = (m, n); num_samples = ints((), 0, 5); seed = ints((2,), 0, 99)",
    "^Stateless": "shape = ints((pick(0, 1, 2),), 0, 5); seed = ints((2,), 0, 99)",
    "^RandomUniformInt$": "shape = ints((pick(0, 1, 2),), 0, 5); minval = pick(-3, 0); maxval = pick(4, 1000); seed, seed2 = pick((1, 2), (0, 7), (99, 0))",
    "^(RandomUniform|RandomStandardNormal|TruncatedNormal)$": "shape = ints((pick(0, 1, 2),), 0, 5); seed, seed2 = pick((1, 2), (0, 7), (99, 0))",
    "^ParameterizedTruncatedNormal$": "shape = [m, n]; means = near((m,), -1, 1); stdevs = near((m,), 0.1, 2); minvals = near((m,), -3, -1); maxvals = near((m,), 1, 4); seed, seed2 = pick((1, 2), (0, 7), (99, 0))",
    "^RandomGamma$": "shape = ints((pick(0, 1, 2),), 0, 5); alpha = near(P[:2], 0.1, 5); seed, seed2 = pick((1, 2), (0, 7), (99, 0))",
    "^RandomPoisson(V2)?$": "shape = ints((pick(0, 1, 2),), 0, 5); rate = near(P[:2], 0.1, 30); seed, seed2 = pick((1, 2), (0, 7), (99, 0))",
    "^RandomShuffle$": "value = (n + 1, *P[:1]); seed, seed2 = pick((1, 2), (0, 7), (99, 0))",
    "^RandomCrop$": "image = (H, W, c); size = [2, 2]; seed, seed2 = 3, 4",
    "^Multinomial$": "logits = (m, n); num_samples = ints((), 0, 5); seed, seed2 = pick((1, 2), (0, 7), (99, 0))",
    "CandidateSampler$": "true_classes = ints((m, n), 0, 6); num_true = n; num_sampled = pick(1, 3, 5); range_max = 6; unigrams = [1.0, 2.0, 3.0, 1.0, 1.0, 2.0]; seed, seed2 = 5, 7; num_reserved_ids = 0; vocab_file = ''",
    "^ComputeAccidentalHits$": "num_true = n; true_classes = ints((m, n), 0, 5); sampled_candidates = ints((k,), 0, 5)",
    "^KMC2ChainInitialization$": "distances = near((n,), 0, 3); seed = 5",
    "^KmeansPlusPlusInitialization$": "points = (m + n, k); num_to_sample = pick(1, 2); seed = 5; num_retries_per_sample = pick(-1, 1)",
    "^NearestNeighbors$": "points = (m, k); centers = (n, k); k = pick(1, 2)",
    # -- variables
    "^(Resource)?Apply": "T = pick('float', 'float', 'double', 'half', 'bfloat16', 'complex64'); var = accum = accum_update = m = v = vhat = ms = mg = mom = linear = grad = P; delta = P; gradient_accumulator = gradient_squared_accumulator = P; alpha = lr = rho = epsilon = momentum = beta1 = beta2 = beta1_power = beta2_power = l1 = l2 = l2_shrinkage = logbase = sign_decay = beta = near((), 0.1, 0.9); lr_power = near((), -0.9, -0.1); global_step = pick(1, 5)",
    "^(Resource)?SparseApply": "T = pick('float', 'float', 'double', 'half'); var = accum = accum_update = ms = mg = mom = linear = (m, n); gradient_accumulator = gradient_squared_accumulator = (m, n); grad = (k, n); indices = ints((k,), 0, m); alpha = lr = rho = epsilon = momentum = l1 = l2 = l2_shrinkage = near((), 0.1, 0.9); lr_power = near((), -0.9, -0.1); global_step = pick(1, 5)",
    "^(Resource)?CountUpTo$": "ref = resource = (); limit = pick(1, 9)",
    "^Assign(Add|Sub)?(VariableOp)?$": "ref = resource = value = P",
    "^IdentityN$": "T = [pick('float', 'int32', 'string')] * 2; input = [P, B]",
    # -- elementwise with two inputs that broadcast
    "^(Add|AddV2|Sub|Mul|Div|RealDiv|FloorDiv|FloorMod|Mod|TruncateDiv|TruncateMod|DivNoNan|MulNoNan|Pow|Maximum|Minimum|SquaredDifference|Atan2|Xdivy|Xlogy|NextAfter|Less|LessEqual|Greater|GreaterEqual|Equal|NotEqual|Logical.*|Bitwise.*|LeftShift|RightShift|Igamma.*|ApproximateEqual|Complex)$": "shapes = pick((P, P), (P, P[1:]), (P[-1:], P), (P, ()), ((), P), (tuple(pick(1, s) for s in P), P), ((m, 1), (1, n)))\nx, y = shapes; real, imag = shapes",
}  # fmt: skip
_PATTERNS = [(re.compile(pattern), compile(text.strip(), pattern, "exec")) for pattern, text in FORMS.items()]


def form_of(op: str) -> Any:
    """The form of an op's inputs, as code; None where it has none."""
    return next((code for pattern, code in _PATTERNS if pattern.search(op)), None)


class Sizes(dict):
    """The names that a form sees: what it assigned, the attributes, and sizes, which are drawn when they are first asked for."""

    def __init__(self, attrs: dict[str, Any], chance: random.Random) -> None:
        super().__init__(attrs)
        self._drawn: dict[str, Any] = {}
        self._chance = chance

    def __missing__(self, name: str) -> Any:
        if name not in self._drawn:
            self._drawn[name] = self._draw(name)
        return self._drawn[name]

    def _draw(self, name: str) -> Any:
        choose = self._chance.choice
        if name == "B":
            return tuple(choose([1, 2, 2, 3, 0] if choose(range(8)) == 0 else [1, 2]) for _ in range(choose([0, 0, 1, 2])))
        if name == "P":
            return tuple(choose([1, 2, 3, 3, 0] if choose(range(6)) == 0 else [1, 2, 3]) for _ in range(choose([0, 1, 1, 2, 2, 3, 4])))
        if name in "HWD":
            return choose([3, 4, 5, 6])
        if name in ("F", "G", "S"):
            return choose([1, 2, 2, 3] if name != "S" else [1, 1, 2])
        if len(name) == 1 and name.islower():
            return choose([1, 2, 2, 3, 3]) if self._chance.random() < 0.96 else 0
        raise KeyError(name)


def functions(op: str, chance: random.Random, numbers: np.random.RandomState) -> dict[str, Any]:
    """What forms may call."""

    def ints(shape: Any, low: Any, high: Any) -> np.ndarray:
        return numbers.randint(np.asarray(low), np.maximum(np.asarray(high), np.asarray(low) + 1), shape)

    def ordered(shape: Any, low: int, high: int) -> np.ndarray:
        return np.sort(ints(shape, low, high), -1)

    def near(shape: Any, low: float, high: float) -> np.ndarray:
        return np.asarray(numbers.uniform(low, high, shape))

    def definite(shape: tuple[int, ...]) -> np.ndarray:
        root = numbers.randn(*shape)
        return np.matmul(root, np.swapaxes(root, -1, -2)) + np.eye(shape[-1])

    def sparse(*sizes: int) -> tuple[np.ndarray, tuple[int, ...], list[int]]:
        found = np.argwhere(numbers.rand(*sizes) < chance.choice([0.3, 0.6, 1.0]))
        return found, (len(found),), list(sizes)

    def union(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.array(sorted({*map(tuple, a.tolist()), *map(tuple, b.tolist())}), np.int64).reshape(-1, 2)

    def maxima(x: np.ndarray, ksize: list[int], strides: list[int], padding: str) -> np.ndarray:
        """What pooling finds: along each axis in turn, the largest in each window."""
        for axis, (window, stride) in enumerate(zip(ksize, strides)):
            size = x.shape[axis]
            count = -(-size // stride) if padding == "SAME" else max(0, -(-(size - window + 1) // stride))
            border = max(0, (count - 1) * stride + window - size) // 2 if padding == "SAME" else 0
            starts = [i * stride - border for i in range(count)]
            parts = [x.take(range(max(0, at), min(size, at + window)), axis).max(axis) for at in starts]
            x = np.stack(parts, axis) if parts else x.take([], axis)
        return x

    def texts(shape: Any, *choices: Any) -> np.ndarray:
        found = np.empty(int(np.prod(shape, dtype=int)), object)
        found[:] = [c if isinstance(c, bytes) else c.encode() for c in (chance.choice(choices) for _ in found)]
        return found.reshape(shape)

    def packed(shape: Any, how: str) -> np.ndarray:
        found = texts(shape, "", "abc", "a" * 50)
        if how == "ZLIB":
            found.reshape(-1)[:] = [zlib.compress(t) for t in found.reshape(-1)]
        return found

    return {
        "op": op, "pick": lambda *choices: chance.choice(choices), "ints": ints, "ordered": ordered, "near": near, "definite": definite,
        "sparse": sparse, "union": union, "maxima": maxima, "texts": texts, "packed": packed, "lower": np.tril, "stacked": lambda values: np.stack(values, 1), "shuffled": lambda n: numbers.permutation(n),
        "picture": lambda of: _bytes(chance.choice(_PICTURES.get(of, _PICTURES["Jpeg"]))), "wave": lambda: _bytes(_wave(chance)),
        "proto": lambda kind: _bytes(_tensor(kind)), "example": lambda: chance.choice(_EXAMPLES),
    }  # fmt: skip


def _bytes(value: bytes) -> np.ndarray:
    found = np.empty((), object)
    found[()] = value
    return found


def _png(colour: int, width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    row = bytes(range(1, 1 + width * {0: 1, 2: 3, 4: 2, 6: 4}[colour]))
    head = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress((b"\0" + row) * height)) + chunk(b"IEND", b"")


def _bmp(width: int, height: int, channels: int) -> bytes:
    stride = (width * channels + 3) // 4 * 4
    body = bytes(i % 251 for i in range(stride * abs(height)))
    head = struct.pack("<2sIHHI", b"BM", 54 + len(body), 0, 0, 54)
    return head + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8 * channels, 0, len(body), 0, 0, 0, 0) + body


# A grey JPEG file and a GIF file of a few points.
_JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQH/wAALCAAEAAQBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AVN//2Q=="
)
_GIF = base64.b64decode("R0lGODlhAgACAIAAAP8AAAAA/ywAAAAAAgACAAACA0QCBQA7")
_PICTURES = {
    "DecodePng": [_png(c, 3, 2) for c in (0, 2, 4, 6)],
    "DecodeBmp": [_bmp(3, 2, 3), _bmp(2, -2, 3), _bmp(2, 2, 4), _bmp(3, 2, 1)],
    "DecodeGif": [_GIF, _png(2, 2, 2)],
    "Jpeg": [_JPEG],
}


def _wave(chance: random.Random) -> bytes:
    channels, frames = chance.choice([1, 2]), chance.choice([0, 3, 8])
    data = np.arange(-frames * channels, frames * channels, 2, dtype="<i2")[: frames * channels].tobytes()
    body = (
        b"WAVEfmt "
        + struct.pack("<IHHIIHH", 16, 1, channels, 8000, 16000 * channels, 2 * channels, 16)
        + b"data"
        + struct.pack("<I", len(data))
    )
    return b"RIFF" + struct.pack("<I", len(body) + len(data)) + body + data


def _field(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2, len(data)]) + data


def _tensor(kind: str) -> bytes:
    number, content = {"float": (1, struct.pack("<2f", 1, 2)), "int32": (3, struct.pack("<2i", 3, 4)), "string": (7, b"")}[kind]
    head = bytes([8, number]) + _field(2, _field(2, bytes([8, 2])))
    return head + (_field(8, b"a") + _field(8, b"bc") if kind == "string" else _field(4, content))


def _feature(name: bytes, number: int, values: bytes) -> bytes:
    return _field(1, _field(1, name) + _field(2, _field(number, values)))


# Messages with an int64 list, a float list and texts, each of which may be missing.
_EXAMPLES = [
    _field(1, _feature(b"i", 3, _field(1, bytes([1, 2, 3]))) + _feature(b"f", 2, _field(1, struct.pack("<2f", 1.5, -2))) + _feature(b"t", 1, _field(1, b"x") + _field(1, b""))),
    _field(1, _feature(b"i", 3, b"") + _feature(b"f", 2, _field(1, struct.pack("<2f", 0, 7)))),
    _field(1, _feature(b"f", 2, _field(1, struct.pack("<f", 3)))),
    b"",
    b"\x0a\xff",
]  # fmt: skip
