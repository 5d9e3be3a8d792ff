// Trees of gradient boosting with features of several kinds: the way of examples to leaves, and the search for splits.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "learning.h"
#include "parallel.h"

namespace nb = nanobind;

namespace everflow {
namespace {

template <typename T, int Rank>
using Array = nb::ndarray<T, nb::ndim<Rank>, nb::c_contig, nb::device::cpu>;

constexpr size_t GRAIN = 256;

// What a node is: the number of its field in the message.
enum Kind : int64_t { kLeaf = 1, kDense, kSparseLeft, kSparseRight, kEqual, kMember, kLayerDense, kLayerEqual };

// Rows of examples. Sparse columns say where the entries of each row start; `dimensions` is how wide each of them is.
struct Examples {
    size_t count;
    Array<const float, 2> dense;
    Array<const int64_t, 2> float_starts;
    Array<const int64_t, 1> float_dimensions, float_ids;
    Array<const float, 1> float_values;
    Array<const int64_t, 2> int_starts;
    Array<const int64_t, 1> int_values;

    // The number of an example in a sparse column: nothing where it has none.
    const float* number(size_t column, size_t row, int64_t dimension) const {
        const int64_t* starts = float_starts.data() + column * (count + 1) + row;
        const float* values = float_values.data();
        if (float_dimensions.data()[column] <= 1) return starts[0] < starts[1] ? values + starts[0] : nullptr;
        for (int64_t i = starts[0]; i < starts[1]; ++i) {
            if (float_ids.data()[i] == dimension) return values + i;
        }
        return nullptr;
    }

    std::pair<const int64_t*, const int64_t*> ids(size_t column, size_t row) const {
        const int64_t* starts = int_starts.data() + column * (count + 1) + row;
        return {int_values.data() + starts[0], int_values.data() + starts[1]};
    }
};

// Seven numbers a node: its kind, the column that it looks at, a dimension or an id, the two nodes below, and a range of `members`.
struct Trees {
    Array<const int64_t, 2> nodes;
    Array<const float, 1> thresholds;
    Array<const int64_t, 1> members;
    Array<const int64_t, 1> tree_starts;
    // What each node adds to which logits.
    Array<const int64_t, 1> leaf_starts, leaf_logits;
    Array<const float, 1> leaf_values;

    // The leaf of an example in a tree; -1 where the tree makes no sense for it.
    int64_t leaf(size_t tree, size_t row, const Examples& examples) const {
        const int64_t first = tree_starts.data()[tree], count = tree_starts.data()[tree + 1] - first;
        int64_t at = 0, among = 0;
        for (int64_t step = 0; step <= count && at >= 0 && at < count; ++step) {
            const int64_t* node = nodes.data() + 7 * (first + at);
            const auto column = static_cast<size_t>(node[1]);
            const float threshold = thresholds.data()[first + at];
            switch (node[0]) {
                case kLeaf: {
                    const int64_t found = at + among;
                    return found < count && nodes.data()[7 * (first + found)] == kLeaf ? found : -1;
                }
                case kDense:
                case kLayerDense: {
                    if (node[1] < 0 || column >= examples.dense.shape(1)) return -1;
                    const bool is_left = examples.dense.data()[row * examples.dense.shape(1) + column] <= threshold;
                    if (node[0] == kDense) {
                        at = is_left ? node[3] : node[4];
                    } else {
                        among = 2 * among + !is_left;
                        ++at;
                    }
                    break;
                }
                case kSparseLeft:
                case kSparseRight: {
                    if (node[1] < 0 || column >= examples.float_starts.shape(0)) return -1;
                    const float* value = examples.number(column, row, node[2]);
                    at = (value ? *value <= threshold : node[0] == kSparseLeft) ? node[3] : node[4];
                    break;
                }
                case kEqual:
                case kLayerEqual:
                case kMember: {
                    if (node[1] < 0 || column >= examples.int_starts.shape(0)) return -1;
                    const auto [begin, end] = examples.ids(column, row);
                    bool is_left;
                    if (node[0] == kMember) {
                        const int64_t *low = members.data() + node[5], *high = members.data() + node[6];
                        is_left = std::any_of(begin, end, [=](int64_t id) { return std::binary_search(low, high, id); });
                    } else {
                        is_left = std::find(begin, end, node[2]) != end;
                    }
                    if (node[0] == kLayerEqual) {
                        among = 2 * among + !is_left;
                        ++at;
                    } else {
                        at = is_left ? node[3] : node[4];
                    }
                    break;
                }
                default: return -1;
            }
        }
        return -1;
    }

