// Random forests: trees that grow while examples come, and the statistics that say where.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <unordered_set>

#include "forest_slots.h"
#include "learning.h"
#include "parallel.h"

namespace nb = nanobind;

namespace everflow::forest {
namespace {

template <typename T, int Rank>
using Array = nb::ndarray<T, nb::ndim<Rank>, nb::c_contig, nb::device::cpu>;

constexpr size_t GRAIN = 256;

struct Node {
    bool is_leaf = true;
    Test test;
    int32_t left = 0, right = 0;
    Leaf leaf;
};

// A decision tree. Node 0 is the root.
class Tree {
  public:
    explicit Tree(const Settings& settings, std::string_view model) : settings_(settings) { load(model); }

    size_t size() const { return nodes_.size(); }
    const Settings& settings() const { return settings_; }

    void load(std::string_view model) {
        nodes_.clear();
        for_each_field(model, [&](uint32_t field, uint64_t, std::string_view tree) {
            if (field != 1) return;
            for_each_field(tree, [&](uint32_t inner, uint64_t, std::string_view node) { if (inner == 1) nodes_.push_back(node_of(node)); });
        });
        const auto count = static_cast<int64_t>(nodes_.size());
        for (const Node& node : nodes_) {
            if (!node.is_leaf && (node.left <= 0 || node.left >= count || node.right <= 0 || node.right >= count)) {
                throw BadForest("Unable to parse tree  config.");
            }
        }
        if (nodes_.empty()) nodes_.push_back(first_leaf());
    }

    std::string save() const {
        std::string tree, model;
        for (size_t i = 0; i < nodes_.size(); ++i) put_bytes(tree, 1, message_of(i));
        put_bytes(model, 1, tree);
        return model;
    }

    size_t leaf_for(const Examples& data, size_t example) const {
        size_t at = 0;
        while (!nodes_[at].is_leaf) {
            const Node& node = nodes_[at];
            at = static_cast<size_t>(node.test.holds(data, example) ? node.left : node.right);
        }
        return at;
    }

    std::string path_for(const Examples& data, size_t example) const {
        std::string path;
        size_t at = 0;
        while (true) {
            const Node& node = nodes_[at];
            put_bytes(path, 1, message_of(at));
            if (node.is_leaf) return path;
            at = static_cast<size_t>(node.test.holds(data, example) ? node.left : node.right);
        }
    }

    // What a leaf answers: shares of classes, or means.
    void answer(size_t leaf, float* out) const {
        const Leaf& model = nodes_[leaf].leaf;
        const auto outputs = static_cast<size_t>(settings_.outputs);
        float sum = 0;
        for (size_t j = 0; j < outputs; ++j) {
            if (model.is_sparse) {
                const auto found = model.sparse.find(static_cast<int64_t>(j));
                out[j] = found == model.sparse.end() ? 0.0f : found->second;
            } else {
                out[j] = j < model.dense.size() ? model.dense[j] : 0.0f;
            }
            sum += out[j];
        }
        if (settings_.regression || !(sum > 0) || sum == 1) return;
        for (size_t j = 0; j < outputs; ++j) out[j] /= sum;
    }

    void update(const int32_t* leaves, size_t count, const Targets& targets) {
        if (settings_.leaf_type == kRegressionLeaf) return;
        for (size_t i = 0; i < count; ++i) {
            Leaf& leaf = at(leaves[i]).leaf;
            const int32_t label = targets.label(i);
            if (label < 0 || label >= settings_.outputs) {
                throw BadForest("Got label greater than indicated number of classes. Is params.num_classes set correctly?");
            }
            if (leaf.is_sparse) leaf.sparse[label] += targets.weight(i);
            else leaf.dense[static_cast<size_t>(label)] += targets.weight(i);
        }
    }

