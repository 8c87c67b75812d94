//go:build linux && cgo

package driver

// #include "call.h"
import "C"

import "unsafe"

// mostListed is the longest list, in entries, that is asked for.
const mostListed = 1 << 20

// read calls a function that fills in a T.
func read[T any](d Device, s Symbol) (T, Return) {
	var v T
	ret := Return(C.call_hp(d.lib.at[s], d.h, unsafe.Pointer(&v)))
	return v, ret
}

// Number calls a function that returns one number.
func (d Device) Number(s Symbol) (uint32, Return) { return read[uint32](d, s) }

// LongNumber is Number of 64 bits.
func (d Device) LongNumber(s Symbol) (uint64, Return) { return read[uint64](d, s) }

// NumberOf calls a function that returns the number of a kind, which may also be the place in a list.
func (d Device) NumberOf(s Symbol, kind uint32) (uint32, Return) {
	var v uint32
	ret := Return(C.call_hup(d.lib.at[s], d.h, C.uint32_t(kind), unsafe.Pointer(&v)))
	return v, ret
}

// Pair calls a function that returns two numbers.
func (d Device) Pair(s Symbol) (uint32, uint32, Return) {
	var v, w uint32
	ret := Return(C.call_hpp(d.lib.at[s], d.h, unsafe.Pointer(&v), unsafe.Pointer(&w)))
	return v, w, ret
}

// Text calls a function that returns a text.
func (d Device) Text(s Symbol) (string, Return) {
	var room [textRoom]byte
	ret := Return(C.call_hpu(d.lib.at[s], d.h, unsafe.Pointer(&room[0]), textRoom))
	return textOf(room[:]), ret
}

// version is what the version field of a structure of size bytes holds: NVML_STRUCT_VERSION.
func version(size uintptr, v uint32) uint32 { return uint32(size) | v<<24 }

// GetPCIInfo returns the address of the GPU. Old libraries leave its field BusID empty.
func (d Device) GetPCIInfo() (PCIInfo, Return) { return read[PCIInfo](d, SymPci) }

// GetUtilizationRates returns the shares of the last sample period in which a kernel ran, and in which
// memory was read or written.
func (d Device) GetUtilizationRates() (Utilization, Return) { return read[Utilization](d, SymUtil) }

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
func (d Device) GetMemoryInfo() (Memory, Return) { return read[Memory](d, SymMemory) }

// GetTemperatureV returns the temperature of the die in °C.
func (d Device) GetTemperatureV() (int32, Return) {
	v := temperature1{Version: version(unsafe.Sizeof(temperature1{}), 1), Sensor: TemperatureGPU}
	ret := Return(C.call_hp(d.lib.at[SymTemp], d.h, unsafe.Pointer(&v)))
	return v.Celsius, ret
}

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

// GetMigDeviceHandleByIndex returns the MIG device in a place.
func (d Device) GetMigDeviceHandleByIndex(i int) (Device, Return) {
	out := Device{lib: d.lib}
	ret := Return(C.call_hup(d.lib.at[SymMigHandle], d.h, C.uint32_t(i), unsafe.Pointer(&out.h)))
	return out, ret
}

// GetAttributes returns the slices of a MIG device.
func (d Device) GetAttributes() (Attributes, Return) { return read[Attributes](d, SymAttributes) }

// Processes calls a function that lists processes, with ever more room: the list may grow between two calls.
func (d Device) Processes(s Symbol) ([]Process, Return) {
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

// RegisterEvents adds events of the GPU to a set.
func (d Device) RegisterEvents(kinds uint64, set EventSet) Return {
	return Return(C.call_hlh(d.lib.at[SymRegister], d.h, C.uint64_t(kinds), set.h))
}
