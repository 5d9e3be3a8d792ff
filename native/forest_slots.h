// Random forests: what a leaf that may be split knows of its candidates, the tests that might split it.
#pragma once

#include <algorithm>
#include <cfloat>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <unordered_map>
#include <utility>

#include "forest.h"

namespace everflow::forest {

using SparseCounts = std::unordered_map<int64_t, float>;

// What a leaf answers: counts of classes, dense or sparse, or means.
struct Leaf {
    bool is_sparse = false;
    std::vector<float> dense;
    SparseCounts sparse;
};

struct Split {
    Test test;
    Leaf left, right;
};

inline std::string vector_message(const std::vector<float>& values) {
    std::string out;
    for (const float one : values) put_bytes(out, 1, value_message(one));
    return out;
}

inline std::string sparse_vector_message(const SparseCounts& values) {
    std::string out;
    for (const auto& [key, value] : values) {
        std::string entry;
        put_number(entry, 1, key);
        put_bytes(entry, 2, value_message(value));
        put_bytes(out, 1, entry);
    }
    return out;
}

inline std::vector<float> vector_of(std::string_view message) {
    std::vector<float> out;
    for_each_field(message, [&](uint32_t field, uint64_t, std::string_view text) { if (field == 1) out.push_back(value_of(text)); });
    return out;
}

inline SparseCounts sparse_vector_of(std::string_view message) {
    SparseCounts out;
    for_each_field(message, [&](uint32_t field, uint64_t, std::string_view entry) {
        if (field != 1) return;
        int64_t key = 0;
        float value = 0;
        for_each_field(entry, [&](uint32_t inner, uint64_t number, std::string_view text) {
            if (inner == 1) key = static_cast<int64_t>(number);
            if (inner == 2) value = value_of(text);
        });
        out[key] = value;
    });
    return out;
}

// LeafStat in pieces: the sum of weights, and the first and second part of its statistics.
struct Statistics {
    float weight = 0;
    bool is_there = false;
    std::string_view first, second;
};

inline Statistics statistics_of(std::string_view message) {
    Statistics out;
    out.is_there = true;
    for_each_field(message, [&](uint32_t field, uint64_t, std::string_view text) {
        if (field == 3) out.weight = as_float(text);
        if (field == 1 || field == 2) {
            for_each_field(text, [&](uint32_t inner, uint64_t, std::string_view part) {
                if (inner == 1) out.first = part;
                if (inner == 2) out.second = part;
            });
        }
    });
    return out;
}

struct SavedCandidate {
    Test test;
    Statistics left, right;
};

struct SavedSlot {
    int32_t node = 0, depth = 0;
    Statistics total;
    std::vector<SavedCandidate> candidates;
};

// A leaf's candidates and what examples said about them.
class Slot {
  public:
    Slot(const Settings& settings, int32_t depth)
        : settings_(settings), depth_(depth), split_after_(static_cast<int>(settings.split_after.at(depth))),
          wanted_(static_cast<size_t>(std::max(0.0f, settings.splits_to_consider.at(depth)))) {}
    virtual ~Slot() = default;

    int32_t depth() const { return depth_; }
    virtual bool is_ready() const { return weight_ > 0 || tests_.size() == wanted_; }

    virtual void add_candidate(const Test& test, const Examples& data, const Targets& targets, size_t example) {
        (void)data, (void)targets, (void)example;
        if (tests_.size() < wanted_) append(test);
    }

    virtual void add(const Examples& data, const Targets& targets, size_t example) = 0;
    virtual bool is_finished() const = 0;
    virtual std::optional<Split> best() const = 0;
    virtual void save(std::string& slot) const = 0;
    virtual void load(const SavedSlot& saved) = 0;

  protected:
    virtual void grow_statistics() = 0;

    void append(const Test& test) {
        tests_.push_back(test);
        kept_.push_back(test);
        grow_statistics();
    }

