// Splits a range of independent items over a few threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace everflow {

// Calls work(begin, end) for pieces that cover [0, count); a thread gets at least `grain` items, or it is not worth starting.
template <typename Work>
void in_parallel(size_t count, size_t grain, size_t threads, const Work& work) {
    const size_t pieces = std::max<size_t>(1, std::min(threads, count / std::max<size_t>(1, grain)));
    const size_t size = (count + pieces - 1) / pieces;
    std::vector<std::thread> others;
    others.reserve(pieces - 1);
    for (size_t piece = 1; piece < pieces; ++piece) {
        others.emplace_back([&work, piece, size, count] { work(std::min(count, piece * size), std::min(count, (piece + 1) * size)); });
    }
    work(0, std::min(count, size));
    for (auto& thread : others) thread.join();
}

}  // namespace everflow
