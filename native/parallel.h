// Splits a range of independent items over a few threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <dlfcn.h>
#endif

namespace everflow {

// The threads that torch keeps for its own kernels, where it brought GNU's OpenMP into the process. They wait actively for a while
// after each kernel: threads of our own would have to share the processors with them.
struct Team {
    void (*parallel)(void (*)(void*), void*, unsigned, unsigned) = nullptr;

    static Team find() {
        Team team;
#if defined(__unix__) || defined(__APPLE__)
        team.parallel = reinterpret_cast<decltype(team.parallel)>(dlsym(RTLD_DEFAULT, "GOMP_parallel"));
#endif
        return team;
    }
};

// How many pieces items are cut into: a thread gets at least `grain` of them, or it is not worth asking.
inline size_t pieces_of(size_t count, size_t grain, size_t threads) {
    return std::max<size_t>(1, std::min(threads, count / std::max<size_t>(1, grain)));
}

// Calls work(k, begin, end) for each of the pieces that cover [0, count).
template <typename Work>
void in_pieces(size_t count, size_t pieces, const Work& work) {
    if (pieces == 1) {
        work(0, 0, count);
        return;
    }
    const size_t size = (count + pieces - 1) / pieces;
    const auto piece = [&work, size, count](size_t k) { work(k, std::min(count, k * size), std::min(count, (k + 1) * size)); };
    const Team team = Team::find();
    if (team.parallel != nullptr) {
        // The runtime may give fewer threads than asked for: each takes the next piece that is left.
        struct Share {
            const decltype(piece)* one;
            size_t pieces;
            std::atomic<size_t> next;
        } share{&piece, pieces, {0}};
        team.parallel(
            [](void* given) {
                auto& own = *static_cast<Share*>(given);
                for (size_t k = own.next++; k < own.pieces; k = own.next++) (*own.one)(k);
            },
            &share, static_cast<unsigned>(pieces), 0);
        return;
    }
    std::vector<std::thread> others;
    others.reserve(pieces - 1);
    for (size_t k = 1; k < pieces; ++k) others.emplace_back(piece, k);
    piece(0);
    for (auto& thread : others) thread.join();
}

// Calls work(begin, end) for pieces that cover [0, count).
template <typename Work>
void in_parallel(size_t count, size_t grain, size_t threads, const Work& work) {
    in_pieces(count, pieces_of(count, grain, threads), [&work](size_t, size_t begin, size_t end) { work(begin, end); });
}

// Calls work(begin, end, sums), which adds to `size` numbers; the sums of all pieces come to stand in `sums`. They are added in the order
// of the pieces, whichever thread was first: to the last digit the same each time.
template <typename Work>
void sum_in_parallel(size_t count, size_t grain, size_t threads, float* sums, size_t size, const Work& work) {
    const size_t pieces = pieces_of(count, grain, threads);
    std::vector<std::vector<float>> others(pieces - 1);
    std::fill_n(sums, size, 0.0f);
    in_pieces(count, pieces, [&](size_t k, size_t begin, size_t end) {
        if (k) others[k - 1].assign(size, 0.0f);
        work(begin, end, k ? others[k - 1].data() : sums);
    });
    for (const auto& more : others) {
        for (size_t i = 0; i < size; ++i) sums[i] += more[i];
    }
}

}  // namespace everflow
