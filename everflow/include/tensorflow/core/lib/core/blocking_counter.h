// Waits until something was counted down to zero.
#ifndef TENSORFLOW_CORE_LIB_CORE_BLOCKING_COUNTER_H_
#define TENSORFLOW_CORE_LIB_CORE_BLOCKING_COUNTER_H_

#include "tensorflow/core/platform/mutex.h"

namespace tensorflow {

class BlockingCounter {
public:
    explicit BlockingCounter(int count) : left_(count) {}
    void DecrementCount() {
        mutex_lock lock(lock_);
        if (--left_ == 0) changed_.notify_all();
    }
    void Wait() {
        mutex_lock lock(lock_);
        changed_.wait(lock, [this] { return left_ <= 0; });
    }

private:
    mutex lock_;
    condition_variable changed_;
    int left_;
};

}  // namespace tensorflow

#endif
