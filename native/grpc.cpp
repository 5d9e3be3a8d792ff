// gRPC's unary calls for Python: channels that call, and servers that are called. Bytes go in and out as they lie in memory.
#include "grpc.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/epoll.h>
#include <sys/syscall.h>
#else
#include <pthread.h>
#include <sys/event.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <thread>

#include "http2.h"

namespace nb = nanobind;
using namespace nanobind::literals;

namespace everflow {

namespace {

// At the end of a program its daemons must not come back to Python, which is being taken apart: from then on they wait for ever.
std::atomic<bool> is_ending{false};
std::atomic<int> coming_back{0};
std::atomic<std::thread::id> ending_thread;

// Python's lock is let go while this lives.
class Unlocked {
  public:
    Unlocked() : before_(current), state_(PyEval_SaveThread()) { current = this; }
    ~Unlocked() {
        lock();
        current = before_;
    }

    void lock() {
        ++coming_back;
        if (is_ending && ending_thread.load() != std::this_thread::get_id()) {
            --coming_back;
            while (true) ::pause();
        }
        PyEval_RestoreThread(state_);
        --coming_back;
    }

    void unlock() { state_ = PyEval_SaveThread(); }

    static thread_local Unlocked* current;

  private:
    Unlocked* before_;
    PyThreadState* state_;
};

thread_local Unlocked* Unlocked::current = nullptr;

void end_of_program() {
    ending_thread = std::this_thread::get_id();
    is_ending = true;
    PyThreadState* const state = PyEval_SaveThread();
    // Those who are on their way are let in first.
    for (int i = 0; i < 1000 && coming_back; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    PyEval_RestoreThread(state);
}

}  // namespace

bool is_main_thread() {
#ifdef __linux__
    static thread_local const bool found = ::syscall(SYS_gettid) == ::getpid();
    return found;
#else
    return pthread_main_np() != 0;
#endif
}

bool is_interrupted() {
    Unlocked* const waiting = Unlocked::current;
    if (!waiting) return false;
    waiting->lock();
    const bool found = PyErr_CheckSignals() != 0;
    waiting->unlock();
    return found;
}

namespace {

// A message that came, which Python sees as memory.
struct Message {
    Memory memory;
};

int message_buffer(PyObject* self, Py_buffer* view, int flags) {
    const Memory& memory = nb::inst_ptr<Message>(self)->memory;
    return PyBuffer_FillInfo(view, self, memory.data(), static_cast<Py_ssize_t>(memory.size()), 0, flags);
}

PyType_Slot message_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(message_buffer)}, {0, nullptr}};

nb::object view_of(Memory&& memory) {
    auto* message = new Message{std::move(memory)};
    const nb::object owner = nb::cast(message, nb::rv_policy::take_ownership);
    return nb::steal(PyMemoryView_FromObject(owner.ptr()));
}

// What Python's objects hold, as long as this lives.
class Pieces {
  public:
    explicit Pieces(nb::handle given) {
        if (PyObject_CheckBuffer(given.ptr())) {
            add(given.ptr());
        } else {
            for (nb::handle piece : given) add(piece.ptr());
        }
    }
    ~Pieces() {
        for (Py_buffer& view : views_) PyBuffer_Release(&view);
    }

    std::vector<iovec> memory() const {
        std::vector<iovec> found;
        found.reserve(views_.size() + 1);
        size_t size = 0;
        for (const Py_buffer& view : views_) {
            size += static_cast<size_t>(view.len);
            if (view.len) found.push_back({view.buf, static_cast<size_t>(view.len)});
        }
        if (size > UINT32_MAX) throw nb::value_error("A message can't be larger than 4 GB.");
        return found;
    }

  private:
    void add(PyObject* piece) {
        views_.emplace_back();
        if (PyObject_GetBuffer(piece, &views_.back(), PyBUF_SIMPLE) != 0) {
            views_.pop_back();
            throw nb::python_error();
        }
    }

    // Views must not move.
    std::deque<Py_buffer> views_;
};

struct Address {
    std::string host, port;

