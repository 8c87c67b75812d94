package nvml

import (
	"io/fs"
	"os"
	"os/user"
	"time"

	"capcli/profile"
)

// outside is what the source touches of the box, beside the driver's library.
type outside struct {
	host string
	root fs.FS // the file system from its root: /proc, /etc/passwd, /var/log/pods
	// now gives the wall clock and a clock that never jumps.
	now func() (profile.Instant, time.Duration)
	// userName asks the box's directory for the name of a user, "" where it has none.
	userName func(uid string) string
	// patience is how long GPUs are waited for, where the interval is not longer.
	patience time.Duration
}

// usualPatience is many times what a driver takes in trouble, and short beside
// what a look that does not come back costs.
const usualPatience = 500 * time.Millisecond

// theBox is the box that the program runs on. This file alone asks the operating
// system for it.
func theBox() outside {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	start := time.Now()
	return outside{
		host:     host,
		patience: usualPatience,
		root:     os.DirFS("/"),
		now: func() (profile.Instant, time.Duration) {
			t := time.Now()
			return profile.InstantOf(t), t.Sub(start)
		},
		userName: func(uid string) string {
			u, err := user.LookupId(uid)
			if err != nil {
				return ""
			}
			return u.Username
		},
	}
}

// newTimer makes a timer that is not running.
func newTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// untilDeadline is how long is left; ok is false where there is no deadline. A
// deadline is of the wall clock, with a monotonic reading inside.
func untilDeadline(deadline time.Time, ok bool) (time.Duration, bool) {
	if !ok {
		return 0, false
	}
	return time.Until(deadline), true
}