    // LeafStat with its oneof: classification is 1, regression is 2.
    static std::string leaf_stat(std::optional<float> weight, uint32_t kind, const std::string& statistics) {
        std::string out;
        put_bytes(out, kind, statistics);
        if (weight && *weight != 0) put_float(out, 3, *weight);
        return out;
    }

    void save_candidate(std::string& slot, size_t i, const std::string& left, const std::string& right = {}) const {
        std::string candidate;
        put_bytes(candidate, 1, kept_[i].message());
        put_bytes(candidate, 4, left);
        if (!right.empty()) put_bytes(candidate, 5, right);
        put_bytes(slot, 1, candidate);
    }

    const Settings& settings_;
    const int32_t depth_;
    const int split_after_;
    const size_t wanted_;
    std::vector<Test> tests_, kept_;  // what examples are sent by, and what the tree gets: averaged thresholds come only there
    float weight_ = 0;
};

// One float too many or too few decides between splits: no fused multiplication.
inline float gini(float sum, float square, int classes) {
    const float smoothed = static_cast<float>(classes) + sum;
    return static_cast<float>(sum * static_cast<float>(1.0 - (square + 2 * sum + static_cast<float>(classes)) / (smoothed * smoothed)));
}

struct Sides {
    float left = 0, left_square = 0, right = 0, right_square = 0;
};

// Counts for every class.
class DenseCounts {
  public:
    explicit DenseCounts(const Settings& settings) : classes_(static_cast<size_t>(settings.outputs)), total_(classes_) {}

    void grow(size_t splits) { left_.resize(splits * classes_); }
    void remove(size_t split) {
        const auto begin = left_.begin() + static_cast<std::ptrdiff_t>(split * classes_);
        left_.erase(begin, begin + static_cast<std::ptrdiff_t>(classes_));
    }
    bool is_pure() const { return seen_ <= 1; }
    void add_left(size_t split, int32_t label, float weight) { left_[split * classes_ + static_cast<size_t>(label)] += weight; }
    void add_right(size_t, int32_t, float) {}
    void add_total(int32_t label, float weight) {
        seen_ += total_[static_cast<size_t>(label)] == 0 && weight > 0;
        total_[static_cast<size_t>(label)] += weight;
    }
    float left(size_t split, int32_t label) const { return left_[split * classes_ + static_cast<size_t>(label)]; }
    float right(size_t split, int32_t label) const { return total_[static_cast<size_t>(label)] - left(split, label); }
    Sides sides(size_t split) const {
        Sides s;
        for (size_t c = 0; c < classes_; ++c) {
            const float l = left_[split * classes_ + c], r = total_[c] - l;
            s.left += l;
            s.left_square += l * l;
            s.right += r;
            s.right_square += r * r;
        }
        return s;
    }
    void leaves(size_t split, Leaf& left, Leaf& right) const {
        left.dense.assign(left_.begin() + static_cast<std::ptrdiff_t>(split * classes_),
                          left_.begin() + static_cast<std::ptrdiff_t>((split + 1) * classes_));
        right.dense.resize(classes_);
        for (size_t c = 0; c < classes_; ++c) right.dense[c] = total_[c] - left.dense[c];
    }
    std::string save_total() const { return counts(vector_message(total_)); }
    std::string save_left(size_t split) const {
        Leaf left, right;
        leaves(split, left, right);
        return counts(vector_message(left.dense));
    }
    std::string save_right(size_t) const { return {}; }
    void load_total(std::string_view first, std::string_view) {
        total_ = vector_of(first);
        total_.resize(classes_);
        seen_ = static_cast<int>(std::count_if(total_.begin(), total_.end(), [](float x) { return x != 0; }));
    }
    // Returns the counts as they were saved.
    std::vector<float> load_split(size_t split, const SavedCandidate& saved) {
        std::vector<float> left = vector_of(saved.left.first);
        left.resize(classes_);
        std::copy(left.begin(), left.end(), left_.begin() + static_cast<std::ptrdiff_t>(split * classes_));
        return left;
    }

  private:
    static std::string counts(const std::string& vector) {
        std::string out;
        put_bytes(out, 1, vector);
        return out;
    }