    // `host:port`, where an address of IPv6 stands in brackets.
    static Address of(std::string_view text) {
        const size_t colon = text.rfind(':');
        if (colon == std::string_view::npos) return {std::string(text), ""};
        std::string_view host = text.substr(0, colon);
        if (host.size() > 1 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
        return {std::string(host), std::string(text.substr(colon + 1))};
    }
};

using Resolved = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Resolved resolved(const Address& address, int flags, int& error) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = flags;
    addrinfo* found = nullptr;
    error = ::getaddrinfo(address.host.empty() ? nullptr : address.host.c_str(), address.port.c_str(), &wanted, &found);
    return {error ? nullptr : found, &::freeaddrinfo};
}

std::string name_of(const addrinfo& place) {
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (::getnameinfo(place.ai_addr, place.ai_addrlen, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV)) return "?";
    return place.ai_family == AF_INET6 ? std::string("ipv6:[") + host + "]:" + port : std::string("ipv4:") + host + ":" + port;
}

int new_socket(int family) {
    const int fd = ::socket(family, SOCK_STREAM, 0);
    if (fd >= 0) {
        ::fcntl(fd, F_SETFD, FD_CLOEXEC);
        ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    }
    return fd;
}

struct Failure {
    int code;
    std::string text;
};

constexpr const char* kLate = "Deadline Exceeded";

// The way to a server: calls at the same time have connections of their own, up to a few.
class Channel {
  public:
    explicit Channel(const std::string& address) : address_(Address::of(address)), state_(new State) {
        // :method POST, :scheme http
        before_path_ = "\x83\x86";
        put_header(before_path_, 1, {}, address);
        put_header(after_path_, 0, "te", "trailers");
        put_header(after_path_, 31, {}, "application/grpc");
        put_header(after_path_, 58, {}, "grpc-everflow");
    }

    std::string headers(std::string_view path, std::optional<double> timeout) const {
        std::string found = before_path_;
        put_header(found, 4, {}, path);
        found += after_path_;
        if (timeout) {
            // At most eight digits.
            const double micros = std::ceil(*timeout * 1e6);
            const auto [count, unit] = micros < 1e8 ? std::pair(micros, 'u') : micros < 1e11 ? std::pair(micros / 1e3, 'm') : std::pair(std::min(micros / 1e6, 99999999.0), 'S');
            put_header(found, 0, "grpc-timeout", std::to_string(static_cast<uint64_t>(std::max(1.0, count))) + unit);
        }
        return found;
    }

    // A connection for a call, which counts as used. Null where there is none, and why, or where a signal has come.
    std::shared_ptr<Connection> take(Time until, bool waits, std::optional<Failure>& failure) {
        State& state = current();
        std::unique_lock lock(state.mutex);
        while (true) {
            std::shared_ptr<Connection> best;
            auto& all = state.connections;
            for (size_t i = 0; i < all.size();) {
                if (all[i]->is_usable()) {
                    if (!best || all[i]->users < best->users) best = all[i];
                    ++i;
                } else {
                    all.erase(all.begin() + static_cast<ptrdiff_t>(i));
                }
                if (best && !best->users) break;
            }
            const Time now = Clock::now();
            const bool may_try = !state.is_connecting && now >= state.next_try;
            if (best && (!best->users || all.size() >= kMost || !may_try)) {
                ++best->users;
                return best;
            }
            if (now >= until) {
                failure = {kDeadlineExceeded, kLate};
                return nullptr;
            }
            if (!may_try) {
                if (!state.is_connecting && !waits) {
                    failure = {kUnavailable, state.problem};
                    return nullptr;
                }
                const Time limit = std::min<Time>({until, now + kPatience, state.is_connecting ? kNever : state.next_try});
                state.changed.wait_until(lock, limit);
                lock.unlock();
                const bool stops = is_main_thread() && is_interrupted();
                lock.lock();
                if (stops) return nullptr;
                continue;
            }
            state.is_connecting = true;
            lock.unlock();
            std::string problem;
            bool stops = false;
            std::shared_ptr<Connection> made = connected(until, problem, stops);
            lock.lock();
            state.is_connecting = false;
            state.changed.notify_all();
            if (made) {
                state.pause = kFirstPause;
                all.push_back(made);
                ++made->users;
                return made;
            }
            if (stops) return nullptr;
            if (Clock::now() >= until) {
                // This call's time was short, which says nothing of the server to others.
                failure = {kDeadlineExceeded, kLate};
                return nullptr;
            }
            state.problem = problem;
            state.next_try = Clock::now() + state.pause;
            state.pause = std::min(state.pause * 8 / 5, kLongestPause);
            if (!waits && !best) {
                failure = {kUnavailable, problem};
                return nullptr;
            }
        }
    }

