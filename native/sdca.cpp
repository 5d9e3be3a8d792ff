// Stochastic dual coordinate ascent: a pass over examples that changes the dual variable of each, and the weights with it.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "learning.h"

namespace nb = nanobind;

namespace everflow {
namespace {

template <typename T, int Rank>
using Array = nb::ndarray<T, nb::ndim<Rank>, nb::c_contig, nb::device::cpu>;

// Of a loss: what an example costs, what its dual variable is worth, and the dual variable that is worth most where all others stay.
// `curvature` is how fast the prediction for the example follows its dual variable.
struct Loss {
    virtual ~Loss() = default;
    virtual double primal(double label, double prediction) const = 0;
    virtual double dual(double label, double variable) const = 0;
    virtual double best(double label, double prediction, double variable, double curvature) const = 0;
    // How far the dual variable is from where this prediction would have it.
    virtual double residue(double label, double prediction, double variable) const = 0;
};

struct Squared final : Loss {
    double primal(double label, double prediction) const override { return 0.5 * (label - prediction) * (label - prediction); }
    double dual(double label, double variable) const override { return variable * (0.5 * variable - label); }
    double best(double label, double prediction, double variable, double curvature) const override {
        return variable + (label - prediction - variable) / (1 + curvature);
    }
    double residue(double label, double prediction, double variable) const override { return variable - (label - prediction); }
};

double within_margin(double label, double variable) { return label * std::min(1.0, std::max(0.0, label * variable)); }

struct Hinge final : Loss {
    double primal(double label, double prediction) const override { return std::max(0.0, 1 - label * prediction); }
    double dual(double label, double variable) const override {
        const double a = label * variable;
        return a < 0 || a > 1 ? std::numeric_limits<double>::infinity() : -a;
    }
    double best(double label, double prediction, double variable, double curvature) const override {
        // Where the features are all zero the prediction does not move, and one end of the range is best.
        if (curvature <= 0) return label * prediction < 1 ? label : 0.0;
        return within_margin(label, variable + (label - prediction) / curvature);
    }
    double residue(double label, double prediction, double variable) const override {
        return label * variable - (label * prediction < 1 ? 1.0 : 0.0);
    }
};

struct SmoothHinge final : Loss {
    double primal(double label, double prediction) const override {
        const double margin = label * prediction;
        return margin >= 1 ? 0 : margin <= 0 ? 0.5 - margin : 0.5 * (1 - margin) * (1 - margin);
    }
    double dual(double label, double variable) const override {
        const double a = label * variable;
        return a < 0 || a > 1 ? std::numeric_limits<double>::infinity() : -a + 0.5 * a * a;
    }
    double best(double label, double prediction, double variable, double curvature) const override {
        return within_margin(label, variable + (label - prediction - variable) / (1 + curvature));
    }
    double residue(double label, double prediction, double variable) const override {
        return label * variable - std::min(1.0, std::max(0.0, 1 - label * prediction));
    }
};

// The zero of a function that falls from one end of a range to the other: Newton's steps, and halves where they lead astray.
template <typename Function>
double zero_of(double low, double high, double x, const Function& function) {
    for (int i = 0; i < 60 && high - low > 1e-12; ++i) {
        const auto [value, slope] = function(x);
        if (value == 0) return x;
        (value > 0 ? low : high) = x;
        double next = x - value / slope;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        if (std::abs(next - x) < 1e-12) return next;
        x = next;
    }
    return x;
}

struct Logistic final : Loss {
    double primal(double label, double prediction) const override {
        const double margin = label * prediction;
        return margin > 0 ? std::log1p(std::exp(-margin)) : std::log1p(std::exp(margin)) - margin;
    }
    double dual(double label, double variable) const override {
        const double a = label * variable;
        if (a < 0 || a > 1) return std::numeric_limits<double>::infinity();
        return (a > 0 ? a * std::log(a) : 0) + (a < 1 ? (1 - a) * std::log1p(-a) : 0);
    }
    // With a = 1 / (1 + exp(-t)), what is looked for solves t + label * prediction + curvature * (a - a0) = 0.
    double best(double label, double prediction, double variable, double curvature) const override {
        const double margin = label * prediction, before = label * variable;
        const double t = zero_of(-margin - curvature - 1, -margin + curvature + 1, -margin, [&](double t) {
            const double a = 1 / (1 + std::exp(-t));
            return std::pair<double, double>(-(t + margin + curvature * (a - before)), -(1 + curvature * a * (1 - a)));
        });
        return label / (1 + std::exp(-t));
    }
    double residue(double label, double prediction, double variable) const override {
        return label * variable - 1 / (1 + std::exp(label * prediction));
    }
};

struct Poisson final : Loss {
    double primal(double label, double prediction) const override { return std::exp(prediction) - prediction * label; }
    double dual(double label, double variable) const override {
        const double rate = label - variable;
        if (rate < 0) return std::numeric_limits<double>::infinity();
        return rate > 0 ? rate * (std::log(rate) - 1) : 0;
    }
    // With rate = label - variable = exp(t), what is looked for solves t = prediction + curvature * (label - exp(t) - variable).
    double best(double label, double prediction, double variable, double curvature) const override {
        const double most = prediction + curvature * (label - variable);
        const double low = std::min(most, prediction) - curvature * std::exp(std::min(700.0, std::max(most, 0.0))) - 1;
        const double t = zero_of(low, most + 1e-9, std::min(prediction, most), [&](double t) {
            const double rate = std::exp(t);
            return std::pair<double, double>(most - curvature * rate - t, -curvature * rate - 1);
        });
        return label - std::exp(t);
    }
    double residue(double label, double prediction, double variable) const override { return variable - (label - std::exp(prediction)); }
};

const Loss& loss_of(const std::string& name) {
    static const Squared squared;
    static const Hinge hinge;
    static const SmoothHinge smooth_hinge;
    static const Logistic logistic;
    static const Poisson poisson;
    if (name == "squared_loss") return squared;
    if (name == "hinge_loss") return hinge;
    if (name == "smooth_hinge_loss") return smooth_hinge;
    if (name == "logistic_loss") return logistic;
    return poisson;
}

float shrunk(float weight, float by) { return std::copysign(std::max(std::abs(weight) - by, 0.0f), weight); }

// Examples are rows of a sparse matrix: starts, columns and values. `state` has a row for each: dual variable, both losses and the weight.
// `changes` are what is to be added to the weights. Which examples are taken, and in which order, `order` says.
void sdca_pass(Array<int64_t, 1> order, Array<int64_t, 1> starts, Array<int64_t, 1> columns, Array<float, 1> values, Array<float, 1> weights,
               Array<float, 1> changes, Array<float, 1> labels, Array<float, 1> example_weights, Array<float, 2> state, const std::string& kind,
               double l1, double l2, double partitions) {
    const Loss& loss = loss_of(kind);
    const bool signs = kind == "logistic_loss" || kind == "hinge_loss" || kind == "smooth_hinge_loss";
    const int64_t *start = starts.data(), *column = columns.data();
    const float *value = values.data(), *weight = weights.data();
    float *change = changes.data(), *rows = state.data();
    const float shrinkage = static_cast<float>(l1 / l2);
    nb::gil_scoped_release unlocked;
    for (size_t k = 0; k < order.size(); ++k) {
        const int64_t i = order.data()[k];
        double before = 0, now = 0, norm = 0;
        for (int64_t j = start[i]; j < start[i + 1]; ++j) {
            const int64_t c = column[j];
            const double x = value[j];
            before += x * shrunk(weight[c], shrinkage);
            now += x * shrunk(weight[c] + change[c] * static_cast<float>(partitions), shrinkage);
            norm += x * x;
        }
        norm /= l2;
        const double example_weight = example_weights.data()[i];
        const double label = signs ? (labels.data()[i] > 0 ? 1.0 : -1.0) : labels.data()[i];
        float* const row = rows + 4 * i;
        const double variable = row[0];
        const double next = loss.best(label, now, variable, partitions * example_weight * norm);
        const float step = static_cast<float>((next - variable) * example_weight / l2);
        for (int64_t j = start[i]; j < start[i + 1]; ++j) change[column[j]] += step * value[j];
        row[0] = static_cast<float>(next);
        row[1] = static_cast<float>(example_weight * loss.primal(label, before));
        row[2] = static_cast<float>(example_weight * loss.dual(label, variable));
        row[3] = static_cast<float>(example_weight);
    }
}

// How much each example is out of balance: examples with much to win are sampled more often.
void sdca_residues(Array<int64_t, 1> starts, Array<int64_t, 1> columns, Array<float, 1> values, Array<float, 1> weights,
                   Array<float, 1> labels, Array<float, 1> example_weights, Array<float, 2> state, const std::string& kind, double l1, double l2,
                   Array<double, 1> out) {
    const Loss& loss = loss_of(kind);
    const bool signs = kind == "logistic_loss" || kind == "hinge_loss" || kind == "smooth_hinge_loss";
    const float shrinkage = static_cast<float>(l1 / l2);
    nb::gil_scoped_release unlocked;
    for (size_t i = 0; i < out.size(); ++i) {
        double prediction = 0, norm = 0;
        for (int64_t j = starts.data()[i]; j < starts.data()[i + 1]; ++j) {
            const double x = values.data()[j];
            prediction += x * shrunk(weights.data()[columns.data()[j]], shrinkage);
            norm += x * x;
        }
        const double label = signs ? (labels.data()[i] > 0 ? 1.0 : -1.0) : labels.data()[i];
        const double example_weight = example_weights.data()[i];
        out.data()[i] = std::abs(loss.residue(label, prediction, state.data()[4 * i])) * example_weight * std::sqrt(norm / l2 + 1);
    }
}

// Which examples a pass takes, `out.size()` of them: drawn by their chances, each draw of an example leaving a tenth of them for the next;
// what draws do not fill goes to those that were never drawn, the likeliest first.
void sdca_draw(Array<double, 1> chances, uint64_t seed, Array<int64_t, 1> out) {
    const size_t count = chances.size();
    const double* chance = chances.data();
    int64_t* picked = out.data();
    nb::gil_scoped_release unlocked;
    std::vector<double> sums(count);
    std::partial_sum(chance, chance + count, sums.begin());
    std::vector<int> times(count, 0);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    size_t filled = 0;
    for (size_t misses = 0; filled < count && misses < count;) {
        const size_t i = std::min<size_t>(std::upper_bound(sums.begin(), sums.end(), uniform(random) * sums.back()) - sums.begin(), count - 1);
        if (uniform(random) > std::pow(0.1, times[i])) {
            ++misses;
            continue;
        }
        ++times[i];
        picked[filled++] = static_cast<int64_t>(i);
    }
    std::vector<int64_t> never;
    for (size_t i = 0; i < count; ++i)
        if (!times[i]) never.push_back(static_cast<int64_t>(i));
    std::stable_sort(never.begin(), never.end(), [&](int64_t a, int64_t b) { return chance[a] > chance[b]; });
    // Draws that were kept twice leave more examples over than places.
    for (size_t i = 0; i < never.size() && filled < count; ++i) picked[filled++] = never[i];
}

// Whether a row has a column twice.
bool sdca_repeats_columns(Array<int64_t, 1> starts, Array<int64_t, 1> columns, int64_t width) {
    const int64_t *start = starts.data(), *column = columns.data();
    const int64_t rows = static_cast<int64_t>(starts.size()) - 1;
    nb::gil_scoped_release unlocked;
    std::vector<int64_t> last_row(width, -1);
    for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = start[i]; j < start[i + 1]; ++j) {
            if (last_row[column[j]] == i) return true;
            last_row[column[j]] = i;
        }
    }
    return false;
}

}  // namespace