    size_t classes_;
    std::vector<float> total_, left_;
    int seen_ = 0;
};

inline std::string sparse_counts_message(const SparseCounts& counts) {
    std::string out;
    put_bytes(out, 2, sparse_vector_message(counts));
    return out;
}

inline std::vector<float> values_of(const SparseCounts& counts) {
    std::vector<float> out;
    for (const auto& [label, value] : counts) out.push_back(value);
    return out;
}

// Counts for the classes that came.
class ClassesSeen {
  public:
    explicit ClassesSeen(const Settings&) {}

    void grow(size_t splits) { left_.resize(splits); }
    void remove(size_t split) { left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(split)); }
    bool is_pure() const { return total_.size() <= 1; }
    void add_left(size_t split, int32_t label, float weight) { left_[split][label] += weight; }
    void add_right(size_t, int32_t, float) {}
    void add_total(int32_t label, float weight) { total_[label] += weight; }
    float left(size_t split, int32_t label) const { return of(left_[split], label); }
    float right(size_t split, int32_t label) const { return of(total_, label) - left(split, label); }
    Sides sides(size_t split) const {
        Sides s;
        for (const auto& [label, total] : total_) {
            const float l = of(left_[split], label), r = total - l;
            s.left += l;
            s.left_square += l * l;
            s.right += r;
            s.right_square += r * r;
        }
        return s;
    }
    void leaves(size_t split, Leaf& left, Leaf& right) const {
        left.is_sparse = right.is_sparse = true;
        for (const auto& [label, total] : total_) {
            const auto found = left_[split].find(label);
            if (found == left_[split].end()) {
                right.sparse[label] = total;
                continue;
            }
            left.sparse[label] = found->second;
            if (total - found->second > 0) right.sparse[label] = total - found->second;
        }
    }
    std::string save_total() const { return sparse_counts_message(total_); }
    std::string save_left(size_t split) const { return sparse_counts_message(left_[split]); }
    std::string save_right(size_t) const { return {}; }
    void load_total(std::string_view, std::string_view second) { total_ = sparse_vector_of(second); }
    std::vector<float> load_split(size_t split, const SavedCandidate& saved) {
        left_[split] = sparse_vector_of(saved.left.second);
        return values_of(left_[split]);
    }

  private:
    static float of(const SparseCounts& counts, int64_t label) {
        const auto found = counts.find(label);
        return found == counts.end() ? 0.0f : found->second;
    }

    SparseCounts total_;
    std::vector<SparseCounts> left_;
};

// The heaviest classes of one side in fixed space (Metwally, Agrawal, El Abbadi: "SpaceSaving"): a new class takes over the lightest one.
class HeaviestClasses {
  public:
    HeaviestClasses(int tracked, int classes) : tracked_(static_cast<size_t>(tracked)), classes_(classes) {}

    void add(int32_t label, float weight) {
        const auto found = weights_.find(label);
        if (found != weights_.end()) {
            found->second += weight;
            if (label == lightest_) find_lightest();
        } else if (weights_.size() < tracked_) {
            weights_[label] = weight;
            if (weights_.size() == tracked_) find_lightest();
        } else {
            const auto old = weights_.find(lightest_);
            const float both = (old == weights_.end() ? 0.0f : old->second) + weight;
            if (old != weights_.end()) weights_.erase(old);
            weights_[label] = both;
            find_lightest();
        }
    }

    // Weights are taken to be overstated by half of the lightest, which is shared out among all classes.
    float of(int64_t label) const {
        const auto found = weights_.find(label);
        const float share = spread();
        return found == weights_.end() ? share : static_cast<float>(share + (found->second - lightest_weight() / 2.0));
    }

    void sums(float& sum, float& square) const {
        sum = square = 0;
        for (const auto& [label, weight] : weights_) {
            sum += weight;
            const float own = of(label);
            square += own * own;
        }
        square += static_cast<float>(classes_ - static_cast<int>(tracked_)) * spread() * spread();
    }

