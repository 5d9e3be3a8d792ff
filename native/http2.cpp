// Connections of HTTP/2, as far as gRPC's unary calls need them.
//
// There are no threads here. A client's call is written by the thread that makes it, and of the threads that wait for answers on a
// connection one reads for all. A server's connections are read by whichever thread takes their events.
#include "http2.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <set>

namespace everflow {

namespace {

enum Type : uint8_t {
    kData = 0, kHeaders = 1, kPriority = 2, kReset = 3, kSettings = 4, kPushPromise = 5, kPing = 6, kGoAway = 7, kWindowUpdate = 8,
    kContinuation = 9
};
enum Flag : uint8_t { kEndStream = 1, kAck = 1, kEndHeaders = 4, kPadded = 8, kHasPriority = 0x20 };
enum Setting : uint16_t { kMaxStreams = 3, kInitialWindow = 4, kMaxFrame = 5, kMaxHeaders = 6 };
enum Error : uint32_t {
    kNoError = 0, kProtocolError = 1, kFlowControlError = 3, kFrameSizeError = 6, kRefusedStream = 7, kCancel = 8, kCompressionError = 9,
    kEnhanceYourCalm = 11, kInadequateSecurity = 12
};

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr size_t kFrameHeader = 9;
constexpr int64_t kWidestWindow = INT32_MAX;
constexpr uint32_t kLargestFrame = (1 << 24) - 1;
constexpr uint32_t kLastId = INT32_MAX - 2;
// The peer is told of room again when this much of a window was used.
constexpr uint64_t kToldAfter = 1 << 28;
// What is read at once, and the longest block of headers.
constexpr size_t kRoom = 1 << 16, kLongestBlock = 1 << 20;
// What is written before others have their turn.
constexpr size_t kTurn = 1 << 20;
// What one reader takes before it looks at other connections.
constexpr size_t kRounds = 64;
constexpr size_t kMostPieces = 1000;
// What may be left to send to a peer who does not read.
constexpr size_t kMostPending = 8 * kTurn;

#ifdef MSG_NOSIGNAL
constexpr int kSendFlags = MSG_NOSIGNAL | MSG_DONTWAIT;
#else
constexpr int kSendFlags = MSG_DONTWAIT;
#endif

void put(std::string& out, uint64_t number, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out.push_back(static_cast<char>(number >> shift));
}

void put_frame(std::string& out, size_t size, uint8_t type, uint8_t flags, uint32_t id) {
    put(out, size, 3);
    out.push_back(static_cast<char>(type));
    out.push_back(static_cast<char>(flags));
    put(out, id, 4);
}

std::string frame_of(uint8_t type, uint8_t flags, uint32_t id, uint64_t number, int bytes) {
    std::string found;
    put_frame(found, static_cast<size_t>(bytes), type, flags, id);
    put(found, number, bytes);
    return found;
}

uint32_t number_at(const void* data, int bytes = 4) {
    uint32_t found = 0;
    for (int i = 0; i < bytes; ++i) found = found << 8 | static_cast<const uint8_t*>(data)[i];
    return found;
}

// A block of headers in as many frames as it takes.
void put_headers(std::string& out, std::string_view block, bool ends, uint32_t id, size_t most) {
    uint8_t type = kHeaders, flags = ends ? kEndStream : 0;
    do {
        const size_t size = std::min(block.size(), most);
        put_frame(out, size, type, static_cast<uint8_t>(flags | (size == block.size() ? kEndHeaders : 0)), id);
        out.append(block.substr(0, size));
        block.remove_prefix(size);
        type = kContinuation;
        flags = 0;
    } while (!block.empty());
}

std::string percent_encoded(std::string_view text) {
    constexpr char digits[] = "0123456789ABCDEF";
    std::string found;
    for (const char c : text) {
        const auto byte = static_cast<uint8_t>(c);
        if (byte >= 0x20 && byte <= 0x7e && byte != '%') {
            found.push_back(c);
        } else {
            found.append({'%', digits[byte >> 4], digits[byte & 15]});
        }
    }
    return found;
}

int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::string percent_decoded(std::string_view text) {
    std::string found;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
            found.push_back(static_cast<char>(digit(text[i + 1]) << 4 | digit(text[i + 2])));
            i += 2;
        } else {
            found.push_back(text[i]);
        }
    }
    return found;
}

