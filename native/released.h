// Lets other Python threads run meanwhile where a kernel has enough to do: handing the interpreter over and waiting to get it back takes
// longer than a small kernel does.
#pragma once

#include <Python.h>

#include <cstddef>

namespace everflow {

class Released {
public:
    // `work`: about how many numbers are computed.
    explicit Released(size_t work) : state_(work >= WORTH ? PyEval_SaveThread() : nullptr) {}
    ~Released() {
        if (state_ != nullptr) PyEval_RestoreThread(state_);
    }
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;

private:
    static constexpr size_t WORTH = 1 << 14;
    PyThreadState* state_;
};

}  // namespace everflow
