//go:build linux && cgo

package driver

// #include "call.h"
import "C"

import "unsafe"

// mostListed is the longest list, in entries, that is asked for.
const mostListed = 1 << 20

func (d Device) number(s Symbol) (uint32, Return) {
	var v uint32
	ret := Return(C.call_hp(d.lib.at[s], d.h, unsafe.Pointer(&v)))
	return v, ret
}

func (d Device) longNumber(s Symbol) (uint64, Return) {
	var v uint64
	ret := Return(C.call_hp(d.lib.at[s], d.h, unsafe.Pointer(&v)))
	return v, ret
}

func (d Device) numberOf(s Symbol, kind uint32) (uint32, Return) {
	var v uint32
	ret := Return(C.call_hup(d.lib.at[s], d.h, C.uint32_t(kind), unsafe.Pointer(&v)))
	return v, ret
}

func (d Device) pair(s Symbol) (uint32, uint32, Return) {
	var v, w uint32
	ret := Return(C.call_hpp(d.lib.at[s], d.h, unsafe.Pointer(&v), unsafe.Pointer(&w)))
	return v, w, ret
}

func (d Device) text(s Symbol) (string, Return) {
	var room [textRoom]byte
	ret := Return(C.call_hpu(d.lib.at[s], d.h, unsafe.Pointer(&room[0]), textRoom))
	return textOf(room[:]), ret
}

// version is what the version field of a structure of size bytes holds: NVML_STRUCT_VERSION.
func version(size uintptr, v uint32) uint32 { return uint32(size) | v<<24 }

// GetUUID returns the UUID, which begins with GPU- or MIG-.
func (d Device) GetUUID() (string, Return) { return d.text(SymUUID) }

// GetName returns the name of the model.
func (d Device) GetName() (string, Return) { return d.text(SymName) }

// GetPCIInfo returns the address of the GPU. Old libraries leave its field BusID empty.
func (d Device) GetPCIInfo() (PCIInfo, Return) {
	var v PCIInfo
	ret := Return(C.call_hp(d.lib.at[SymPci], d.h, unsafe.Pointer(&v)))
	return v, ret
}

// GetCudaComputeCapability returns the two parts of the compute capability.
func (d Device) GetCudaComputeCapability() (major, minor int, ret Return) {
	v, w, ret := d.pair(SymCapability)
	return int(v), int(w), ret
}

// GetNumGpuCores returns the number of cores.
func (d Device) GetNumGpuCores() (int, Return) {
	v, ret := d.number(SymCores)
	return int(v), ret
}

// GetMemoryBusWidth returns the width of the bus to device memory in bits.
func (d Device) GetMemoryBusWidth() (uint32, Return) { return d.number(SymBusWidth) }

// GetMaxClockInfo returns the highest clock of a kind in MHz.
func (d Device) GetMaxClockInfo(kind uint32) (uint32, Return) { return d.numberOf(SymMaxClock, kind) }

// GetMaxPcieLinkGeneration returns the newest generation of PCIe that GPU and slot have in common.
func (d Device) GetMaxPcieLinkGeneration() (int, Return) {
	v, ret := d.number(SymLinkGeneration)
	return int(v), ret
}

// GetMaxPcieLinkWidth returns the number of lanes that GPU and slot have in common.
func (d Device) GetMaxPcieLinkWidth() (int, Return) {
	v, ret := d.number(SymLinkWidth)
	return int(v), ret
}

// GetNvLinkState returns FeatureEnabled where an NVLink is up.
func (d Device) GetNvLinkState(link int) (uint32, Return) {
	return d.numberOf(SymLinkState, uint32(link))
}

// GetNvLinkVersion returns the number that nvml.h gives the version of an NVLink.
func (d Device) GetNvLinkVersion(link int) (uint32, Return) {
	return d.numberOf(SymLinkVersion, uint32(link))
}

// GetUtilizationRates returns the shares of the last sample period in which a kernel ran, and in which
// memory was read or written.
func (d Device) GetUtilizationRates() (Utilization, Return) {
	var v Utilization
	ret := Return(C.call_hp(d.lib.at[SymUtil], d.h, unsafe.Pointer(&v)))
	return v, ret
}

// GetSamples returns the buffer of the driver's own samples of a kind since a time of its clock in µs. It
// may be longer than what was written: the rest has no time.
func (d Device) GetSamples(kind uint32, since uint64) ([]Sample, Return) {
	var form, n uint32
	at := d.lib.at[SymSamples]
	ret := Return(C.call_hulppp(at, d.h, C.uint32_t(kind), C.uint64_t(since), unsafe.Pointer(&form), unsafe.Pointer(&n), nil))
	if ret != Success || n == 0 || n > mostListed {
		return nil, ret
	}
	list := make([]Sample, n)
	ret = Return(C.call_hulppp(at, d.h, C.uint32_t(kind), C.uint64_t(since), unsafe.Pointer(&form), unsafe.Pointer(&n), unsafe.Pointer(&list[0])))
	return list[:min(int(n), len(list))], ret
}