    const SparseCounts& weights() const { return weights_; }

    void load(std::string_view message) {
        weights_ = sparse_vector_of(message);
        if (weights_.size() == tracked_) find_lightest();
    }

  private:
    float lightest_weight() const {
        const auto found = weights_.find(lightest_);
        return found == weights_.end() ? 0.0f : found->second;
    }
    float spread() const { return static_cast<float>(lightest_weight() / 2.0 * static_cast<double>(tracked_) / static_cast<float>(classes_)); }
    void find_lightest() {
        float least = FLT_MAX;
        lightest_ = -1;
        for (const auto& [label, weight] : weights_) {
            if (weight < least) least = weight, lightest_ = label;
        }
    }

    size_t tracked_;
    int classes_;
    int64_t lightest_ = -1;
    SparseCounts weights_;
};

// Counts of the heaviest classes on either side.
class TrackedClasses {
  public:
    explicit TrackedClasses(const Settings& settings) : none_(settings.classes_to_track, settings.outputs) {}

    void grow(size_t splits) {
        left_.resize(splits, none_);
        right_.resize(splits, none_);
    }
    void remove(size_t split) {
        left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(split));
        right_.erase(right_.begin() + static_cast<std::ptrdiff_t>(split));
    }
    bool is_pure() const { return seen_.size() <= 1; }
    void add_left(size_t split, int32_t label, float weight) { left_[split].add(label, weight); }
    void add_right(size_t split, int32_t label, float weight) { right_[split].add(label, weight); }
    void add_total(int32_t label, float) {
        if (is_pure()) seen_.insert(label);
    }
    float left(size_t split, int32_t label) const { return left_[split].of(label); }
    float right(size_t split, int32_t label) const { return right_[split].of(label); }
    Sides sides(size_t split) const {
        Sides s;
        left_[split].sums(s.left, s.left_square);
        right_[split].sums(s.right, s.right_square);
        return s;
    }
    void leaves(size_t split, Leaf& left, Leaf& right) const {
        left.is_sparse = right.is_sparse = true;
        left.sparse = left_[split].weights();
        right.sparse = right_[split].weights();
    }
    std::string save_total() const { return {}; }
    std::string save_left(size_t split) const { return sparse_counts_message(left_[split].weights()); }
    std::string save_right(size_t split) const { return sparse_counts_message(right_[split].weights()); }
    void load_total(std::string_view, std::string_view) {}
    std::vector<float> load_split(size_t split, const SavedCandidate& saved) {
        left_[split].load(saved.left.second);
        right_[split].load(saved.right.second);
        return {};
    }

  private:
    HeaviestClasses none_;
    std::vector<HeaviestClasses> left_, right_;
    std::set<int32_t> seen_;
};

// Draws places in proportion to weights (Walker's alias method).
class Alias {
  public:
    explicit Alias(const std::vector<float>& weights) : chance_(weights.size(), 1.0), other_(weights.size()) {
        double sum = 0;
        for (const float w : weights) sum += w;
        std::vector<size_t> low, high;
        for (size_t i = 0; i < weights.size(); ++i) {
            other_[i] = i;
            chance_[i] = weights[i] * static_cast<double>(weights.size()) / sum;
            (chance_[i] < 1.0 ? low : high).push_back(i);
        }
        while (!low.empty() && !high.empty()) {
            const size_t l = low.back(), h = high.back();
            low.pop_back();
            high.pop_back();
            other_[l] = h;
            chance_[h] -= 1.0 - chance_[l];
            (chance_[h] < 1.0 ? low : high).push_back(h);
        }
        for (const size_t i : low) chance_[i] = 1.0;
        for (const size_t i : high) chance_[i] = 1.0;
    }

    size_t draw(Draws& draws) const {
        const float where = draws.unit() * static_cast<float>(chance_.size());
        const size_t i = std::min(static_cast<size_t>(where), chance_.size() - 1);
        return static_cast<double>(where - static_cast<float>(i)) < chance_[i] ? i : other_[i];
    }

