package profile

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// lowerPriority lets everything else on the box go before this goroutine and the programs that it
// starts. It must be called in a goroutine that then ends.
func lowerPriority() {
	runtime.LockOSThread()                         // the thread ends with the goroutine
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 19) // without it the work is as quick as any
}
