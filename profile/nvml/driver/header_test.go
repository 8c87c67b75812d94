package driver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// numbers are the constants of this package by their names in nvml.h.
var numbers = map[string]int{
	"NVML_SUCCESS": int(Success), "NVML_ERROR_INSUFFICIENT_SIZE": int(InsufficientSize),
	"NVML_ERROR_LIBRARY_NOT_FOUND": int(LibraryNotFound), "NVML_ERROR_FUNCTION_NOT_FOUND": int(FunctionNotFound),

	"NVML_FI_DEV_ECC_SBE_VOL_TOTAL": FieldECCCorrected, "NVML_FI_DEV_ECC_DBE_VOL_TOTAL": FieldECCUncorrected,
	"NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": FieldLinkCRCFlit, "NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL": FieldLinkCRCData,
	"NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL": FieldLinkReplay, "NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL": FieldLinkRecovery,
	"NVML_FI_DEV_PERF_POLICY_POWER": FieldPowerCap, "NVML_FI_DEV_PERF_POLICY_THERMAL": FieldThermalCap,
	"NVML_FI_DEV_MEMORY_TEMP": FieldMemoryTemp, "NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON": FieldLinkSpeed,
	"NVML_FI_DEV_PCIE_REPLAY_COUNTER": FieldPCIeReplays, "NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX": FieldLinkTx,
	"NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX": FieldLinkRx, "NVML_FI_DEV_REMAPPED_COR": FieldRowsCorrected,
	"NVML_FI_DEV_REMAPPED_UNC": FieldRowsUncorrected, "NVML_FI_DEV_REMAPPED_PENDING": FieldRowsPending,
	"NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_TOTAL": FieldLinkECCData, "NVML_FI_DEV_POWER_AVERAGE": FieldPowerAverage,
	"NVML_FI_DEV_PCIE_COUNT_TX_BYTES": FieldPCIeTxBytes, "NVML_FI_DEV_PCIE_COUNT_RX_BYTES": FieldPCIeRxBytes,
	"NVML_FI_DEV_NVLINK_COUNT_XMIT_BYTES": FieldOneLinkTxBytes, "NVML_FI_DEV_NVLINK_COUNT_RCV_BYTES": FieldOneLinkRxBytes,
	"NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS": FieldOneLinkRxErrors, "NVML_FI_DEV_NVLINK_COUNT_XMIT_DISCARDS": FieldOneLinkDiscards,
	"NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS":           FieldOneLinkRecovered,
	"NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN":       FieldSoftwareThermal,
	"NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN":       FieldHardwareThermal,
	"NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN": FieldHardwareBrake,

	"NVML_GPM_METRIC_SM_UTIL": GPMSMUtil, "NVML_GPM_METRIC_SM_OCCUPANCY": GPMSMOccupancy, "NVML_GPM_METRIC_ANY_TENSOR_UTIL": GPMTensor,
	"NVML_GPM_METRIC_DRAM_BW_UTIL": GPMDRAM, "NVML_GPM_METRIC_FP64_UTIL": GPMFP64, "NVML_GPM_METRIC_FP32_UTIL": GPMFP32,
	"NVML_GPM_METRIC_FP16_UTIL": GPMFP16, "NVML_GPM_METRIC_PCIE_TX_PER_SEC": GPMPCIeTx, "NVML_GPM_METRIC_PCIE_RX_PER_SEC": GPMPCIeRx,
	"NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC": GPMNVLinkRx, "NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC": GPMNVLinkTx,

	"NVML_CLOCK_SM": ClockSM, "NVML_CLOCK_MEM": ClockMem,
	"NVML_GPU_UTILIZATION_SAMPLES": SamplesUtilGPU, "NVML_MEMORY_UTILIZATION_SAMPLES": SamplesUtilMem,
	"NVML_MEMORY_ERROR_TYPE_CORRECTED": MemoryErrorCorrected, "NVML_MEMORY_ERROR_TYPE_UNCORRECTED": MemoryErrorUncorrected,
	"NVML_VOLATILE_ECC": volatileECC, "NVML_TEMPERATURE_GPU": TemperatureGPU,
	"NVML_PCIE_UTIL_TX_BYTES": PCIeTxBytes, "NVML_PCIE_UTIL_RX_BYTES": PCIeRxBytes,
	"NVML_FEATURE_ENABLED": FeatureEnabled, "NVML_DEVICE_MIG_ENABLE": MIGEnabled,
	"nvmlEventTypeDoubleBitEccError": EventDoubleBitECC, "nvmlEventTypeXidCriticalError": EventXid,
	"NVML_NVLINK_MAX_LINKS": MaxLinks,

	"NVML_VALUE_TYPE_DOUBLE": int(ValueDouble), "NVML_VALUE_TYPE_UNSIGNED_INT": int(ValueUnsignedInt),
	"NVML_VALUE_TYPE_UNSIGNED_LONG": int(ValueUnsignedLong), "NVML_VALUE_TYPE_UNSIGNED_LONG_LONG": int(ValueUnsignedLongLong),
	"NVML_VALUE_TYPE_SIGNED_LONG_LONG": int(ValueSignedLongLong), "NVML_VALUE_TYPE_SIGNED_INT": int(ValueSignedInt),
	"NVML_VALUE_TYPE_UNSIGNED_SHORT": int(ValueUnsignedShort),

	"NVML_DEVICE_NAME_V2_BUFFER_SIZE": 96, "NVML_DEVICE_UUID_V2_BUFFER_SIZE": 96, "NVML_GPM_METRICS_GET_VERSION": 1, "NVML_GPM_SUPPORT_VERSION": 1,
	// The versions of structures, as version makes them of size and number.
	"nvmlMemory_v2": int(sizeOf(Memory2{})) | 2<<24, "nvmlTemperature_v1": int(sizeOf(temperature1{})) | 1<<24,
}

