//go:build !unix

package forecast

import "time"

var started = time.Now()

// cpuSeconds is the time since the start: there is no better clock here.
func cpuSeconds() float64 { return time.Since(started).Seconds() }
