//go:build linux && cgo && nvml

package nvml

import (
	"io/fs"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/dl"
	driver "github.com/NVIDIA/go-nvml/pkg/nvml"
)

// symbol is a function of the library, whatever its version suffix.
type symbol uint8

const (
	symDriverVersion symbol = iota
	symNVMLVersion
	symCount
	symHandle
	symHandleByUUID
	symUUID
	symName
	symPci
	symCapability
	symCores
	symBusWidth
	symMaxClock
	symUtil
	symSamples
	symMemory2
	symMemory
	symPower
	symLimit
	symEnergy
	symTemp
	symTempOld
	symClock
	symPState
	symReasons
	symReasonsOld
	symFan
	symPCIe
	symECC
	symEncoder
	symDecoder
	symFields
	symGpmSupport
	symGpmAlloc
	symGpmFree
	symGpmGet
	symGpmMig
	symGpmMetrics
	symMigMode
	symMigMax
	symMigHandle
	symMigGI
	symMigCI
	symAttributes
	symCompute
	symGraphics
	symMPS
	symProcessUtil
	symEventSet
	symEventFree
	symEventWait
	symEventTypes
	symRegister
	symRemapped
	symReplays
	symLinkGeneration
	symLinkWidth
	symLinkState
	symLinkVersion
	numSymbols
)

