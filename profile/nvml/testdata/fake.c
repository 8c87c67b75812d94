// A stand-in for NVIDIA's management library, for the tests: it answers from a
// text file, named by FAKE_NVML and read again at every call, so that a test can
// change what the GPUs say between two calls. Compiled by the test against the
// header of go-nvml, whose layouts it thus shares. Without FAKE_NVML it answers
// with fixed figures, fast, for the benchmark.
//
// Lines of the file:
//   KEY VALUE             of all GPUs, or of the box ("count 2", "init 18")
//   N.KEY VALUE           of GPU N ("1.util 73"); "max" is 2^64-1
//   N/S.KEY VALUE         of MIG instance S of GPU N
//   fail SYMBOL N CODE    the function fails for GPU N ("*" is any)
//   hang SYMBOL N         it does not return while the line is there
//
// FAKE_NVML_LOG names a file to which each call is appended.
#define NVML_NO_UNVERSIONED_FUNC_DEFS 1
#define _GNU_SOURCE
#include "nvml.h"
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GPUS 16
#define SLOTS 8

struct nvmlDevice_st { int gpu, slot; };
struct nvmlEventSet_st { int dummy; };
struct nvmlGpmSample_st { int gpu, gi; double at; };

static struct nvmlDevice_st whole[GPUS], part[GPUS][SLOTS];
static int up, stays[GPUS]; // lost until the library is set up again ("N.sticky 1")

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

// text is the file as it is now, in the caller's buffer; 0 where there is none.
#define ROOM 65536
static int text(char *buf) {
    const char *name = getenv("FAKE_NVML");
    if (!name) return 0;
    int fd = open(name, O_RDONLY);
    if (fd < 0) return 0;
    ssize_t n = 0, k;
    while (n < ROOM - 1 && (k = read(fd, buf + n, ROOM - 1 - n)) > 0) n += k;
    close(fd);
    buf[n] = 0;
    return 1;
}

// value finds the last line that begins with the key and gives what follows.
static int value(const char *buf, const char *key, char *out, size_t room) {
    size_t k = strlen(key);
    int found = 0;
    for (const char *line = buf; line && *line; ) {
        const char *end = strchr(line, '\n');
        size_t len = end ? (size_t)(end - line) : strlen(line);
        if (len > k && !strncmp(line, key, k) && line[k] == ' ') {
            size_t n = len - k - 1 < room - 1 ? len - k - 1 : room - 1;
            memcpy(out, line + k + 1, n);
            out[n] = 0;
            found = 1;
        }
        line = end ? end + 1 : NULL;
    }
    return found;
}

// ask finds what the file says of a device: its own line, or that of all.
static int ask(struct nvmlDevice_st *d, const char *key, char *out, size_t room) {
    static __thread char buf[ROOM];
    char full[128];
    if (!text(buf)) return 0;
    if (d && d->slot >= 0) {
        snprintf(full, sizeof full, "%d/%d.%s", d->gpu, d->slot, key);
        return value(buf, full, out, room);
    }
    if (d) {
        snprintf(full, sizeof full, "%d.%s", d->gpu, key);
        if (value(buf, full, out, room)) return 1;
    }
    return value(buf, key, out, room);
}

static unsigned long long num(struct nvmlDevice_st *d, const char *key, unsigned long long otherwise) {
    char out[256];
    if (!ask(d, key, out, sizeof out)) return otherwise;
    if (!strncmp(out, "max", 3)) return ~0ULL;
    return strtoull(out, NULL, 0);
}

static int gone(struct nvmlDevice_st *d) {
    if (num(d, "lost", 0)) stays[d->gpu] = num(d, "sticky", 0);
    return num(d, "lost", 0) || stays[d->gpu];
}