    bool reach(double timeout) {
        std::shared_ptr<Connection> found;
        std::optional<Failure> failure;
        {
            Unlocked unlocked;
            found = take(Clock::now() + std::chrono::milliseconds(static_cast<int64_t>(timeout * 1e3)), true, failure);
        }
        if (!found && !failure) throw nb::python_error();
        if (found) give_back(*found);
        return found != nullptr;
    }

    void give_back(Connection& connection) {
        State& state = current();
        std::lock_guard lock(state.mutex);
        --connection.users;
    }

  private:
    static constexpr size_t kMost = 4;
    // A task that comes back is found within a second or so, however long it was away.
    static constexpr std::chrono::milliseconds kFirstPause{100}, kLongestPause{1000};
    // Who has taken a connection is there, if busy.
    static constexpr std::chrono::seconds kConnecting{5}, kGreeting{20};

    struct State {
        const int born = generation;
        std::mutex mutex;
        std::condition_variable changed;
        std::vector<std::shared_ptr<Connection>> connections;
        bool is_connecting = false;
        Time next_try{};
        std::chrono::milliseconds pause = kFirstPause;
        std::string problem;
    };

    // A child that was forked starts anew. What its parent had may be in any state, and is left as it is.
    State& current() {
        State* found = state_.load();
        if (found->born != generation) {
            auto* fresh = new State;
            if (state_.compare_exchange_strong(found, fresh)) return *fresh;
            delete fresh;
        }
        return *found;
    }

    std::shared_ptr<Connection> connected(Time until, std::string& problem, bool& stops) const {
        const Time limit = std::min(until, Clock::now() + kConnecting);
        int error;
        const Resolved places = resolved(address_, AI_ADDRCONFIG, error);
        if (!places) {
            problem = "DNS resolution failed for " + address_.host + ":" + address_.port + ": " + ::gai_strerror(error);
            return nullptr;
        }
        for (const addrinfo* place = places.get(); place; place = place->ai_next) {
            problem = "failed to connect to all addresses; last error: UNAVAILABLE: " + name_of(*place) + ": ";
            const int fd = new_socket(place->ai_family);
            if (fd < 0) {
                problem += text_of(errno);
                continue;
            }
            error = ::connect(fd, place->ai_addr, place->ai_addrlen) == 0 ? 0 : errno;
            while (error == EINPROGRESS || error == EINTR) {
                pollfd polled{fd, POLLOUT, 0};
                const int count = ::poll(&polled, 1, milliseconds_until(std::min(limit, Clock::now() + kPatience)));
                if (count > 0) {
                    socklen_t size = sizeof error;
                    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
                } else if (Clock::now() >= limit) {
                    error = ETIMEDOUT;
                } else if (is_main_thread() && is_interrupted()) {
                    stops = true;
                    ::close(fd);
                    return nullptr;
                }
            }
            if (error) {
                problem += "Failed to connect to remote host: " + text_of(error);
                ::close(fd);
                continue;
            }
            auto found = std::make_shared<Connection>(fd, true);
            found->open();
            const Wake wake = found->greeted(std::min(until, Clock::now() + kGreeting));
            if (wake == Wake::changed && !found->is_closed()) return found;
            if (wake == Wake::interrupted) {
                stops = true;
                return nullptr;
            }
            problem += wake == Wake::late ? "no settings came in time" : found->reason();
        }
        return nullptr;
    }

    const Address address_;
    std::string before_path_, after_path_;
    std::atomic<State*> state_;
};

// A call under way.
class Calling {
  public:
    Calling(Channel& channel, std::string_view path, nb::handle request, std::optional<double> timeout, bool waits)
        : channel_(channel), stream_(std::make_shared<Stream>()) {
        const std::string headers = channel.headers(path, timeout);
        if (timeout) until_ = Clock::now() + std::chrono::nanoseconds(static_cast<int64_t>(std::clamp(*timeout, 0.0, 1e9) * 1e9));
        const Pieces pieces(request);
        Body body(pieces.memory());
        Wake wake = Wake::changed;
        {
            Unlocked unlocked;
            std::optional<Failure> failure;
            connection_ = channel.take(until_, waits, failure);
            if (connection_) {
                wake = connection_->request(stream_, headers, body, until_);
                settle(*connection_, wake);
            } else if (failure) {
                stream_->code = failure->code;
                stream_->text = std::move(failure->text);
            } else {
                wake = Wake::interrupted;
            }
        }
        if (wake == Wake::interrupted) {
            forget();
            throw nb::python_error();
        }
    }

