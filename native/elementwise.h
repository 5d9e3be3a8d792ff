// Chains of element-wise instructions over rows of tensors: what runs them, alone or as a part of something larger.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace everflow {

class Chain {
public:
    // A tensor (none: < 0), where the first row begins there, how far apart rows are, and whether there is one number for each row: an
    // input's is spread over all columns of the row.
    using Placed = std::tuple<int64_t, int64_t, int64_t, bool>;
    using Instructed = std::tuple<std::string, size_t, size_t, size_t>;
    using Summed = std::tuple<size_t, std::string, int64_t, double>;

    // Operands are numbered: the inputs, then the constants, then the result of each instruction. An instruction names three, of which those
    // that it does not need count for nothing if they are among the others. It is element-wise, of rows
    // or of one number for each row, or it is the sum, mean or largest of each row ("Sum", "Mean", "Max"), which those after it can use.
    // Sums are those of an operand's columns, or of all of it, and are divided by a number: the operand, which of these, the tensor, the
    // number. Tensors may hold truths, each of them a byte: instructions take and give zeros and ones.
    Chain(size_t rows, size_t columns, const std::vector<Placed>& inputs, std::vector<float> constants,
          const std::vector<Instructed>& instructions, const std::vector<Placed>& results, const std::vector<Summed>& sums,
          const std::vector<int64_t>& truths);

    void run(size_t threads, nanobind::args pointers) const;

    // Computes the rows from `first` up to `last` of a chain without sums.
    void run_rows(float* const* bases, size_t first, size_t last) const;

    size_t rows() const { return rows_; }
    size_t tensors() const { return tensors_; }

private:
    static constexpr size_t NONE = static_cast<size_t>(-1);

    struct Place {
        int64_t tensor, offset, stride;
        bool spread, is_truth;
    };

    // `apart`: an operand's rows don't follow each other.
    struct Instruction {
        void (*loop)(const float*, const float*, const float*, float*, size_t);
        size_t a, b, c, result;
        bool apart;
    };

    // Of an operand, or of the products of two.
    struct Reduction {
        size_t a, b, result, place;
        bool is_largest;
        double divisor;
    };

    struct Sum {
        size_t a, b;
        bool of_columns;
        int64_t tensor;
        double divisor;
        // Where it stands among the subtotals.
        size_t place;
    };

    // What runs on a row, or a few, before anything needs a sum of the row: first on the numbers that there are for each row, then block by
    // block on the elements, adding up.
    struct Stage {
        std::vector<Instruction> of_rows, of_elements;
        std::vector<Reduction> reductions;
        std::vector<Sum> sums;
    };

    // What a thread has added up so far: the last few rows in floats, what came before in doubles, so that long sums stay exact.
    struct Subtotals {
        std::vector<double> far;
        std::vector<float> near;
        size_t rows = 0;
    };

    struct Draft;

    void fold(std::vector<Draft>& drafts, std::vector<Sum>& sums) const;
    void arrange(const std::vector<Draft>& drafts, const std::vector<Sum>& sums);
    void lay_out();
    void run_units(float* const* bases, size_t first, size_t last, size_t begin, size_t end, Subtotals* subtotals) const;
    void carry(Subtotals& subtotals) const;

    bool is_single(size_t k) const { return k < first_result_ && places_[k].spread && places_[k].stride == 0; }
    bool is_constant(size_t k) const { return k < first_result_ && k >= first_result_ - constants_.size(); }
    bool is_temporary(size_t k) const { return k >= first_result_ && places_[k].tensor < 0 && !places_[k].spread; }

    // Whether its rows don't follow each other. Truths become numbers elsewhere.
    bool is_apart(size_t k) const {
        const Place& place = places_[k];
        return place.tensor >= 0 && !place.spread && !place.is_truth && place.stride != 0 && place.stride != static_cast<int64_t>(columns_);
    }

    uint8_t* truths(float* const* bases, size_t k, size_t row, size_t column) const;

    // Whether one row stands for all, and is written down for each of those that pass together.
    bool repeats(size_t k) const { return together_ > 1 && places_[k].tensor >= 0 && places_[k].stride == 0 && !places_[k].spread; }

    size_t rows_, columns_, across_ = 0, together_ = 1, block_ = 0;
    std::vector<float> constants_;
    size_t first_result_;
    std::vector<Place> places_;
    std::vector<Stage> stages_;
    bool has_reductions_ = false, has_sums_ = false;
    // For each operand: the stage that has it first; where its elements, and its numbers for rows, stand in a thread's memory (NONE: not
    // there); whether the elements of a whole row follow each other wherever it stands.
    std::vector<size_t> stage_of_, elements_at_, numbers_at_;
    std::vector<char> is_whole_;
    size_t memory_ = 0, reductions_ = 0, subtotals_ = 0, tensors_ = 0;
};

}  // namespace everflow