bool number_in(std::string_view text, uint64_t& number) {
    number = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return false;
        number = number * 10 + static_cast<uint64_t>(c - '0');
    }
    return !text.empty() && text.size() <= 9;
}

// The time that a `grpc-timeout` leaves.
Time deadline_of(std::string_view text) {
    uint64_t count;
    if (text.empty() || !number_in(text.substr(0, text.size() - 1), count)) return kNever;
    uint64_t unit;
    switch (text.back()) {
        case 'H': unit = 3'600'000'000'000; break;
        case 'M': unit = 60'000'000'000; break;
        case 'S': unit = 1'000'000'000; break;
        case 'm': unit = 1'000'000; break;
        case 'u': unit = 1'000; break;
        case 'n': unit = 1; break;
        default: return kNever;
    }
    // Ten years are as good as for ever.
    constexpr uint64_t longest = 315'360'000'000'000'000;
    if (count > longest / unit) return kNever;
    return Clock::now() + std::chrono::nanoseconds(count * unit);
}

int code_of_http(int status) {
    switch (status) {
        case 400: return kInternal;
        case 401: return kUnauthenticated;
        case 403: return kPermissionDenied;
        case 404: return kUnimplemented;
        case 429: case 502: case 503: case 504: return kUnavailable;
        default: return kUnknown;
    }
}

int code_of_reset(uint32_t error) {
    switch (error) {
        case kRefusedStream: return kUnavailable;
        case kCancel: return kCancelled;
        case kEnhanceYourCalm: return kResourceExhausted;
        case kInadequateSecurity: return kPermissionDenied;
        default: return kInternal;
    }
}

// The sockets that a forked child has to close: it would keep them open when this process ends.
struct Sockets {
    std::mutex mutex;
    std::set<int> open;
};

Sockets& sockets() {
    static Sockets* found = [] {
        auto* made = new Sockets;
        pthread_atfork([] { sockets().mutex.lock(); }, [] { sockets().mutex.unlock(); }, [] {
            ++generation;
            for (const int fd : sockets().open) ::close(fd);
            sockets().open.clear();
            sockets().mutex.unlock();
        });
        return made;
    }();
    return *found;
}

}  // namespace

std::atomic<int> generation{0};

void keep_from_children(int fd) {
    std::lock_guard lock(sockets().mutex);
    sockets().open.insert(fd);
}

void forget(int fd) {
    std::lock_guard lock(sockets().mutex);
    sockets().open.erase(fd);
    ::close(fd);
}

std::string text_of(int error) {
    return std::string(std::strerror(error)) + " (" + std::to_string(error) + ")";
}

int milliseconds_until(Time until) {
    if (until == kNever) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    return static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX));
}

void Stream::take(const uint8_t* data, size_t size) {
    while (size && prefix_size < 5) {
        prefix[prefix_size++] = *data++;
        --size;
        if (prefix_size < 5) continue;
        const uint32_t length = number_at(prefix + 1);
        is_refused = prefix[0] != 0 || !message.reserve(length);
        has_message = !is_refused && length == 0;
    }
    const size_t used = std::min(size, wanted());
    if (!used) return;
    std::memcpy(message.data() + filled, data, used);
    take_body(used);
}

void Stream::take_body(size_t size) {
    filled += size;
    has_message = filled == message.size();
}

Body::Body(std::vector<iovec> pieces) : pieces_(std::move(pieces)) {
    for (const iovec& piece : pieces_) left_ += piece.iov_len;
    prefix_[0] = 0;
    for (int i = 0; i < 4; ++i) prefix_[1 + i] = static_cast<uint8_t>(left_ >> (24 - 8 * i));
    pieces_.insert(pieces_.begin(), {prefix_, 5});
    left_ += 5;
}

void Body::take(size_t size, std::vector<iovec>& out) {
    left_ -= size;
    while (size) {
        iovec& piece = pieces_[at_];
        const size_t used = std::min(size, piece.iov_len);
        if (used) out.push_back({piece.iov_base, used});
        piece.iov_base = static_cast<uint8_t*>(piece.iov_base) + used;
        piece.iov_len -= used;
        size -= used;
        if (!piece.iov_len) ++at_;
    }
}

