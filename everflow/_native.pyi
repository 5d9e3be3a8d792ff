"""What must run per element and neither torch nor numpy does."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray

def processor() -> str:
    """The kind of processor that kernels are chosen for."""

def processors() -> list[str]:
    """
    The kinds that this processor can stand for, the least first: what EVERFLOW_CPU may name to effect.
    """

def by_intel() -> bool:
    """Whether the processor is one of Intel's, which MKL knows best."""

class Pace:
    """How long the runs of a step take: those of short steps take turns."""

    def __init__(self) -> None: ...
    @property
    def usual(self) -> float:
        """Seconds."""

    @usual.setter
    def usual(self, arg: float, /) -> None: ...

class Flushing:
    """
    Takes denormal numbers for zero in this thread while it lives, as what it holds does.
    """

    def __init__(self, held: object | None = None, pace: Pace | None = None) -> None: ...

def flush_in_workers(threads: int) -> None:
    """
    Has the threads that work for this one take denormal numbers for zero, for good.
    """

def answer_as_once(types: list, tell: Callable) -> None:
    """
    Lets these types of arrays, of which the first has no other above it, answer where they raise an error; tell(what) hears of it.
    """

def answer_as_today(types: list) -> None:
    """Undoes it."""

def batch_norm(
    x: int,
    scale: int,
    offset: int,
    mean: int,
    variance: int,
    statistics: int,
    y: int,
    sizes: Sequence[int],
    pitches: Sequence[int],
    epsilon: float,
    training: bool,
    rectify: bool,
    threads: int,
) -> None:
    """
    Normalizes pictures of these sizes (NHWC), and rectifies them if asked to.
    """

def batch_norm_gradient(
    dy: int,
    x: int,
    scale: int,
    offset: int,
    mean: int,
    variance: int,
    dx: int,
    sums: int,
    sizes: Sequence[int],
    pitches: Sequence[int],
    epsilon: float,
    training: bool,
    rectify: bool,
    threads: int,
) -> None:
    """
    The gradients of `batch_norm` for its input (dx), its scale and its offset (sums).
    """

def convolve_and_pool(pictures: int, filter: int, bias: int, out: int, sizes: Sequence[int], rectify: bool, threads: int) -> None:
    """
    The maxima of each two by two results of a convolution with stride one, then a bias and Relu.
    """

class CustomKernel:
    """A kernel of a library of custom ops, called with run-time values."""

    def __init__(
        self,
        kernel: int,
        compute: int,
        release: int,
        inputs: Sequence[int],
        outputs: Sequence[int],
        makers: list,
        raises: Callable,
        others: Callable,
    ) -> None: ...
    def __call__(self, *args) -> object: ...

class CustomIterator:
    """An iterator over a dataset of a library of custom ops."""

    def __init__(self, iterators: int, dataset: int, prefix: str, reading: object, raises: Callable, others: Callable) -> None: ...
    def next(self) -> tuple | None: ...
    def save(self) -> dict: ...
    def restore(self, position: dict) -> None: ...

def custom_streams() -> int:
    """How C++ reads streams: the address of EverflowStreams."""

class ElementwiseChain:
    """
    Element-wise instructions over rows of float32 tensors, run block by block.
    """

    def __init__(
        self,
        rows: int,
        columns: int,
        inputs: Sequence[tuple[int, int, int, bool]],
        constants: Sequence[float],
        instructions: Sequence[tuple[str, int, int, int]],
        results: Sequence[tuple[int, int, int, bool]],
        sums: Sequence[tuple[int, str, int, float]] = [],
        truths: Sequence[int] = [],
    ) -> None: ...
    def run(self, threads: int, *pointers) -> None:
        """Runs on the tensors at these addresses, which the caller keeps alive."""

class ElementwiseLoop:
    """An element-wise op of one float32 tensor."""

    def __init__(self, name: str) -> None: ...
    def run(self, threads: int, count: int, source: int, result: int) -> None:
        """
        Runs on the numbers at the first address and writes to the second, which may be the same; the caller keeps both alive.
        """

def power(threads: int, count: int, bases: int, base_step: int, exponents: int, exponent_step: int, result: int) -> None:
    """
    Raises numbers at an address to powers, each step numbers after the one before; the caller keeps all alive.
    """

