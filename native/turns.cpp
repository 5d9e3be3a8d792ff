// Turns for short steps: one thread runs many of them in a row before another does.
//
// A step hands Python's lock over at each kernel of torch. Where other threads wait for that lock, one of them is woken each time, which takes
// about as long as a whole short step. So threads that would run such steps wait here instead, where nobody wakes them for a while, and
// the steps of the one whose turn it is find Python's lock free. Turns are a courtesy and protect nothing: whoever waits too long goes ahead.
#include "turns.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <deque>
#include <mutex>
#include <new>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace nb = nanobind;

namespace everflow {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

// A turn ends after this long: the next thread may be on another processor, which has nothing of the step in its caches yet.
constexpr microseconds SLICE(10000);
// A thread that has run nothing for this long in its turn has something else to do.
constexpr microseconds IDLE(300);
// A step that takes this long is none of the short ones, or waits for something: others go ahead.
constexpr microseconds LONG(1000);
// Steps that usually take longer than this gain more by running beside each other.
constexpr double SHORT = 150e-6;
// The first runs of a step are timed, and later every so many: it costs a call of the system.
constexpr unsigned FIRST = 8, EVERY = 64;

// What is known of a thread: when its last step ended, and whether it came for the one before at once.
struct Habit {
    Clock::time_point left{};
    bool returns = false;
};

thread_local Habit habit;

struct Waiting {
    std::condition_variable woken;
    bool has_turn = false;
};

class Turns {
public:
    // Waits for this thread's turn, without Python's lock. False: it goes ahead without one.
    bool enter() {
        std::unique_lock<std::mutex> lock(mutex_);
        const auto now = Clock::now();
        habit.returns = now - habit.left < IDLE;
        const bool is_own = owner_ == &habit;
        if (!busy_ && (queue_.empty() || (is_own && now - start_ < SLICE))) {
            take(now, is_own ? start_ : now);
            return true;
        }
        if (busy_ && (is_own || now - since_ >= LONG)) return false;
        // Nobody waits for Python's lock while it holds the other one.
        lock.unlock();
        const nb::gil_scoped_release released;
        return wait();
    }

    void leave() {
        const std::lock_guard<std::mutex> lock(mutex_);
        left_ = habit.left = Clock::now();
        busy_ = false;
        if (queue_.empty() || (habit.returns && left_ - start_ < SLICE)) return;
        Waiting* next = queue_.front();
        queue_.pop_front();
        next->has_turn = busy_ = true;
        since_ = left_;
        next->woken.notify_one();
        wake_first();
    }

private:
    bool wait() {
        std::unique_lock<std::mutex> lock(mutex_);
        Waiting own;
        queue_.push_back(&own);
        while (!own.has_turn) {
            // Only the first looks around; the others sleep until they are the first.
            if (queue_.front() != &own) {
                own.woken.wait(lock);
                continue;
            }
            const auto now = Clock::now();
            if (busy_ ? now - since_ >= LONG : now - left_ >= IDLE) {
                queue_.pop_front();
                wake_first();
                if (busy_) return false;
                break;
            }
            own.woken.wait_until(lock, busy_ ? since_ + LONG : left_ + IDLE);
        }
        const auto now = Clock::now();
        take(now, now);
        return true;
    }

    void take(Clock::time_point now, Clock::time_point start) {
        busy_ = true, owner_ = &habit, since_ = now, start_ = start;
    }

    void wake_first() {
        if (!queue_.empty()) queue_.front()->woken.notify_one();
    }

    std::mutex mutex_;
    std::deque<Waiting*> queue_;
    // Whose turn it is, whether it runs a step, since when it has the turn and runs the step, and when the last step ended.
    const Habit* owner_ = nullptr;
    bool busy_ = false;
    Clock::time_point start_{}, since_{}, left_{};
};

Turns turns;

// The seconds that this thread has computed: what it waited for Python's lock does not count.
double computed() {
#if defined(CLOCK_THREAD_CPUTIME_ID)
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
#else
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
#endif
}

}  // namespace

Turn::Turn(Pace* pace) : pace_(pace) {
    if (pace == nullptr) return;
    has_turn_ = pace->usual < SHORT && turns.enter();
    measures_ = pace->runs < FIRST || pace->runs % EVERY == 0;
    ++pace->runs;
    if (measures_) start_ = computed();
}

Turn::~Turn() {
    if (measures_) pace_->usual = std::min(computed() - start_, 2 * pace_->usual);
    if (has_turn_) turns.leave();
}

void add_turns(nb::module_& module) {
    nb::class_<Pace>(module, "Pace", "How long the runs of a step take: those of short steps take turns.")
        .def(nb::init<>())
        .def_rw("usual", &Pace::usual, "Seconds.");
#if defined(__unix__) || defined(__APPLE__)
    // Whoever had a turn or waited for one does not exist in the new process.
    pthread_atfork(nullptr, nullptr, [] { new (&turns) Turns(); });
#endif
}

}  // namespace everflow
