// Shard(): a loop whose pieces run on several threads.
#ifndef TENSORFLOW_CORE_UTIL_WORK_SHARDER_H_
#define TENSORFLOW_CORE_UTIL_WORK_SHARDER_H_

#include <functional>

#include "tensorflow/core/lib/core/threadpool.h"

namespace tensorflow {

// `cost_per_unit`: about how many nanoseconds one of `total` takes; little work is not shared.
void Shard(int max_parallelism, thread::ThreadPool* workers, int64 total, int64 cost_per_unit, std::function<void(int64, int64)> work);

}  // namespace tensorflow

#endif