    // Makes an inner node of a leaf; returns the left of its two new children.
    int32_t split(int32_t id, Split&& found) {
        at(id);
        const auto first = static_cast<int32_t>(nodes_.size());
        nodes_.push_back({true, {}, 0, 0, std::move(found.left)});
        nodes_.push_back({true, {}, 0, 0, std::move(found.right)});
        nodes_[static_cast<size_t>(id)] = {false, std::move(found.test), first, first + 1, {}};
        return first;
    }

    void count_features(int32_t* counts, size_t features) const {
        const auto count = [&](int32_t feature) { if (feature >= 0 && static_cast<size_t>(feature) < features) ++counts[feature]; };
        for (const Node& node : nodes_) {
            if (node.is_leaf) continue;
            if (node.test.kind == Test::kOblique) std::for_each(node.test.features.begin(), node.test.features.end(), count);
            else count(node.test.feature);
        }
    }

  private:
    Node& at(int32_t id) {
        if (id < 0 || static_cast<size_t>(id) >= nodes_.size()) throw BadForest("There is no node " + std::to_string(id) + " in the tree.");
        return nodes_[static_cast<size_t>(id)];
    }

    Node first_leaf() const {
        Node node;
        node.leaf.is_sparse = settings_.leaf_type == kSparseLeaf || settings_.leaf_type == kEitherLeaf;
        if (!node.leaf.is_sparse) node.leaf.dense.resize(static_cast<size_t>(settings_.outputs));
        return node;
    }

    Node node_of(std::string_view message) const {
        Node node = first_leaf();
        for_each_field(message, [&](uint32_t field, uint64_t, std::string_view text) {
            if (field == 4) {
                node.is_leaf = false;
                for_each_field(text, [&](uint32_t inner, uint64_t, std::string_view part) {
                    if (inner == 1) node.left = wrapped_number_of(part);
                    if (inner == 2) node.right = wrapped_number_of(part);
                    if (inner == 4) node.test = Test::inequality(part);
                    if (inner == 5) node.test = Test::custom(part);
                });
            } else if (field == 5) {
                for_each_field(text, [&](uint32_t inner, uint64_t, std::string_view part) {
                    node.leaf.is_sparse = inner == 2;
                    if (inner == 1) {
                        node.leaf.dense = vector_of(part);
                        node.leaf.dense.resize(static_cast<size_t>(settings_.outputs));
                    }
                    if (inner == 2) node.leaf.sparse = sparse_vector_of(part);
                });
            }
        });
        return node;
    }

    std::string message_of(size_t id) const {
        const Node& node = nodes_[id];
        std::string out, inside;
        if (id) put_bytes(out, 1, wrapped_number(static_cast<int64_t>(id)));
        if (node.is_leaf) {
            put_bytes(inside, node.leaf.is_sparse ? 2 : 1, node.leaf.is_sparse ? sparse_vector_message(node.leaf.sparse) : vector_message(node.leaf.dense));
            put_bytes(out, 5, inside);
        } else {
            put_bytes(inside, 1, wrapped_number(node.left));
            put_bytes(inside, 2, wrapped_number(node.right));
            inside += node.test.message();
            put_bytes(out, 4, inside);
        }
        return out;
    }

    Settings settings_;
    std::vector<Node> nodes_;
};

// The statistics of all leaves of a tree.
class Stats {
  public:
    explicit Stats(const Settings& settings, std::string_view message) : settings_(settings) { load(message); }
    Stats(const Stats&) = delete;  // slots refer to the settings

    void load(std::string_view message) {
        slots_.clear();
        for_each_field(message, [&](uint32_t field, uint64_t, std::string_view text) {
            if (field != 1) return;
            SavedSlot saved;
            for_each_field(text, [&](uint32_t inner, uint64_t number, std::string_view part) {
                if (inner == 5) saved.node = static_cast<int32_t>(number);
                if (inner == 7) saved.depth = static_cast<int32_t>(number);
                if (inner == 6) saved.total = statistics_of(part);
                if (inner == 1) saved.candidates.push_back(candidate_of(part));
            });
            auto slot = new_slot(settings_, saved.depth);
            slot->load(saved);
            slots_[saved.node] = std::move(slot);
        });
        if (slots_.empty()) slots_[0] = new_slot(settings_, 0);
    }