  private:
    std::vector<double> chance_;
    std::vector<size_t> other_;
};

// Candidates are good where the classes on either side are few: the smallest sum of Gini impurities.
template <typename Counts>
class ClassSlot : public Slot {
  public:
    ClassSlot(const Settings& settings, int32_t depth) : Slot(settings, depth), counts_(settings) {
        finish_every_ = split_after_ * 2;
        min_split_ = split_after_;
        if (settings.finish != kFinishBasic) {
            if (settings.dominate.kind == ByDepth::kUnset || settings.min_split.kind == ByDepth::kUnset) {
                throw BadForest("dominate_fraction and min_split_samples required for early-finish strategy.");
            }
            min_split_ = static_cast<int>(settings.min_split.at(depth));
            finish_every_ = static_cast<int>(settings.finish_every.at(depth));
            if (finish_every_ <= 0) throw BadForest("An early-finish strategy needs check_every_steps.");
            finish_epoch_ = min_split_ / finish_every_;
            dominate_ = settings.dominate.at(depth);
            if (dominate_ <= 0 || dominate_ > 1.0f) throw BadForest("Invalid dominate fraction " + std::to_string(dominate_));
        }
        if (settings.pruning != kPruneNone) {
            prune_every_ = static_cast<int>(settings.prune_every.at(depth));
            if (settings.pruning == kPruneHoeffding) dominate_ = settings.dominate.at(depth);
        }
    }

    bool is_ready() const override { return weight_ > 0 || (tests_.size() == wanted_ && half_.empty()); }

    bool is_finished() const override {
        return (weight_ >= static_cast<float>(split_after_) && !counts_.is_pure()) || finishes_early_;
    }

    void add_candidate(const Test& test, const Examples& data, const Targets& targets, size_t example) override {
        const int32_t label = targets.label(example);
        if (tests_.size() < wanted_) {
            append(test);
            if (settings_.average_splits && test.kind != Test::kMatching) half_[tests_.size() - 1] = label;
        }
        if (!settings_.average_splits) return;
        // A threshold comes to lie halfway to the first example of another class.
        for (auto one = half_.begin(); one != half_.end();) {
            if (one->second == label) {
                ++one;
                continue;
            }
            Test& split = kept_[one->first];
            if (split.kind != Test::kOblique) split.threshold = (split.threshold + data.at(example, split.feature)) / 2;
            one = half_.erase(one);
        }
    }

    void add(const Examples& data, const Targets& targets, size_t example) override {
        const int32_t label = targets.label(example);
        const float weight = targets.weight(example);
        for (size_t i = 0; i < tests_.size(); ++i) {
            if (tests_[i].holds(data, example)) {
                if (settings_.running) update(left_, i, counts_.left(i, label), weight);
                counts_.add_left(i, label, weight);
            } else {
                if (settings_.running) update(right_, i, counts_.right(i, label), weight);
                counts_.add_right(i, label, weight);
            }
        }
        counts_.add_total(label, weight);
        weight_ += weight;
        check_finish();
        check_prune();
    }

    std::optional<Split> best() const override {
        float least = FLT_MAX;
        std::optional<size_t> found;
        for (size_t i = 0; i < tests_.size(); ++i) {
            float left, right;
            const float score = score_of(i, left, right);
            if (left > 0 && right > 0 && score < least) least = score, found = i;
        }
        if (!found) return std::nullopt;
        Split split{kept_[*found], {}, {}};
        counts_.leaves(*found, split.left, split.right);
        return split;
    }

    void save(std::string& slot) const override {
        for (size_t i = 0; i < tests_.size(); ++i) {
            const std::string right = counts_.save_right(i);
            save_candidate(slot, i, leaf_stat(std::nullopt, 1, counts_.save_left(i)), right.empty() ? right : leaf_stat(std::nullopt, 1, right));
        }
        put_bytes(slot, 6, leaf_stat(weight_, 1, counts_.save_total()));
    }