void add_sdca(nb::module_& module) {
    module.def("sdca_pass", &sdca_pass, nb::arg("order").noconvert(), nb::arg("starts").noconvert(), nb::arg("columns").noconvert(),
               nb::arg("values").noconvert(), nb::arg("weights").noconvert(), nb::arg("changes").noconvert(), nb::arg("labels").noconvert(),
               nb::arg("example_weights").noconvert(), nb::arg("state").noconvert(), nb::arg("kind"), nb::arg("l1"), nb::arg("l2"),
               nb::arg("partitions"), "A pass of dual coordinate ascent over examples, which are rows of a sparse matrix.");
    module.def("sdca_residues", &sdca_residues, nb::arg("starts").noconvert(), nb::arg("columns").noconvert(), nb::arg("values").noconvert(),
               nb::arg("weights").noconvert(), nb::arg("labels").noconvert(), nb::arg("example_weights").noconvert(),
               nb::arg("state").noconvert(), nb::arg("kind"), nb::arg("l1"), nb::arg("l2"), nb::arg("out").noconvert(),
               "How much a dual step could win for each example.");
    module.def("sdca_draw", &sdca_draw, nb::arg("chances").noconvert(), nb::arg("seed"), nb::arg("out").noconvert(),
               "The examples that a pass takes, drawn by their chances.");
    module.def("sdca_repeats_columns", &sdca_repeats_columns, nb::arg("starts").noconvert(), nb::arg("columns").noconvert(), nb::arg("width"),
               "Whether a row of a sparse matrix has a column twice.");
}

}  // namespace everflow