    ~Calling() {
        cancel();
        forget();
    }

    // The answer's memory, or the code and the text of an error.
    nb::object result() {
        if (const std::shared_ptr<Connection> connection = connection_) {
            Wake wake;
            {
                Unlocked unlocked;
                wake = connection->answered(*stream_, until_);
                settle(*connection, wake);
            }
            forget();
            if (wake == Wake::interrupted) throw nb::python_error();
        }
        if (stream_->code == kOk) return view_of(std::move(stream_->message));
        const std::string& text = stream_->text;
        return nb::make_tuple(stream_->code, nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace")));
    }

    void cancel() {
        if (connection_) connection_->abandon(*stream_, kCancelled, "The call was cancelled");
    }

    // Has the call go on without anybody who waits for it.
    void forget() {
        std::shared_ptr<Connection> connection;
        connection.swap(connection_);
        if (connection) channel_.give_back(*connection);
    }

  private:
    void settle(Connection& connection, Wake wake) {
        if (wake == Wake::late) connection.abandon(*stream_, kDeadlineExceeded, kLate);
        if (wake == Wake::interrupted) connection.abandon(*stream_, kCancelled, "The call was interrupted");
    }

    Channel& channel_;
    std::shared_ptr<Stream> stream_;
    // Null when nobody waits. It is looked at with Python's lock held.
    std::shared_ptr<Connection> connection_;
    Time until_ = kNever;
};

// Tells of sockets that have something to read, each time one thread, which then has the socket for itself until it says otherwise.
class Watch {
  public:
#ifdef __linux__
    Watch() : fd_(::epoll_create1(EPOLL_CLOEXEC)) { keep_from_children(fd_); }

    void add(int fd, void* what) { control(EPOLL_CTL_ADD, fd, what, false); }
    void again(int fd, void* what, bool writes) { control(EPOLL_CTL_MOD, fd, what, writes); }
    void remove(int fd) { ::epoll_ctl(fd_, EPOLL_CTL_DEL, fd, nullptr); }

    void* wait(int milliseconds) {
        epoll_event event;
        return ::epoll_wait(fd_, &event, 1, milliseconds) == 1 ? event.data.ptr : nullptr;
    }

  private:
    void control(int what, int fd, void* data, bool writes) {
        epoll_event event{};
        event.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT | (writes ? static_cast<uint32_t>(EPOLLOUT) : 0u);
        event.data.ptr = data;
        ::epoll_ctl(fd_, what, fd, &event);
    }
#else
    Watch() : fd_(::kqueue()) { keep_from_children(fd_); }

    void add(int fd, void* what) { control(fd, what, EVFILT_READ); }
    void again(int fd, void* what, bool writes) {
        control(fd, what, EVFILT_READ);
        if (writes) control(fd, what, EVFILT_WRITE);
    }
    void remove(int fd) {
        struct kevent events[2];
        EV_SET(&events[0], fd, EVFILT_READ, EV_DELETE, 0, 0, nullptr);
        EV_SET(&events[1], fd, EVFILT_WRITE, EV_DELETE, 0, 0, nullptr);
        for (auto& event : events) ::kevent(fd_, &event, 1, nullptr, 0, nullptr);
    }

    void* wait(int milliseconds) {
        struct kevent event;
        const timespec limit{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
        return ::kevent(fd_, nullptr, 0, &event, 1, milliseconds < 0 ? nullptr : &limit) == 1 ? event.udata : nullptr;
    }

  private:
    void control(int fd, void* what, int16_t filter) {
        struct kevent event;
        EV_SET(&event, fd, filter, EV_ADD | EV_ENABLE | EV_DISPATCH, 0, 0, what);
        ::kevent(fd_, &event, 1, nullptr, 0, nullptr);
    }
#endif

    const int fd_;

  public:
    Watch(const Watch&) = delete;
    ~Watch() { forget(fd_); }
};

class Server;

// A call that is being answered.
class Served {
  public:
    Served(Server& server, std::shared_ptr<Connection> connection, std::shared_ptr<Stream> stream)
        : server_(server), connection_(std::move(connection)), stream_(std::move(stream)) {}
    ~Served() {
        if (!is_finished_) finish(kInternal, "Nobody answered", nb::none());
    }

