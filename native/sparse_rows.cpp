// What lookups of embeddings are made of: distinct ids, rows of sparse tensors without elements, and rows that are picked and averaged.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "fused.h"
#include "parallel.h"
#include "released.h"

namespace nb = nanobind;

namespace everflow {
namespace {

// The bits that a product with the golden ratio mixes best are the upper ones.
size_t slot_of(uint64_t value, unsigned shift) { return static_cast<size_t>(value * 0x9E3779B97F4A7C15u >> shift); }

// Numbers the distinct values in the order in which they come first; says where that is, which number each has, and how many there are.
template <typename Value, typename Number>
size_t unique(const Value* values, size_t count, int64_t* places, Number* numbers, Number* counts) {
    unsigned bits = 4;
    while ((size_t{1} << bits) < 2 * count) ++bits;
    const size_t mask = (size_t{1} << bits) - 1;
    std::vector<int64_t> table(mask + 1, -1);
    size_t found = 0;
    for (size_t i = 0; i < count; ++i) {
        size_t slot = slot_of(static_cast<uint64_t>(values[i]), 64 - bits);
        while (table[slot] >= 0 && values[places[table[slot]]] != values[i]) slot = (slot + 1) & mask;
        if (table[slot] < 0) {
            table[slot] = static_cast<int64_t>(found);
            places[found] = static_cast<int64_t>(i);
            if (counts) counts[found] = 0;
            ++found;
        }
        numbers[i] = static_cast<Number>(table[slot]);
        if (counts) ++counts[table[slot]];
    }
    return found;
}

// Integers of 32 or of 64 bits.
struct Integers {
    uintptr_t address;
    bool wide;

    int64_t operator[](size_t i) const {
        return wide ? reinterpret_cast<const int64_t*>(address)[i] : reinterpret_cast<const int32_t*>(address)[i];
    }
};

// Rows of a table, each of which belongs to a segment. Sums are divided by how many rows a segment has, or by the root of that.
struct Picked {
    Integers indices, ids;
    size_t count, width;
    enum Divisor { ONE, ROWS, ROOT } divisor;

    float share(size_t rows) const {
        if (divisor == ONE || rows < 2) return 1;
        return divisor == ROWS ? static_cast<float>(rows) : std::sqrt(static_cast<float>(rows));
    }

    // Whether all rows are in the table, and the segments in order.
    bool valid(size_t rows, size_t segments) const {
        int64_t last = 0;
        for (size_t i = 0; i < count; ++i) {
            // As a number without a sign, one below zero is beyond all limits.
            if (static_cast<uint64_t>(indices[i]) >= rows || ids[i] < last || static_cast<uint64_t>(ids[i]) >= segments) return false;
            last = ids[i];
        }
        return true;
    }

    void combine(const float* table, float* out, size_t segments) const {
        std::fill(out, out + segments * width, 0.0f);
        for (size_t i = 0; i < count;) {
            float* sum = out + ids[i] * width;
            size_t end = i;
            for (; end < count && ids[end] == ids[i]; ++end) {
                const float* row = table + indices[end] * width;
                for (size_t j = 0; j < width; ++j) sum[j] += row[j];
            }
            const float by = share(end - i);
            if (by != 1) {
                for (size_t j = 0; j < width; ++j) sum[j] /= by;
            }
            i = end;
        }
    }

    void spread(const float* segments, float* out, size_t rows) const {
        std::fill(out, out + rows * width, 0.0f);
        for (size_t i = 0; i < count;) {
            const float* from = segments + ids[i] * width;
            size_t end = i;
            while (end < count && ids[end] == ids[i]) ++end;
            const float part = 1 / share(end - i);
            for (; i < end; ++i) {
                float* row = out + indices[i] * width;
                for (size_t j = 0; j < width; ++j) row[j] += from[j] * part;
            }
        }
    }
};

// Puts rows into the places of a table that the indices name. The table is larger than caches are, and the places anywhere in it: those
// that come soon are called for.
void put_rows(const char* rows, const Integers& indices, size_t count, size_t bytes, char* table, size_t threads) {
    constexpr size_t grain = 1 << 16, soon = 16;
    in_parallel(count, grain / (bytes + 1) + 1, threads, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
#if defined(__GNUC__)
            if (i + soon < end) __builtin_prefetch(table + indices[i + soon] * bytes, 1);
#endif
            std::memcpy(table + indices[i] * bytes, rows + i * bytes, bytes);
        }
    });
}

