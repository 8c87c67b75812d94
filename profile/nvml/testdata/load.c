// Loads of a known kind on one GPU, for the check of a real one: a share of the multiprocessors at work, one
// kind of arithmetic, device memory streamed, copies over PCIe, memory held. It finds the CUDA driver at run
// time and gives it programs in PTX, so that it needs neither a toolkit nor a header.
//
//   load BUS KIND SECONDS [AMOUNT]   BUS is the PCI address of the GPU, as 0000:19:00.0
//   load ptx                         print the programs
//
// It prints "begin" and, after SECONDS, one line of JSON: what was done between the two lines.
// Calls: CUDA Driver API, docs.nvidia.com/cuda/cuda-driver-api. Instructions: PTX ISA,
// docs.nvidia.com/cuda/parallel-thread-execution.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int CUresult;
typedef int CUdevice;
typedef void *CUcontext, *CUmodule, *CUfunction, *CUstream;
typedef uint64_t CUdeviceptr;

enum { // of CUdevice_attribute
    MULTIPROCESSORS = 16,
    THREADS_PER_MULTIPROCESSOR = 39,
    COMPUTE_MAJOR = 75,
    SHARED_OPTIN = 97,
};
enum { MAX_DYNAMIC_SHARED = 8 }; // of CUfunction_attribute

static CUresult (*cuInit)(unsigned);
static CUresult (*cuGetErrorName)(CUresult, const char **);
static CUresult (*cuDeviceGetByPCIBusId)(CUdevice *, const char *);
static CUresult (*cuDeviceGetAttribute)(int *, int, CUdevice);
static CUresult (*cuCtxCreate_v2)(CUcontext *, unsigned, CUdevice);
static CUresult (*cuModuleLoadData)(CUmodule *, const void *);
static CUresult (*cuModuleGetFunction)(CUfunction *, CUmodule, const char *);
static CUresult (*cuFuncSetAttribute)(CUfunction, int, int);
static CUresult (*cuMemAlloc_v2)(CUdeviceptr *, size_t);
static CUresult (*cuMemAllocHost_v2)(void **, size_t);
static CUresult (*cuMemsetD8_v2)(CUdeviceptr, unsigned char, size_t);
static CUresult (*cuStreamCreate)(CUstream *, unsigned);
static CUresult (*cuStreamSynchronize)(CUstream);
static CUresult (*cuMemcpyHtoDAsync_v2)(CUdeviceptr, const void *, size_t, CUstream);
static CUresult (*cuMemcpyDtoHAsync_v2)(void *, CUdeviceptr, size_t, CUstream);
static CUresult (*cuLaunchKernel)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);

static void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void check(CUresult r, const char *what) {
    const char *name = NULL;
    if (!r) return;
    if (!cuGetErrorName || cuGetErrorName(r, &name) || !name) name = "unknown error";
    fail(what, name);
}
#define CHECK(call) check((call), #call)

static void bind(void) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib) fail("libcuda.so.1", dlerror());
#define BIND(f) if (!(*(void **)&f = dlsym(lib, #f))) fail(#f, "not in this driver")
    BIND(cuInit); BIND(cuGetErrorName); BIND(cuDeviceGetByPCIBusId); BIND(cuDeviceGetAttribute); BIND(cuCtxCreate_v2);
    BIND(cuModuleLoadData); BIND(cuModuleGetFunction); BIND(cuFuncSetAttribute); BIND(cuMemAlloc_v2); BIND(cuMemAllocHost_v2);
    BIND(cuMemsetD8_v2); BIND(cuStreamCreate); BIND(cuStreamSynchronize); BIND(cuMemcpyHtoDAsync_v2); BIND(cuMemcpyDtoHAsync_v2);
    BIND(cuLaunchKernel);
}

static char ptx[1 << 16];
static size_t used;

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...) {
    va_list args;
    va_start(args, format);
    used += vsnprintf(ptx + used, sizeof ptx - used, format, args);
    va_end(args);
    if (used >= sizeof ptx) fail("ptx", "too long");
}

// head and tail of a kernel that runs until a time has passed by the GPU's own clock. What it computes is
// stored only where it has a value that it never has, so that no compiler leaves it out.
static void head(const char *name) {
    put(".visible .entry %s(.param .u64 nanos, .param .u64 out)\n{\n.reg .pred %%p<2>;\n.reg .b64 %%t<4>;\n", name);
}

static void begin(void) {
    put("ld.param.u64 %%t0, [nanos];\nld.param.u64 %%t3, [out];\nmov.u64 %%t1, %%globaltimer;\nadd.u64 %%t1, %%t1, %%t0;\nagain:\n");
}

static void again(void) { // while any thread of the warp has time left
    put("mov.u64 %%t2, %%globaltimer;\nsetp.lt.u64 %%p0, %%t2, %%t1;\nvote.sync.any.pred %%p0, %%p0, 0xFFFFFFFF;\n@%%p0 bra.uni again;\n");
}

static void end(void) { put("ret;\n}\n"); }