    void partition(const Examples& examples, size_t tree, Array<int32_t, 1> places, size_t threads) const {
        if (tree + 1 >= tree_starts.shape(0) || places.shape(0) != examples.count) throw nb::value_error("a place for each example");
        std::atomic<bool> lost{false};
        {
            nb::gil_scoped_release unlocked;
            in_parallel(examples.count, GRAIN, threads, [&](size_t begin, size_t end) {
                for (size_t i = begin; i < end; ++i) {
                    const int64_t found = leaf(tree, i, examples);
                    places.data()[i] = static_cast<int32_t>(found);
                    if (found < 0) lost = true;
                }
            });
        }
        if (lost) throw nb::value_error("Invalid tree");
    }

    // Adds what trees say, each by its weight; `places` gets the leaves where it has a column for each tree.
    void predict(const Examples& examples, Array<const int32_t, 1> chosen, Array<const float, 1> weights, Array<float, 2> logits,
                 Array<int32_t, 2> places, size_t threads) const {
        const size_t width = logits.shape(1), count = tree_starts.shape(0) - 1;
        if (logits.shape(0) != examples.count || weights.shape(0) != chosen.shape(0)) throw nb::value_error("logits for each example");
        if (places.shape(1) && (places.shape(0) != examples.count || places.shape(1) != count)) throw nb::value_error("a place a tree");
        for (size_t k = 0; k < chosen.shape(0); ++k) {
            if (chosen.data()[k] < 0 || static_cast<size_t>(chosen.data()[k]) >= count) throw nb::index_error("tree");
        }
        for (size_t i = 0; i < leaf_logits.shape(0); ++i) {
            if (leaf_logits.data()[i] < 0 || static_cast<size_t>(leaf_logits.data()[i]) >= width) throw nb::index_error("logit");
        }
        std::atomic<bool> lost{false};
        {
            nb::gil_scoped_release unlocked;
            in_parallel(examples.count, GRAIN, threads, [&](size_t begin, size_t end) {
                for (size_t i = begin; i < end; ++i) {
                    float* const row = logits.data() + i * width;
                    for (size_t k = 0; k < chosen.shape(0); ++k) {
                        const auto tree = static_cast<size_t>(chosen.data()[k]);
                        const int64_t found = leaf(tree, i, examples);
                        if (found < 0) {
                            lost = true;
                            break;
                        }
                        if (places.shape(1)) places.data()[i * count + tree] = static_cast<int32_t>(found);
                        const int64_t* range = leaf_starts.data() + tree_starts.data()[tree] + found;
                        for (int64_t v = range[0]; v < range[1]; ++v) {
                            row[leaf_logits.data()[v]] += weights.data()[k] * leaf_values.data()[v];
                        }
                    }
                }
            });
        }
        if (lost) throw nb::value_error("Invalid tree");
    }
};

using Statistics = std::vector<float>;

// What becomes of splits, a row for each: gain, the row of the statistics, whether examples without a number go right, what the leaves on
// both sides add, and whether they add anything.
struct Found {
    Array<float, 1> gains;
    Array<int64_t, 1> places;
    Array<bool, 1> goes_right;
    Array<float, 3> leaves;
    Array<bool, 2> filled;
};

enum Strategy : int { kTreePerClass = 1, kFullHessian, kDiagonalHessian };

// The solution of a square system by reflections, columns in the order of what is left of them; where columns depend on others, zeros.
std::vector<double> solved(std::vector<double> a, std::vector<double> b) {
    const size_t n = b.size();
    std::vector<size_t> order(n);
    for (size_t i = 0; i < n; ++i) order[i] = i;
    const auto rest = [&](size_t from, size_t column) {
        double sum = 0;
        for (size_t i = from; i < n; ++i) sum += a[i * n + column] * a[i * n + column];
        return std::sqrt(sum);
    };
    double greatest = 0;
    for (size_t j = 0; j < n; ++j) greatest = std::max(greatest, rest(0, j));
    size_t rank = 0;
    for (; rank < n; ++rank) {
        size_t best = rank;
        for (size_t j = rank + 1; j < n; ++j) {
            if (rest(rank, j) > rest(rank, best)) best = j;
        }
        const double norm = rest(rank, best);
        if (norm <= greatest * std::numeric_limits<float>::epsilon() / static_cast<double>(n)) break;
        std::swap(order[rank], order[best]);
        for (size_t i = 0; i < n; ++i) std::swap(a[i * n + rank], a[i * n + best]);
        std::vector<double> mirror(n, 0.0);
        for (size_t i = rank; i < n; ++i) mirror[i] = a[i * n + rank];
        mirror[rank] += mirror[rank] < 0 ? -norm : norm;
        double square = 0;
        for (size_t i = rank; i < n; ++i) square += mirror[i] * mirror[i];
        const auto reflect = [&](double* column, size_t stride) {
            double product = 0;
            for (size_t i = rank; i < n; ++i) product += mirror[i] * column[i * stride];
            for (size_t i = rank; i < n; ++i) column[i * stride] -= 2 * product / square * mirror[i];
        };
        for (size_t j = rank; j < n; ++j) reflect(a.data() + j, n);
        reflect(b.data(), 1);
    }
    std::vector<double> found(n, 0.0);
    for (size_t i = rank; i-- > 0;) {
        double value = b[i];
        for (size_t j = i + 1; j < rank; ++j) value -= a[i * n + j] * found[order[j]];
        found[order[i]] = value / a[i * n + i];
    }
    return found;
}

bool almost_zero(const float* numbers, size_t count) {
    constexpr float little = 1e-6f;
    double sum = 0;
    for (size_t i = 0; i < count; ++i) {
        sum += numbers[i] * numbers[i];
        if (sum > little * little) return false;
    }
    return true;
}

// Searches for the splits of nodes, whose statistics lie one after the other: gradients, then hessians.
class SplitSearch {
  public:
    SplitSearch(float l1, float l2, float complexity, float least_weight, int strategy, float scale)
        : l1_(l1), l2_(l2), complexity_(complexity), least_weight_(least_weight), strategy_(strategy), scale_(scale) {
        if (strategy < kTreePerClass || strategy > kDiagonalHessian) throw nb::value_error("Unknown multi-class strategy");
    }