    nb::object path() const { return nb::steal(PyUnicode_DecodeUTF8(stream_->path.data(), static_cast<Py_ssize_t>(stream_->path.size()), "replace")); }
    nb::object request() const { return stream_->has_message ? view_of(std::move(stream_->message)) : nb::none(); }
    void on_leave(nb::object leave);

    void finish(int code, std::string_view text, nb::handle answer);

  private:
    Server& server_;
    std::shared_ptr<Connection> connection_;
    std::shared_ptr<Stream> stream_;
    bool is_finished_ = false, has_asked_ = false, is_watched_ = false;
};

// Serves as many threads as ask it for what there is to do. It lives as long as the program.
class Server {
  public:
    Server() {
        if (::pipe(wake_) != 0) throw std::runtime_error("There are too many open files");
        for (const int end : wake_) {
            ::fcntl(end, F_SETFL, O_NONBLOCK);
            ::fcntl(end, F_SETFD, FD_CLOEXEC);
            keep_from_children(end);
        }
        watch_.add(wake_[0], &wake_);
    }
    // Where threads take part in it, they keep it.
    ~Server() {
        for (const int fd : {wake_[0], wake_[1], socket_}) {
            if (fd >= 0) forget(fd);
        }
    }

    // Listens at an address; the port, or 0 where it is taken.
    int bind(const std::string& text) {
        Address address = Address::of(text);
        int error;
        if (address.host == "0.0.0.0" || address.host == "::" || address.host.empty()) {
            // Whoever comes, by whichever protocol.
            const int port = listening(resolved({"::", address.port}, AI_PASSIVE | AI_NUMERICHOST, error).get());
            if (port > 0 || port == -EADDRINUSE) return std::max(port, 0);
            address.host = "0.0.0.0";
        }
        const Resolved places = resolved(address, AI_PASSIVE, error);
        for (const addrinfo* place = places.get(); place; place = place->ai_next) {
            const int port = listening(place);
            if (port > 0) return port;
        }
        return 0;
    }

    void start() { watch_.add(socket_, &socket_); }

    // What there is to do next: a call, or a function that is to be told that a caller has gone.
    nb::object next() {
        std::shared_ptr<Connection> connection;
        std::shared_ptr<Stream> stream;
        void* leave = nullptr;
        {
            Unlocked unlocked;
            while (!taken(connection, stream, leave)) look();
        }
        if (leave) return nb::steal(static_cast<PyObject*>(leave));
        return nb::cast(new Served(*this, std::move(connection), std::move(stream)), nb::rv_policy::take_ownership);
    }

    // Has a caller's leave told, by another thread: who asks for it may hold locks.
    void tell(void* leave) {
        std::lock_guard lock(mutex_);
        work_.push_back({nullptr, nullptr, leave});
        wake();
    }

    // Looks at a call's deadline, as long as it is not answered.
    void watch(const std::shared_ptr<Connection>& connection, const std::shared_ptr<Stream>& stream) {
        std::lock_guard lock(mutex_);
        const auto at = deadlines_.emplace(stream->deadline, std::pair(connection, stream));
        if (at == deadlines_.begin()) wake();
    }

    void unwatch(const std::shared_ptr<Stream>& stream) {
        std::lock_guard lock(mutex_);
        const auto [first, last] = deadlines_.equal_range(stream->deadline);
        const auto found = std::find_if(first, last, [&](const auto& each) { return each.second.second == stream; });
        if (found != last) deadlines_.erase(found);
    }

  private:
    struct Work {
        std::shared_ptr<Connection> connection;
        std::shared_ptr<Stream> stream;
        void* leave;
    };

    int listening(const addrinfo* place) {
        if (!place) return -EAFNOSUPPORT;
        const int fd = new_socket(place->ai_family);
        if (fd < 0) return -errno;
        const int yes = 1, no = 0;
        ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        if (place->ai_family == AF_INET6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
        sockaddr_storage own{};
        socklen_t size = sizeof own;
        if (::bind(fd, place->ai_addr, place->ai_addrlen) != 0 || ::listen(fd, SOMAXCONN) != 0 ||
            ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) != 0) {
            const int error = errno;
            ::close(fd);
            return -error;
        }
        keep_from_children(fd);
        socket_ = fd;
        // The port is at the same place in both kinds of address.
        return ntohs(reinterpret_cast<const sockaddr_in*>(&own)->sin_port);
    }