// arithmetic is a kernel of additions and multiplications of one type, in eight chains that do not wait for
// each other. one lacks its last digit, in which the chains differ.
static void arithmetic(const char *name, const char *type, int bits, const char *one, const char *scale, const char *step, const char *never) {
    head(name);
    put(".reg .b%d %%v<10>;\n", bits);
    for (int i = 0; i < 8; i++) put("mov.b%d %%v%d, %s%d;\n", bits, i, one, i);
    put("mov.b%d %%v8, %s;\nmov.b%d %%v9, %s;\n", bits, scale, bits, step);
    begin();
    for (int i = 0; i < 256; i++) put("fma.rn.%s %%v%d, %%v%d, %%v8, %%v9;\n", type, i % 8, i % 8);
    again();
    for (int i = 1; i < 8; i++) put("add.%s %%v0, %%v0, %%v%d;\n", type, i);
    put("setp.eq.b%d %%p1, %%v0, %s;\n@%%p1 st.global.b%d [%%t3], %%v0;\n", bits, never, bits);
    end();
}

// programs writes all kernels.
static void programs(void) {
    enum { SUMS = 8, TIMES = 8 };
    put(".version 7.0\n.target sm_80\n.address_size 64\n");
    head("spin");
    begin();
    again();
    end();
    arithmetic("fp16", "f16x2", 32, "0x3C003C0", "0x3BFF3BFF", "0x10001000", "0x7BFF7BFF");
    arithmetic("fp32", "f32", 32, "0x3F80000", "0x3F7FFFFE", "0x33800000", "0x7F7FFFFF");
    arithmetic("fp64", "f64", 64, "0x3FF000000000000", "0x3FEFFFFFFFFFFFFE", "0x3CB0000000000000", "0x7FEFFFFFFFFFFFFF");
    head("tensor"); // products of 16x16 by 16x8 matrices of half precision
    put(".reg .b32 %%a<4>, %%b<2>;\n.reg .f32 %%c<%d>;\n", 4 * SUMS);
    for (int i = 0; i < 4; i++) put("mov.b32 %%a%d, 0x3C003C00;\n", i);
    for (int i = 0; i < 2; i++) put("mov.b32 %%b%d, 0x00010001;\n", i);
    for (int i = 0; i < 4 * SUMS; i++) put("mov.f32 %%c%d, 0f00000000;\n", i);
    begin();
    for (int i = 0; i < SUMS * TIMES; i++) {
        int c = 4 * (i % SUMS);
        put("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%%c%d, %%c%d, %%c%d, %%c%d}, {%%a0, %%a1, %%a2, %%a3}, {%%b0, %%b1}, {%%c%d, %%c%d, %%c%d, %%c%d};\n",
            c, c + 1, c + 2, c + 3, c, c + 1, c + 2, c + 3);
    }
    again();
    for (int i = 1; i < 4 * SUMS; i++) put("add.f32 %%c0, %%c0, %%c%d;\n", i);
    put("setp.eq.f32 %%p1, %%c0, 0f7F7FFFFF;\n@%%p1 st.global.f32 [%%t3], %%c0;\n");
    end();
    put(".visible .entry stream(.param .u64 from, .param .u64 to, .param .u64 n)\n{\n.reg .pred %%p<1>;\n.reg .b32 %%r<8>;\n.reg .b64 %%t<8>;\n"
        "ld.param.u64 %%t0, [from];\nld.param.u64 %%t1, [to];\nld.param.u64 %%t2, [n];\n"
        "cvta.to.global.u64 %%t0, %%t0;\ncvta.to.global.u64 %%t1, %%t1;\n"
        "mov.u32 %%r0, %%ctaid.x;\nmov.u32 %%r1, %%ntid.x;\nmov.u32 %%r2, %%tid.x;\nmov.u32 %%r3, %%nctaid.x;\n"
        "mul.wide.u32 %%t3, %%r0, %%r1;\ncvt.u64.u32 %%t4, %%r2;\nadd.u64 %%t3, %%t3, %%t4;\nmul.wide.u32 %%t4, %%r1, %%r3;\n"
        "next:\nsetp.ge.u64 %%p0, %%t3, %%t2;\n@%%p0 bra done;\nshl.b64 %%t5, %%t3, 4;\nadd.u64 %%t6, %%t0, %%t5;\nadd.u64 %%t7, %%t1, %%t5;\n"
        "ld.global.cs.v4.u32 {%%r4, %%r5, %%r6, %%r7}, [%%t6];\nst.global.cs.v4.u32 [%%t7], {%%r4, %%r5, %%r6, %%r7};\n"
        "add.u64 %%t3, %%t3, %%t4;\nbra next;\ndone:\n");
    end();
}

static CUdevice device;
static CUmodule module;