Connection::Connection(int fd, bool is_client)
    : fd_(fd), is_client_(is_client), generation_(generation), is_reading_(!is_client), in_(kRoom),
      preface_left_(is_client ? 0 : kPreface.size()) {
    keep_from_children(fd_);
    const int yes = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ::setsockopt(fd_, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
#ifdef SO_NOSIGPIPE
    ::setsockopt(fd_, SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes);
#endif
    ::fcntl(fd_, F_SETFL, ::fcntl(fd_, F_GETFL) | O_NONBLOCK);
    if (is_client_ && ::pipe(wake_) == 0) {
        for (const int end : wake_) {
            ::fcntl(end, F_SETFL, O_NONBLOCK);
            ::fcntl(end, F_SETFD, FD_CLOEXEC);
            keep_from_children(end);
        }
    }
}

Connection::~Connection() {
    if (generation_ != generation) return;
    forget(fd_);
    if (wake_[0] >= 0) {
        forget(wake_[0]);
        forget(wake_[1]);
    }
}

void Connection::open() {
    std::string hello;
    if (is_client_) hello.append(kPreface);
    const std::pair<Setting, uint32_t> ours[] = {
        {kInitialWindow, static_cast<uint32_t>(kWidestWindow)}, {kMaxFrame, kLargestFrame}};
    put_frame(hello, 6 * std::size(ours), kSettings, 0, 0);
    for (const auto& [setting, value] : ours) {
        put(hello, setting, 2);
        put(hello, value, 4);
    }
    hello += frame_of(kWindowUpdate, 0, 0, static_cast<uint64_t>(kWidestWindow - 65535), 4);
    Lock lock(mutex_);
    control(lock, hello);
}

Wake Connection::greeted(Time until) {
    Lock lock(mutex_);
    while (!is_greeted_ && !is_closed_) {
        const Wake wake = pause(lock, turn_, until, false);
        if (wake != Wake::changed) return wake;
    }
    return Wake::changed;
}

Wake Connection::request(const std::shared_ptr<Stream>& stream, std::string_view headers, Body& body, Time until) {
    {
        // An id is used in the order of ids, so it is given with the turn to write.
        Lock lock(mutex_);
        while (!is_closed_ && (is_writing_ || streams_.size() >= most_streams_)) {
            const Wake wake = pause(lock, turn_, until, false);
            if (wake != Wake::changed) {
                pass_on();
                return wake;
            }
        }
        if (is_closed_) {
            over(*stream, kUnavailable, reason_);
            return Wake::changed;
        }
        stream->id = next_id_;
        next_id_ += 2;
        is_draining_ = is_draining_ || next_id_ > kLastId;
        stream->window = first_window_;
        streams_.emplace(stream->id, stream);
        is_writing_ = true;
    }
    return send(*stream, headers, false, &body, {}, until);
}

void Connection::respond(Stream& stream, int code, std::string_view text, Body* body) {
    std::string head, tail;
    // :status 200
    head.push_back(static_cast<char>(0x88));
    put_header(head, 31, {}, "application/grpc");
    std::string& last = body ? tail : head;
    put_header(last, 0, "grpc-status", std::to_string(code));
    {
        Lock lock(mutex_);
        if (!text.empty()) {
            std::string told = percent_encoded(text);
            // Peers say how much they take, and give calls up that have more; some do from half of what they say.
            constexpr size_t others = 256, always = 8192;
            if (most_in_headers_ != SIZE_MAX) told.resize(std::min(told.size(), std::clamp(most_in_headers_, others, always) - others));
            put_header(last, 0, "grpc-message", told);
        }
        while (is_writing_ && !is_closed_ && !stream.is_over) pause(lock, turn_, kNever, false);
        if (is_closed_ || stream.is_over) {
            streams_.erase(stream.id);
            return;
        }
        is_writing_ = true;
    }
    send(stream, head, !body, body, tail, kNever);
    Lock lock(mutex_);
    if (!stream.is_ended && !stream.is_over) control(lock, frame_of(kReset, 0, stream.id, kNoError, 4));
    stream.is_over = true;
    streams_.erase(stream.id);
}

// Sends what has the turn to write, which it gives up where it has to wait for the peer, and at its end.
Wake Connection::send(Stream& stream, std::string_view head, bool ends, Body* body, std::string_view tail, Time until) {
    Lock lock(mutex_);
    std::string before;
    bool is_first = true;
    std::vector<iovec> parts;
    Wake found = Wake::changed;
    while (true) {
        const size_t left = body ? body->left() : 0;
        const auto now = static_cast<size_t>(std::max<int64_t>(0, std::min({window_, stream.window, static_cast<int64_t>(kTurn), static_cast<int64_t>(left)})));
        const bool is_last = now == left;
        if (is_first || now) {
            before.clear();
            before.swap(pending_);
            if (is_first) put_headers(before, head, ends, stream.id, most_in_frame_);
            window_ -= static_cast<int64_t>(now);
            stream.window -= static_cast<int64_t>(now);
            // All that is not the message's own memory, so that nothing moves when the parts are known.
            std::string between;
            between.reserve((now / most_in_frame_ + 1) * kFrameHeader + 2 * kFrameHeader + tail.size() * 2);
            parts.clear();
            parts.push_back({before.data(), before.size()});
            for (size_t rest = now; rest;) {
                const size_t size = std::min(rest, most_in_frame_);
                rest -= size;
                const size_t at = between.size();
                put_frame(between, size, kData, is_last && !rest && tail.empty() ? kEndStream : 0, stream.id);
                parts.push_back({between.data() + at, kFrameHeader});
                body->take(size, parts);
            }
            std::string after;
            if (is_last && !tail.empty()) {
                put_headers(after, tail, true, stream.id, most_in_frame_);
                parts.push_back({after.data(), after.size()});
            }
            is_first = false;
            lock.unlock();
            found = write(parts, until, stream);
            lock.lock();
        }
        is_writing_ = false;
        flush(lock);
        give_turn();
        if (is_last || found != Wake::changed) break;
        // Others may write while the peer makes room; then it is this one's turn again.
        ++stream.waiting;
        while (found == Wake::changed && !is_closed_ && !stream.is_over && (is_writing_ || window_ <= 0 || stream.window <= 0)) {
            found = pause(lock, is_writing_ ? turn_ : stream.changed, until, false);
        }
        --stream.waiting;
        if (found != Wake::changed || is_closed_ || stream.is_over) break;
        is_writing_ = true;
    }
    // A server has no other moment to send what came up meanwhile.
    while (!is_client_ && !is_closed_ && !pending_.empty() && !is_writing_) {
        pause(lock, turn_, kNever, true);
        flush(lock);
    }
    pass_on();
    return found;
}

// Writes all parts. Where it can't in time, the rest is kept for who writes next, since the peer expects it.
Wake Connection::write(std::vector<iovec>& parts, Time until, const Stream& stream) {
    size_t at = 0;
    while (at < parts.size()) {
        msghdr message{};
        message.msg_iov = parts.data() + at;
        message.msg_iovlen = static_cast<decltype(message.msg_iovlen)>(std::min(parts.size() - at, kMostPieces));
        ssize_t count = generation_ == generation ? ::sendmsg(fd_, &message, kSendFlags) : (errno = EPIPE, -1);
        if (count < 0) {
            if (errno == EINTR) continue;
            Lock lock(mutex_);
            if (errno != EAGAIN && errno != EWOULDBLOCK) {
                close("Socket closed: " + text_of(errno));
                return Wake::changed;
            }
            const Wake wake = is_closed_ ? Wake::changed : pause(lock, turn_, until, true);
            if (wake == Wake::changed && !is_closed_ && !(is_client_ && stream.is_over)) continue;
            std::string rest;
            for (; at < parts.size(); ++at) rest.append(static_cast<const char*>(parts[at].iov_base), parts[at].iov_len);
            pending_.insert(0, rest);
            return wake;
        }
        while (at < parts.size() && static_cast<size_t>(count) >= parts[at].iov_len) count -= static_cast<ssize_t>(parts[at++].iov_len);
        if (count) {
            parts[at].iov_base = static_cast<uint8_t*>(parts[at].iov_base) + count;
            parts[at].iov_len -= static_cast<size_t>(count);
        }
    }
    return Wake::changed;
}

Wake Connection::answered(Stream& stream, Time until) {
    Lock lock(mutex_);
    Wake found = Wake::changed;
    ++stream.waiting;
    while (!stream.is_over && found == Wake::changed) found = pause(lock, stream.changed, until, false);
    --stream.waiting;
    pass_on();
    return found;
}

void Connection::abandon(Stream& stream, int code, std::string_view text) {
    Lock lock(mutex_);
    if (stream.is_over) return;
    over(stream, code, std::string(text));
    if (!stream.id) return;
    streams_.erase(stream.id);
    control(lock, frame_of(kReset, 0, stream.id, kCancel, 4));
    // The thread that waits for it may be the one that reads.
    if (is_reading_) wake_reader();
    turn_.notify_all();
}

bool Connection::is_usable() {
    if (generation_ != generation) return false;
    Lock lock(mutex_);
    if (!is_closed_ && !is_reading_) {
        is_reading_ = true;
        lock.unlock();
        read();
        lock.lock();
        is_reading_ = false;
        pass_on();
    }
    return !is_closed_ && !is_draining_;
}

// Waits a while for what may have changed, with the lock held before and after: who may reads what comes meanwhile.
Wake Connection::pause(Lock& lock, std::condition_variable& changed, Time until, bool wants_room) {
    if (until != kNever && Clock::now() >= until) return Wake::late;
    const bool is_main = is_main_thread();
    const Time limit = is_main ? std::min(until, Clock::now() + kPatience) : until;
    const bool reads = !is_reading_;
    if (!reads && !wants_room) {
        if (limit == kNever) {
            changed.wait(lock);
        } else if (changed.wait_until(lock, limit) == std::cv_status::timeout && is_main) {
            lock.unlock();
            const bool stops = is_interrupted();
            lock.lock();
            if (stops) return Wake::interrupted;
        }
        return Wake::changed;
    }
    is_reading_ = true;
    if (reads) reader_wants_turn_ = &changed == &turn_;
    const bool writes = wants_room || (!pending_.empty() && !is_writing_);
    lock.unlock();
    pollfd polled[2] = {{fd_, static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), 0}, {wake_[0], POLLIN, 0}};
    const int count = alertness_.wait(milliseconds_until(limit), [&](int milliseconds) { return ::poll(polled, reads ? 2 : 1, milliseconds); });
    const bool stops = count <= 0 && (count == 0 ? is_main : errno == EINTR) && is_interrupted();
    if (count > 0 && reads) {
        char byte[16];
        while (polled[1].revents && ::read(wake_[0], byte, sizeof byte) == sizeof byte) {}
        if (polled[0].revents & ~POLLOUT) read();
    }
    lock.lock();
    if (reads) is_reading_ = reader_wants_turn_ = false;
    if (!wants_room) flush(lock);
    return stops ? Wake::interrupted : Wake::changed;
}

