// The extension module everflow._native: each topic of the folder adds its functions here.
#include "random.h"

NB_MODULE(_native, module) {
    module.doc() = "What must run per element and neither torch nor numpy does.";
    everflow::add_random_fills(module);
    everflow::add_random_samplers(module);
}
