/* CUDA's words for a host compiler. Kernels behind this file are functions that host.cpp calls thread by thread. */
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define __device__
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)

struct host_index { unsigned x, y, z; };
static host_index threadIdx, blockIdx;
