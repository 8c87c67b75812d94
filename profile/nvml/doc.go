// Package nvml is the profile.Source of real GPUs: NVIDIA's management library,
// called through go-nvml. It needs Linux and a build with cgo and the tag nvml;
// any other build has the source in name only, and says so when it is opened.
// The tag is asked for because the C compiler warns of each deprecated call in
// go-nvml: a plain "go run" or "go test" compiles no C and prints only its answer.
//
// # Who does what
//
// Each GPU has a worker of its own, a goroutine that makes all the driver calls
// about that GPU, one after the other. Read asks the workers and waits for their
// answers until its deadline. A worker that is stuck in the driver, where nothing
// can end it, is not asked again until it is back; its GPU has samples with the
// reason Timeout meanwhile, and the other GPUs go on. Setting up the library and
// finding the GPUs is the work of one more worker, events wait on a goroutine of
// their own, and what /proc knows of processes is read by yet another, since a
// sick process can hold up a look at it as a sick GPU holds up the driver.
//
// # What the driver's library makes necessary
//
//   - A call to a function that the installed library lacks ends the program. No
//     function is called before its symbol has been looked up; what is not there
//     is NoSymbol.
//   - go-nvml turns a return code to text by calling the library, which may lack
//     that function too: codes are named from a table here, and never printed
//     with %v.
//   - A figure can be a success and still be wrong: utilisation of 4294967295 %,
//     memory of 2^64-1 bytes. Each metric has a range; outside of it is OutOfRange.
//   - GetSamples returns its whole buffer, of which only a part was written: the
//     entries without a time are left out.
//   - GPM (Hopper and later) compares two samples at least 100 ms apart. The last
//     one is kept and all metrics are asked in one call, whose own return code and
//     that of each metric count. Calls are made one at a time, over all GPUs.
//   - Byte counters wrap and restart. A counter that falls gives no rate for that
//     interval; one that falls again and again is taken for too narrow and is not
//     used any more. The energy counter is passed on as it is: a reader sees the
//     fall and begins anew.
//   - Numbers of GPUs move and MIG numbers are used again at once: devices are
//     known by UUID, and an instance also by its numbers and size.
//
// # What comes when
//
// Every tick: utilisation, memory, power, energy, temperature, clocks, throttle
// reasons, GPM and link rates. What hardly moves (fan, power limit, error
// counters) is asked every five seconds, at once after an ECC event, and repeated
// between. Processes come every SourceOptions.Processes, and sooner after memory
// use changed by a hundredth of the device. The division by MIG is looked at once
// a second. What a device said it does not support is asked again after ten
// minutes.
//
// # What it asks of those who run it
//
//   - While a program holds the library, the driver cannot be unloaded and no GPU
//     reset: end the sampling for either. What comes back by itself is had back:
//     one lost GPU is asked again after 1 s, 2 s, 4 s to a minute, and the library
//     is set up again for it after half a minute, then a minute, up to ten.
//   - A driver of another version needs the program to start again: what a process
//     has called stays bound to the library that it loaded first. Read fails then,
//     so that a service manager starts it anew.
//   - A build with cgo does not start where LD_BIND_NOW is set, nor when linked
//     with -z now: go-nvml leaves the library's functions open until they are
//     called.
//   - Names of processes need the host's PID namespace. Without it processes are
//     numbers: in another namespace the number would be another process'.
//
// The whole path is tested against a library written for the purpose; it was not
// verified on a GPU: latencies, GPM against a known kernel, how used and reserved
// memory add up, MIG, the steps of the energy counter, Xid events. `make gpu-check`
// judges most of it where there is one, and says what it could not.
package nvml