ELEMENTWISE: frozenset = ...

def halve(pictures: int, filter: int, bias: int, out: int, sizes: Sequence[int], threads: int) -> None:
    """
    The convolution of pictures (NHWC) with windows of 4 x 4 and stride two. Sizes: batch, height, width, depth; channels of the filter; zeros before rows and columns; height and width of the result.
    """

def input_gradient_of_halving(gradient: int, filter: int, out: int, sizes: Sequence[int], threads: int) -> None:
    """Adds the gradient of its input, made from that of its result."""

def filter_gradient_of_halving(pictures: int, gradient: int, out: int, sizes: Sequence[int], threads: int) -> None:
    """The gradient of its filter."""

class RowLoop:
    """A loop whose body computes each row of a batch from that row alone."""

    def __init__(self, rows: int, widths: Sequence[int]) -> None: ...
    def multiply(self, a: int, matrix: int, bias: int, c: int, adds: bool) -> None:
        """Multiplies rows by a matrix, whose number is given."""

    def copy(self, source: int, source_column: int, to: int, to_column: int, width: int) -> None:
        """Copies columns."""

    def choose(self, condition: int, one: int, other: int, to: int) -> None:
        """Takes each row from one or from the other."""

    def fill(self, to: int, number: float) -> None:
        """Fills rows with a number."""

    def apply(self, chain: ElementwiseChain, slots: Sequence[int]) -> None:
        """Runs element-wise instructions."""

    def run(
        self, threads: int, steps: int, table: int, matrices: Sequence[tuple[int, int, int]], pitches: Sequence[tuple[int, int]]
    ) -> None:
        """
        Runs all iterations on what the table's addresses name, which the caller keeps alive.
        """

def softmax(x: int, rows: int, columns: int, y: int, threads: int) -> None:
    """The softmax of rows, written to another place or to the same."""

def cross_entropy_of_classes(x: int, classes: int, rows: int, columns: int, loss: int, gradient: int, threads: int) -> bool:
    """
    The cross-entropy of each row with a class, and its gradient; false where a class is none of the columns.
    """

def multiply_matrices(
    a: int,
    b: int,
    bias: int,
    c: int,
    height: int,
    depth: int,
    columns: int,
    a_down: int,
    a_right: int,
    b_down: int,
    b_right: int,
    adds: bool,
    rectifies: bool,
    threads: int,
) -> None:
    """
    The product of two matrices and a bias for each column of it, if there is one; or c plus their product. What is negative may become zero.
    """

def multiply_batches(a: int, b: int, c: int, sizes: Sequence[int], threads: int) -> None:
    """The products of many pairs of matrices."""

def pool_halves(pictures: int, out: int, places: int, sizes: Sequence[int], threads: int) -> None:
    """The maxima of windows of two by two, and which of the four each is."""

def spread_halves(gradient: int, places: int, out: int, sizes: Sequence[int], threads: int) -> None:
    """
    Pictures of zeros with the gradient of each maximum where that was found.
    """

def multiply_by_pixel(
    a: int,
    a_sizes: Sequence[int],
    b: int,
    c: int,
    c_sizes: Sequence[int],
    depth: int,
    columns: int,
    add: bool,
    bias: int,
    rectify: bool,
    threads: int,
) -> None:
    """
    The product of the channels of each pixel with a matrix, put into the pixels of another picture, or added to them.
    """

def sum_products(a: int, a_sizes: Sequence[int], b: int, b_sizes: Sequence[int], c: int, depth: int, columns: int, threads: int) -> None:
    """The products of all channels of a with all of b, summed over pixels."""

def convolve(pictures: int, filter: int, bias: int, out: int, sizes: Sequence[int], turned: bool, threads: int) -> None:
    """
    The convolution of pictures with a filter, or the gradient of one with respect to its input.
    """

def filter_gradient(pictures: int, gradient: int, out: int, sizes: Sequence[int], threads: int) -> None:
    """The gradient of a convolution's filter."""

def convolve_tiles(pictures: int, filter: int, bias: int, out: int, sizes: Sequence[int], turned: bool, threads: int) -> None:
    """As convolve, by Winograd's algorithm."""

def filter_gradient_of_tiles(pictures: int, gradient: int, out: int, sizes: Sequence[int], threads: int) -> None:
    """As filter_gradient, by Winograd's algorithm."""

