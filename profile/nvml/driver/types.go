package driver

// Return is what a function of the library returns: nvmlReturn_t.
type Return int32

// The codes that the calls themselves handle.
const (
	Success          Return = 0
	InsufficientSize Return = 7
	LibraryNotFound  Return = 12
	FunctionNotFound Return = 13
)

// The numbers of fields, NVML_FI_DEV_ in nvml.h, with the unit of each.
const (
	FieldECCCorrected     = 3   // errors
	FieldECCUncorrected   = 4   // errors
	FieldLinkCRCFlit      = 38  // errors
	FieldLinkCRCData      = 45  // errors
	FieldLinkReplay       = 52  // errors
	FieldLinkRecovery     = 59  // errors
	FieldPowerCap         = 74  // ns
	FieldThermalCap       = 75  // ns
	FieldMemoryTemp       = 82  // °C
	FieldLinkSpeed        = 90  // MB/s
	FieldPCIeReplays      = 94  // replays
	FieldLinkTx           = 138 // KiB
	FieldLinkRx           = 139 // KiB
	FieldRowsCorrected    = 142 // rows
	FieldRowsUncorrected  = 143 // rows
	FieldRowsPending      = 144 // 0 or 1
	FieldLinkECCData      = 160 // errors
	FieldPowerAverage     = 185 // mW
	FieldPCIeTxBytes      = 197 // bytes
	FieldPCIeRxBytes      = 198 // bytes
	FieldOneLinkTxBytes   = 202 // bytes
	FieldOneLinkRxBytes   = 204 // bytes
	FieldOneLinkRxErrors  = 208 // errors
	FieldOneLinkDiscards  = 212 // errors
	FieldOneLinkRecovered = 215 // errors
	FieldSoftwareThermal  = 269 // ns
	FieldHardwareThermal  = 270 // ns
	FieldHardwareBrake    = 271 // ns
)

// The numbers of GPM metrics, NVML_GPM_METRIC_ in nvml.h: %, and MiB/s for the rates of links.
const (
	GPMSMUtil      = 2
	GPMSMOccupancy = 3
	GPMTensor      = 5
	GPMDRAM        = 10
	GPMFP64        = 11
	GPMFP32        = 12
	GPMFP16        = 13
	GPMPCIeTx      = 20
	GPMPCIeRx      = 21
	GPMNVLinkRx    = 60
	GPMNVLinkTx    = 61
)

// The arguments and answers that are enumerations in nvml.h.
const (
	ClockSM  = 1
	ClockMem = 2

	SamplesUtilGPU = 1
	SamplesUtilMem = 2

	MemoryErrorCorrected   = 0
	MemoryErrorUncorrected = 1

	// volatileECC counts since the driver was loaded.
	volatileECC = 0
	// TemperatureGPU is the sensor on the GPU's die.
	TemperatureGPU = 0

	PCIeTxBytes = 0
	PCIeRxBytes = 1

	FeatureEnabled = 1
	MIGEnabled     = 1

	EventDoubleBitECC = 2
	EventXid          = 8

	// MaxLinks is how many NVLinks a GPU may have.
	MaxLinks = 36
)

// ValueType says which member of the union Value of a FieldValue is set.
type ValueType uint32

// The types of values.
const (
	ValueDouble           ValueType = 0
	ValueUnsignedInt      ValueType = 1
	ValueUnsignedLong     ValueType = 2
	ValueUnsignedLongLong ValueType = 3
	ValueSignedLongLong   ValueType = 4
	ValueSignedInt        ValueType = 5
	ValueUnsignedShort    ValueType = 6
)

// FieldValue asks for a field, and holds the answer: nvmlFieldValue_t.
type FieldValue struct {
	FieldID, ScopeID uint32
	Timestamp        int64 // µs
	LatencyUsec      int64
	ValueType        ValueType
	Return           Return
	Value            [8]byte
}

// Utilization is the share of the last sample period in %: nvmlUtilization_t.
type Utilization struct{ GPU, Memory uint32 }

// Memory is device memory in bytes: nvmlMemory_t. Used includes what the driver reserves.
type Memory struct{ Total, Free, Used uint64 }

// Memory2 is device memory in bytes: nvmlMemory_v2_t.
type Memory2 struct {
	Version                     uint32
	Total, Reserved, Free, Used uint64
}

// PCIInfo is the address of a GPU: nvmlPciInfo_t.
type PCIInfo struct {
	BusIDLegacy                                [16]byte
	Domain, Bus, Device, DeviceID, SubSystemID uint32
	BusID                                      [32]byte
}

// Process is a process with a context on a device: nvmlProcessInfo_t. Memory is in bytes.
type Process struct {
	PID                          uint32
	Memory                       uint64
	GPUInstance, ComputeInstance uint32
}

// process1 is what libraries before CUDA 11 fill in: nvmlProcessInfo_v1_t.
type process1 struct {
	PID    uint32
	Memory uint64
}

// Sample is a sample that the driver took: nvmlSample_t. Time is in µs of the driver's clock.
type Sample struct {
	Time  uint64
	Value [8]byte
}

// ProcessSample is the share of a process in %: nvmlProcessUtilizationSample_t. Time is in µs.
type ProcessSample struct {
	PID              uint32
	Time             uint64
	SM, Mem, Enc, De uint32
}

// Attributes are the slices of a MIG device: nvmlDeviceAttributes_t.
type Attributes struct {
	SMs, CopyEngines, Decoders, Encoders, JPEGs, OFAs uint32
	GPUSlices, ComputeSlices                          uint32
	MemoryMiB                                         uint64
}

// temperature1 is nvmlTemperature_v1_t, in °C.
type temperature1 struct {
	Version, Sensor uint32
	Celsius         int32
}

// gpmSupport is nvmlGpmSupport_t.
type gpmSupport struct{ Version, Supported uint32 }

// GPMMetric asks for a metric of GPM, and holds the answer: nvmlGpmMetric_t.
type GPMMetric struct {
	ID     uint32
	Return Return
	Value  float64
	_      [3]uintptr // texts of the library
}

// GPMMetrics asks for metrics of GPM between two samples, the first Count of Metrics:
// nvmlGpmMetricsGet_t. The library may write to all of Metrics.
type GPMMetrics struct {
	version          uint32
	Count            uint32
	sample1, sample2 uintptr
	Metrics          [333]GPMMetric
}

// eventData is nvmlEventData_t.
type eventData struct {
	device                       uintptr
	kind, data                   uint64
	gpuInstance, computeInstance uint32
}
