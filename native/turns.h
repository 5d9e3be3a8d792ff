// Turns for short steps; see turns.cpp.
#pragma once

#include <nanobind/nanobind.h>

#include <limits>

namespace everflow {

// How long the runs of a step usually take, in seconds of the thread that runs them.
struct Pace {
    double usual = std::numeric_limits<double>::infinity();
    unsigned runs = 0;
};

// A run of a step, for as long as it lives: it has its thread's turn where the step is short.
class Turn {
public:
    // Null: a step that takes no turns.
    explicit Turn(Pace* pace);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    Pace* pace_;
    bool measures_ = false, has_turn_ = false;
    double start_ = 0.0;
};

void add_turns(nanobind::module_& module);

}  // namespace everflow