// enter says how the call begins: the code it fails with, once it no longer hangs.
static nvmlReturn_t enter(const char *symbol, struct nvmlDevice_st *d) {
    static __thread char buf[ROOM];
    char key[160], out[64];
    const char *log = getenv("FAKE_NVML_LOG");
    if (log) {
        int fd = open(log, O_WRONLY | O_APPEND | O_CREAT, 0644);
        int n = snprintf(key, sizeof key, "%s %d\n", symbol, d ? d->gpu : -1);
        if (fd >= 0) { if (write(fd, key, n) != n) abort(); close(fd); }
    }
    for (;;) {
        if (!text(buf)) break;
        snprintf(key, sizeof key, "\nhang %s %d\n", symbol, d ? d->gpu : -1);
        if (!strstr(buf, key)) break;
        usleep(2000);
    }
    if (text(buf)) {
        snprintf(key, sizeof key, "fail %s %d", symbol, d ? d->gpu : -1);
        if (value(buf, key, out, sizeof out)) return atoi(out);
        snprintf(key, sizeof key, "fail %s *", symbol);
        if (value(buf, key, out, sizeof out)) return atoi(out);
        if (d) {
            if (gone(d)) return NVML_ERROR_GPU_IS_LOST;
            if (num(NULL, "gone", 0)) return NVML_ERROR_UNINITIALIZED;
        }
    }
    return NVML_SUCCESS;
}
#define ENTER(d) do { nvmlReturn_t r_ = enter(__func__, (d)); if (r_) return r_; } while (0)
#define DEV ENTER(device.handle); struct nvmlDevice_st *d = device.handle
#define WHOLE DEV; if (d->slot >= 0) return NVML_ERROR_NOT_SUPPORTED

nvmlReturn_t nvmlInit_v2(void) {
    char out[32];
    ENTER(NULL);
    if (ask(NULL, "init", out, sizeof out) && atoi(out)) return atoi(out);
    for (int i = 0; i < GPUS; i++) {
        whole[i] = (struct nvmlDevice_st){i, -1};
        stays[i] = 0;
        for (int s = 0; s < SLOTS; s++) part[i][s] = (struct nvmlDevice_st){i, s};
    }
    up++;
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlShutdown(void) {
    ENTER(NULL);
    if (!up) return NVML_ERROR_UNINITIALIZED;
    up--;
    return NVML_SUCCESS;
}
#ifndef OLD
const char *nvmlErrorString(nvmlReturn_t r) { (void)r; return "an error"; }
#endif

static nvmlReturn_t copy(char *to, unsigned room, const char *from) {
    if (strlen(from) >= room) return NVML_ERROR_INSUFFICIENT_SIZE;
    strcpy(to, from);
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlSystemGetDriverVersion(char *v, unsigned n) {
    char out[80];
    ENTER(NULL);
    return copy(v, n, ask(NULL, "driver", out, sizeof out) ? out : "550.54.15");
}
nvmlReturn_t nvmlSystemGetNVMLVersion(char *v, unsigned n) { ENTER(NULL); return copy(v, n, "12.550.54.15"); }
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *n) { ENTER(NULL); *n = num(NULL, "count", 8); return NVML_SUCCESS; }

// The list of GPUs is in the order of "order" (numbers without spaces), or all.
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned i, nvmlDevice_t *d) {
    char order[64];
    ENTER(NULL);
    if (ask(NULL, "order", order, sizeof order) && i < strlen(order)) i = order[i] - '0';
    if (i >= GPUS) return NVML_ERROR_INVALID_ARGUMENT;
    if (gone(&whole[i])) return NVML_ERROR_GPU_IS_LOST;
    d->handle = &whole[i];
    return NVML_SUCCESS;
}
static void uuidOf(struct nvmlDevice_st *d, char *out) {
    if (d->slot < 0) sprintf(out, "GPU-%08d-0000-0000-0000-000000000000", d->gpu);
    else sprintf(out, "MIG-%08d-%04d-0000-0000-%012llu", d->gpu, d->slot, num(d, "serial", 0));
}
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *d) {
    ENTER(NULL);
    char own[96];
    for (int i = 0; i < GPUS; i++) {
        uuidOf(&whole[i], own);
        if (strcmp(own, uuid)) continue;
        if (gone(&whole[i])) return NVML_ERROR_GPU_IS_LOST;
        d->handle = &whole[i];
        return NVML_SUCCESS;
    }
    return NVML_ERROR_NOT_FOUND;
}
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned n) {
    DEV;
    char own[96];
    uuidOf(d, own);
    return copy(uuid, n, own);
}
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned n) {
    DEV;
    char out[80], profile[32];
    strcpy(out, "NVIDIA H100 80GB HBM3");
    if (d->slot >= 0 && ask(d, "profile", profile, sizeof profile)) { strcat(out, " MIG "); strcat(out, profile); }
    return copy(name, n, out);
}
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci) {
    DEV;
    memset(pci, 0, sizeof *pci);
    pci->bus = 0x19 + d->gpu;
    sprintf(pci->busId, "%08X:%02X:%02X.0", 0, pci->bus, 0);
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *a, int *b) { DEV; (void)d; *a = 9; *b = 0; return NVML_SUCCESS; }
nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned *n) { WHOLE; (void)d; *n = 132 * 128; return NVML_SUCCESS; }
nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned *n) { WHOLE; (void)d; *n = 5120; return NVML_SUCCESS; }
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t t, unsigned *mhz) {
    WHOLE; (void)d;
    *mhz = t == NVML_CLOCK_MEM ? 2619 : 1980;
    return NVML_SUCCESS;
}