// Who has read and goes has another go on.
void Connection::pass_on() {
    if (is_reading_) return;
    for (auto& [id, stream] : streams_) {
        if (stream->waiting) {
            stream->changed.notify_one();
            return;
        }
    }
    turn_.notify_all();
}

// Whoever wants to write may do so now; one of them may be reading meanwhile.
void Connection::give_turn() {
    turn_.notify_all();
    if (reader_wants_turn_) wake_reader();
}

void Connection::wake_reader() {
    [[maybe_unused]] const ssize_t written = ::write(wake_[1], "", 1);
}

void Connection::control(Lock& lock, std::string_view frame) {
    pending_.append(frame);
    flush(lock);
    if (pending_.size() > kMostPending) close("The peer asks and does not listen");
}

void Connection::flush() {
    Lock lock(mutex_);
    flush(lock);
}

bool Connection::has_pending() {
    Lock lock(mutex_);
    return !pending_.empty() && !is_writing_ && !is_closed_;
}

void Connection::flush(Lock& lock) {
    while (!pending_.empty() && !is_writing_ && !is_closed_) {
        std::string frames;
        frames.swap(pending_);
        is_writing_ = true;
        lock.unlock();
        const ssize_t count = generation_ == generation ? ::send(fd_, frames.data(), frames.size(), kSendFlags) : (errno = EPIPE, -1);
        const int error = errno;
        lock.lock();
        is_writing_ = false;
        give_turn();
        if (count < 0 && error != EINTR && error != EAGAIN && error != EWOULDBLOCK) return close("Socket closed: " + text_of(error));
        pending_.insert(0, frames, static_cast<size_t>(std::max<ssize_t>(count, 0)));
        if (count < 0 && error != EINTR) return;
    }
}