def sparse_product(places: int, values: int, count: int, transposed: bool, b: int, inner: int, columns: int, out: int, rows: int) -> int:
    """
    Adds the product of a sparse matrix, or of its transpose, and a dense one to `out`; returns the first element of it that is out of bounds, or -1.
    """

def unique(values: int, count: int, wide: bool, places: int, numbers: int, wide_numbers: bool, counts: int) -> int:
    """
    Numbers distinct integers in the order in which they come first; returns how many there are.
    """

def combine_rows(
    table: int,
    rows: int,
    width: int,
    indices: int,
    wide_indices: bool,
    ids: int,
    wide_ids: bool,
    count: int,
    divisor: int,
    out: int,
    segments: int,
) -> bool:
    """
    Sums (divisor 0), means (1) or sums over the root of their number (2) of rows in segments; false for rows or segments that can't be.
    """

def spread_rows(
    segments: int,
    segment_count: int,
    width: int,
    indices: int,
    wide_indices: bool,
    ids: int,
    wide_ids: bool,
    count: int,
    divisor: int,
    out: int,
    rows: int,
) -> bool:
    """
    The gradient of `combine_rows`: gives each picked row its share of its segment's gradient.
    """

def put_rows(rows: int, indices: int, wide: bool, count: int, bytes: int, table: int, threads: int) -> None:
    """
    Copies rows to places in a table, all of which exist and none of which is named twice.
    """

def sum_rows(data: int, ids: int, wide: bool, count: int, width: int, sums: int, segments: int) -> int:
    """
    Adds rows to the sums that their ids name, none where that is below zero; returns the place of the first id that is too large, or -1.
    """

def empty_rows(indices: int, count: int, rank: int, rows: int, empty: int) -> int:
    """
    Notes which rows of a sparse tensor are empty; returns how many are, -1 where an element is in no row, or -2 where none is empty and the elements come row by row.
    """

def fill_rows(indices: int, count: int, rank: int, rows: int, filled: int, sources: int, went: int) -> None:
    """
    Indices row by row with one more for each empty row, the element that each comes from, and where each element went.
    """

def move_places(indices: int, count: int, before: Sequence[int], after: Sequence[int], out: int) -> None:
    """
    Indices of elements in a tensor of some sizes as indices in a tensor of others.
    """

def transpose(matrix: int, rows: int, columns: int, out: int, threads: int) -> None:
    """
    The transposed copy of a matrix of floats whose rows follow each other.
    """

def largest(x: int, rows: int, columns: int, k: int, values: int, positions: int, threads: int) -> bool:
    """
    The k largest elements of each row and their positions, the first of equal ones first; false where a NaN is among the elements.
    """

def places_of_most(x: int, rows: int, columns: int, smallest: bool, places: int) -> None:
    """
    Where the largest or smallest element of each row is, the first of equal ones; NaN is passed over.
    """