    void load(const SavedSlot& saved) override {
        if (!saved.total.is_there) return;
        weight_ = saved.total.weight;
        counts_.load_total(saved.total.first, saved.total.second);
        for (const auto& candidate : saved.candidates) {
            append(candidate.test);
            const std::vector<float> values = counts_.load_split(tests_.size() - 1, candidate);
            if (!settings_.running) continue;
            // As TensorFlow 1.15 does: both sides start from what was saved of the left.
            for (const float value : values) {
                update(left_, tests_.size() - 1, 0, value);
                update(right_, tests_.size() - 1, 0, value);
            }
        }
    }

  protected:
    void grow_statistics() override {
        counts_.grow(tests_.size());
        if (settings_.running) {
            left_.emplace_back();
            right_.emplace_back();
        }
    }

  private:
    struct Sums {
        float sum = 0, square = 0;
    };

    static void update(std::vector<Sums>& sums, size_t split, float before, float weight) {
        Sums& own = sums[split];
        own.sum += weight;
        const float after = before + weight;
        own.square = own.square - before * before + after * after;
    }

    float score_of(size_t split, float& left, float& right) const {
        Sides s;
        if (settings_.running) s = {left_[split].sum, left_[split].square, right_[split].sum, right_[split].square};
        else s = counts_.sides(split);
        left = s.left;
        right = s.right;
        return gini(s.left, s.left_square, settings_.outputs) + gini(s.right, s.right_square, settings_.outputs);
    }

    std::vector<float> scores() const {
        std::vector<float> out(tests_.size());
        float left, right;
        for (size_t i = 0; i < out.size(); ++i) out[i] = score_of(i, left, right);
        return out;
    }

    void remove(size_t split) {
        const auto place = static_cast<std::ptrdiff_t>(split);
        tests_.erase(tests_.begin() + place);
        kept_.erase(kept_.begin() + place);
        counts_.remove(split);
        if (settings_.running) {
            left_.erase(left_.begin() + place);
            right_.erase(right_.begin() + place);
        }
    }

    void check_finish() {
        if (weight_ < static_cast<float>(min_split_) || weight_ < static_cast<float>(finish_epoch_ * finish_every_)) return;
        ++finish_epoch_;
        if (settings_.finish == kFinishBasic) return;
        // The two best candidates: is the first surely better?
        float best = FLT_MAX, second = FLT_MAX;
        std::optional<size_t> best_at, second_at;
        const std::vector<float> all = scores();
        for (size_t i = 0; i < all.size(); ++i) {
            if (all[i] < best) {
                second = best, second_at = best_at;
                best = all[i], best_at = i;
            } else if (all[i] < second) {
                second = all[i], second_at = i;
            }
        }
        if (settings_.finish == kFinishHoeffding) {
            const auto range = static_cast<float>(0.25 * static_cast<float>(settings_.outputs) * weight_);
            const auto bound = static_cast<float>(range * std::sqrt(std::log(1.0 / (1.0 - dominate_)) / (2.0 * weight_)));
            finishes_early_ = second - best > bound;
        } else if (best_at && second_at) {
            finishes_early_ = surely_better(*best_at, *second_at);
        }
    }

    // Bootstrap samples of both: the worst of the first against the best of the second.
    bool surely_better(size_t best, size_t second) const {
        int samples = 1;
        for (float p = 1.0f - dominate_; p < 1.0f; p *= 2) ++samples;
        const Alias first_of(bootstrap_weights(best)), second_of(bootstrap_weights(second));
        Draws draws((static_cast<uint64_t>(std::random_device{}()) << 32) | std::random_device{}());
        int worst = 0, least = 99;
        for (int i = 0; i < samples; ++i) worst = std::max(worst, sampled_gini(first_of, draws));
        for (int i = 0; i < samples; ++i) least = std::min(least, sampled_gini(second_of, draws));
        return worst < least;
    }