// GetMemoryInfo2 returns device memory, with what the driver reserves apart.
func (d Device) GetMemoryInfo2() (Memory2, Return) {
	v := Memory2{Version: version(unsafe.Sizeof(Memory2{}), 2)}
	ret := Return(C.call_hp(d.lib.at[SymMemory2], d.h, unsafe.Pointer(&v)))
	return v, ret
}

// GetMemoryInfo returns device memory.
func (d Device) GetMemoryInfo() (Memory, Return) {
	var v Memory
	ret := Return(C.call_hp(d.lib.at[SymMemory], d.h, unsafe.Pointer(&v)))
	return v, ret
}

// GetPowerUsage returns power in mW.
func (d Device) GetPowerUsage() (uint32, Return) { return d.number(SymPower) }

// GetEnforcedPowerLimit returns the limit of power in mW.
func (d Device) GetEnforcedPowerLimit() (uint32, Return) { return d.number(SymLimit) }

// GetTotalEnergyConsumption returns energy in mJ since the driver was loaded.
func (d Device) GetTotalEnergyConsumption() (uint64, Return) { return d.longNumber(SymEnergy) }

// GetTemperatureV returns the temperature of the die in °C.
func (d Device) GetTemperatureV() (int32, Return) {
	v := temperature1{Version: version(unsafe.Sizeof(temperature1{}), 1), Sensor: temperatureGPU}
	ret := Return(C.call_hp(d.lib.at[SymTemp], d.h, unsafe.Pointer(&v)))
	return v.Celsius, ret
}

// GetTemperature is GetTemperatureV of drivers before CUDA 13.
func (d Device) GetTemperature() (uint32, Return) { return d.numberOf(SymTempOld, temperatureGPU) }

// GetClockInfo returns a clock in MHz.
func (d Device) GetClockInfo(kind uint32) (uint32, Return) { return d.numberOf(SymClock, kind) }

// GetPerformanceState returns the number of the state, 0 for P0.
func (d Device) GetPerformanceState() (uint32, Return) { return d.number(SymPState) }

// GetCurrentClocksEventReasons returns the bits of what holds the clocks down.
func (d Device) GetCurrentClocksEventReasons() (uint64, Return) { return d.longNumber(SymReasons) }

// GetCurrentClocksThrottleReasons is GetCurrentClocksEventReasons of drivers before CUDA 12.2.
func (d Device) GetCurrentClocksThrottleReasons() (uint64, Return) {
	return d.longNumber(SymReasonsOld)
}

// GetFanSpeed returns the intended speed of the fan in %.
func (d Device) GetFanSpeed() (uint32, Return) { return d.number(SymFan) }

// GetPcieThroughput returns what went over PCIe in one direction, KB/s. It takes 20 ms.
func (d Device) GetPcieThroughput(direction uint32) (uint32, Return) {
	return d.numberOf(SymPCIe, direction)
}

// GetPcieReplayCounter returns how often something was sent again over PCIe.
func (d Device) GetPcieReplayCounter() (uint32, Return) { return d.number(SymReplays) }

// GetTotalEccErrors returns the memory errors of a kind since the driver was loaded.
func (d Device) GetTotalEccErrors(kind uint32) (uint64, Return) {
	var v uint64
	ret := Return(C.call_huup(d.lib.at[SymECC], d.h, C.uint32_t(kind), volatileECC, unsafe.Pointer(&v)))
	return v, ret
}

// GetRemappedRows returns the rows of memory that were replaced after corrected and other errors, whether
// more are to be replaced at the next reset, and whether that has failed.
func (d Device) GetRemappedRows() (corrected, not int, pending, failed bool, ret Return) {
	var a, b, p, f uint32
	ret = Return(C.call_hpppp(d.lib.at[SymRemapped], d.h, unsafe.Pointer(&a), unsafe.Pointer(&b), unsafe.Pointer(&p), unsafe.Pointer(&f)))
	return int(a), int(b), p != 0, f != 0, ret
}

// GetEncoderUtilization returns the use of the encoders in %.
func (d Device) GetEncoderUtilization() (uint32, Return) {
	v, _, ret := d.pair(SymEncoder)
	return v, ret
}

// GetDecoderUtilization returns the use of the decoders in %.
func (d Device) GetDecoderUtilization() (uint32, Return) {
	v, _, ret := d.pair(SymDecoder)
	return v, ret
}

// GetFieldValues fills in the values of the fields, each with a code of its own.
func (d Device) GetFieldValues(values []FieldValue) Return {
	if len(values) == 0 {
		return Success
	}
	return Return(C.call_hup(d.lib.at[SymFields], d.h, C.uint32_t(len(values)), unsafe.Pointer(&values[0])))
}

