package nvml

import (
	"io/fs"
	"os"
	"os/user"
	"time"

	"capcli/profile"
)

// outside is everything that the source uses of the box except the library.
type outside struct {
	host string
	root fs.FS // the file system from its root: /proc, /etc/passwd, /var/log/pods
	// now returns the wall clock and a clock that never jumps.
	now func() (profile.Instant, time.Duration)
	// userName returns the name of a user from the user database of the box; "" where it has
	// none.
	userName func(uid string) string
	// giveUp is the time without a driver, or without a GPU that is not lost, after which Read fails
	// for good.
	giveUp time.Duration
	// patience is the least time for which Read waits for the GPUs. It waits longer where the
	// interval is longer.
	patience time.Duration
}

// usualPatience is many times as long as a driver in trouble takes to answer, and short compared
// to the cost of a call that never returns.
const usualPatience = 500 * time.Millisecond

// usualGiveUp is longer than a driver takes to be reloaded, and a GPU to be reset.
const usualGiveUp = 5 * time.Minute

// theBox returns the box on which the program runs. This is the only file that asks the operating
// system.
func theBox() outside {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	start := time.Now()
	return outside{
		host:     host,
		patience: usualPatience,
		giveUp:   usualGiveUp,
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

// newTimer returns a timer that is not running.
func newTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// untilDeadline returns the time to a deadline; ok is false where there is none. The deadline has
// a monotonic reading, so that steps of the wall clock do not matter.
func untilDeadline(deadline time.Time, ok bool) (time.Duration, bool) {
	if !ok {
		return 0, false
	}
	return time.Until(deadline), true
}