@overload
def fill_uniform(
    out: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")], key: int, low: int, high: int, threads: int
) -> None: ...
@overload
def fill_uniform(
    out: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")], key: int, low: int, high: int, threads: int
) -> None: ...
@overload
def fill_normal(
    out: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")], key: int, low: int, high: int, threads: int
) -> None: ...
@overload
def fill_normal(
    out: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")], key: int, low: int, high: int, threads: int
) -> None: ...
@overload
def fill_truncated_normal(
    out: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")], key: int, low: int, high: int, threads: int
) -> None: ...
@overload
def fill_truncated_normal(
    out: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")], key: int, low: int, high: int, threads: int
) -> None: ...
def fill_uniform_half(
    out: Annotated[NDArray[numpy.int16], dict(order="C", device="cpu")], key: int, low: int, high: int, threads: int
) -> None: ...
def fill_normal_half(
    out: Annotated[NDArray[numpy.int16], dict(order="C", device="cpu")], key: int, low: int, high: int, threads: int
) -> None: ...
def fill_truncated_normal_half(
    out: Annotated[NDArray[numpy.int16], dict(order="C", device="cpu")], key: int, low: int, high: int, threads: int
) -> None: ...
def fill_uniform_bfloat16(
    out: Annotated[NDArray[numpy.int16], dict(order="C", device="cpu")], key: int, low: int, high: int, threads: int
) -> None: ...
def fill_normal_bfloat16(
    out: Annotated[NDArray[numpy.int16], dict(order="C", device="cpu")], key: int, low: int, high: int, threads: int
) -> None: ...
def fill_truncated_normal_bfloat16(
    out: Annotated[NDArray[numpy.int16], dict(order="C", device="cpu")], key: int, low: int, high: int, threads: int
) -> None: ...
@overload
def fill_bits(
    out: Annotated[NDArray[numpy.uint32], dict(order="C", device="cpu")], key: int, low: int, high: int, threads: int
) -> None: ...
@overload
def fill_bits(out: Annotated[NDArray[numpy.int32], dict(order="C", device="cpu")], key: int, low: int, high: int, threads: int) -> None: ...
@overload
def fill_bits(out: Annotated[NDArray[numpy.int64], dict(order="C", device="cpu")], key: int, low: int, high: int, threads: int) -> None: ...
@overload
def fill_integers(
    out: Annotated[NDArray[numpy.int32], dict(order="C", device="cpu")],
    low_value: int,
    high_value: int,
    key: int,
    low: int,
    high: int,
    threads: int,
) -> None: ...
@overload
def fill_integers(
    out: Annotated[NDArray[numpy.int64], dict(order="C", device="cpu")],
    low_value: int,
    high_value: int,
    key: int,
    low: int,
    high: int,
    threads: int,
) -> None: ...
def fill_mask(out: int, count: int, least: float, key: int, low: int, high: int, threads: int) -> None:
    """
    Ones where the numbers that fill_uniform would give are at least as large as another, else zeros.
    """