static int attribute(int which) {
    int v;
    CHECK(cuDeviceGetAttribute(&v, which, device));
    return v;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static CUdeviceptr memory(size_t bytes) {
    CUdeviceptr p;
    CHECK(cuMemAlloc_v2(&p, bytes));
    CHECK(cuMemsetD8_v2(p, 1, bytes));
    return p;
}

static double started;

static void ready(void) { // all is set up and the load begins
    printf("begin\n");
    fflush(stdout);
    started = now();
}

static void report(const char *format, ...) {
    va_list args;
    printf("{\"seconds\": %.6f", now() - started);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("}\n");
    fflush(stdout);
}

// kernels runs one kernel on some multiprocessors. A block takes the shared memory of a whole one, so that
// each has one.
static void kernels(const char *name, double seconds, int multiprocessors) {
    enum { THREADS = 1024, AHEAD = 4 };
    uint64_t nanos = 20000000;
    CUfunction f;
    CUdeviceptr out = memory(4096);
    void *args[] = {&nanos, &out};
    int shared = attribute(SHARED_OPTIN);
    CHECK(cuModuleGetFunction(&f, module, name));
    CHECK(cuFuncSetAttribute(f, MAX_DYNAMIC_SHARED, shared));
    ready();
    while (now() - started < seconds) {
        for (int i = 0; i < AHEAD; i++) CHECK(cuLaunchKernel(f, multiprocessors, 1, 1, THREADS, 1, 1, shared, NULL, args, NULL));
        CHECK(cuStreamSynchronize(NULL));
    }
    report(", \"sms\": %d, \"sms_used\": %d, \"threads\": %d, \"threads_per_sm\": %d", attribute(MULTIPROCESSORS), multiprocessors, THREADS,
           attribute(THREADS_PER_MULTIPROCESSOR));
}

// stream copies device memory to device memory.
static void stream(double seconds) {
    enum { THREADS = 512, BLOCKS = 4, AHEAD = 4 };
    size_t bytes = (size_t)2 << 30; // far more than any cache
    uint64_t n = bytes / 16, copies = 0;
    CUfunction f;
    CUdeviceptr from = memory(bytes), to = memory(bytes);
    void *args[] = {&from, &to, &n};
    CHECK(cuModuleGetFunction(&f, module, "stream"));
    ready();
    while (now() - started < seconds) {
        for (int i = 0; i < AHEAD; i++) CHECK(cuLaunchKernel(f, BLOCKS * attribute(MULTIPROCESSORS), 1, 1, THREADS, 1, 1, 0, NULL, args, NULL));
        CHECK(cuStreamSynchronize(NULL));
        copies += AHEAD;
    }
    report(", \"memory_bytes\": %llu", (unsigned long long)(2 * bytes * copies));
}

// copies moves memory between the box and the GPU, one way.
static void copies(double seconds, int in) {
    enum { AHEAD = 4 };
    size_t bytes = (size_t)256 << 20;
    uint64_t moved = 0;
    void *host;
    CUdeviceptr on = memory(bytes);
    CHECK(cuMemAllocHost_v2(&host, bytes));
    memset(host, 1, bytes);
    ready();
    while (now() - started < seconds) {
        for (int i = 0; i < AHEAD; i++) {
            if (in) CHECK(cuMemcpyHtoDAsync_v2(on, host, bytes, NULL));
            else CHECK(cuMemcpyDtoHAsync_v2(host, on, bytes, NULL));
        }
        CHECK(cuStreamSynchronize(NULL));
        moved += AHEAD * bytes;
    }
    report(", \"%s\": %llu", in ? "to_gpu_bytes" : "from_gpu_bytes", (unsigned long long)moved);
}

// hold allocates memory and does nothing.
static void hold(double seconds, size_t bytes) {
    memory(bytes);
    CHECK(cuStreamSynchronize(NULL));
    ready();
    while (now() - started < seconds) nanosleep(&(struct timespec){0, 50000000}, NULL);
    report(", \"held_bytes\": %llu", (unsigned long long)bytes);
}

int main(int argc, char **argv) {
    CUcontext context;
    programs();
    if (argc == 2 && !strcmp(argv[1], "ptx")) return fputs(ptx, stdout) < 0;
    if (argc < 4) fail("usage", "load BUS KIND SECONDS [AMOUNT]");
    const char *kind = argv[2];
    double seconds = atof(argv[3]);
    long long amount = argc > 4 ? atoll(argv[4]) : 0;
    bind();
    CHECK(cuInit(0));
    CHECK(cuDeviceGetByPCIBusId(&device, argv[1]));
    if (attribute(COMPUTE_MAJOR) < 8) fail("GPU", "older than compute capability 8.0");
    CHECK(cuCtxCreate_v2(&context, 0, device));
    CHECK(cuModuleLoadData(&module, ptx));
    if (!strcmp(kind, "hold")) hold(seconds, amount);
    else if (!strcmp(kind, "stream")) stream(seconds);
    else if (!strcmp(kind, "in")) copies(seconds, 1);
    else if (!strcmp(kind, "out")) copies(seconds, 0);
    else kernels(kind, seconds, amount > 0 ? amount : attribute(MULTIPROCESSORS));
    return 0; // the driver frees what is left
}