    bool taken(std::shared_ptr<Connection>& connection, std::shared_ptr<Stream>& stream, void*& leave) {
        std::lock_guard lock(mutex_);
        if (work_.empty()) return false;
        Work& first = work_.front();
        connection = std::move(first.connection);
        stream = std::move(first.stream);
        leave = first.leave;
        work_.pop_front();
        // Another thread is called for what is left.
        if (!work_.empty()) wake();
        return true;
    }

    void wake() {
        [[maybe_unused]] const ssize_t written = ::write(wake_[1], "", 1);
    }

    void look() {
        void* const event = alertness_.wait(milliseconds_until(next_deadline()), [&](int milliseconds) { return watch_.wait(milliseconds); });
        if (event == nullptr) {
            tell_late();
        } else if (event == &wake_) {
            char bytes[64];
            while (::read(wake_[0], bytes, sizeof bytes) == sizeof bytes) {}
            watch_.again(wake_[0], &wake_, false);
        } else if (event == &socket_) {
            accept();
        } else {
            auto* const connection = static_cast<Connection*>(event);
            std::shared_ptr<Connection> held;
            {
                std::lock_guard lock(mutex_);
                held = connections_[connection];
            }
            connection->flush();
            const bool goes_on = connection->read();
            collect(held, goes_on);
            if (goes_on) watch_.again(connection->fd(), connection, connection->has_pending());
        }
    }

    Time next_deadline() {
        std::lock_guard lock(mutex_);
        return deadlines_.empty() ? kNever : deadlines_.begin()->first;
    }

    void accept() {
        while (true) {
            const int fd = ::accept(socket_, nullptr, nullptr);
            if (fd < 0) {
                if (errno == EINTR || errno == ECONNABORTED) continue;
                // Without files to open for them, those who come wait.
                if (errno != EAGAIN && errno != EWOULDBLOCK) std::this_thread::sleep_for(std::chrono::milliseconds(50));
                break;
            }
            ::fcntl(fd, F_SETFD, FD_CLOEXEC);
            auto connection = std::make_shared<Connection>(fd, false);
            connection->open();
            {
                std::lock_guard lock(mutex_);
                connections_[connection.get()] = connection;
            }
            watch_.add(fd, connection.get());
        }
        watch_.again(socket_, &socket_, false);
    }

    // Takes the calls that a connection has brought, and hears of the callers who have gone.
    void collect(const std::shared_ptr<Connection>& connection, bool goes_on) {
        std::vector<void*> leaves;
        {
            std::lock_guard lock(connection->mutex());
            const auto gone = [&](Stream& stream) {
                stream.is_over = true;
                if (void* leave = std::exchange(stream.leave, nullptr)) leaves.push_back(leave);
            };
            for (const auto& stream : connection->left) gone(*stream);
            connection->left.clear();
            if (!goes_on) {
                for (auto& [id, stream] : connection->streams()) gone(*stream);
                connection->streams().clear();
            }
        }
        if (!goes_on) watch_.remove(connection->fd());
        std::lock_guard lock(mutex_);
        for (auto& stream : connection->arrived) {
            if (goes_on) work_.push_back({connection, std::move(stream), nullptr});
        }
        connection->arrived.clear();
        for (void* leave : leaves) work_.push_back({nullptr, nullptr, leave});
        if (!goes_on) connections_.erase(connection.get());
    }

    // Tells those of late whose callers have given up by now, which they may not be able to say.
    void tell_late() {
        std::lock_guard lock(mutex_);
        while (!deadlines_.empty() && deadlines_.begin()->first <= Clock::now()) {
            const auto [connection, stream] = deadlines_.begin()->second;
            deadlines_.erase(deadlines_.begin());
            std::lock_guard within(connection->mutex());
            if (void* leave = std::exchange(stream->leave, nullptr)) work_.push_back({nullptr, nullptr, leave});
        }
    }