    std::string save() const {
        std::string out;
        for (const auto& [node, slot] : slots_) {
            std::string message;
            if (settings_.checkpoint_stats) slot->save(message);
            put_number(message, 5, node);
            put_number(message, 7, slot->depth());
            put_bytes(out, 1, message);
        }
        return out;
    }

    // Adds a batch to the leaves that its examples reached; returns the leaves that can be split now.
    std::vector<int32_t> process(const Examples& data, const Targets& targets, const int32_t* leaves, uint64_t seed, size_t threads) {
        Draws draws(seed);
        return settings_.collate ? process_by_leaf(data, targets, leaves, draws) : process_in_order(data, targets, leaves, draws, threads);
    }

    void grow(Tree& tree, const int32_t* finished, size_t count) {
        for (size_t i = 0; i < count && static_cast<int64_t>(tree.size()) < settings_.max_nodes; ++i) {
            Slot& slot = of(finished[i]);
            const int32_t depth = slot.depth();
            if (auto found = slot.best()) {
                const int32_t left = tree.split(finished[i], std::move(*found));
                for (const int32_t child : {left, left + 1}) slots_[child] = new_slot(settings_, depth + 1);
                slots_.erase(finished[i]);
            } else {
                slots_[finished[i]] = new_slot(settings_, depth);
            }
        }
    }

  private:
    static SavedCandidate candidate_of(std::string_view message) {
        SavedCandidate out;
        for_each_field(message, [&](uint32_t field, uint64_t, std::string_view text) {
            if (field == 1) {
                for_each_field(text, [&](uint32_t inner, uint64_t, std::string_view part) {
                    if (inner == 4) out.test = Test::inequality(part);
                    if (inner == 5) out.test = Test::custom(part);
                });
            }
            if (field == 4) out.left = statistics_of(text);
            if (field == 5) out.right = statistics_of(text);
        });
        return out;
    }

    Slot& of(int32_t node) {
        const auto found = slots_.find(node);
        if (found == slots_.end()) throw BadForest("There are no statistics of node " + std::to_string(node) + ".");
        return *found->second;
    }

    // A candidate whose threshold is the value that an example has for a feature drawn at random.
    Test candidate_from(const Examples& data, size_t example, Draws& draws) const {
        const Columns& columns = *data.columns;
        uint32_t features = static_cast<uint32_t>(columns.dense_size);
        size_t start = 0;
        if (data.entries) {
            const auto row = static_cast<int64_t>(example);
            start = data.first_entry(row, INT64_MIN);
            features += static_cast<uint32_t>(data.first_entry(row + 1, INT64_MIN) - start);
        }
        const auto drawn = static_cast<int32_t>(draws.below(features));
        Test test;
        int32_t kind = columns.sparse_kind;
        if (static_cast<size_t>(drawn) < columns.kinds.size()) {
            test.feature = drawn;
            kind = columns.kinds[static_cast<size_t>(drawn)];
        } else {
            const size_t entry = start + static_cast<size_t>(drawn - columns.dense_size);
            if (entry >= data.entries) throw BadForest("An example has no features.");
            test.feature = static_cast<int32_t>(data.indices[2 * entry + 1]) + columns.dense_size;
        }
        const float value = data.at(example, test.feature);
        test.kind = kind ? static_cast<int>(Test::kMatching) : settings_.inequality;
        if (kind) test.values = {value};
        else test.threshold = value;
        return test;
    }

