// One end of an HTTP/2 connection (RFC 7540) that carries gRPC's unary calls.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "hpack.h"

namespace everflow {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
constexpr Time kNever = Time::max();

// Status codes of gRPC.
enum Code : int {
    kOk = 0, kCancelled = 1, kUnknown = 2, kDeadlineExceeded = 4, kPermissionDenied = 7, kResourceExhausted = 8, kUnimplemented = 12,
    kInternal = 13, kUnavailable = 14, kUnauthenticated = 16
};

// The memory that a message is received into. A message's last tensor mostly ends it, so its end is what lies on a boundary: that makes
// the tensor begin on one.
class Memory {
  public:
    Memory() = default;
    Memory(Memory&& other) noexcept { swap(other); }
    Memory& operator=(Memory&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Memory() { std::free(whole_); }

    bool reserve(size_t size) {
        constexpr uintptr_t boundary = 64;
        whole_ = std::malloc(size + boundary);
        if (!whole_) return false;
        const uintptr_t end = (reinterpret_cast<uintptr_t>(whole_) + size + boundary) & ~(boundary - 1);
        data_ = reinterpret_cast<uint8_t*>(end - size);
        size_ = size;
        return true;
    }

    uint8_t* data() const { return data_; }
    size_t size() const { return size_; }

  private:
    void swap(Memory& other) {
        std::swap(whole_, other.whole_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }

    void* whole_ = nullptr;
    uint8_t* data_ = nullptr;
    size_t size_ = 0;
};

// A call: a stream of the connection with a message each way.
struct Stream {
    uint32_t id = 0;
    // What the peer still takes of it.
    int64_t window = 0;
    // What the peer was not yet told that it may send again.
    uint64_t received = 0;

    // The message on its way in: its prefix says whether it is compressed, and how long it is.
    uint8_t prefix[5] = {};
    uint8_t prefix_size = 0;
    Memory message;
    size_t filled = 0;
    bool has_message = false;
    // A message that can't be taken: compressed, or too large for the memory that there is.
    bool is_refused = false;
    // The peer has said all.
    bool is_ended = false;
    // Nobody wants more of it: it was answered, failed, or was given up.
    bool is_over = false;

    // A client's: how it ended.
    int code = -1;
    int http = 200;
    std::string text;

    // A server's: what is asked for, and how long it is waited for. `leave` is told when the caller goes: an object of Python, which is
    // only handed on here.
    std::string path;
    Time deadline = kNever;
    void* leave = nullptr;
    bool is_dispatched = false;

    std::condition_variable changed;
    int waiting = 0;

    // What is missing of the message.
    size_t wanted() const { return prefix_size == 5 && !has_message && !is_refused ? message.size() - filled : 0; }
    void take(const uint8_t* data, size_t size);
    void take_body(size_t size);
};

// A message on its way out: pieces of memory that follow each other, after the prefix that says how long they are together.
class Body {
  public:
    explicit Body(std::vector<iovec> pieces);
    Body(const Body&) = delete;

    size_t left() const { return left_; }
    // Adds the next `size` bytes to `out`, and goes on.
    void take(size_t size, std::vector<iovec>& out);

  private:
    uint8_t prefix_[5];
    std::vector<iovec> pieces_;
    size_t at_ = 0, left_ = 0;
};

// How a thread waits for what mostly comes soon: it stays awake for a moment, since processors that have gone to sleep take longer to wake
// up than a short call takes. Where that was for nothing, it sleeps at once the next times, twice as many each time.
class Alertness {
  public:
    // The first that look(milliseconds) finds, which returns nothing after that time.
    template <typename Look>
    auto wait(int milliseconds, const Look& look) {
        static const bool has_others = std::thread::hardware_concurrency() > 1;
        if (has_others && milliseconds != 0 && !is_awake_.exchange(true)) {
            const bool tries = to_sleep_ == 0;
            if (!tries) --to_sleep_;
            for (const Time stop = Clock::now() + kMoment; tries;) {
                if (auto found = look(0)) {
                    slept_ = 0;
                    is_awake_ = false;
                    return found;
                }
                if (Clock::now() >= stop) {
                    slept_ = to_sleep_ = std::min(2 * slept_ + 1, kLongest);
                    break;
                }
                // Whoever else wants the processor has it.
                std::this_thread::yield();
            }
            is_awake_ = false;
        }
        return look(milliseconds);
    }

  private:
    static constexpr std::chrono::microseconds kMoment{200};
    static constexpr int kLongest = 255;

    // One thread at a time.
    std::atomic<bool> is_awake_{false};
    int to_sleep_ = 0, slept_ = 0;
};

// Why a wait ended.
enum class Wake { changed, late, interrupted };

// The connections of a process that forks are the parent's; the child must not touch them.
extern std::atomic<int> generation;
void keep_from_children(int fd);
void forget(int fd);

class Connection {
    using Lock = std::unique_lock<std::mutex>;

  public:
    Connection(int fd, bool is_client);
    ~Connection();
    Connection(const Connection&) = delete;

    int fd() const { return fd_; }

    // Says hello: the preface of a client, and our settings.
    void open();
    // Waits for the peer's settings.
    Wake greeted(Time until);

    // A client's call: sends a request on a new stream.
    Wake request(const std::shared_ptr<Stream>& stream, std::string_view headers, Body& body, Time until);
    // Waits for the answer, and reads it if nobody else does.
    Wake answered(Stream& stream, Time until);
    // Gives a call up.
    void abandon(Stream& stream, int code, std::string_view text);
    // Looks at what has come while nobody read. False when the connection takes no new calls.
    bool is_usable();

    // A server's answer to a call; errors have no message.
    void respond(Stream& stream, int code, std::string_view text, Body* body);

    // Takes in what has come, in the one thread that reads. False when the connection is over.
    bool read();
    // Sends what could not be sent at once.
    void flush();
    bool has_pending();

    std::mutex& mutex() { return mutex_; }
    bool is_closed() const { return is_closed_; }
    std::string reason() {
        Lock lock(mutex_);
        return reason_;
    }
    std::unordered_map<uint32_t, std::shared_ptr<Stream>>& streams() { return streams_; }

    // A server's: the calls that have come, and those whose callers have gone, since it was looked.
    std::vector<std::shared_ptr<Stream>> arrived, left;
    // A client's: how many calls there are that somebody waits for.
    int users = 0;

  private:
    Wake send(Stream& stream, std::string_view head, bool ends, Body* body, std::string_view tail, Time until);
    Wake write(std::vector<iovec>& parts, Time until, const Stream& stream);
    Wake pause(Lock& lock, std::condition_variable& changed, Time until, bool wants_room);
    void pass_on();
    void give_turn();
    void wake_reader();
    void control(Lock& lock, std::string_view frame);
    void flush(Lock& lock);
    void close(std::string_view reason);
    bool fail(uint32_t code, const char* reason);

    bool parse();
    bool frame(uint8_t type, uint8_t flags, uint32_t id, std::string_view payload);
    bool begin_data(uint8_t flags, uint32_t id, size_t size);
    void end_data();
    bool headers(uint32_t id, bool is_last, std::string_view block);
    bool settings(std::string_view payload);
    bool grown(uint32_t id, uint32_t size);
    void reset(uint32_t id, uint32_t code);
    void ended(const std::shared_ptr<Stream>& stream);
    void over(Stream& stream, int code, std::string text);
    void dispatch(const std::shared_ptr<Stream>& stream);

    const int fd_;
    const bool is_client_;
    const int generation_;

    std::mutex mutex_;
    std::unordered_map<uint32_t, std::shared_ptr<Stream>> streams_;
    int64_t window_ = 65535, first_window_ = 65535;
    size_t most_in_frame_ = 16384, most_in_headers_ = SIZE_MAX;
    uint32_t most_streams_ = UINT32_MAX;
    uint32_t next_id_ = 1, last_id_ = 0;
    bool is_greeted_ = false, is_draining_ = false;
    std::atomic<bool> is_closed_{false};
    std::string reason_;
    // Who has the turn to write. What could not be written, or came up meanwhile, goes first the next time.
    bool is_writing_ = false;
    std::condition_variable turn_;
    std::string pending_;
    // Whether a thread reads. A server's connections are read by those who wait for calls.
    bool is_reading_;
    // The thread that reads does so while it waits for its turn to write.
    bool reader_wants_turn_ = false;
    // Ends the poll of the thread that reads.
    int wake_[2] = {-1, -1};
    Alertness alertness_;

    // What follows is the reader's own.
    std::vector<uint8_t> in_;
    size_t begin_ = 0, end_ = 0;
    size_t preface_left_;
    bool in_data_ = false, data_ends_ = false;
    size_t data_left_ = 0, padding_left_ = 0;
    std::shared_ptr<Stream> data_stream_;
    uint64_t received_ = 0;
    uint32_t continued_ = 0;
    bool continued_ends_ = false;
    std::string block_;
    HeaderReader header_reader_;
};

// Lets signals be handled while a thread waits without Python's lock; true when one ended the waiting. Where nobody has to wait for long
// without it, the main thread looks again each fifth of a second.
bool is_interrupted();
bool is_main_thread();
constexpr std::chrono::milliseconds kPatience{200};

std::string text_of(int error);
int milliseconds_until(Time until);

}  // namespace everflow
