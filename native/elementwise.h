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
    // Operands are numbered: the inputs, then the constants, then the result of each instruction. An operand's place is a tensor (none: < 0),
    // where its first row begins there, and how far apart rows are; an input's first number may be spread over all columns of a row.
    // Sums are those of an operand's rows, of its columns, or of all of it, and are divided by a number: the operand, which of these, the
    // tensor, the number.
    Chain(size_t rows, size_t columns, const std::vector<std::tuple<int64_t, int64_t, int64_t, bool>>& inputs, std::vector<float> constants,
          const std::vector<std::tuple<std::string, size_t, size_t>>& instructions,
          const std::vector<std::tuple<int64_t, int64_t, int64_t>>& results,
          const std::vector<std::tuple<size_t, std::string, int64_t, double>>& sums);

    void run(size_t threads, nanobind::args pointers) const;

    // Computes the rows from `first` up to `last` of a chain without sums.
    void run_rows(float* const* bases, size_t first, size_t last) const;

    size_t rows() const { return rows_; }
    size_t tensors() const { return tensors_; }

private:
    struct Place {
        int64_t tensor, offset, stride;
        bool spread;
    };

    struct Instruction {
        void (*loop)(const float*, const float*, float*, size_t);
        size_t a, b;
    };

    struct Sum {
        size_t operand;
        enum { ROWS, COLUMNS, ALL } over;
        int64_t tensor;
        double divisor;
    };

    // What a thread has added up so far: the last few rows in floats, what came before in doubles, so that long sums stay exact.
    struct Subtotals {
        std::vector<double> far;
        std::vector<float> near;
        size_t rows = 0;
    };

    void run_blocks(float* const* bases, size_t first, size_t last, size_t begin, size_t end, Subtotals* subtotals) const;
    void add_up(float* const* bases, float* const* at, size_t row, size_t rows, size_t column, size_t n, Subtotals& subtotals) const;
    void carry(Subtotals& subtotals) const;

    // Whether one row stands for all, and is written down for each of those that pass together.
    bool repeats(const Place& place) const { return together_ > 1 && place.tensor >= 0 && place.stride == 0 && !place.spread; }

    size_t rows_, columns_, across_ = 0, together_ = 1, block_ = 0;
    std::vector<float> constants_;
    size_t first_result_;
    std::vector<Place> places_;
    std::vector<Instruction> instructions_;
    std::vector<Sum> sums_;
    // Where a sum stands among the subtotals, in the order of the sums.
    std::vector<size_t> places_of_sums_;
    size_t subtotals_ = 0, tensors_ = 0;
};

}  // namespace everflow