    // Candidates are drawn in the order of examples; what examples say about them is a matter of each leaf, so threads may share leaves.
    std::vector<int32_t> process_in_order(const Examples& data, const Targets& targets, const int32_t* leaves, Draws& draws, size_t threads) {
        struct Work {
            int32_t leaf;
            Slot* slot;
            std::vector<size_t> examples;
            size_t finished_at;
        };
        std::vector<Work> work;
        std::unordered_map<int32_t, size_t> place;
        for (size_t i = 0; i < data.rows; ++i) {
            const auto [found, is_new] = place.try_emplace(leaves[i], work.size());
            if (is_new) work.push_back({leaves[i], &of(leaves[i]), {}, SIZE_MAX});
            Work& own = work[found->second];
            if (!own.examples.empty() || own.slot->is_ready()) {
                own.examples.push_back(i);
            } else {
                own.slot->add_candidate(candidate_from(data, i, draws), data, targets, i);
                if (own.finished_at == SIZE_MAX && own.slot->is_finished()) own.finished_at = i;
            }
        }
        std::atomic<bool> failed{false};
        std::string message;
        in_parallel(work.size(), std::max<size_t>(1, work.size() * GRAIN / std::max<size_t>(1, data.rows)), threads, [&](size_t begin, size_t end) {
            try {
                for (size_t w = begin; w < end; ++w) {
                    Work& own = work[w];
                    for (const size_t i : own.examples) {
                        own.slot->add(data, targets, i);
                        if (own.finished_at == SIZE_MAX && own.slot->is_finished()) own.finished_at = i;
                    }
                }
            } catch (const BadForest& error) {
                if (!failed.exchange(true)) message = error.what();
            }
        });
        if (failed) throw BadForest(message);
        std::sort(work.begin(), work.end(), [](const Work& a, const Work& b) { return a.finished_at < b.finished_at; });
        std::unordered_set<int32_t> finished;  // its order is that of TensorFlow's
        for (const Work& own : work) {
            if (own.finished_at != SIZE_MAX) finished.insert(own.leaf);
        }
        return {finished.begin(), finished.end()};
    }

    std::vector<int32_t> process_by_leaf(const Examples& data, const Targets& targets, const int32_t* leaves, Draws& draws) {
        std::unordered_map<int32_t, std::vector<size_t>> by_leaf;
        for (size_t i = 0; i < data.rows; ++i) by_leaf[leaves[i]].push_back(i);
        std::unordered_set<int32_t> finished;
        for (const auto& [leaf, examples] : by_leaf) {
            Slot& slot = of(leaf);
            const bool was_ready = slot.is_ready();
            for (const size_t i : examples) {
                if (was_ready) slot.add(data, targets, i);
                else slot.add_candidate(candidate_from(data, i, draws), data, targets, i);
                if (!was_ready && slot.is_ready()) break;  // the others are left out
            }
            if (slot.is_finished()) finished.insert(leaf);
        }
        return {finished.begin(), finished.end()};
    }

    Settings settings_;
    std::unordered_map<int32_t, std::unique_ptr<Slot>> slots_;
};

// Rows of numbers (none: no columns), and entries of a sparse matrix (none: no rows).
Examples examples_of(const Columns& columns, const Array<float, 2>& dense, const Array<int64_t, 2>& indices, const Array<float, 1>& values, size_t rows) {
    if (indices.shape(0) != values.shape(0) || (indices.shape(0) && indices.shape(1) != 2)) throw nb::value_error("two indices for each value");
    if (dense.shape(1) && dense.shape(0) != rows) throw nb::value_error("a row for each example");
    return {dense.data(), dense.shape(1), rows, indices.data(), values.data(), values.shape(0), &columns};
}

Targets targets_of(const Array<float, 2>& labels, const Array<float, 1>& weights) {
    return {labels.data(), labels.shape(1), labels.shape(0), weights.data(), weights.shape(0)};
}

ByDepth by_depth(const std::tuple<int, float, float, float, float>& given) {
    const auto& [kind, a, b, c, d] = given;
    return {kind, a, b, c, d};
}

// Runs something of a batch over all its examples; what goes wrong in a thread is thrown outside.
template <typename Each>
void for_each_example(const Examples& data, size_t threads, const Each& each) {
    std::atomic<bool> failed{false};
    std::string message;
    in_parallel(data.rows, GRAIN, threads, [&](size_t begin, size_t end) {
        try {
            for (size_t i = begin; i < end; ++i) each(i);
        } catch (const BadForest& error) {
            if (!failed.exchange(true)) message = error.what();
        }
    });
    if (failed) throw BadForest(message);
}

}  // namespace
}  // namespace everflow::forest