    std::vector<float> bootstrap_weights(size_t split) const {
        const int classes = settings_.outputs;
        const float sum = static_cast<float>(static_cast<int>(weight_)) + static_cast<float>(classes);
        std::vector<float> out(2 * static_cast<size_t>(classes));
        for (int c = 0; c < classes; ++c) {
            out[static_cast<size_t>(c)] = (counts_.left(split, c) + 1.0f) / sum;
            out[static_cast<size_t>(classes + c)] = (counts_.right(split, c) + 1.0f) / sum;
        }
        return out;
    }

    int sampled_gini(const Alias& alias, Draws& draws) const {
        std::vector<int> counts(2 * static_cast<size_t>(settings_.outputs));
        for (int i = 0; i < static_cast<int>(weight_); ++i) ++counts[alias.draw(draws)];
        int squares = 0;
        for (const int one : counts) squares += one * one;
        return -squares;
    }

    void check_prune() {
        if (settings_.pruning == kPruneNone || is_finished() || weight_ < static_cast<float>(prune_epoch_ * prune_every_)) return;
        ++prune_epoch_;
        const std::vector<float> all = scores();
        if (settings_.pruning == kPruneHoeffding) {
            float best = FLT_MAX;
            for (const float one : all) best = std::min(best, one);
            const auto half_log = static_cast<float>(0.5 * std::log(1.0 / (1.0 - dominate_)));
            const auto range = static_cast<float>(weight_ * (1.0 - 1.0 / static_cast<float>(settings_.outputs)));
            const float epsilon = range * std::sqrt(half_log / weight_);
            for (size_t i = all.size(); i-- > 0;) {
                if (all[i] - best > epsilon) remove(i);
            }
            return;
        }
        static constexpr float FRACTIONS[] = {0, 0.5f, 0.25f, 0.10f};
        const auto count = static_cast<size_t>(static_cast<float>(all.size()) * FRACTIONS[settings_.pruning]);
        if (count == 0) return;
        // The worst have the highest scores; of equal ones at the border the last to come.
        std::set<std::pair<float, size_t>> worst;
        for (size_t i = 0; i < all.size(); ++i) {
            if (worst.size() < count) {
                worst.emplace(all[i], i);
            } else if (worst.begin()->first < all[i]) {
                worst.erase(worst.begin());
                worst.emplace(all[i], i);
            }
        }
        std::vector<size_t> order;
        for (const auto& [score, i] : worst) order.push_back(i);
        std::sort(order.rbegin(), order.rend());
        for (const size_t i : order) remove(i);
    }

    Counts counts_;
    int min_split_ = 0, finish_every_ = 0, finish_epoch_ = 1, prune_every_ = 0, prune_epoch_ = 1;
    float dominate_ = 0;
    bool finishes_early_ = false;
    std::vector<Sums> left_, right_;
    std::unordered_map<size_t, int32_t> half_;  // candidates whose threshold waits for an example of another class
};

// Candidates are good where the values on either side vary little.
class RegressionSlot : public Slot {
  public:
    RegressionSlot(const Settings& settings, int32_t depth)
        : Slot(settings, depth), outputs_(static_cast<size_t>(settings.outputs)), sum_(outputs_), square_(outputs_) {}

    bool is_finished() const override { return weight_ >= static_cast<float>(split_after_); }

    void add(const Examples& data, const Targets& targets, size_t example) override {
        if (targets.per_example < outputs_) throw BadForest("Examples have fewer targets than the forest has outputs.");
        for (size_t i = 0; i < tests_.size(); ++i) {
            if (!tests_[i].holds(data, example)) continue;
            for (size_t j = 0; j < outputs_; ++j) {
                const float y = targets.number(example, j);
                left_sum_[i * outputs_ + j] += y;
                left_square_[i * outputs_ + j] += y * y;
            }
            ++left_count_[i];
        }
        for (size_t j = 0; j < outputs_; ++j) {
            const float y = targets.number(example, j);
            sum_[j] += y;
            square_[j] += y * y;
        }
        weight_ += 1.0f;
    }

