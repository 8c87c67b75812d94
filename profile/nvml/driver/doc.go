// Package driver calls NVIDIA's management library, libnvidia-ml.so.1, on Linux with cgo. It has the
// functions that package nvml asks, and no other. Names, numbers and layouts are those of nvml.h, NVIDIA's
// header; a test holds each of them against the header that go-nvml carries.
//
// go-nvml opens the library. Its own calls are not used: every build that imports them compiles C code for
// ten seconds of processor time and more, and prints a warning for each deprecated function. A call of
// go-nvml to a function that the library lacks ends the program; here it returns FunctionNotFound.
package driver