// symbolNames are the names of each function, newest first. go-nvml calls the newest one that the
// library has, so any of them suffices.
var symbolNames = [numSymbols][]string{
	symDriverVersion: {"nvmlSystemGetDriverVersion"},
	symNVMLVersion:   {"nvmlSystemGetNVMLVersion"},
	symCount:         {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"},
	symHandle:        {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"},
	symHandleByUUID:  {"nvmlDeviceGetHandleByUUID"},
	symUUID:          {"nvmlDeviceGetUUID"},
	symName:          {"nvmlDeviceGetName"},
	symPci:           {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"},
	symCapability:    {"nvmlDeviceGetCudaComputeCapability"},
	symCores:         {"nvmlDeviceGetNumGpuCores"},
	symBusWidth:      {"nvmlDeviceGetMemoryBusWidth"},
	symMaxClock:      {"nvmlDeviceGetMaxClockInfo"},
	symUtil:          {"nvmlDeviceGetUtilizationRates"},
	symSamples:       {"nvmlDeviceGetSamples"},
	symMemory2:       {"nvmlDeviceGetMemoryInfo_v2"},
	symMemory:        {"nvmlDeviceGetMemoryInfo"},
	symPower:         {"nvmlDeviceGetPowerUsage"},
	symLimit:         {"nvmlDeviceGetEnforcedPowerLimit"},
	symEnergy:        {"nvmlDeviceGetTotalEnergyConsumption"},
	symTemp:          {"nvmlDeviceGetTemperatureV"},
	symTempOld:       {"nvmlDeviceGetTemperature"},
	symClock:         {"nvmlDeviceGetClockInfo"},
	symPState:        {"nvmlDeviceGetPerformanceState"},
	symReasons:       {"nvmlDeviceGetCurrentClocksEventReasons"},
	symReasonsOld:    {"nvmlDeviceGetCurrentClocksThrottleReasons"},
	symFan:           {"nvmlDeviceGetFanSpeed"},
	symPCIe:          {"nvmlDeviceGetPcieThroughput"},
	symECC:           {"nvmlDeviceGetTotalEccErrors"},
	symEncoder:       {"nvmlDeviceGetEncoderUtilization"},
	symDecoder:       {"nvmlDeviceGetDecoderUtilization"},
	symFields:        {"nvmlDeviceGetFieldValues"},
	symGpmSupport:    {"nvmlGpmQueryDeviceSupport"},
	symGpmAlloc:      {"nvmlGpmSampleAlloc"},
	symGpmFree:       {"nvmlGpmSampleFree"},
	symGpmGet:        {"nvmlGpmSampleGet"},
	symGpmMig:        {"nvmlGpmMigSampleGet"},
	symGpmMetrics:    {"nvmlGpmMetricsGet"},
	symMigMode:       {"nvmlDeviceGetMigMode"},
	symMigMax:        {"nvmlDeviceGetMaxMigDeviceCount"},
	symMigHandle:     {"nvmlDeviceGetMigDeviceHandleByIndex"},
	symMigGI:         {"nvmlDeviceGetGpuInstanceId"},
	symMigCI:         {"nvmlDeviceGetComputeInstanceId"},
	symAttributes:    {"nvmlDeviceGetAttributes_v2", "nvmlDeviceGetAttributes"},
	symCompute:       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses"},
	symGraphics:      {"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2", "nvmlDeviceGetGraphicsRunningProcesses"},
	symMPS:           {"nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetMPSComputeRunningProcesses_v2", "nvmlDeviceGetMPSComputeRunningProcesses"},
	symProcessUtil:   {"nvmlDeviceGetProcessUtilization"},
	symEventSet:      {"nvmlEventSetCreate"},
	symEventFree:     {"nvmlEventSetFree"},
	symEventWait:     {"nvmlEventSetWait_v2", "nvmlEventSetWait"},
	symEventTypes:    {"nvmlDeviceGetSupportedEventTypes"},
	symRegister:      {"nvmlDeviceRegisterEvents"},
	symRemapped:      {"nvmlDeviceGetRemappedRows"},

	symReplays:        {"nvmlDeviceGetPcieReplayCounter"},
	symLinkGeneration: {"nvmlDeviceGetMaxPcieLinkGeneration"},
	symLinkWidth:      {"nvmlDeviceGetMaxPcieLinkWidth"},
	symLinkState:      {"nvmlDeviceGetNvLinkState"},
	symLinkVersion:    {"nvmlDeviceGetNvLinkVersion"},
}

// needed are the functions without which no GPU can be listed.
var needed = []symbol{symCount, symHandle, symUUID}

// library is the library of the driver and the set of functions that it has.
type library struct {
	lib     driver.Interface
	path    string
	has     [numSymbols]bool
	version string // version of the driver
	nvml    string
}

// alternatives are the paths that are tried when the loader does not find the library: those of
// images of cloud providers, the driver container, WSL and NixOS.
var alternatives = []string{
	"usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
	"usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
	"usr/lib64/libnvidia-ml.so.1",
	"usr/local/nvidia/lib64/libnvidia-ml.so.1",
	"home/kubernetes/bin/nvidia/lib64/libnvidia-ml.so.1",
	"run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
	"run/nvidia/driver/usr/lib64/libnvidia-ml.so.1",
	"usr/lib/wsl/lib/libnvidia-ml.so.1",
	"run/opengl-driver/lib/libnvidia-ml.so.1",
}

const usualName = "libnvidia-ml.so.1"

// findLibrary returns the library at where; if where is "", the one that the loader finds or one
// of the alternatives. It skips a library without nvmlInit, since calling that function would end
// the program. It fails with libraryNotFound.
func findLibrary(where string, root fs.FS) (*library, code) {
	names := []string{where}
	if where == "" {
		names = []string{usualName}
		for _, a := range alternatives {
			if _, err := fs.Stat(root, a); err == nil {
				names = append(names, "/"+a)
			}
		}
	}
	for _, name := range names {
		if loads(name) {
			return &library{lib: driver.New(driver.WithLibraryPath(name)), path: name}, success
		}
	}
	return nil, libraryNotFound
}

func loads(name string) bool {
	so := dl.New(name, dl.RTLD_LAZY|dl.RTLD_GLOBAL)
	if so.Open() != nil {
		return false
	}
	ok := so.Lookup("nvmlInit_v2") == nil || so.Lookup("nvmlInit") == nil
	return so.Close() == nil && ok
}

// start initialises the library and looks up its functions. It fails with functionMissing where a
// needed one is absent.
func (l *library) start() code {
	if c := code(l.lib.Init()); c != success {
		return c
	}
	look := l.lib.Extensions().LookupSymbol
	for s := range numSymbols {
		l.has[s] = false
		for _, name := range symbolNames[s] {
			l.has[s] = l.has[s] || look(name) == nil
		}
	}
	for _, s := range needed {
		if !l.has[s] {
			return functionMissing
		}
	}
	if l.has[symDriverVersion] {
		if v, ret := l.lib.SystemGetDriverVersion(); ret == driver.SUCCESS {
			l.version = strings.Clone(v)
		}
	}
	if l.has[symNVMLVersion] {
		if v, ret := l.lib.SystemGetNVMLVersion(); ret == driver.SUCCESS {
			l.nvml = strings.Clone(v)
		}
	}
	return success
}

// stop shuts down the library.
func (l *library) stop() code { return code(l.lib.Shutdown()) }

func (l *library) hasGPM() bool {
	return l.has[symGpmSupport] && l.has[symGpmAlloc] && l.has[symGpmFree] && l.has[symGpmGet] && l.has[symGpmMetrics]
}

func (l *library) hasMIG() bool {
	return l.has[symMigMode] && l.has[symMigMax] && l.has[symMigHandle] && l.has[symMigGI] && l.has[symMigCI]
}

func (l *library) hasEvents() bool {
	return l.has[symEventSet] && l.has[symEventFree] && l.has[symEventWait] && l.has[symRegister]
}