    Watch watch_;
    Alertness alertness_;
    int socket_ = -1;
    int wake_[2];
    std::mutex mutex_;
    std::deque<Work> work_;
    std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
    std::multimap<Time, std::pair<std::shared_ptr<Connection>, std::shared_ptr<Stream>>> deadlines_;
};

void Served::finish(int code, std::string_view text, nb::handle answer) {
    std::optional<Pieces> pieces;
    std::optional<Body> body;
    if (Clock::now() >= stream_->deadline) {
        // Who asked has given up by now, whatever came of it.
        code = kDeadlineExceeded;
        text = kLate;
    } else if (!answer.is_none()) {
        pieces.emplace(answer);
        body.emplace(pieces->memory());
    }
    is_finished_ = true;
    {
        Unlocked unlocked;
        if (is_watched_) server_.unwatch(stream_);
        connection_->respond(*stream_, code, text, body ? &*body : nullptr);
    }
    void* leave;
    {
        std::lock_guard lock(connection_->mutex());
        leave = std::exchange(stream_->leave, nullptr);
    }
    Py_XDECREF(static_cast<PyObject*>(leave));
}

void Served::on_leave(nb::object leave) {
    bool is_gone;
    {
        std::lock_guard lock(connection_->mutex());
        if (std::exchange(has_asked_, true) || is_finished_) return;
        is_gone = stream_->is_over || connection_->is_closed();
        if (!is_gone) stream_->leave = leave.release().ptr();
    }
    if (is_gone) {
        server_.tell(leave.release().ptr());
    } else if (stream_->deadline != kNever) {
        is_watched_ = true;
        server_.watch(connection_, stream_);
    }
}

}  // namespace

void add_grpc(nb::module_& module) {
    nb::class_<Message>(module, "WireMessage", nb::type_slots(message_slots), "The memory of a message that came.");
    nb::class_<Calling>(module, "WireCall", "A call under way.")
        .def("result", &Calling::result, nb::sig("def result(self) -> typing.Any"), "Waits for the answer: its memory, or the code and the text of an error.")
        .def("cancel", &Calling::cancel, "Gives the call up.")
        .def("forget", &Calling::forget, "Has the call go on without anybody who waits for it.");
    nb::class_<Channel>(module, "WireChannel", "The way to the server at `host:port`.")
        .def(nb::init<const std::string&>(), "address"_a)
        .def(
            "call",
            [](Channel& channel, std::string_view path, nb::handle request, std::optional<double> timeout, bool waits) {
                return Calling(channel, path, request, timeout, waits).result();
            },
            "path"_a, "request"_a, "timeout"_a.none(), "waits"_a,
            nb::sig("def call(self, path: str, request: object, timeout: float | None, waits: bool) -> typing.Any"),
            "Calls a method: the answer's memory, or the code and the text of an error. The request is memory, or pieces of it.")
        .def(
            "begin",
            [](Channel& channel, std::string_view path, nb::handle request, std::optional<double> timeout, bool waits) {
                return new Calling(channel, path, request, timeout, waits);
            },
            "path"_a, "request"_a, "timeout"_a.none(), "waits"_a, nb::rv_policy::take_ownership, nb::keep_alive<0, 1>(),
            "Sends a request, and leaves the answer for later.")
        .def("reach", &Channel::reach, "timeout"_a, "Whether the server can be connected to within this time.");
    nb::class_<Served>(module, "ServedCall", "A call that is being answered.")
        .def("path", &Served::path, nb::sig("def path(self) -> str"), "The method that is called.")
        .def("request", &Served::request, nb::sig("def request(self) -> memoryview | None"), "The memory of the request, which is given away; None where none came.")
        .def("on_leave", &Served::on_leave, "leave"_a, "Has `leave()` called when who asked goes away. The first who asks for it is heard.")
        .def("finish", &Served::finish, "code"_a, "text"_a, "answer"_a.none(), "Sends the status, and the answer if there is one.");
    nb::class_<Server>(module, "WireServer", "Takes calls from whoever connects.")
        .def(nb::init<>())
        .def("bind", &Server::bind, "address"_a, "Listens at an address; the port, or 0 where it is taken.")
        .def("start", &Server::start, "Begins to take connections.")
        .def("next", &Server::next, nb::sig("def next(self) -> typing.Any"), "Waits for what there is to do: a call, or a function that tells that a caller has gone.");
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(end_of_program));
}

}  // namespace everflow
