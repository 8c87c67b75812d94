// Package nvml is the profile.Source of real GPUs: NVIDIA's management library,
// called through package driver. It needs Linux and a build with cgo, which a plain
// "go build" is where there is a C compiler; in any other build Open fails and says
// what the build lacks.
//
// # Goroutines
//
// Each GPU has a worker of its own, a goroutine that makes all the driver calls
// about that GPU, one after the other. Read asks the workers and waits for their
// answers until its deadline. Nothing can end a worker that is stuck in the driver. It
// is not asked again until it returns; meanwhile its GPU has samples with the reason
// Timeout, and the other GPUs are sampled as before. Three more goroutines set up the
// library and list the GPUs, wait for events, and read about processes in /proc: reading
// about a stuck process can block, as a call about a stuck GPU can.
//
// # Properties of the driver's library
//
//   - An installed library may lack a function. Each is looked up when the library is
//     opened. The metrics of an absent function have the reason NoSymbol. Codes are named
//     from a table in this package, since the library may lack nvmlErrorString too.
//   - A call can succeed with a wrong figure: utilisation of 4294967295 %, memory of
//     2^64-1 bytes. Each metric has a range; a figure outside of it is OutOfRange.
//   - GetSamples returns its whole buffer, although only a part of it was written:
//     entries without a time are ignored.
//   - GPM (Hopper and later) compares two samples at least 100 ms apart. The last
//     sample is kept and all metrics are asked in one call. The return codes of the
//     call and of each metric are checked. One call runs at a time, over all GPUs.
//   - Byte counters wrap and restart. A counter that falls gives no rate for that
//     interval. A counter that falls three times is taken to be too narrow and no longer
//     used. The energy counter is passed on unchanged: a reader sees the fall and
//     starts anew.
//   - The numbers of GPUs change and MIG numbers are reused at once. GPUs are
//     therefore identified by UUID, and instances also by their numbers and size.
//
// # Intervals
//
// Every tick has utilisation, memory, power, energy, temperature, clocks, throttle
// reasons, GPM and link rates. Metrics that rarely change (fan, power limit, error
// counters) are asked every five seconds and at once after an ECC event, and repeated
// in between. Processes are listed every SourceOptions.Processes, and sooner after
// memory use over all GPUs changed by a hundredth of the memory. The division by MIG is
// checked once a second. A call that a device does not support is tried again after ten
// minutes.
//
// # Operation
//
//   - While a program holds the library, the driver cannot be unloaded and no GPU
//     can be reset: end the sampling before either. Recovery is automatic: a lost GPU
//     is asked again after 1 s, 2 s, 4 s, up to a minute, and the library is set up
//     again for it after half a minute, then a minute, up to ten.
//   - After an update of the driver the program must be restarted: a process stays
//     bound to the library that it loaded first. Read then fails with a
//     *profile.GoneError, which ends the program, so that a service manager starts it
//     again. So it does when the driver is gone, or all GPUs are lost, for five minutes.
//     A library that was replaced on disk while the driver still answers changes
//     nothing: the loaded one goes on.
//   - Once a minute it is counted whether there are GPUs that were not there, or could
//     not be used, at the last set-up. Where there are, the library is set up again.
//   - Names of processes need the PID namespace of the host. In another namespace a
//     PID may be another process, so processes are then known by PID alone.
//
// All of this is tested against a library written for the purpose. It was not verified
// on a GPU: latencies, GPM against a known kernel, how used and reserved memory add up,
// MIG, the steps of the energy counter, Xid events. `make gpu-check` checks most of it
// where there is a GPU, and says what it could not check.
package nvml