    using Matrix = Array<const float, 2>;
    using Bounds = Array<const int64_t, 1>;

    // Between buckets: those up to one go left.
    void ordered(Bounds starts, Matrix gradients, Matrix hessians, Found found) {
        take(gradients, hessians, found, starts);
        for (size_t root = 0; root + 1 < starts.shape(0); ++root) {
            const int64_t begin = starts.data()[root], end = starts.data()[root + 1];
            const Statistics whole = summed(begin, end);
            Best best(*this, begin);
            Statistics left(size_, 0.0f);
            for (int64_t i = begin; i < end; ++i) {
                add(left, row(i));
                best.offer(left, minus(whole, left), i, false);
            }
            best.write(found, root, whole);
        }
    }

    // One id against all others. The first row of a node is its whole.
    void equal(Bounds starts, Matrix gradients, Matrix hessians, Found found) {
        take(gradients, hessians, found, starts);
        for (size_t root = 0; root + 1 < starts.shape(0); ++root) {
            const int64_t begin = starts.data()[root], end = starts.data()[root + 1];
            const Statistics whole = row(begin);
            Best best(*this, begin);
            for (int64_t i = begin + 1; i < end; ++i) {
                const Statistics left = row(i);
                best.offer(left, minus(whole, left), i, false);
            }
            best.write(found, root, whole);
        }
    }

    // Between buckets of sparse columns, dimension by dimension: examples without a number go to the side that gains more. The first row of
    // a node is its whole.
    void sparse(Bounds starts, Bounds dimensions, Matrix gradients, Matrix hessians, Found found) {
        take(gradients, hessians, found, starts);
        if (dimensions.shape(0) != gradients.shape(0)) throw nb::value_error("a dimension for each row");
        for (size_t root = 0; root + 1 < starts.shape(0); ++root) {
            const int64_t begin = starts.data()[root], end = starts.data()[root + 1];
            const Statistics whole = row(begin);
            Best best(*this, begin);
            for (int64_t from = begin + 1, to; from < end; from = to) {
                to = from + 1;
                while (to < end && dimensions.data()[to] == dimensions.data()[from]) ++to;
                const Statistics present = summed(from, to);
                const Statistics missing = minus(whole, present);
                const bool none_missing = is_almost_zero(missing);
                Statistics left(size_, 0.0f);
                for (int64_t i = from; i < to; ++i) {
                    add(left, row(i));
                    const Statistics right = minus(present, left);
                    best.offer(minus(whole, right), right, i, false);
                    if (!none_missing) best.offer(left, minus(whole, left), i, true);
                }
            }
            best.write(found, root, whole);
        }
    }

