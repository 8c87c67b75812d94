package driver

// Symbol is a function of the library, whatever its version suffix.
type Symbol uint8

// The functions.
const (
	symInit Symbol = iota
	symShutdown
	SymDriverVersion
	SymNVMLVersion
	SymCount
	SymHandle
	SymHandleByUUID
	SymUUID
	SymName
	SymPci
	SymCapability
	SymCores
	SymBusWidth
	SymMaxClock
	SymUtil
	SymSamples
	SymMemory2
	SymMemory
	SymPower
	SymLimit
	SymEnergy
	SymTemp
	SymTempOld
	SymClock
	SymPState
	SymReasons
	SymReasonsOld
	SymFan
	SymPCIe
	SymECC
	SymEncoder
	SymDecoder
	SymFields
	SymGpmSupport
	SymGpmAlloc
	SymGpmFree
	SymGpmGet
	SymGpmMig
	SymGpmMetrics
	SymMigMode
	SymMigMax
	SymMigHandle
	SymMigGI
	SymMigCI
	SymAttributes
	SymCompute
	SymGraphics
	SymMPS
	SymProcessUtil
	SymEventSet
	SymEventFree
	SymEventWait
	SymEventTypes
	SymRegister
	SymRemapped
	SymReplays
	SymLinkGeneration
	SymLinkWidth
	SymLinkState
	SymLinkVersion
	// NumSymbols is how many there are.
	NumSymbols
)

// symbolNames are the names of each function, newest first. The newest one that the library has is called.
var symbolNames = [NumSymbols][]string{
	symInit:           {"nvmlInit_v2", "nvmlInit"},
	symShutdown:       {"nvmlShutdown"},
	SymDriverVersion:  {"nvmlSystemGetDriverVersion"},
	SymNVMLVersion:    {"nvmlSystemGetNVMLVersion"},
	SymCount:          {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"},
	SymHandle:         {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"},
	SymHandleByUUID:   {"nvmlDeviceGetHandleByUUID"},
	SymUUID:           {"nvmlDeviceGetUUID"},
	SymName:           {"nvmlDeviceGetName"},
	SymPci:            {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"},
	SymCapability:     {"nvmlDeviceGetCudaComputeCapability"},
	SymCores:          {"nvmlDeviceGetNumGpuCores"},
	SymBusWidth:       {"nvmlDeviceGetMemoryBusWidth"},
	SymMaxClock:       {"nvmlDeviceGetMaxClockInfo"},
	SymUtil:           {"nvmlDeviceGetUtilizationRates"},
	SymSamples:        {"nvmlDeviceGetSamples"},
	SymMemory2:        {"nvmlDeviceGetMemoryInfo_v2"},
	SymMemory:         {"nvmlDeviceGetMemoryInfo"},
	SymPower:          {"nvmlDeviceGetPowerUsage"},
	SymLimit:          {"nvmlDeviceGetEnforcedPowerLimit"},
	SymEnergy:         {"nvmlDeviceGetTotalEnergyConsumption"},
	SymTemp:           {"nvmlDeviceGetTemperatureV"},
	SymTempOld:        {"nvmlDeviceGetTemperature"},
	SymClock:          {"nvmlDeviceGetClockInfo"},
	SymPState:         {"nvmlDeviceGetPerformanceState"},
	SymReasons:        {"nvmlDeviceGetCurrentClocksEventReasons"},
	SymReasonsOld:     {"nvmlDeviceGetCurrentClocksThrottleReasons"},
	SymFan:            {"nvmlDeviceGetFanSpeed"},
	SymPCIe:           {"nvmlDeviceGetPcieThroughput"},
	SymECC:            {"nvmlDeviceGetTotalEccErrors"},
	SymEncoder:        {"nvmlDeviceGetEncoderUtilization"},
	SymDecoder:        {"nvmlDeviceGetDecoderUtilization"},
	SymFields:         {"nvmlDeviceGetFieldValues"},
	SymGpmSupport:     {"nvmlGpmQueryDeviceSupport"},
	SymGpmAlloc:       {"nvmlGpmSampleAlloc"},
	SymGpmFree:        {"nvmlGpmSampleFree"},
	SymGpmGet:         {"nvmlGpmSampleGet"},
	SymGpmMig:         {"nvmlGpmMigSampleGet"},
	SymGpmMetrics:     {"nvmlGpmMetricsGet"},
	SymMigMode:        {"nvmlDeviceGetMigMode"},
	SymMigMax:         {"nvmlDeviceGetMaxMigDeviceCount"},
	SymMigHandle:      {"nvmlDeviceGetMigDeviceHandleByIndex"},
	SymMigGI:          {"nvmlDeviceGetGpuInstanceId"},
	SymMigCI:          {"nvmlDeviceGetComputeInstanceId"},
	SymAttributes:     {"nvmlDeviceGetAttributes_v2", "nvmlDeviceGetAttributes"},
	SymCompute:        {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses"},
	SymGraphics:       {"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2", "nvmlDeviceGetGraphicsRunningProcesses"},
	SymMPS:            {"nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetMPSComputeRunningProcesses_v2", "nvmlDeviceGetMPSComputeRunningProcesses"},
	SymProcessUtil:    {"nvmlDeviceGetProcessUtilization"},
	SymEventSet:       {"nvmlEventSetCreate"},
	SymEventFree:      {"nvmlEventSetFree"},
	SymEventWait:      {"nvmlEventSetWait_v2", "nvmlEventSetWait"},
	SymEventTypes:     {"nvmlDeviceGetSupportedEventTypes"},
	SymRegister:       {"nvmlDeviceRegisterEvents"},
	SymRemapped:       {"nvmlDeviceGetRemappedRows"},
	SymReplays:        {"nvmlDeviceGetPcieReplayCounter"},
	SymLinkGeneration: {"nvmlDeviceGetMaxPcieLinkGeneration"},
	SymLinkWidth:      {"nvmlDeviceGetMaxPcieLinkWidth"},
	SymLinkState:      {"nvmlDeviceGetNvLinkState"},
	SymLinkVersion:    {"nvmlDeviceGetNvLinkVersion"},
}