// Adds rows to those of `sums` that the ids name. Ids below zero name none; returns where the first is that is too large, or -1.
int64_t sum_rows(const float* data, const Integers& ids, size_t count, size_t width, float* sums, size_t segments) {
    for (size_t i = 0; i < count; ++i) {
        const int64_t id = ids[i];
        if (id >= static_cast<int64_t>(segments)) return static_cast<int64_t>(i);
        if (id < 0) continue;
        float* sum = sums + id * width;
        for (size_t j = 0; j < width; ++j) sum[j] += data[i * width + j];
    }
    return -1;
}

// Which rows of a sparse tensor have no element, and how many these are; -1 where an element is in no row. `in_order` is told apart by -2
// for "none is empty, and the elements come row by row".
int64_t empty_rows(const int64_t* indices, size_t count, size_t rank, size_t rows, bool* empty) {
    std::fill(empty, empty + rows, true);
    int64_t last = 0;
    bool in_order = true;
    for (size_t i = 0; i < count; ++i) {
        const int64_t row = indices[i * rank];
        if (static_cast<uint64_t>(row) >= rows) return -1;
        empty[row] = false;
        in_order = in_order && row >= last;
        last = row;
    }
    const int64_t found = std::count(empty, empty + rows, true);
    return found == 0 && in_order ? -2 : found;
}

// Puts elements in the order of their rows, and one element into each empty row; says where each comes from and where each went.
void fill_rows(const int64_t* indices, size_t count, size_t rank, size_t rows, int64_t* filled, int64_t* sources, int64_t* went) {
    std::vector<int64_t> next(rows + 1, 0);
    for (size_t i = 0; i < count; ++i) ++next[indices[i * rank] + 1];
    for (size_t row = 0; row < rows; ++row) next[row + 1] = next[row] + std::max<int64_t>(next[row + 1], 1);
    for (size_t row = 0; row < rows; ++row) {
        int64_t* made = filled + next[row] * rank;
        std::fill(made, made + rank, 0);
        made[0] = static_cast<int64_t>(row);
        sources[next[row]] = static_cast<int64_t>(count);
    }
    for (size_t i = 0; i < count; ++i) {
        const int64_t at = next[indices[i * rank]]++;
        std::copy(indices + i * rank, indices + (i + 1) * rank, filled + at * rank);
        sources[at] = static_cast<int64_t>(i);
        went[i] = at;
    }
}

void move_places(const int64_t* indices, size_t count, const std::vector<int64_t>& from, const std::vector<int64_t>& to, int64_t* out) {
    for (size_t i = 0; i < count; ++i) {
        // Numbers without a sign may overflow: indices outside of a tensor have no place in the other one either.
        uint64_t place = 0;
        for (size_t j = 0; j < from.size(); ++j) place = place * static_cast<uint64_t>(from[j]) + indices[i * from.size() + j];
        auto rest = static_cast<int64_t>(place);
        for (size_t j = to.size(); j-- > 0;) {
            const int64_t size = std::max<int64_t>(to[j], 1);
            int64_t digit = rest % size;
            rest /= size;
            if (digit < 0) digit += size, --rest;
            out[i * to.size() + j] = digit;
        }
    }
}

template <typename Value>
size_t numbered(uintptr_t values, size_t count, uintptr_t places, uintptr_t numbers, bool wide_numbers, uintptr_t counts) {
    const auto* given = reinterpret_cast<const Value*>(values);
    auto* at = reinterpret_cast<int64_t*>(places);
    if (wide_numbers) return unique(given, count, at, reinterpret_cast<int64_t*>(numbers), reinterpret_cast<int64_t*>(counts));
    return unique(given, count, at, reinterpret_cast<int32_t*>(numbers), reinterpret_cast<int32_t*>(counts));
}

}  // namespace

