// Hashes of strings that other systems compute too, so every bit of them is fixed.
#pragma once

#include <cstdint>
#include <string_view>

namespace everflow {

// FarmHash's Fingerprint64.
uint64_t farm_fingerprint(std::string_view text);
// MurmurHash64A with the seed that TensorFlow gives it.
uint64_t murmur_hash(std::string_view text);
// SipHash-2-4.
uint64_t sip_hash(std::string_view text, uint64_t key0, uint64_t key1);

}  // namespace everflow