    std::optional<Split> best() const override {
        float least = FLT_MAX;
        std::optional<size_t> found;
        for (size_t i = 0; i < tests_.size(); ++i) {
            const auto left = static_cast<float>(left_count_[i]), right = weight_ - left;
            if (!(left > 0 && right > 0)) continue;
            const float score = variance(i, left, right);
            if (score < least) least = score, found = i;
        }
        if (!found) return std::nullopt;
        Split split{kept_[*found], {}, {}};
        const auto left = static_cast<float>(left_count_[*found]), right = weight_ - left;
        for (size_t j = 0; j < outputs_; ++j) {
            const float sum = left_sum_[*found * outputs_ + j];
            split.left.dense.push_back(sum / left);
            split.right.dense.push_back((sum_[j] - sum) / right);
        }
        return split;
    }

    void save(std::string& slot) const override {
        for (size_t i = 0; i < tests_.size(); ++i) {
            const auto begin = static_cast<std::ptrdiff_t>(i * outputs_), end = begin + static_cast<std::ptrdiff_t>(outputs_);
            const std::vector<float> sums(left_sum_.begin() + begin, left_sum_.begin() + end);
            const std::vector<float> squares(left_square_.begin() + begin, left_square_.begin() + end);
            save_candidate(slot, i, leaf_stat(static_cast<float>(left_count_[i]), 2, means(sums, squares)));
        }
        put_bytes(slot, 6, leaf_stat(weight_, 2, means(sum_, square_)));
    }

    void load(const SavedSlot& saved) override {
        if (!saved.total.is_there) return;
        weight_ = saved.total.weight;
        sum_ = sized(vector_of(saved.total.first));
        square_ = sized(vector_of(saved.total.second));
        for (const auto& candidate : saved.candidates) {
            append(candidate.test);
            const std::vector<float> sums = sized(vector_of(candidate.left.first)), squares = sized(vector_of(candidate.left.second));
            std::copy(sums.begin(), sums.end(), left_sum_.end() - static_cast<std::ptrdiff_t>(outputs_));
            std::copy(squares.begin(), squares.end(), left_square_.end() - static_cast<std::ptrdiff_t>(outputs_));
            left_count_.back() = static_cast<int64_t>(candidate.left.weight);
        }
    }

  protected:
    void grow_statistics() override {
        left_sum_.resize(outputs_ * tests_.size());
        left_square_.resize(outputs_ * tests_.size());
        left_count_.push_back(0);
    }

  private:
    std::vector<float> sized(std::vector<float> values) const {
        values.resize(outputs_);
        return values;
    }

    static std::string means(const std::vector<float>& sums, const std::vector<float>& squares) {
        std::string out;
        put_bytes(out, 1, vector_message(sums));
        put_bytes(out, 2, vector_message(squares));
        return out;
    }

    float variance(size_t split, float left, float right) const {
        float total = 0;
        for (size_t j = 0; j < outputs_; ++j) {
            const float sum = left_sum_[split * outputs_ + j], square = left_square_[split * outputs_ + j];
            const float left_mean = sum / left, right_mean = (sum_[j] - sum) / right;
            total += square / left - left_mean * left_mean;
            total += (square_[j] - square) / right - right_mean * right_mean;
        }
        return total;
    }

    size_t outputs_;
    std::vector<float> sum_, square_, left_sum_, left_square_;
    std::vector<int64_t> left_count_;
};

inline std::unique_ptr<Slot> new_slot(const Settings& settings, int32_t depth) {
    switch (settings.stats_type) {
        case kDenseGini: return std::make_unique<ClassSlot<DenseCounts>>(settings, depth);
        case kSparseGini: return std::make_unique<ClassSlot<ClassesSeen>>(settings, depth);
        case kLeastSquares: return std::make_unique<RegressionSlot>(settings, depth);
        case kFixedSizeGini: return std::make_unique<ClassSlot<TrackedClasses>>(settings, depth);
        default: throw BadForest("Unknown grow stats type: " + std::to_string(settings.stats_type));
    }
}

}  // namespace everflow::forest