    // One split for all nodes: the id that gains most over all of them. Gains and places have one row; `adds_up` says whether ids are in an
    // order, so that all up to one go left, or else the first row of a node is its whole.
    void layer(Bounds starts, Bounds ids, bool adds_up, Matrix gradients, Matrix hessians, Found found) {
        const size_t roots = starts.shape(0) - 1;
        take(gradients, hessians, found, starts);
        std::vector<Statistics> whole(roots), left(roots, Statistics(size_, 0.0f));
        std::vector<int64_t> at(roots);
        int64_t id = std::numeric_limits<int64_t>::max(), last = -1, best_id = 0;
        for (size_t root = 0; root < roots; ++root) {
            const int64_t begin = starts.data()[root], end = starts.data()[root + 1];
            whole[root] = adds_up ? summed(begin, end) : row(begin);
            at[root] = begin + !adds_up;
            if (at[root] < static_cast<int64_t>(ids.shape(0))) id = std::min(id, ids.data()[at[root]]);
        }
        float best_gain = std::numeric_limits<float>::lowest();
        std::vector<Score> best(2 * roots), now(2 * roots);
        while (id > last) {
            last = id;
            int64_t next = -1;
            for (size_t root = 0; root < roots; ++root) {
                const int64_t end = starts.data()[root + 1];
                if (!adds_up) std::fill(left[root].begin(), left[root].end(), 0.0f);
                if (at[root] < end && ids.data()[at[root]] == id) add(left[root], row(at[root]++));
                if (at[root] < end && (ids.data()[at[root]] < next || next == -1)) next = ids.data()[at[root]];
            }
            float gain = 0;
            for (size_t root = 0; root < roots; ++root) {
                now[2 * root] = score(left[root]);
                now[2 * root + 1] = score(minus(whole[root], left[root]));
                gain += now[2 * root].gain + now[2 * root + 1].gain;
            }
            if (gain > best_gain) {
                best_gain = gain;
                best = now;
                best_id = id;
            }
            id = next;
        }
        for (size_t root = 0; root < roots; ++root) {
            best_gain -= score(whole[root]).gain;
            write_leaf(found, root, 0, best[2 * root]);
            write_leaf(found, root, 1, best[2 * root + 1]);
        }
        found.gains.data()[0] = best_gain - static_cast<float>(roots) * complexity_;
        found.places.data()[0] = best_id;
    }

  private:
    // What a leaf gains and adds; it may add nothing at all.
    struct Score {
        float gain = 0;
        std::vector<float> adds;
    };

    struct Best {
        Best(const SplitSearch& owner, int64_t begin) : search(owner), place(begin) {}

        void offer(const Statistics& left_side, const Statistics& right_side, int64_t at, bool default_right) {
            Score one = search.score(left_side), other = search.score(right_side);
            if (one.gain + other.gain > gain) {
                gain = one.gain + other.gain;
                left = std::move(one);
                right = std::move(other);
                place = at;
                goes_right = default_right;
            }
        }

        void write(Found& found, size_t root, const Statistics& whole) const {
            found.gains.data()[root] = gain - search.score(whole).gain - search.complexity_;
            found.places.data()[root] = place;
            found.goes_right.data()[root] = goes_right;
            search.write_leaf(found, root, 0, left);
            search.write_leaf(found, root, 1, right);
        }

        const SplitSearch& search;
        float gain = std::numeric_limits<float>::lowest();
        Score left, right;
        int64_t place;
        bool goes_right = false;
    };

