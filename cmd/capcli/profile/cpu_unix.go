//go:build unix

package profile

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time (user and system) that the program has used so far. It reports
// false where the system does not say.
func cpuTime() (time.Duration, bool) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