def shuffle(
    rows: Annotated[NDArray[numpy.int64], dict(order="C", device="cpu")],
    words: Annotated[NDArray[numpy.uint32], dict(order="C", device="cpu")],
) -> None: ...
def fill_gamma(
    out: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
    shapes: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
    key: int,
    low: int,
    high: int,
    threads: int,
) -> None: ...
def fill_poisson(
    out: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
    rates: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")],
    largest: float,
    key: int,
    low: int,
    high: int,
    threads: int,
) -> None: ...
def murmur_buckets(texts: object, out: Annotated[NDArray[numpy.int64], dict(order="C", device="cpu")], buckets: int) -> None: ...
def farm_buckets(texts: object, out: Annotated[NDArray[numpy.int64], dict(order="C", device="cpu")], buckets: int) -> None: ...
def hashes_as_floats(texts: object, out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")]) -> None: ...
def farm_fingerprints_128(texts: object, out: Annotated[NDArray[numpy.int64], dict(order="C", device="cpu")]) -> None: ...
def sip_buckets(
    texts: object, out: Annotated[NDArray[numpy.int64], dict(order="C", device="cpu")], buckets: int, key0: int, key1: int
) -> None: ...
def farm_fingerprint(text: bytes) -> int: ...
def farm_fingerprints(
    rows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.uint64], dict(order="C", device="cpu")],
) -> None: ...
@overload
def read_numbers(texts: object, out: Annotated[NDArray[numpy.float32], dict(order="C", device="cpu")]) -> int: ...
@overload
def read_numbers(texts: object, out: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu")]) -> int: ...
@overload
def read_numbers(texts: object, out: Annotated[NDArray[numpy.int32], dict(order="C", device="cpu")]) -> int: ...
@overload
def read_numbers(texts: object, out: Annotated[NDArray[numpy.int64], dict(order="C", device="cpu")]) -> int: ...
def decode_csv(
    records: object, types: Sequence[int], missing: list, delimiter: str, quotes: bool, na_value: bytes, selected: Sequence[int]
) -> list: ...

class ExampleParser:
    def __init__(self, sparse: list, dense: list) -> None: ...
    def parse(self, serialized: object, names: object | None, threads: int) -> list: ...
    def parse_single(self, serialized: bytes) -> list: ...

class SequenceExampleParser:
    def __init__(self, context_sparse: list, context_dense: list, list_sparse: list, list_dense: list) -> None: ...
    def parse(self, serialized: object, names: object | None) -> list: ...
    def parse_single(self, serialized: bytes, name: bytes) -> list: ...

def split_records(piece: bytes, start: int) -> tuple: ...
def framed_record(record: bytes) -> bytes: ...
def crc32c(data: bytes) -> int: ...
def masked_crc32c(data: bytes) -> int: ...
def split_node(message: bytes) -> tuple: ...

class WireMessage:
    """The memory of a message that came."""

class WireCall:
    """A call under way."""

    def result(self) -> Any:
        """
        Waits for the answer: its memory, or the code and the text of an error.
        """

    def cancel(self) -> None:
        """Gives the call up."""

    def forget(self) -> None:
        """Has the call go on without anybody who waits for it."""

class WireChannel:
    """The way to the server at `host:port`."""

    def __init__(self, address: str) -> None: ...
    def call(self, path: str, request: object, timeout: float | None, waits: bool) -> Any:
        """
        Calls a method: the answer's memory, or the code and the text of an error. The request is memory, or pieces of it.
        """

    def begin(self, path: str, request: object, timeout: float | None, waits: bool) -> WireCall:
        """Sends a request, and leaves the answer for later."""

    def reach(self, timeout: float) -> bool:
        """Whether the server can be connected to within this time."""

class ServedCall:
    """A call that is being answered."""

    def path(self) -> str:
        """The method that is called."""

    def request(self) -> memoryview | None:
        """The memory of the request, which is given away; None where none came."""

    def on_leave(self, leave: object) -> None:
        """
        Has `leave()` called when who asked goes away. The first who asks for it is heard.
        """

    def finish(self, code: int, text: str, answer: object | None) -> None:
        """Sends the status, and the answer if there is one."""

class WireServer:
    """Takes calls from whoever connects."""

    def __init__(self) -> None: ...
    def bind(self, address: str) -> int:
        """Listens at an address; the port, or 0 where it is taken."""

    def start(self) -> None:
        """Begins to take connections."""

    def next(self) -> Any:
        """
        Waits for what there is to do: a call, or a function that tells that a caller has gone.
        """

@overload
def resample(
    pictures: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order="C", device="cpu")],
    row_places: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    row_weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    column_places: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    column_weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    threads: int,
    divisor: float = 1.0,
    factor: float = 1.0,
) -> None: ...
@overload
def resample(
    pictures: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None, None), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order="C", device="cpu")],
    row_places: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    row_weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    column_places: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    column_weights: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    threads: int,
    divisor: float = 1.0,
    factor: float = 1.0,
) -> None: ...
def crop_and_resize(
    pictures: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order="C", device="cpu", writable=False)],
    boxes: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    owners: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order="C", device="cpu")],
    nearest: bool,
    outside: float,
    threads: int,
) -> None: ...
def turn_colours(
    pixels: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    hue: float,
    saturation: float,
    threads: int,
) -> None: ...
def decode_jpeg(
    contents: bytes,
    channels: int,
    ratio: int,
    interpolates_chroma: bool,
    recovers: bool,
    least: float,
    is_accurate: bool,
    window: tuple[int, int, int, int] | None,
) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order="C")]: ...
def jpeg_shape(contents: bytes) -> tuple[int, int, int]: ...
def encode_jpeg(
    pixels: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    quality: int,
    is_progressive: bool,
    is_optimized: bool,
    halves_chroma: bool,
    density: tuple[int, int, int],
    extra: bytes,
) -> bytes: ...

class MicroFrontend:
    """Mel filterbanks of speech in integer arithmetic."""

    def __init__(
        self,
        sample_rate: int,
        window: int,
        step: int,
        channels: int,
        upper: float,
        lower: float,
        smoothing_bits: int,
        even: float,
        odd: float,
        remaining: float,
        even_gain: bool,
        strength: float,
        offset: float,
        gain_bits: int,
        logarithms: bool,
        scale: int,
    ) -> None: ...
    def run(self, audio: int, samples: int, out: int) -> None:
        """
        Writes one row of channels for each step of the samples at which a whole window is left.
        """

def scalar_summary(tag: bytes, number: float) -> bytes: ...
def histogram_summary(tag: bytes, values: int, count: int, is_double: bool, name: str) -> bytes: ...
def image_pixels(image: int, pixels: int, depth: int, bad_colour: bytes) -> bytes: ...
def image_summary(tag: bytes, height: int, width: int, depth: int, encoded: bytes) -> bytes: ...
def merged_summary(summaries: list) -> bytes: ...
def summary_record(summary: bytes, wall_time: float, step: int, seen: set) -> object: ...
def filtered_lines(pixels: bytes, height: int, line: int, pixel: int) -> bytes: ...
def sdca_pass(
    order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    changes: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    labels: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    example_weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    state: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    kind: str,
    l1: float,
    l2: float,
    partitions: float,
) -> None:
    """
    A pass of dual coordinate ascent over examples, which are rows of a sparse matrix.
    """