void Connection::close(std::string_view reason) {
    if (is_closed_) return;
    is_closed_ = true;
    reason_ = reason;
    if (generation_ == generation) ::shutdown(fd_, SHUT_RDWR);
    turn_.notify_all();
    for (auto& [id, stream] : streams_) {
        if (is_client_) {
            over(*stream, kUnavailable, reason_);
        } else {
            stream->changed.notify_all();
        }
    }
    // What a server's callers wait for goes on until it is told that they are gone.
    if (is_client_) streams_.clear();
}

// The peer does what it must not.
bool Connection::fail(uint32_t code, const char* reason) {
    Lock lock(mutex_);
    std::string last;
    put_frame(last, 8, kGoAway, 0, 0);
    put(last, last_id_, 4);
    put(last, code, 4);
    control(lock, last);
    // Who is writing writes this as well, unless the peer takes nothing any more.
    turn_.wait_for(lock, std::chrono::milliseconds(100), [&] { return is_closed_ || (!is_writing_ && pending_.empty()); });
    close(reason);
    return false;
}

bool Connection::read() {
    for (size_t round = 0; round < kRounds; ++round) {
        if (begin_ == end_) {
            begin_ = end_ = 0;
        } else if (end_ == in_.size()) {
            std::memmove(in_.data(), in_.data() + begin_, end_ - begin_);
            end_ -= begin_;
            begin_ = 0;
        }
        iovec parts[2];
        int count = 0;
        size_t direct = 0;
        if (in_data_ && data_stream_ && end_ == 0) direct = std::min(data_left_, data_stream_->wanted());
        if (direct) parts[count++] = {data_stream_->message.data() + data_stream_->filled, direct};
        parts[count++] = {in_.data() + end_, in_.size() - end_};
        const size_t room = direct + in_.size() - end_;
        const ssize_t found = generation_ == generation ? ::readv(fd_, parts, count) : 0;
        if (found < 0 && errno == EINTR) continue;
        if (found < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
        if (found <= 0) {
            const std::string reason = found ? "Connection reset: " + text_of(errno) : "Socket closed";
            Lock lock(mutex_);
            close(reason);
            return false;
        }
        const size_t used = std::min(static_cast<size_t>(found), direct);
        if (used) {
            data_stream_->take_body(used);
            data_left_ -= used;
        }
        end_ += static_cast<size_t>(found) - used;
        if (!parse()) return false;
        if (static_cast<size_t>(found) < room) return true;
    }
    return true;
}

bool Connection::parse() {
    while (true) {
        size_t there = end_ - begin_;
        if (in_data_) {
            const size_t size = std::min(there, data_left_);
            if (data_stream_) data_stream_->take(in_.data() + begin_, size);
            const size_t padding = data_left_ == size ? std::min(there - size, padding_left_) : 0;
            begin_ += size + padding;
            data_left_ -= size;
            padding_left_ -= padding;
            if (data_left_ || padding_left_) return true;
            end_data();
            continue;
        }
        if (preface_left_) {
            const size_t size = std::min(there, preface_left_);
            if (std::memcmp(in_.data() + begin_, kPreface.end() - preface_left_, size) != 0) return fail(kProtocolError, "No HTTP/2");
            begin_ += size;
            preface_left_ -= size;
            if (preface_left_) return true;
            continue;
        }
        if (there < kFrameHeader) return true;
        const uint8_t* const head = in_.data() + begin_;
        const size_t size = number_at(head, 3);
        const uint8_t type = head[3], flags = head[4];
        const uint32_t id = number_at(head + 5) & INT32_MAX;
        if (continued_ && (type != kContinuation || id != continued_)) return fail(kProtocolError, "Headers were interrupted");
        if (type == kData) {
            const size_t extra = flags & kPadded ? 1 : 0;
            if (there < kFrameHeader + extra) return true;
            begin_ += kFrameHeader + extra;
            padding_left_ = extra ? head[kFrameHeader] : 0;
            if (extra + padding_left_ > size) return fail(kProtocolError, "A frame is shorter than its padding");
            data_left_ = size - extra - padding_left_;
            if (!begin_data(flags, id, size)) return false;
            continue;
        }
        if (size > kLongestBlock) return fail(kFrameSizeError, "A frame is too long");
        if (there < kFrameHeader + size) {
            if (in_.size() < kFrameHeader + size) in_.resize(kFrameHeader + size);
            return true;
        }
        begin_ += kFrameHeader + size;
        if (!frame(type, flags, id, {reinterpret_cast<const char*>(head + kFrameHeader), size})) return false;
    }
}

bool Connection::frame(uint8_t type, uint8_t flags, uint32_t id, std::string_view payload) {
    switch (type) {
        case kHeaders: {
            size_t before = (flags & kPadded ? 1 : 0) + (flags & kHasPriority ? 5 : 0);
            const size_t padding = flags & kPadded && !payload.empty() ? static_cast<uint8_t>(payload[0]) : 0;
            if (!id || before + padding > payload.size()) return fail(kProtocolError, "Headers make no sense");
            payload = payload.substr(before, payload.size() - before - padding);
            if (flags & kEndHeaders) return headers(id, flags & kEndStream, payload);
            block_ = payload;
            continued_ = id;
            continued_ends_ = flags & kEndStream;
            return true;
        }
        case kContinuation:
            if (!continued_) return fail(kProtocolError, "There is nothing to continue");
            if (block_.size() + payload.size() > kLongestBlock) return fail(kEnhanceYourCalm, "Headers are too long");
            block_ += payload;
            if (!(flags & kEndHeaders)) return true;
            continued_ = 0;
            return headers(id, continued_ends_, block_);
        case kReset:
            if (payload.size() != 4 || !id) return fail(kFrameSizeError, "RST_STREAM makes no sense");
            reset(id, number_at(payload.data()));
            return true;
        case kSettings: return flags & kAck || settings(payload);
        case kPushPromise: return fail(kProtocolError, "Nothing may be pushed");
        case kPing: {
            if (payload.size() != 8) return fail(kFrameSizeError, "PING makes no sense");
            if (flags & kAck) return true;
            std::string answer;
            put_frame(answer, 8, kPing, kAck, 0);
            answer += payload;
            Lock lock(mutex_);
            control(lock, answer);
            return true;
        }
        case kGoAway: {
            if (payload.size() < 8) return fail(kFrameSizeError, "GOAWAY makes no sense");
            const uint32_t last = number_at(payload.data()) & INT32_MAX;
            Lock lock(mutex_);
            is_draining_ = true;
            if (!is_client_) return true;
            for (auto at = streams_.begin(); at != streams_.end();) {
                if (at->first > last) {
                    over(*at->second, kUnavailable, "GOAWAY received: " + std::string(payload.substr(8)));
                    at = streams_.erase(at);
                } else {
                    ++at;
                }
            }
            return true;
        }
        case kWindowUpdate:
            if (payload.size() != 4) return fail(kFrameSizeError, "WINDOW_UPDATE makes no sense");
            return grown(id, number_at(payload.data()) & INT32_MAX);
        default: return true;
    }
}

bool Connection::begin_data(uint8_t flags, uint32_t id, size_t size) {
    if (!id) return fail(kProtocolError, "DATA is of no stream");
    in_data_ = true;
    data_ends_ = flags & kEndStream;
    Lock lock(mutex_);
    const auto found = streams_.find(id);
    data_stream_ = found == streams_.end() || found->second->is_ended ? nullptr : found->second;
    received_ += size;
    if (received_ >= kToldAfter) {
        control(lock, frame_of(kWindowUpdate, 0, 0, received_, 4));
        received_ = 0;
    }
    if (data_stream_ && (data_stream_->received += size) >= kToldAfter) {
        control(lock, frame_of(kWindowUpdate, 0, id, data_stream_->received, 4));
        data_stream_->received = 0;
    }
    return true;
}

void Connection::end_data() {
    in_data_ = false;
    const std::shared_ptr<Stream> stream = std::move(data_stream_);
    data_stream_ = nullptr;
    if (!stream) return;
    Lock lock(mutex_);
    if (data_ends_) {
        ended(stream);
    } else if (!is_client_ && (stream->has_message || stream->is_refused)) {
        dispatch(stream);
    }
}

bool Connection::headers(uint32_t id, bool is_last, std::string_view block) {
    Lock lock(mutex_);
    const auto known = streams_.find(id);
    std::shared_ptr<Stream> stream = known == streams_.end() ? nullptr : known->second;
    bool is_new = false;
    if (!is_client_ && !stream && id > last_id_) {
        if (id % 2 == 0) {
            lock.unlock();
            return fail(kProtocolError, "A client's streams are odd");
        }
        last_id_ = id;
        is_new = true;
        stream = std::make_shared<Stream>();
        stream->id = id;
        stream->window = first_window_;
        streams_.emplace(id, stream);
    }
    // Also what nobody wants has to be read: what follows may name it.
    const bool makes_sense = header_reader_.read(block, [&](std::string_view name, std::string_view value) {
        uint64_t number;
        if (is_client_ && stream) {
            if (name == "grpc-status") {
                stream->code = number_in(value, number) ? static_cast<int>(number) : kUnknown;
            } else if (name == "grpc-message") {
                stream->text = percent_decoded(value);
            } else if (name == ":status") {
                stream->http = number_in(value, number) ? static_cast<int>(number) : 0;
            }
        } else if (is_new) {
            if (name == ":path") {
                stream->path = value;
            } else if (name == "grpc-timeout") {
                stream->deadline = deadline_of(value);
            }
        }
    });
    if (!makes_sense) {
        lock.unlock();
        return fail(kCompressionError, "Headers can't be read");
    }
    if (stream && is_last) ended(stream);
    return true;
}

bool Connection::settings(std::string_view payload) {
    if (payload.size() % 6) return fail(kFrameSizeError, "SETTINGS make no sense");
    Lock lock(mutex_);
    for (; !payload.empty(); payload.remove_prefix(6)) {
        const uint32_t value = number_at(payload.data() + 2);
        switch (number_at(payload.data(), 2)) {
            case kMaxStreams: most_streams_ = value; break;
            case kInitialWindow:
                if (value > kWidestWindow) {
                    lock.unlock();
                    return fail(kFlowControlError, "A window is too wide");
                }
                for (auto& [id, stream] : streams_) {
                    stream->window += static_cast<int64_t>(value) - first_window_;
                    if (stream->waiting) stream->changed.notify_all();
                }
                first_window_ = value;
                break;
            case kMaxFrame:
                if (value < 16384 || value > kLargestFrame) {
                    lock.unlock();
                    return fail(kProtocolError, "A size of frames is none");
                }
                most_in_frame_ = value;
                break;
            case kMaxHeaders: most_in_headers_ = value; break;
            default: break;
        }
    }
    is_greeted_ = true;
    std::string answer;
    put_frame(answer, 0, kSettings, kAck, 0);
    control(lock, answer);
    turn_.notify_all();
    return true;
}

bool Connection::grown(uint32_t id, uint32_t size) {
    Lock lock(mutex_);
    if (!id) {
        window_ += size;
        if (!size || window_ > kWidestWindow) {
            lock.unlock();
            return fail(kFlowControlError, "The window is too wide");
        }
        for (auto& [each, stream] : streams_) {
            if (stream->waiting) stream->changed.notify_all();
        }
        return true;
    }
    const auto found = streams_.find(id);
    if (found == streams_.end()) return true;
    Stream& stream = *found->second;
    stream.window += size;
    if (stream.waiting) stream.changed.notify_all();
    if (size && stream.window <= kWidestWindow) return true;
    lock.unlock();
    return fail(kFlowControlError, "A stream's window is too wide");
}

void Connection::reset(uint32_t id, uint32_t code) {
    Lock lock(mutex_);
    const auto found = streams_.find(id);
    if (found == streams_.end()) return;
    const std::shared_ptr<Stream> stream = found->second;
    streams_.erase(found);
    if (is_client_) {
        // A server that has answered may say that it wants no more of the request.
        if (stream->code >= 0 && code == kNoError) return over(*stream, stream->code, stream->text);
        return over(*stream, code_of_reset(code), "Received RST_STREAM with error code " + std::to_string(code));
    }
    stream->is_over = true;
    stream->changed.notify_all();
    if (stream->is_dispatched) left.push_back(stream);
}

// The peer has said all of a stream.
void Connection::ended(const std::shared_ptr<Stream>& stream) {
    if (stream->is_ended) return;
    stream->is_ended = true;
    if (!is_client_) return dispatch(stream);
    streams_.erase(stream->id);
    if (stream->code < 0) {
        stream->code = stream->http == 200 ? static_cast<int>(kUnknown) : code_of_http(stream->http);
        stream->text = stream->http == 200 ? "The call ended without a status" : "Received http2 header with status: " + std::to_string(stream->http);
    } else if (stream->code == kOk && stream->is_refused) {
        stream->code = kInternal;
        stream->text = "The answer is compressed, which nobody asked for, or too large";
    } else if (stream->code == kOk && !stream->has_message) {
        stream->code = kInternal;
        stream->text = "The call was answered without a message";
    }
    over(*stream, stream->code, std::move(stream->text));
    if (most_streams_ != UINT32_MAX) turn_.notify_all();
}

void Connection::over(Stream& stream, int code, std::string text) {
    stream.is_over = true;
    stream.code = code;
    stream.text = std::move(text);
    stream.changed.notify_all();
}

void Connection::dispatch(const std::shared_ptr<Stream>& stream) {
    if (stream->is_dispatched) return;
    stream->is_dispatched = true;
    arrived.push_back(stream);
}

}  // namespace everflow