void add_sparse_rows(nb::module_& module) {
    module.def(
        "unique",
        [](uintptr_t values, size_t count, bool wide, uintptr_t places, uintptr_t numbers, bool wide_numbers, uintptr_t counts) {
            nb::gil_scoped_release released;
            return wide ? numbered<int64_t>(values, count, places, numbers, wide_numbers, counts)
                        : numbered<int32_t>(values, count, places, numbers, wide_numbers, counts);
        },
        nb::arg("values"), nb::arg("count"), nb::arg("wide"), nb::arg("places"), nb::arg("numbers"), nb::arg("wide_numbers"),
        nb::arg("counts"), "Numbers distinct integers in the order in which they come first; returns how many there are.");
    module.def(
        "combine_rows",
        [](uintptr_t table, size_t rows, size_t width, uintptr_t indices, bool wide_indices, uintptr_t ids, bool wide_ids, size_t count,
           int divisor, uintptr_t out, size_t segments) {
            nb::gil_scoped_release released;
            const Picked picked{{indices, wide_indices}, {ids, wide_ids}, count, width, static_cast<Picked::Divisor>(divisor)};
            if (!picked.valid(rows, segments)) return false;
            picked.combine(reinterpret_cast<const float*>(table), reinterpret_cast<float*>(out), segments);
            return true;
        },
        nb::arg("table"), nb::arg("rows"), nb::arg("width"), nb::arg("indices"), nb::arg("wide_indices"), nb::arg("ids"),
        nb::arg("wide_ids"), nb::arg("count"), nb::arg("divisor"), nb::arg("out"), nb::arg("segments"),
        "Sums (divisor 0), means (1) or sums over the root of their number (2) of rows in segments; false for rows or segments that can't be.");
    module.def(
        "spread_rows",
        [](uintptr_t segments, size_t segment_count, size_t width, uintptr_t indices, bool wide_indices, uintptr_t ids, bool wide_ids,
           size_t count, int divisor, uintptr_t out, size_t rows) {
            nb::gil_scoped_release released;
            const Picked picked{{indices, wide_indices}, {ids, wide_ids}, count, width, static_cast<Picked::Divisor>(divisor)};
            if (!picked.valid(rows, segment_count)) return false;
            picked.spread(reinterpret_cast<const float*>(segments), reinterpret_cast<float*>(out), rows);
            return true;
        },
        nb::arg("segments"), nb::arg("segment_count"), nb::arg("width"), nb::arg("indices"), nb::arg("wide_indices"), nb::arg("ids"),
        nb::arg("wide_ids"), nb::arg("count"), nb::arg("divisor"), nb::arg("out"), nb::arg("rows"),
        "The gradient of `combine_rows`: gives each picked row its share of its segment's gradient.");
    module.def(
        "put_rows",
        [](uintptr_t rows, uintptr_t indices, bool wide, size_t count, size_t bytes, uintptr_t table, size_t threads) {
            const Released released(count * bytes / 4);
            put_rows(reinterpret_cast<const char*>(rows), {indices, wide}, count, bytes, reinterpret_cast<char*>(table), threads);
        },
        nb::arg("rows"), nb::arg("indices"), nb::arg("wide"), nb::arg("count"), nb::arg("bytes"), nb::arg("table"), nb::arg("threads"),
        "Copies rows to places in a table, all of which exist and none of which is named twice.");
    module.def(
        "sum_rows",
        [](uintptr_t data, uintptr_t ids, bool wide, size_t count, size_t width, uintptr_t sums, size_t segments) {
            const Released released(count * width);
            return sum_rows(reinterpret_cast<const float*>(data), {ids, wide}, count, width, reinterpret_cast<float*>(sums), segments);
        },
        nb::arg("data"), nb::arg("ids"), nb::arg("wide"), nb::arg("count"), nb::arg("width"), nb::arg("sums"), nb::arg("segments"),
        "Adds rows to the sums that their ids name, none where that is below zero; returns the place of the first id that is too large, or -1.");
    module.def(
        "empty_rows",
        [](uintptr_t indices, size_t count, size_t rank, size_t rows, uintptr_t empty) {
            nb::gil_scoped_release released;
            return empty_rows(reinterpret_cast<const int64_t*>(indices), count, rank, rows, reinterpret_cast<bool*>(empty));
        },
        nb::arg("indices"), nb::arg("count"), nb::arg("rank"), nb::arg("rows"), nb::arg("empty"),
        "Notes which rows of a sparse tensor are empty; returns how many are, -1 where an element is in no row, or -2 where none is empty "
        "and the elements come row by row.");
    module.def(
        "fill_rows",
        [](uintptr_t indices, size_t count, size_t rank, size_t rows, uintptr_t filled, uintptr_t sources, uintptr_t went) {
            nb::gil_scoped_release released;
            fill_rows(reinterpret_cast<const int64_t*>(indices), count, rank, rows, reinterpret_cast<int64_t*>(filled),
                      reinterpret_cast<int64_t*>(sources), reinterpret_cast<int64_t*>(went));
        },
        nb::arg("indices"), nb::arg("count"), nb::arg("rank"), nb::arg("rows"), nb::arg("filled"), nb::arg("sources"), nb::arg("went"),
        "Indices row by row with one more for each empty row, the element that each comes from, and where each element went.");
    module.def(
        "move_places",
        [](uintptr_t indices, size_t count, const std::vector<int64_t>& from, const std::vector<int64_t>& to, uintptr_t out) {
            nb::gil_scoped_release released;
            move_places(reinterpret_cast<const int64_t*>(indices), count, from, to, reinterpret_cast<int64_t*>(out));
        },
        nb::arg("indices"), nb::arg("count"), nb::arg("before"), nb::arg("after"), nb::arg("out"),
        "Indices of elements in a tensor of some sizes as indices in a tensor of others.");
}

}  // namespace everflow
