//go:build !unix

package main

import "time"

// cpuTime is not told on this system.
func cpuTime() (time.Duration, bool) { return 0, false }
