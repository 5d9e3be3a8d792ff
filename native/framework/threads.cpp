// Threads for kernels that share their work.
#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/lib/core/blocking_counter.h"
#include "tensorflow/core/util/work_sharder.h"

namespace tensorflow {
namespace {

// A piece of work should take so many nanoseconds at least.
constexpr int64 WORTHWHILE = 10000;

// Threads that wait for work; they are started when there is some, and end with the process.
class Workers {
public:
    explicit Workers(int count) : count_(count) {}

    int count() const { return count_; }

    void add(std::function<void()> work) {
        mutex_lock lock(lock_);
        waiting_.push_back(std::move(work));
        if (idle_ < static_cast<int>(waiting_.size()) && started_ < count_) {
            ++started_;
            std::thread([this] { go_on(); }).detach();
        }
        there_is_some_.notify_one();
    }

private:
    [[noreturn]] void go_on() {
        for (;;) {
            std::function<void()> work;
            {
                mutex_lock lock(lock_);
                ++idle_;
                there_is_some_.wait(lock, [this] { return !waiting_.empty(); });
                --idle_;
                work = std::move(waiting_.front());
                waiting_.pop_front();
            }
            work();
        }
    }

    const int count_;
    int started_ = 0, idle_ = 0;
    mutex lock_;
    condition_variable there_is_some_;
    std::deque<std::function<void()>> waiting_;
};

int& threads() {
    static int count = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    return count;
}

Workers& workers() {
    static Workers* const all = new Workers(threads());
    return *all;
}

void in_pieces(int most, int64 total, int64 cost, const std::function<void(int64, int64)>& work) {
    const int64 worthwhile = std::max<int64>(1, total * std::max<int64>(1, cost) / WORTHWHILE);
    const int64 pieces = std::min({worthwhile, total, static_cast<int64>(4 * std::max(1, most))});
    const int helpers = static_cast<int>(std::min<int64>(std::min(most, workers().count()), pieces)) - 1;
    if (helpers <= 0) {
        if (total > 0) work(0, total);
        return;
    }
    std::atomic<int64> next{0};
    const auto take_turns = [&] {
        for (int64 piece = next++; piece < pieces; piece = next++) work(piece * total / pieces, (piece + 1) * total / pieces);
    };
    BlockingCounter done(helpers);
    for (int i = 0; i < helpers; ++i) {
        workers().add([&] {
            take_turns();
            done.DecrementCount();
        });
    }
    take_turns();
    done.Wait();
}

}  // namespace

namespace thread {

int ThreadPool::NumThreads() const { return threads(); }
void ThreadPool::ParallelFor(int64 total, int64 cost_per_unit, const std::function<void(int64, int64)>& work) {
    in_pieces(threads(), total, cost_per_unit, work);
}
void ThreadPool::Schedule(std::function<void()> work) { workers().add(std::move(work)); }

}  // namespace thread

void Shard(int max_parallelism, thread::ThreadPool*, int64 total, int64 cost_per_unit, std::function<void(int64, int64)> work) {
    in_pieces(max_parallelism, total, cost_per_unit, work);
}

const DeviceBase::CpuWorkerThreads* DeviceBase::tensorflow_cpu_worker_threads() const {
    static thread::ThreadPool pool;
    static const CpuWorkerThreads all = {threads(), &pool};
    return &all;
}

}  // namespace tensorflow

extern "C" __attribute__((visibility("default"))) void everflow_use_threads(int32_t count) { tensorflow::threads() = std::max(1, count); }