func sizeOf(v any) uintptr { return reflect.TypeOf(v).Size() }

// structures are the types of this package, with the members of nvml.h in the order of the fields.
var structures = []struct {
	ours    any
	theirs  string
	members string
}{
	{FieldValue{}, "nvmlFieldValue_t", "fieldId scopeId timestamp latencyUsec valueType nvmlReturn value"},
	{Utilization{}, "nvmlUtilization_t", "gpu memory"},
	{Memory{}, "nvmlMemory_t", "total free used"},
	{Memory2{}, "nvmlMemory_v2_t", "version total reserved free used"},
	{PCIInfo{}, "nvmlPciInfo_t", "busIdLegacy domain bus device pciDeviceId pciSubSystemId busId"},
	{Process{}, "nvmlProcessInfo_t", "pid usedGpuMemory gpuInstanceId computeInstanceId"},
	{Process{}, "nvmlProcessInfo_v2_t", "pid usedGpuMemory gpuInstanceId computeInstanceId"},
	{process1{}, "nvmlProcessInfo_v1_t", "pid usedGpuMemory"},
	{Sample{}, "nvmlSample_t", "timeStamp sampleValue"},
	{ProcessSample{}, "nvmlProcessUtilizationSample_t", "pid timeStamp smUtil memUtil encUtil decUtil"},
	{Attributes{}, "nvmlDeviceAttributes_t", "multiprocessorCount sharedCopyEngineCount sharedDecoderCount sharedEncoderCount sharedJpegCount sharedOfaCount gpuInstanceSliceCount computeInstanceSliceCount memorySizeMB"},
	{temperature1{}, "nvmlTemperature_v1_t", "version sensorType temperature"},
	{gpmSupport{}, "nvmlGpmSupport_t", "version isSupportedDevice"},
	{GPMMetric{}, "nvmlGpmMetric_t", "metricId nvmlReturn value metricInfo"},
	{GPMMetrics{}, "nvmlGpmMetricsGet_t", "version numMetrics sample1 sample2 metrics"},
	{eventData{}, "nvmlEventData_t", "device eventType eventData gpuInstanceId computeInstanceId"},
}

// assertions returns C that compiles where nvml.h says the same as this package. The header tells what the
// library takes and gives; a test of the calls against a library cannot see a number that both got wrong.
func assertions() string {
	var b strings.Builder
	b.WriteString("#define NVML_NO_UNVERSIONED_FUNC_DEFS 1\n#include \"nvml.h\"\n#include <stddef.h>\n")
	for name, n := range numbers {
		fmt.Fprintf(&b, "_Static_assert(%s == %d, \"%s\");\n", name, n, name)
	}
	for _, s := range structures {
		t := reflect.TypeOf(s.ours)
		fmt.Fprintf(&b, "_Static_assert(sizeof(%s) == %d, \"size of %s\");\n", s.theirs, t.Size(), s.theirs)
		members := strings.Fields(s.members)
		if len(members) != t.NumField() {
			fmt.Fprintf(&b, "#error %s has %d fields here\n", s.theirs, t.NumField())
			continue
		}
		for i, m := range members {
			f := t.Field(i)
			fmt.Fprintf(&b, "_Static_assert(offsetof(%s, %s) == %d, \"place of %s in %s\");\n", s.theirs, m, f.Offset, m, s.theirs)
			fmt.Fprintf(&b, "_Static_assert(sizeof(((%s *)0)->%s) == %d, \"size of %s in %s\");\n", s.theirs, m, f.Type.Size(), m, s.theirs)
		}
	}
	for _, names := range symbolNames {
		for _, name := range names {
			fmt.Fprintf(&b, "void *use_%s = (void *)%s;\n", name, name)
		}
	}
	return b.String()
}

func TestSameAsHeader(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc to read nvml.h with")
	}
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/NVIDIA/go-nvml").Output()
	if err != nil {
		t.Skipf("no go command to find go-nvml's nvml.h with: %v", err)
	}
	compile := func(text string) (string, error) {
		file := filepath.Join(t.TempDir(), "same.c")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(gcc, "-std=gnu11", "-fsyntax-only", "-Wno-deprecated-declarations", "-I", filepath.Join(strings.TrimSpace(string(folder)), "pkg", "nvml"), file).CombinedOutput()
		return string(out), err
	}
	text := assertions()
	if out, err := compile(text); err != nil {
		t.Errorf("nvml.h says otherwise: %v\n%s", err, out)
	}
	// The compiler finds a number and a size that are wrong.
	for from, to := range map[string]string{"NVML_FI_DEV_POWER_AVERAGE == 185": "NVML_FI_DEV_POWER_AVERAGE == 186", "sizeof(nvmlFieldValue_t) == 40": "sizeof(nvmlFieldValue_t) == 44"} {
		wrong := strings.Replace(text, from, to, 1)
		if wrong == text {
			t.Errorf("no %q among what is compiled", from)
		}
		if _, err := compile(wrong); err == nil {
			t.Errorf("%q passes", to)
		}
	}
}
