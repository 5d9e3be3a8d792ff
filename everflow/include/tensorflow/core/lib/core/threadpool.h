// Work for several threads.
#ifndef TENSORFLOW_CORE_LIB_CORE_THREADPOOL_H_
#define TENSORFLOW_CORE_LIB_CORE_THREADPOOL_H_

#include <functional>

#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace thread {

// The threads of the process. Their number is that of Everflow's other kernels.
class ThreadPool {
public:
    int NumThreads() const;
    // Runs `work(begin, end)` over all of 0 to `total` in pieces, and returns when all are done.
    void ParallelFor(int64 total, int64 cost_per_unit, const std::function<void(int64, int64)>& work);
    // Runs something in the background.
    void Schedule(std::function<void()> work);
    int CurrentThreadId() const { return -1; }
};

}  // namespace thread
}  // namespace tensorflow

#endif