#ifndef OLD
nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned *v) { WHOLE; *v = num(d, "pciegen", 5); return NVML_SUCCESS; }
nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned *v) { WHOLE; *v = num(d, "pciewidth", 16); return NVML_SUCCESS; }
// The first "links" NVLinks are there, of which the first "linksup" are up.
nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned link, nvmlEnableState_t *v) {
    WHOLE;
    if (!num(d, "links", 18)) return NVML_ERROR_NOT_SUPPORTED;
    if (link >= num(d, "links", 18)) return NVML_ERROR_INVALID_ARGUMENT;
    *v = link < num(d, "linksup", 18) ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned link, unsigned *v) { WHOLE; (void)link; *v = num(d, "linkversion", NVML_NVLINK_VERSION_4_0); return NVML_SUCCESS; }
#endif

#define MIGGED(d) (num((d), "mig", 0))
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *u) {
    WHOLE;
    if (MIGGED(d)) return NVML_ERROR_NOT_SUPPORTED;
    u->gpu = num(d, "util", 50);
    u->memory = num(d, "utilmem", 20);
    return NVML_SUCCESS;
}
// The buffer is 120 long; "samples" says how many are new, of the value "sampled",
// as the real one does: the length is that of the buffer, the rest is empty.
nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t device, nvmlSamplingType_t type, unsigned long long last,
                                  nvmlValueType_t *kind, unsigned *n, nvmlSample_t *list) {
    WHOLE;
    if (MIGGED(d)) return NVML_ERROR_NOT_SUPPORTED;
    unsigned fresh = num(d, "samples", 0);
    if (!fresh) return NVML_ERROR_NOT_FOUND;
    *kind = NVML_VALUE_TYPE_UNSIGNED_INT;
    if (!list) { *n = 120; return NVML_SUCCESS; }
    memset(list, 0, *n * sizeof *list);
    unsigned long long base = num(d, "sampletime", 1000000);
    for (unsigned i = 0; i < fresh && i < *n; i++) {
        list[i].timeStamp = base + i;
        list[i].sampleValue.uiVal = num(d, type == NVML_GPU_UTILIZATION_SAMPLES ? "sampled" : "sampledmem", 50) + i;
    }
    (void)last;
    return NVML_SUCCESS;
}
#define GIB (1ULL << 30)
#ifndef OLD
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *m) {
    DEV;
    if (m->version != nvmlMemory_v2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    m->total = num(d, "total", 80 * GIB);
    m->reserved = num(d, "reserved", GIB / 2);
    m->used = num(d, "used", 30 * GIB);
    m->free = num(d, "free", m->total - m->reserved - m->used);
    return NVML_SUCCESS;
}
#endif
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *m) {
    DEV;
    m->total = num(d, "total", 80 * GIB);
    m->used = num(d, "used", 30 * GIB) + num(d, "reserved", GIB / 2);
    m->free = m->total - m->used;
    return NVML_SUCCESS;
}
#define GET32(symbol, key, otherwise) \
    nvmlReturn_t symbol(nvmlDevice_t device, unsigned *v) { WHOLE; *v = num(d, key, otherwise); return NVML_SUCCESS; }