def sdca_residues(
    starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    labels: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    example_weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    state: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    kind: str,
    l1: float,
    l2: float,
    out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
) -> None:
    """How much a dual step could win for each example."""

def sdca_draw(
    chances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    seed: int,
    out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
) -> None:
    """The examples that a pass takes, drawn by their chances."""

def sdca_repeats_columns(
    starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
    width: int,
) -> bool:
    """Whether a row of a sparse matrix has a column twice."""

def walk_trees(
    features: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu")],
    nodes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu")],
    at: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu")],
    threads: int,
) -> None:
    """Follows each example from the node where it is to a leaf."""

def sum_by_bucket(
    node_ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu")],
    statistics: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    buckets: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu")],
    sums: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None, None), order="C", device="cpu")],
    threads: int,
) -> None:
    """Adds the statistics of examples to those of their node and buckets."""

class ForestSettings:
    """How a forest grows."""

    def __init__(self) -> None: ...
    @property
    def leaf_type(self) -> int: ...
    @leaf_type.setter
    def leaf_type(self, arg: int, /) -> None: ...
    @property
    def stats_type(self) -> int: ...
    @stats_type.setter
    def stats_type(self, arg: int, /) -> None: ...
    @property
    def pruning(self) -> int: ...
    @pruning.setter
    def pruning(self, arg: int, /) -> None: ...
    @property
    def finish(self) -> int: ...
    @finish.setter
    def finish(self, arg: int, /) -> None: ...
    @property
    def inequality(self) -> int: ...
    @inequality.setter
    def inequality(self, arg: int, /) -> None: ...
    @property
    def max_nodes(self) -> int: ...
    @max_nodes.setter
    def max_nodes(self, arg: int, /) -> None: ...
    @property
    def outputs(self) -> int: ...
    @outputs.setter
    def outputs(self, arg: int, /) -> None: ...
    @property
    def classes_to_track(self) -> int: ...
    @classes_to_track.setter
    def classes_to_track(self, arg: int, /) -> None: ...
    @property
    def regression(self) -> bool: ...
    @regression.setter
    def regression(self, arg: bool, /) -> None: ...
    @property
    def collate(self) -> bool: ...
    @collate.setter
    def collate(self, arg: bool, /) -> None: ...
    @property
    def checkpoint_stats(self) -> bool: ...
    @checkpoint_stats.setter
    def checkpoint_stats(self, arg: bool, /) -> None: ...
    @property
    def running(self) -> bool: ...
    @running.setter
    def running(self, arg: bool, /) -> None: ...
    @property
    def average_splits(self) -> bool: ...
    @average_splits.setter
    def average_splits(self, arg: bool, /) -> None: ...
    def set_by_depth(
        self,
        arg0: tuple[int, float, float, float, float],
        arg1: tuple[int, float, float, float, float],
        arg2: tuple[int, float, float, float, float],
        arg3: tuple[int, float, float, float, float],
        arg4: tuple[int, float, float, float, float],
        arg5: tuple[int, float, float, float, float],
        /,
    ) -> None:
        """
        Numbers that may depend on depth: a kind (0 for none) and four parameters each.
        """

class ForestColumns:
    """What kind the columns of examples are."""

    def __init__(self, dense_size: int, kinds: Sequence[int], sparse_kind: int) -> None: ...

