// Locks under TensorFlow's names.
#ifndef TENSORFLOW_CORE_PLATFORM_MUTEX_H_
#define TENSORFLOW_CORE_PLATFORM_MUTEX_H_

#include <condition_variable>
#include <mutex>

namespace tensorflow {

enum LinkerInitialized { LINKER_INITIALIZED };

class mutex : public std::mutex {
public:
    mutex() {}
    explicit mutex(LinkerInitialized) {}
};

class mutex_lock : public std::unique_lock<std::mutex> {
public:
    explicit mutex_lock(::tensorflow::mutex& m) : std::unique_lock<std::mutex>(m) {}
};

typedef mutex_lock tf_shared_lock;
typedef std::condition_variable condition_variable;

}  // namespace tensorflow

#define GUARDED_BY(m)
#define EXCLUSIVE_LOCKS_REQUIRED(...)
#define SHARED_LOCKS_REQUIRED(...)
#define LOCKS_EXCLUDED(...)
#define NO_THREAD_SAFETY_ANALYSIS
#define TF_GUARDED_BY(m)
#define TF_EXCLUSIVE_LOCKS_REQUIRED(...)

#endif