// HasGPM reports whether the GPU has GPM.
func (d Device) HasGPM() (bool, Return) {
	v := gpmSupport{Version: 1}
	ret := Return(C.call_hp(d.lib.at[SymGpmSupport], d.h, unsafe.Pointer(&v)))
	return v.Supported != 0, ret
}

// GPMSampleGet fills the buffer with the counters of the GPU.
func (d Device) GPMSampleGet(s GPMSample) Return {
	return Return(C.call_hh(d.lib.at[SymGpmGet], d.h, s.h))
}

// GPMMigSampleGet fills the buffer with the counters of a GPU instance.
func (d Device) GPMMigSampleGet(gi int, s GPMSample) Return {
	return Return(C.call_huh(d.lib.at[SymGpmMig], d.h, C.uint32_t(gi), s.h))
}

// GetMigMode returns MIGEnabled where MIG is on.
func (d Device) GetMigMode() (uint32, Return) {
	now, _, ret := d.pair(SymMigMode)
	return now, ret
}

// GetMaxMigDeviceCount returns the number of places for MIG devices.
func (d Device) GetMaxMigDeviceCount() (int, Return) {
	v, ret := d.number(SymMigMax)
	return int(v), ret
}

// GetMigDeviceHandleByIndex returns the MIG device in a place.
func (d Device) GetMigDeviceHandleByIndex(i int) (Device, Return) {
	out := Device{lib: d.lib}
	ret := Return(C.call_hup(d.lib.at[SymMigHandle], d.h, C.uint32_t(i), unsafe.Pointer(&out.h)))
	return out, ret
}

// GetGpuInstanceID returns the number of the GPU instance of a MIG device.
func (d Device) GetGpuInstanceID() (int, Return) {
	v, ret := d.number(SymMigGI)
	return int(v), ret
}

// GetComputeInstanceID returns the number of the compute instance of a MIG device.
func (d Device) GetComputeInstanceID() (int, Return) {
	v, ret := d.number(SymMigCI)
	return int(v), ret
}

// GetAttributes returns the slices of a MIG device.
func (d Device) GetAttributes() (Attributes, Return) {
	var v Attributes
	ret := Return(C.call_hp(d.lib.at[SymAttributes], d.h, unsafe.Pointer(&v)))
	return v, ret
}

// GetComputeRunningProcesses returns the processes with a context for computing.
func (d Device) GetComputeRunningProcesses() ([]Process, Return) { return d.processes(SymCompute) }

// GetGraphicsRunningProcesses returns the processes with a context for graphics.
func (d Device) GetGraphicsRunningProcesses() ([]Process, Return) { return d.processes(SymGraphics) }

// GetMPSComputeRunningProcesses returns the clients of MPS.
func (d Device) GetMPSComputeRunningProcesses() ([]Process, Return) { return d.processes(SymMPS) }

// processes asks with ever more room, since the list may grow between two calls.
func (d Device) processes(s Symbol) ([]Process, Return) {
	for room := uint32(16); room <= mostListed; room *= 4 {
		n := room
		if d.lib.old[s] {
			list := make([]process1, room)
			ret := Return(C.call_hpp(d.lib.at[s], d.h, unsafe.Pointer(&n), unsafe.Pointer(&list[0])))
			if ret == InsufficientSize {
				continue
			}
			if ret != Success {
				return nil, ret
			}
			out := make([]Process, 0, min(n, room))
			for _, p := range list[:min(n, room)] {
				out = append(out, Process{p.PID, p.Memory, noInstance, noInstance})
			}
			return out, ret
		}
		list := make([]Process, room)
		ret := Return(C.call_hpp(d.lib.at[s], d.h, unsafe.Pointer(&n), unsafe.Pointer(&list[0])))
		switch ret {
		case Success:
			return list[:min(n, room)], ret
		case InsufficientSize:
		default:
			return nil, ret
		}
	}
	return nil, InsufficientSize
}

// GetProcessUtilization returns the shares of processes since a time of the driver's clock in µs.
func (d Device) GetProcessUtilization(since uint64) ([]ProcessSample, Return) {
	var n uint32
	at := d.lib.at[SymProcessUtil]
	ret := Return(C.call_hppl(at, d.h, nil, unsafe.Pointer(&n), C.uint64_t(since)))
	if ret != InsufficientSize || n == 0 || n > mostListed {
		return nil, ret
	}
	list := make([]ProcessSample, n)
	ret = Return(C.call_hppl(at, d.h, unsafe.Pointer(&list[0]), unsafe.Pointer(&n), C.uint64_t(since)))
	return list[:min(int(n), len(list))], ret
}

// GetSupportedEventTypes returns the bits of the events that the GPU tells of.
func (d Device) GetSupportedEventTypes() (uint64, Return) { return d.longNumber(SymEventTypes) }

// RegisterEvents adds events of the GPU to a set.
func (d Device) RegisterEvents(kinds uint64, set EventSet) Return {
	return Return(C.call_hlh(d.lib.at[SymRegister], d.h, C.uint64_t(kinds), set.h))
}
