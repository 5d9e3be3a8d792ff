// What KERNELS names, compiled for one KIND of processor: part of each_processor.h.
namespace everflow {
namespace {
namespace KIND {

// So many numbers are computed side by side, in one of so many registers.
constexpr size_t LANES = KIND_LANES, REGISTERS = KIND_REGISTERS;

#if defined(__GNUC__)
typedef float Vector __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));
#else
typedef float Vector;
#endif

INLINE Vector load(const float* from) { return *reinterpret_cast<const Vector*>(from); }
INLINE void store(float* to, Vector x) { *reinterpret_cast<Vector*>(to) = x; }

#include KERNELS

}  // namespace KIND
}  // namespace
}  // namespace everflow

#undef KIND
#undef KIND_LANES
#undef KIND_REGISTERS
