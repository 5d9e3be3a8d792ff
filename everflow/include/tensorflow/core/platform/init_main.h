// What programs call first: port::InitMain(argv[0], &argc, &argv).
#ifndef TENSORFLOW_CORE_PLATFORM_INIT_MAIN_H_
#define TENSORFLOW_CORE_PLATFORM_INIT_MAIN_H_

namespace tensorflow {
namespace port {

inline void InitMain(const char* /*usage*/, int* /*argc*/, char*** /*argv*/) {}

}  // namespace port
}  // namespace tensorflow

#endif