GET32(nvmlDeviceGetPowerUsage, "power", 300000)
GET32(nvmlDeviceGetEnforcedPowerLimit, "limit", 700000)
GET32(nvmlDeviceGetFanSpeed, "fan", 40)
GET32(nvmlDeviceGetPcieReplayCounter, "replays", 0)
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *v) {
    WHOLE;
    *v = num(d, "energy", 5000000);
    return NVML_SUCCESS;
}
#ifndef OLD
nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_t *t) {
    WHOLE;
    if (t->version != nvmlTemperature_v1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    t->temperature = num(d, "temp", 55);
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long *v) {
    WHOLE;
    *v = num(d, "throttle", 4);
    return NVML_SUCCESS;
}
#endif
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t s, unsigned *v) {
    WHOLE; (void)s;
    *v = num(d, "temp", 55);
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long *v) {
    WHOLE;
    *v = num(d, "throttle", 4);
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t t, unsigned *v) {
    WHOLE;
    *v = t == NVML_CLOCK_MEM ? num(d, "clockmem", 2619) : num(d, "clock", 1755);
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, nvmlPstates_t *p) { WHOLE; *p = num(d, "pstate", 0); return NVML_SUCCESS; }
nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t c, unsigned *v) {
    WHOLE;
    *v = num(d, c == NVML_PCIE_UTIL_TX_BYTES ? "pcietx" : "pcierx", 102400);
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t t, nvmlEccCounterType_t c, unsigned long long *v) {
    WHOLE; (void)c;
    *v = num(d, t == NVML_MEMORY_ERROR_TYPE_CORRECTED ? "sbe" : "dbe", 0);
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned *v, unsigned *us) { WHOLE; *v = num(d, "enc", 0); *us = 167000; return NVML_SUCCESS; }
nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned *v, unsigned *us) { WHOLE; *v = num(d, "dec", 3); *us = 167000; return NVML_SUCCESS; }

