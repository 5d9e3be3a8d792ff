// Trees: the way of examples to leaves, and sums of what examples say about splits.
#include <nanobind/ndarray.h>

#include "learning.h"
#include "parallel.h"

namespace nb = nanobind;

namespace everflow {
namespace {

template <typename T, int Rank>
using Array = nb::ndarray<T, nb::ndim<Rank>, nb::c_contig, nb::device::cpu>;

constexpr size_t GRAIN = 4096;

// A node is a row of five numbers: the column that it looks at (none in a leaf: -1), a bucket, the two nodes below, and whether the left one is
// for examples in that very bucket (1) or for those up to it (0).
void walk_trees(Array<int32_t, 2> features, Array<int32_t, 2> nodes, Array<int32_t, 1> at, size_t threads) {
    if (nodes.shape(1) != 5 || features.shape(0) != at.shape(0)) throw nb::value_error("five numbers a node, a place for each example");
    const int32_t *x = features.data(), *node = nodes.data();
    int32_t* place = at.data();
    const size_t width = features.shape(1);
    nb::gil_scoped_release unlocked;
    in_parallel(at.shape(0), GRAIN, threads, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
            const int32_t* row = node + 5 * static_cast<size_t>(place[i]);
            int32_t here = place[i];
            while (row[0] >= 0) {
                const int32_t bucket = x[i * width + row[0]];
                here = (row[4] ? bucket == row[1] : bucket <= row[1]) ? row[2] : row[3];
                row = node + 5 * static_cast<size_t>(here);
            }
            place[i] = here;
        }
    });
}

// Adds the statistics of each example to those of its node, its column and its bucket: sums has a row of them for each.
void sum_by_bucket(Array<int32_t, 1> node_ids, Array<float, 2> statistics, Array<int32_t, 2> buckets, Array<float, 4> sums, size_t threads) {
    const size_t count = node_ids.shape(0), columns = buckets.shape(1), kinds = statistics.shape(1), wide = sums.shape(2);
    if (statistics.shape(0) != count || buckets.shape(0) != count || sums.shape(1) != columns || sums.shape(3) != kinds) {
        throw nb::value_error("a node, statistics and buckets for each example");
    }
    const int32_t *node = node_ids.data(), *bucket = buckets.data();
    const float* given = statistics.data();
    float* sum = sums.data();
    const int64_t nodes = static_cast<int64_t>(sums.shape(0));
    for (size_t i = 0; i < count; ++i) {
        if (node[i] < 0 || node[i] >= nodes) throw nb::index_error("node");
    }
    std::atomic<bool> outside{false};
    {
        nb::gil_scoped_release unlocked;
        // Each thread has columns of its own.
        in_parallel(columns, std::max<size_t>(1, GRAIN / std::max<size_t>(1, count)), threads, [&](size_t begin, size_t end) {
            for (size_t i = 0; i < count; ++i) {
                float* const of_node = sum + static_cast<size_t>(node[i]) * columns * wide * kinds;
                const float* const own = given + i * kinds;
                for (size_t c = begin; c < end; ++c) {
                    const int32_t b = bucket[i * columns + c];
                    if (b < 0 || static_cast<size_t>(b) >= wide) {
                        outside = true;
                        continue;
                    }
                    float* const cell = of_node + (c * wide + static_cast<size_t>(b)) * kinds;
                    for (size_t k = 0; k < kinds; ++k) cell[k] += own[k];
                }
            }
        });
    }
    if (outside) throw nb::index_error("bucket");
}

}  // namespace

void add_trees(nb::module_& module) {
    module.def("walk_trees", &walk_trees, nb::arg("features").noconvert(), nb::arg("nodes").noconvert(), nb::arg("at").noconvert(),
               nb::arg("threads"), "Follows each example from the node where it is to a leaf.");
    module.def("sum_by_bucket", &sum_by_bucket, nb::arg("node_ids").noconvert(), nb::arg("statistics").noconvert(),
               nb::arg("buckets").noconvert(), nb::arg("sums").noconvert(), nb::arg("threads"),
               "Adds the statistics of examples to those of their node and buckets.");
}

}  // namespace everflow
