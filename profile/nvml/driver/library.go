//go:build linux && cgo

package driver

// #define _GNU_SOURCE
// #include "call.h"
// #cgo LDFLAGS: -ldl
// #cgo noescape call_p
// #cgo noescape call_pu
// #cgo noescape call_up
// #cgo noescape call_pp
// #cgo noescape call_hp
// #cgo noescape call_hpu
// #cgo noescape call_hup
// #cgo noescape call_hpp
// #cgo noescape call_huup
// #cgo noescape call_hppl
// #cgo noescape call_hpppp
// #cgo noescape call_hulppp
// #cgo nocallback call_none
// #cgo nocallback call_h
// #cgo nocallback call_p
// #cgo nocallback call_pu
// #cgo nocallback call_up
// #cgo nocallback call_pp
// #cgo nocallback call_hp
// #cgo nocallback call_hh
// #cgo nocallback call_huh
// #cgo nocallback call_hpu
// #cgo nocallback call_hup
// #cgo nocallback call_hpp
// #cgo nocallback call_huup
// #cgo nocallback call_hlh
// #cgo nocallback call_hppl
// #cgo nocallback call_hpppp
// #cgo nocallback call_hulppp
import "C"

import (
	"bytes"
	"unsafe"

	"github.com/NVIDIA/go-nvml/pkg/dl"
)

// Library is the library of the driver. Its functions may be called from several goroutines, but for
// Init and Shutdown.
type Library struct {
	name string
	so   *dl.DynamicLibrary // nil while it is not set up
	at   [NumSymbols]C.uintptr_t
	old  [NumSymbols]bool // the oldest of several names was found
}

// Device is a handle of a GPU or of a MIG device. Handles of the same device are equal.
type Device struct {
	lib *Library
	h   C.uintptr_t
}

// NewLibrary returns the library in the file name, which is searched for where it has no slash. It opens nothing.
func NewLibrary(name string) *Library { return &Library{name: name} }

// Loads reports whether the file is there and is a library with a function to set it up.
func (l *Library) Loads() bool {
	so := dl.New(l.name, dl.RTLD_LAZY|dl.RTLD_LOCAL)
	if so.Open() != nil {
		return false
	}
	ok := false
	for _, name := range symbolNames[symInit] {
		ok = ok || so.Lookup(name) == nil
	}
	return so.Close() == nil && ok
}

// Init opens the library, looks up its functions and sets it up.
func (l *Library) Init() Return {
	if l.so == nil {
		// The library stays in the process after Shutdown: a driver of another version needs another process.
		so := dl.New(l.name, dl.RTLD_LAZY|dl.RTLD_GLOBAL|dl.RTLD_NODELETE)
		if so.Open() != nil {
			return LibraryNotFound
		}
		l.so = so
	}
	for s, names := range symbolNames {
		l.at[s], l.old[s] = 0, false
		for i, name := range names {
			c := C.CString(name)
			l.at[s] = C.find(c)
			C.free(unsafe.Pointer(c))
			if l.at[s] != 0 {
				l.old[s] = len(names) > 1 && i == len(names)-1
				break
			}
		}
	}
	return Return(C.call_none(l.at[symInit]))
}

// Shutdown undoes Init.
func (l *Library) Shutdown() Return {
	ret := Return(C.call_none(l.at[symShutdown]))
	if ret == Success && l.so != nil {
		_ = l.so.Close() // it stays loaded in any case
		l.so = nil
	}
	return ret
}

// Has reports whether the library has a function. It may be asked after Init.
func (l *Library) Has(s Symbol) bool { return l.at[s] != 0 }

// textRoom is the room in bytes for the longest text: NVML_DEVICE_NAME_V2_BUFFER_SIZE and
// NVML_DEVICE_UUID_V2_BUFFER_SIZE.
const textRoom = 96

func textOf(room []byte) string {
	text, _, _ := bytes.Cut(room, []byte{0})
	return string(text)
}

// Text calls a function that returns a text.
func (l *Library) Text(s Symbol) (string, Return) {
	var room [textRoom]byte
	ret := Return(C.call_pu(l.at[s], unsafe.Pointer(&room[0]), textRoom))
	return textOf(room[:]), ret
}

// DeviceGetCount returns the number of GPUs.
func (l *Library) DeviceGetCount() (int, Return) {
	var n uint32
	ret := Return(C.call_p(l.at[SymCount], unsafe.Pointer(&n)))
	return int(n), ret
}

// DeviceGetHandleByIndex returns the GPU at a place of the list.
func (l *Library) DeviceGetHandleByIndex(i int) (Device, Return) {
	d := Device{lib: l}
	ret := Return(C.call_up(l.at[SymHandle], C.uint32_t(i), unsafe.Pointer(&d.h)))
	return d, ret
}

// DeviceGetHandleByUUID returns the GPU with a UUID.
func (l *Library) DeviceGetHandleByUUID(uuid string) (Device, Return) {
	d := Device{lib: l}
	text := append([]byte(uuid), 0)
	ret := Return(C.call_pp(l.at[SymHandleByUUID], unsafe.Pointer(&text[0]), unsafe.Pointer(&d.h)))
	return d, ret
}

// GPMSample is a buffer of the library for the counters of GPM.
type GPMSample struct {
	lib *Library
	h   C.uintptr_t
}

// GPMSampleAlloc returns a buffer, which Free gives back.
func (l *Library) GPMSampleAlloc() (GPMSample, Return) {
	s := GPMSample{lib: l}
	ret := Return(C.call_p(l.at[SymGpmAlloc], unsafe.Pointer(&s.h)))
	return s, ret
}

// Free gives the buffer back.
func (s GPMSample) Free() Return { return Return(C.call_h(s.lib.at[SymGpmFree], s.h)) }

// GPMMetricsGet compares two samples of one device, the older first.
func (l *Library) GPMMetricsGet(q *GPMMetrics, older, newer GPMSample) Return {
	q.version, q.sample1, q.sample2 = 1, uintptr(older.h), uintptr(newer.h)
	// By its first field: q may be part of a larger value, and only q is the library's to see.
	return Return(C.call_p(l.at[SymGpmMetrics], unsafe.Pointer(&q.version)))
}

// EventSet collects events of GPUs.
type EventSet struct {
	lib *Library
	h   C.uintptr_t
}

// Event is one event of a GPU. GPUInstance is 0xFFFFFFFF where it is of none.
type Event struct {
	Device      Device
	Kind, Data  uint64
	GPUInstance uint32
}

// EventSetCreate returns an empty set, which Free gives back.
func (l *Library) EventSetCreate() (EventSet, Return) {
	set := EventSet{lib: l}
	ret := Return(C.call_p(l.at[SymEventSet], unsafe.Pointer(&set.h)))
	return set, ret
}

// Free gives the set back.
func (e EventSet) Free() Return { return Return(C.call_h(e.lib.at[SymEventFree], e.h)) }

// Wait waits for an event for up to so many milliseconds.
func (e EventSet) Wait(ms uint32) (Event, Return) {
	var data eventData
	ret := Return(C.call_hpu(e.lib.at[SymEventWait], e.h, unsafe.Pointer(&data), C.uint32_t(ms)))
	if e.lib.old[SymEventWait] { // the oldest form knows no instances
		data.gpuInstance = noInstance
	}
	return Event{Device{e.lib, C.uintptr_t(data.device)}, data.kind, data.data, data.gpuInstance}, ret
}

// noInstance is the number that means none.
const noInstance = 0xFFFFFFFF