#ifndef OLD
// A field's value is KEY "field<ID>" or "field<ID>.<SCOPE>", its type "type<ID>".
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int n, nvmlFieldValue_t *v) {
    WHOLE;
    char key[64], out[64];
    if (num(d, "strict", 0)) // refuses all for one that it does not know
        for (int i = 0; i < n; i++) {
            snprintf(key, sizeof key, "field%u.%d", v[i].fieldId, (int)v[i].scopeId);
            if (!ask(d, key, out, sizeof out)) return NVML_ERROR_INVALID_ARGUMENT;
        }
    for (int i = 0; i < n; i++) {
        snprintf(key, sizeof key, "field%u.%d", v[i].fieldId, (int)v[i].scopeId);
        v[i].nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
        if (!getenv("FAKE_NVML")) {
            switch (v[i].fieldId) {
            case NVML_FI_DEV_POWER_AVERAGE: case NVML_FI_DEV_PERF_POLICY_POWER: case 269: case 270: case 271: case NVML_FI_DEV_PCIE_REPLAY_COUNTER:
            case NVML_FI_DEV_REMAPPED_COR: case NVML_FI_DEV_REMAPPED_UNC: case NVML_FI_DEV_REMAPPED_PENDING:
            case NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL: case NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL:
            case NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL: case NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL:
                v[i].nvmlReturn = NVML_SUCCESS;
            }
            v[i].valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
            v[i].value.uiVal = v[i].fieldId == NVML_FI_DEV_POWER_AVERAGE ? 300000 : 0;
            continue;
        }
        if (!ask(d, key, out, sizeof out)) continue;
        if (!strncmp(out, "fail", 4)) { v[i].nvmlReturn = atoi(out + 5); continue; }
        v[i].nvmlReturn = NVML_SUCCESS;
        snprintf(key, sizeof key, "type%u", v[i].fieldId);
        v[i].valueType = num(d, key, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG);
        v[i].value.ullVal = !strncmp(out, "max", 3) ? ~0ULL : strtoull(out, NULL, 0);
        if (v[i].valueType == NVML_VALUE_TYPE_DOUBLE) v[i].value.dVal = strtod(out, NULL);
    }
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t *s) {
    WHOLE;
    if (s->version != NVML_GPM_SUPPORT_VERSION) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    s->isSupportedDevice = num(d, "gpm", 1);
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t *s) { ENTER(NULL); s->handle = calloc(1, sizeof *s->handle); return NVML_SUCCESS; }
nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t s) { ENTER(NULL); free(s.handle); return NVML_SUCCESS; }
nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t s) {
    WHOLE;
    if (MIGGED(d)) return NVML_ERROR_NOT_SUPPORTED;
    *s.handle = (struct nvmlGpmSample_st){d->gpu, -1, now()};
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t device, unsigned gi, nvmlGpmSample_t s) {
    WHOLE;
    if (!MIGGED(d)) return NVML_ERROR_NOT_SUPPORTED;
    *s.handle = (struct nvmlGpmSample_st){d->gpu, gi, now()};
    return NVML_SUCCESS;
}
// The metrics are as the file has them when they are asked for: "gpm<ID>" of the
// GPU, "gi<GI>.gpm<ID>" of an instance. It insists on the order and the distance
// of the two samples.
nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t *m) {
    struct nvmlGpmSample_st *a = m->sample1.handle, *b = m->sample2.handle;
    ENTER(&whole[b->gpu]);
    if (m->version != NVML_GPM_METRICS_GET_VERSION) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (a->gpu != b->gpu || a->gi != b->gi || (getenv("FAKE_NVML") && b->at - a->at < 0.1)) return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < m->numMetrics; i++) {
        nvmlGpmMetric_t *x = &m->metrics[i];
        char key[64], out[64];
        if (b->gi < 0) snprintf(key, sizeof key, "gpm%u", x->metricId);
        else snprintf(key, sizeof key, "gi%d.gpm%u", b->gi, x->metricId);
        x->nvmlReturn = NVML_SUCCESS;
        x->value = 12.5;
        if (!ask(&whole[b->gpu], key, out, sizeof out)) {
            if (b->gi >= 0) x->nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
        } else if (!strncmp(out, "fail", 4)) x->nvmlReturn = atoi(out + 5);
        else x->value = strtod(out, NULL);
    }
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned *mode, unsigned *pending) {
    WHOLE;
    if (num(d, "mig", 0) == 3) return NVML_ERROR_NOT_SUPPORTED;
    *mode = *pending = num(d, "mig", 0);
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned *n) { WHOLE; (void)d; *n = 7; return NVML_SUCCESS; }
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned i, nvmlDevice_t *out) {
    WHOLE;
    char profile[32];
    if (i >= SLOTS || !MIGGED(d) || !ask(&part[d->gpu][i], "profile", profile, sizeof profile)) return NVML_ERROR_NOT_FOUND;
    out->handle = &part[d->gpu][i];
    return NVML_SUCCESS;
}
#define PART DEV; if (d->slot < 0) return NVML_ERROR_NOT_SUPPORTED
nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned *v) { PART; *v = num(d, "gi", d->slot + 1); return NVML_SUCCESS; }
nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t device, unsigned *v) { PART; *v = num(d, "ci", 0); return NVML_SUCCESS; }
nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t *a) {
    PART;
    memset(a, 0, sizeof *a);
    a->multiprocessorCount = num(d, "sms", 16);
    a->gpuInstanceSliceCount = num(d, "slices", 1);
    a->computeInstanceSliceCount = num(d, "ciSlices", 1);
    a->memorySizeMB = num(d, "mib", 9856);
    return NVML_SUCCESS;
}
#endif

// Processes are "compute PID:BYTES PID:BYTES …", likewise "graphics" and "mps".
// The old library has the oldest form of the call, whose entries know no instances.
#ifdef OLD
#define PROCESS nvmlProcessInfo_v1_t
#define PROCESSES(what) nvmlDeviceGet##what##RunningProcesses
#else
#define PROCESS nvmlProcessInfo_t
#define PROCESSES(what) nvmlDeviceGet##what##RunningProcesses_v3
#endif
static nvmlReturn_t holders(struct nvmlDevice_st *d, const char *key, unsigned *n, PROCESS *list) {
    static __thread char out[ROOM];
    unsigned k = 0;
    if (ask(d, key, out, sizeof out))
        for (char *rest, *p = strtok_r(out, " ", &rest); p; p = strtok_r(NULL, " ", &rest), k++) {
            char *bytes = strchr(p, ':');
            if (k >= *n || !list) continue;
            list[k].pid = atoi(p);
            list[k].usedGpuMemory = bytes && strcmp(bytes + 1, "max") ? strtoull(bytes + 1, NULL, 0) : ~0ULL;
#ifndef OLD
            list[k].gpuInstanceId = list[k].computeInstanceId = 0xFFFFFFFF;
#endif
        }
    int small = k > *n;
    *n = k;
    return small ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}