class ForestTree:
    """A tree of a random forest."""

    def __init__(self, arg0: ForestSettings, arg1: bytes, /) -> None: ...
    @property
    def size(self) -> int: ...
    def load(self, arg: bytes, /) -> None: ...
    def save(self) -> bytes: ...
    def leaves(
        self,
        columns: ForestColumns,
        dense: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
        indices: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu")],
        values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
        out: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu")],
        threads: int,
    ) -> None:
        """The leaf of each example."""

    def predict(
        self,
        columns: ForestColumns,
        dense: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
        indices: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu")],
        values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
        out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
        threads: int,
    ) -> None:
        """What the leaf of each example answers."""

    def paths(
        self,
        columns: ForestColumns,
        dense: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
        indices: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu")],
        values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
        rows: int,
    ) -> list:
        """The nodes that each example goes through, as messages."""

    def update(
        self,
        leaves: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu")],
        labels: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
        weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    ) -> None:
        """Adds labels to the leaves of their examples."""

    def count_features(self, counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu")]) -> None:
        """Adds how many nodes look at each feature."""

class ForestStats:
    """What the leaves of a tree know of their candidates."""

    def __init__(self, arg0: ForestSettings, arg1: bytes, /) -> None: ...
    def load(self, arg: bytes, /) -> None: ...
    def save(self) -> bytes: ...
    def process(
        self,
        columns: ForestColumns,
        dense: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
        indices: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu")],
        values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
        labels: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
        weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
        leaves: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu")],
        seed: int,
        threads: int,
    ) -> list[int]:
        """Adds a batch; the leaves that can be split."""

    def grow(self, tree: ForestTree, finished: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu")]) -> None:
        """Splits leaves by their best candidates."""

class QuantileStream:
    """A sketch of weighted numbers, from which quantiles are read."""

    def __init__(self, epsilon: float, max_elements: int) -> None: ...
    def push(
        self,
        values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None:
        """Adds numbers; one weight may be for all."""

    def push_summary(
        self, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    ) -> None:
        """Adds what a summary is of."""

    def finish(self) -> None:
        """Makes one summary of all levels."""

    def summary(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C")]:
        """Rows of value, weight, least and most rank."""

    def summaries(self) -> list[Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C")]]:
        """The summaries of the levels, and the one outside of them."""

    def restore(
        self, summaries: Sequence[Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)]]
    ) -> None:
        """Takes what `summaries` gave."""

    def boundaries(self, count: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C")]:
        """Boundaries of about so many buckets."""

    def quantiles(self, count: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C")]:
        """The values that cut the weight into so many equal parts."""

def message_of_summary(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)]) -> bytes:
    """A summary as a serialized QuantileSummaryState."""

def summary_of_message(message: bytes) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C")]:
    """The summary in a serialized QuantileSummaryState."""

class TreeExamples:
    """Examples with dense, sparse and categorical columns."""

    def __init__(
        self,
        arg0: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        arg1: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        arg2: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        arg3: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        arg4: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        arg5: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        arg6: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        /,
    ) -> None: ...
    @property
    def count(self) -> int: ...

class TreeTable:
    """Trees as tables of nodes."""

    def __init__(
        self,
        arg0: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        arg1: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        arg2: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        arg3: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        arg4: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        arg5: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        arg6: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        /,
    ) -> None: ...
    def partition(
        self,
        examples: TreeExamples,
        tree: int,
        places: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu")],
        threads: int,
    ) -> None:
        """The leaf of each example in a tree."""

    def predict(
        self,
        examples: TreeExamples,
        chosen: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        logits: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
        places: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu")],
        threads: int,
    ) -> None:
        """Adds what trees say of examples to their logits."""

class FoundSplits:
    """Arrays for what a search finds."""

    def __init__(
        self,
        gains: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
        places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu")],
        goes_right: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order="C", device="cpu")],
        leaves: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu")],
        filled: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order="C", device="cpu")],
    ) -> None: ...

class SplitSearch:
    """Searches for splits by what their leaves gain."""

    def __init__(self, l1: float, l2: float, complexity: float, least_weight: float, strategy: int, scale: float) -> None: ...
    def ordered(
        self,
        arg0: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        arg1: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        arg2: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        arg3: FoundSplits,
        /,
    ) -> None:
        """Splits between buckets."""

    def equal(
        self,
        arg0: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        arg1: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        arg2: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        arg3: FoundSplits,
        /,
    ) -> None:
        """Splits of one id from all others."""

    def sparse(
        self,
        arg0: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        arg1: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        arg2: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        arg3: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        arg4: FoundSplits,
        /,
    ) -> None:
        """Splits between buckets where numbers may be missing."""

    def layer(
        self,
        arg0: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        arg1: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        arg2: bool,
        arg3: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        arg4: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        arg5: FoundSplits,
        /,
    ) -> None:
        """One split for all nodes."""
