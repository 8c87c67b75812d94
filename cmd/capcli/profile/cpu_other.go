//go:build !unix

package profile

import "time"

// cpuTime reports false: the processor time is not available on this system.
func cpuTime() (time.Duration, bool) { return 0, false }
