package nvml

import (
	"strconv"

	"capcli/profile"
)

// code is the return code of a function of the library: nvmlReturn_t of nvml.h.
type code int32

// The codes that this package handles.
const (
	success         code = 0
	uninitialized   code = 1
	invalidArgument code = 2
	notSupported    code = 3
	noPermission    code = 4
	notFound        code = 6
	tooSmall        code = 7
	notLoaded       code = 9
	timedOut        code = 10
	libraryNotFound code = 12
	functionMissing code = 13
	gpuLost         code = 15
	resetRequired   code = 16
	mismatch        code = 18
	wrongVersion    code = 25
	deprecated      code = 26
)

// codeNames replaces nvmlErrorString of the library, which an old library lacks.
var codeNames = map[code]string{
	success:         "success",
	uninitialized:   "library not initialised",
	invalidArgument: "invalid argument",
	notSupported:    "not supported",
	noPermission:    "no permission",
	5:               "already initialised",
	notFound:        "not found",
	tooSmall:        "buffer too small",
	8:               "external power cables not attached",
	notLoaded:       "driver not loaded",
	timedOut:        "timeout",
	11:              "interrupt trouble",
	libraryNotFound: "library not found",
	functionMissing: "function not found",
	14:              "corrupted infoROM",
	gpuLost:         "GPU lost",
	resetRequired:   "GPU needs a reset",
	17:              "blocked by the operating system",
	mismatch:        "driver and library versions differ",
	19:              "in use",
	20:              "out of memory",
	21:              "no data",
	22:              "not with ECC on",
	23:              "out of resources",
	24:              "frequency not supported",
	wrongVersion:    "structure version not known",
	deprecated:      "no longer offered",
	27:              "not ready",
	28:              "GPU not found",
	29:              "invalid state",
	999:             "unknown error",
}

// String returns the name of the code and its number, so that users can search for it.
func (c code) String() string {
	name, known := codeNames[c]
	if !known {
		name = "return code"
	}
	return name + " (" + strconv.Itoa(int(c)) + ")"
}

// reason returns why a metric has no value when its getter returned c; Known for success.
func (c code) reason() profile.Reason {
	switch c {
	case success:
		return profile.Known
	case notSupported, deprecated:
		return profile.Unsupported
	case noPermission:
		return profile.NoPermission
	case functionMissing, wrongVersion:
		return profile.NoSymbol
	case timedOut:
		return profile.Timeout
	case gpuLost, resetRequired, uninitialized, notLoaded, mismatch:
		return profile.Lost
	default:
		return profile.Failed
	}
}

// isGPULost reports whether c says that the GPU cannot be used until it is reset or comes back.
func (c code) isGPULost() bool { return c == gpuLost || c == resetRequired }

// isDriverGone reports whether c says that no GPU can be used, since the driver was unloaded or
// replaced.
func (c code) isDriverGone() bool { return c == uninitialized || c == notLoaded || c == mismatch }