nvmlReturn_t PROCESSES(Compute)(nvmlDevice_t device, unsigned *n, PROCESS *l) { DEV; return holders(d, "compute", n, l); }
nvmlReturn_t PROCESSES(Graphics)(nvmlDevice_t device, unsigned *n, PROCESS *l) { DEV; return holders(d, "graphics", n, l); }
nvmlReturn_t PROCESSES(MPSCompute)(nvmlDevice_t device, unsigned *n, PROCESS *l) { DEV; return holders(d, "mps", n, l); }

// Shares are "share PID:PERCENT:TIME …". What is not newer than last is left out;
// with last 0 all is given, however old.
nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t *list, unsigned *n, unsigned long long last) {
    WHOLE;
    static __thread char out[ROOM];
    if (MIGGED(d)) return NVML_ERROR_NOT_SUPPORTED;
    const char *log = getenv("FAKE_NVML_LOG");
    if (log && !last && !list) enter("lastSeen0", d);
    unsigned k = 0;
    if (ask(d, "share", out, sizeof out))
        for (char *rest, *p = strtok_r(out, " ", &rest); p; p = strtok_r(NULL, " ", &rest)) {
            unsigned pid, pct;
            unsigned long long at;
            if (sscanf(p, "%u:%u:%llu", &pid, &pct, &at) != 3 || at <= last) continue;
            if (list && k < *n) list[k] = (nvmlProcessUtilizationSample_t){.pid = pid, .smUtil = pct, .timeStamp = at};
            k++;
        }
    if (!k) return NVML_ERROR_NOT_FOUND;
    *n = k;
    return list ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
}

#ifndef OLD
nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned *corr, unsigned *unc, unsigned *pending, unsigned *failed) {
    WHOLE;
    if (MIGGED(d)) return NVML_ERROR_NOT_SUPPORTED;
    *corr = num(d, "rows", 0); *unc = 1; *pending = num(d, "pending", 0); *failed = num(d, "remapfailed", 0);
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long *v) {
    WHOLE;
    *v = num(d, "events", nvmlEventTypeXidCriticalError | nvmlEventTypeDoubleBitEccError | nvmlEventTypePState);
    return NVML_SUCCESS;
}
nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *s) { ENTER(NULL); s->handle = calloc(1, sizeof(struct nvmlEventSet_st)); return NVML_SUCCESS; }
nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t s) { ENTER(NULL); free(s.handle); return NVML_SUCCESS; }
nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types, nvmlEventSet_t s) {
    WHOLE; (void)s;
    if (types & ~num(d, "events", ~0ULL)) return NVML_ERROR_NOT_SUPPORTED;
    return NVML_SUCCESS;
}
// An event is "event SERIAL GPU TYPE DATA GI"; each serial comes once.
nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t s, nvmlEventData_t *e, unsigned ms) {
    (void)s;
    static int seen;
    char out[128];
    ENTER(NULL);
    for (double end = now() + ms / 1e3; now() < end; usleep(2000)) {
        int serial, gpu;
        unsigned gi;
        unsigned long long type, data;
        if (!ask(NULL, "event", out, sizeof out) || sscanf(out, "%d %d %llu %llu %u", &serial, &gpu, &type, &data, &gi) != 5 || serial <= seen) continue;
        seen = serial;
        e->device.handle = &whole[gpu];
        e->eventType = type;
        e->eventData = data;
        e->gpuInstanceId = gi;
        e->computeInstanceId = 0xFFFFFFFF;
        return NVML_SUCCESS;
    }
    return NVML_ERROR_TIMEOUT;
}
#endif