    void take(const Matrix& gradients, const Matrix& hessians, const Found& found, const Bounds& starts) {
        gradients_ = gradients.data();
        hessians_ = hessians.data();
        wide_ = gradients.shape(1);
        size_ = wide_ + hessians.shape(1);
        logits_ = strategy_ == kTreePerClass ? 1 : wide_;
        const size_t wanted = strategy_ == kFullHessian ? wide_ * wide_ : wide_;
        if (!wide_ || hessians.shape(0) != gradients.shape(0) || (strategy_ != kTreePerClass && hessians.shape(1) != wanted) ||
            hessians.shape(1) == 0) {
            throw nb::value_error("gradients and hessians of another shape than the strategy needs");
        }
        const size_t roots = starts.shape(0) ? starts.shape(0) - 1 : 0;
        if (found.leaves.shape(0) != roots || found.leaves.shape(1) != 2 || found.leaves.shape(2) != logits_ || found.filled.shape(0) != roots) {
            throw nb::value_error("a row for each node");
        }
        for (size_t i = 0; i < starts.shape(0); ++i) {
            const int64_t start = starts.data()[i];
            if (start < (i ? starts.data()[i - 1] : 0) || start > static_cast<int64_t>(gradients.shape(0))) throw nb::index_error("start");
        }
    }

    Statistics unscaled(int64_t at) const {
        const float* gradient = gradients_ + static_cast<size_t>(at) * wide_;
        const float* hessian = hessians_ + static_cast<size_t>(at) * (size_ - wide_);
        Statistics found(gradient, gradient + wide_);
        found.insert(found.end(), hessian, hessian + (size_ - wide_));
        return found;
    }

    Statistics row(int64_t at) const {
        Statistics found = unscaled(at);
        for (float& number : found) number *= scale_;
        return found;
    }

    Statistics summed(int64_t begin, int64_t end) const {
        Statistics found(size_, 0.0f);
        for (int64_t i = begin; i < end; ++i) add(found, unscaled(i));
        for (float& number : found) number *= scale_;
        return found;
    }

