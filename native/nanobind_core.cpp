// nanobind's own runtime, compiled into the extension: the package needs nothing of nanobind once it is built.
#include <nb_combined.cpp>
