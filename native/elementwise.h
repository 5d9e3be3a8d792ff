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
    Chain(size_t rows, size_t columns, const std::vector<std::tuple<int64_t, int64_t, int64_t, bool>>& inputs, std::vector<float> constants,
          const std::vector<std::tuple<std::string, size_t, size_t>>& instructions,
          const std::vector<std::tuple<int64_t, int64_t, int64_t>>& results);

    void run(size_t threads, nanobind::args pointers) const;

    // Computes the rows from `first` up to `last`.
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

    void run_blocks(float* const* bases, size_t first, size_t last, size_t begin, size_t end) const;

    // Whether one row stands for all, and is written down for each of those that pass together.
    bool repeats(const Place& place) const { return together_ > 1 && place.tensor >= 0 && place.stride == 0 && !place.spread; }

    size_t rows_, columns_, across_ = 0, together_ = 1, block_ = 0;
    std::vector<float> constants_;
    size_t first_result_;
    std::vector<Place> places_;
    std::vector<Instruction> instructions_;
    size_t tensors_ = 0;
};

}  // namespace everflow