    static void add(Statistics& sum, const Statistics& more) {
        for (size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
    }

    static Statistics minus(const Statistics& a, const Statistics& b) {
        Statistics found(a.size());
        for (size_t i = 0; i < a.size(); ++i) found[i] = a[i] - b[i];
        return found;
    }

    bool is_almost_zero(const Statistics& of) const { return almost_zero(of.data(), wide_) && almost_zero(of.data() + wide_, size_ - wide_); }

    Score score(const Statistics& of) const {
        Score found;
        const float *g = of.data(), *h = of.data() + wide_;
        if (strategy_ == kTreePerClass) {
            found.adds.assign(1, 0.0f);
            float gradient = g[0];
            if (is_almost_zero(of) || h[0] <= least_weight_ || (l1_ > 0 && std::abs(gradient) <= l1_)) return found;
            if (l1_ > 0) gradient += gradient > 0 ? -l1_ : l1_;
            found.adds[0] = -gradient / (h[0] + l2_);
            found.gain = found.adds[0] * -gradient;
            return found;
        }
        double square = 0;
        for (size_t i = 0; i < size_ - wide_; ++i) square += h[i] * h[i];
        if (is_almost_zero(of) || static_cast<float>(std::sqrt(square)) <= least_weight_) return found;
        found.adds.resize(wide_);
        if (strategy_ == kDiagonalHessian) {
            for (size_t i = 0; i < wide_; ++i) {
                const float whole = h[i] + l2_;
                found.adds[i] = whole == 0 ? 0.0f : -(1.0f / whole) * g[i];
            }
        } else {
            std::vector<double> matrix(wide_ * wide_);
            for (size_t i = 0; i < wide_; ++i) {
                for (size_t j = 0; j < wide_; ++j) matrix[i * wide_ + j] = h[j * wide_ + i] + (i == j ? l2_ : 0.0f);
            }
            const std::vector<double> solution = solved(std::move(matrix), {g, g + wide_});
            for (size_t i = 0; i < wide_; ++i) found.adds[i] = static_cast<float>(-solution[i]);
        }
        for (size_t i = 0; i < wide_; ++i) found.gain += -g[i] * found.adds[i];
        return found;
    }

    void write_leaf(Found& found, size_t root, size_t side, const Score& of) const {
        found.filled.data()[2 * root + side] = !of.adds.empty();
        std::copy(of.adds.begin(), of.adds.end(), found.leaves.data() + (2 * root + side) * logits_);
    }

    float l1_, l2_, complexity_, least_weight_;
    int strategy_;
    float scale_;
    const float *gradients_ = nullptr, *hessians_ = nullptr;
    size_t wide_ = 0, size_ = 0, logits_ = 0;
};

}  // namespace

void add_gradient_trees(nb::module_& module) {
    nb::class_<Examples>(module, "TreeExamples", "Examples with dense, sparse and categorical columns.")
        .def("__init__",
             [](Examples* self, Array<const float, 2> dense, Array<const int64_t, 2> float_starts, Array<const int64_t, 1> float_dimensions,
                Array<const int64_t, 1> float_ids, Array<const float, 1> float_values, Array<const int64_t, 2> int_starts,
                Array<const int64_t, 1> int_values) {
                 const size_t count = dense.shape(0);
                 if (float_starts.shape(1) != count + 1 || int_starts.shape(1) != count + 1 ||
                     float_dimensions.shape(0) != float_starts.shape(0) || float_ids.shape(0) != float_values.shape(0)) {
                     throw nb::value_error("a start for each example");
                 }
                 const auto fits = [](const Array<const int64_t, 2>& starts, size_t size) {
                     for (size_t i = 0; i < starts.shape(0) * starts.shape(1); ++i) {
                         if (starts.data()[i] < 0 || starts.data()[i] > static_cast<int64_t>(size)) throw nb::index_error("start");
                     }
                 };
                 fits(float_starts, float_values.shape(0));
                 fits(int_starts, int_values.shape(0));
                 new (self) Examples{count, dense, float_starts, float_dimensions, float_ids, float_values, int_starts, int_values};
             })
        .def_ro("count", &Examples::count);
    nb::class_<Trees>(module, "TreeTable", "Trees as tables of nodes.")
        .def("__init__",
             [](Trees* self, Array<const int64_t, 2> nodes, Array<const float, 1> thresholds, Array<const int64_t, 1> members,
                Array<const int64_t, 1> tree_starts, Array<const int64_t, 1> leaf_starts, Array<const int64_t, 1> leaf_logits,
                Array<const float, 1> leaf_values) {
                 const size_t count = nodes.shape(0);
                 if (nodes.shape(1) != 7 || thresholds.shape(0) != count || leaf_starts.shape(0) != count + 1 ||
                     tree_starts.shape(0) == 0 || leaf_logits.shape(0) != leaf_values.shape(0)) {
                     throw nb::value_error("seven numbers a node");
                 }
                 new (self) Trees{nodes, thresholds, members, tree_starts, leaf_starts, leaf_logits, leaf_values};
             })
        .def("partition", &Trees::partition, nb::arg("examples"), nb::arg("tree"), nb::arg("places").noconvert(), nb::arg("threads"),
             "The leaf of each example in a tree.")
        .def("predict", &Trees::predict, nb::arg("examples"), nb::arg("chosen"), nb::arg("weights"), nb::arg("logits").noconvert(),
             nb::arg("places").noconvert(), nb::arg("threads"), "Adds what trees say of examples to their logits.");
    nb::class_<Found>(module, "FoundSplits", "Arrays for what a search finds.")
        .def("__init__",
             [](Found* self, Array<float, 1> gains, Array<int64_t, 1> places, Array<bool, 1> goes_right, Array<float, 3> leaves,
                Array<bool, 2> filled) { new (self) Found{gains, places, goes_right, leaves, filled}; },
             nb::arg("gains").noconvert(), nb::arg("places").noconvert(), nb::arg("goes_right").noconvert(), nb::arg("leaves").noconvert(),
             nb::arg("filled").noconvert());
    nb::class_<SplitSearch>(module, "SplitSearch", "Searches for splits by what their leaves gain.")
        .def(nb::init<float, float, float, float, int, float>(), nb::arg("l1"), nb::arg("l2"), nb::arg("complexity"), nb::arg("least_weight"),
             nb::arg("strategy"), nb::arg("scale"))
        .def("ordered", &SplitSearch::ordered, "Splits between buckets.")
        .def("equal", &SplitSearch::equal, "Splits of one id from all others.")
        .def("sparse", &SplitSearch::sparse, "Splits between buckets where numbers may be missing.")
        .def("layer", &SplitSearch::layer, "One split for all nodes.");
}

}  // namespace everflow
