// Calls of functions of NVIDIA's library by address, one for each form of parameters. A letter is a
// parameter: h is a handle, u a 32-bit number or enumeration, l a 64-bit number, p a pointer to an answer.
// A function that the library lacks has the address 0.
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#define CALL(form, parameters, ...)                                                \
    static inline int32_t call_##form parameters {                                 \
        if (!f) return 13; /* NVML_ERROR_FUNCTION_NOT_FOUND */                     \
        return ((int32_t(*)TYPES_##form)f)(__VA_ARGS__);                           \
    }
#define H (void *)
typedef unsigned long long ull;

#define TYPES_none (void)
#define TYPES_h (void *)
#define TYPES_p (void *)
#define TYPES_pu (void *, unsigned)
#define TYPES_up (unsigned, void *)
#define TYPES_pp (void *, void *)
#define TYPES_hp (void *, void *)
#define TYPES_hh (void *, void *)
#define TYPES_huh (void *, unsigned, void *)
#define TYPES_hpu (void *, void *, unsigned)
#define TYPES_hup (void *, unsigned, void *)
#define TYPES_hpp (void *, void *, void *)
#define TYPES_huup (void *, unsigned, unsigned, void *)
#define TYPES_hlh (void *, ull, void *)
#define TYPES_hppl (void *, void *, void *, ull)
#define TYPES_hpppp (void *, void *, void *, void *, void *)
#define TYPES_hulppp (void *, unsigned, ull, void *, void *, void *)

static inline int32_t call_none(uintptr_t f) { return f ? ((int32_t(*)(void))f)() : 13; }
CALL(h, (uintptr_t f, uintptr_t h), H h)
CALL(p, (uintptr_t f, void *p), p)
CALL(pu, (uintptr_t f, void *p, uint32_t u), p, u)
CALL(up, (uintptr_t f, uint32_t u, void *p), u, p)
CALL(pp, (uintptr_t f, void *p, void *q), p, q)
CALL(hp, (uintptr_t f, uintptr_t h, void *p), H h, p)
CALL(hh, (uintptr_t f, uintptr_t h, uintptr_t i), H h, H i)
CALL(huh, (uintptr_t f, uintptr_t h, uint32_t u, uintptr_t i), H h, u, H i)
CALL(hpu, (uintptr_t f, uintptr_t h, void *p, uint32_t u), H h, p, u)
CALL(hup, (uintptr_t f, uintptr_t h, uint32_t u, void *p), H h, u, p)
CALL(hpp, (uintptr_t f, uintptr_t h, void *p, void *q), H h, p, q)
CALL(huup, (uintptr_t f, uintptr_t h, uint32_t u, uint32_t v, void *p), H h, u, v, p)
CALL(hlh, (uintptr_t f, uintptr_t h, uint64_t l, uintptr_t i), H h, l, H i)
CALL(hppl, (uintptr_t f, uintptr_t h, void *p, void *q, uint64_t l), H h, p, q, l)
CALL(hpppp, (uintptr_t f, uintptr_t h, void *p, void *q, void *r, void *s), H h, p, q, r, s)
CALL(hulppp, (uintptr_t f, uintptr_t h, uint32_t u, uint64_t l, void *p, void *q, void *r), H h, u, l, p, q, r)

// find returns the address of a function of the libraries that are open to all; 0 where none has it.
static inline uintptr_t find(const char *name) { return (uintptr_t)dlsym(RTLD_DEFAULT, name); }