namespace everflow {

void add_forest(nb::module_& module) {
    using namespace forest;
    using Varying = std::tuple<int, float, float, float, float>;
    nb::class_<Settings>(module, "ForestSettings", "How a forest grows.")
        .def(nb::init<>())
        .def_rw("leaf_type", &Settings::leaf_type)
        .def_rw("stats_type", &Settings::stats_type)
        .def_rw("pruning", &Settings::pruning)
        .def_rw("finish", &Settings::finish)
        .def_rw("inequality", &Settings::inequality)
        .def_rw("max_nodes", &Settings::max_nodes)
        .def_rw("outputs", &Settings::outputs)
        .def_rw("classes_to_track", &Settings::classes_to_track)
        .def_rw("regression", &Settings::regression)
        .def_rw("collate", &Settings::collate)
        .def_rw("checkpoint_stats", &Settings::checkpoint_stats)
        .def_rw("running", &Settings::running)
        .def_rw("average_splits", &Settings::average_splits)
        .def(
            "set_by_depth",
            [](Settings& s, const Varying& prune_every, const Varying& finish_every, const Varying& splits, const Varying& after, const Varying& dominate,
               const Varying& min_split) {
                s.prune_every = by_depth(prune_every);
                s.finish_every = by_depth(finish_every);
                s.splits_to_consider = by_depth(splits);
                s.split_after = by_depth(after);
                s.dominate = by_depth(dominate);
                s.min_split = by_depth(min_split);
            },
            "Numbers that may depend on depth: a kind (0 for none) and four parameters each.");
    nb::class_<Columns>(module, "ForestColumns", "What kind the columns of examples are.")
        .def(
            "__init__",
            [](Columns* self, int32_t dense_size, const std::vector<int32_t>& kinds, int32_t sparse_kind) {
                new (self) Columns{dense_size, kinds, sparse_kind};
            },
            nb::arg("dense_size"), nb::arg("kinds"), nb::arg("sparse_kind"));
    nb::class_<Tree>(module, "ForestTree", "A tree of a random forest.")
        .def("__init__", [](Tree* self, const Settings& s, nb::bytes model) { new (self) Tree(s, {model.c_str(), model.size()}); })
        .def_prop_ro("size", &Tree::size)
        .def("load", [](Tree& self, nb::bytes model) { self.load({model.c_str(), model.size()}); })
        .def("save", [](const Tree& self) { const std::string out = self.save(); return nb::bytes(out.data(), out.size()); })
        .def(
            "leaves",
            [](const Tree& self, const Columns& columns, Array<float, 2> dense, Array<int64_t, 2> indices, Array<float, 1> values, Array<int32_t, 1> out,
               size_t threads) {
                const Examples data = examples_of(columns, dense, indices, values, out.shape(0));
                int32_t* const leaf = out.data();
                nb::gil_scoped_release unlocked;
                for_each_example(data, threads, [&](size_t i) { leaf[i] = static_cast<int32_t>(self.leaf_for(data, i)); });
            },
            nb::arg("columns"), nb::arg("dense").noconvert(), nb::arg("indices").noconvert(), nb::arg("values").noconvert(), nb::arg("out").noconvert(),
            nb::arg("threads"), "The leaf of each example.")
        .def(
            "predict",
            [](const Tree& self, const Columns& columns, Array<float, 2> dense, Array<int64_t, 2> indices, Array<float, 1> values, Array<float, 2> out,
               size_t threads) {
                if (out.shape(1) != static_cast<size_t>(self.settings().outputs)) throw nb::value_error("a column for each output");
                const Examples data = examples_of(columns, dense, indices, values, out.shape(0));
                float* const answers = out.data();
                const size_t outputs = out.shape(1);
                nb::gil_scoped_release unlocked;
                for_each_example(data, threads, [&](size_t i) { self.answer(self.leaf_for(data, i), answers + i * outputs); });
            },
            nb::arg("columns"), nb::arg("dense").noconvert(), nb::arg("indices").noconvert(), nb::arg("values").noconvert(), nb::arg("out").noconvert(),
            nb::arg("threads"), "What the leaf of each example answers.")
        .def(
            "paths",
            [](const Tree& self, const Columns& columns, Array<float, 2> dense, Array<int64_t, 2> indices, Array<float, 1> values, size_t rows) {
                const Examples data = examples_of(columns, dense, indices, values, rows);
                nb::list out;
                for (size_t i = 0; i < rows; ++i) {
                    const std::string path = self.path_for(data, i);
                    out.append(nb::bytes(path.data(), path.size()));
                }
                return out;
            },
            nb::arg("columns"), nb::arg("dense").noconvert(), nb::arg("indices").noconvert(), nb::arg("values").noconvert(), nb::arg("rows"),
            "The nodes that each example goes through, as messages.")
        .def(
            "update",
            [](Tree& self, Array<int32_t, 1> leaves, Array<float, 2> labels, Array<float, 1> weights) {
                if (leaves.shape(0) != labels.shape(0)) throw nb::value_error("a label for each example");
                nb::gil_scoped_release unlocked;
                self.update(leaves.data(), leaves.shape(0), targets_of(labels, weights));
            },
            nb::arg("leaves").noconvert(), nb::arg("labels").noconvert(), nb::arg("weights").noconvert(), "Adds labels to the leaves of their examples.")
        .def(
            "count_features", [](const Tree& self, Array<int32_t, 1> counts) { self.count_features(counts.data(), counts.shape(0)); },
            nb::arg("counts").noconvert(), "Adds how many nodes look at each feature.");
    nb::class_<Stats>(module, "ForestStats", "What the leaves of a tree know of their candidates.")
        .def("__init__", [](Stats* self, const Settings& s, nb::bytes message) { new (self) Stats(s, {message.c_str(), message.size()}); })
        .def("load", [](Stats& self, nb::bytes message) { self.load({message.c_str(), message.size()}); })
        .def("save", [](const Stats& self) { const std::string out = self.save(); return nb::bytes(out.data(), out.size()); })
        .def(
            "process",
            [](Stats& self, const Columns& columns, Array<float, 2> dense, Array<int64_t, 2> indices, Array<float, 1> values, Array<float, 2> labels,
               Array<float, 1> weights, Array<int32_t, 1> leaves, uint64_t seed, size_t threads) {
                if (leaves.shape(0) != labels.shape(0)) throw nb::value_error("a label for each example");
                const Examples data = examples_of(columns, dense, indices, values, leaves.shape(0));
                nb::gil_scoped_release unlocked;
                return self.process(data, targets_of(labels, weights), leaves.data(), seed, threads);
            },
            nb::arg("columns"), nb::arg("dense").noconvert(), nb::arg("indices").noconvert(), nb::arg("values").noconvert(), nb::arg("labels").noconvert(),
            nb::arg("weights").noconvert(), nb::arg("leaves").noconvert(), nb::arg("seed"), nb::arg("threads"),
            "Adds a batch; the leaves that can be split.")
        .def(
            "grow", [](Stats& self, Tree& tree, Array<int32_t, 1> finished) { self.grow(tree, finished.data(), finished.shape(0)); }, nb::arg("tree"),
            nb::arg("finished").noconvert(), "Splits leaves by their best candidates.");
}

}  // namespace everflow
