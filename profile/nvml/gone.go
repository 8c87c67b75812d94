//go:build linux && cgo

package nvml

import (
	"fmt"
	"io/fs"
	"strings"
	"time"

	"capcli/profile"
	"capcli/profile/nvml/driver"
)

// libraryFile identifies the file of the loaded library; its zero value is one that is not known.
type libraryFile struct {
	name    string // from the root, without a leading slash
	size    int64
	changed time.Time
}

// fileOf returns the file from which the library was loaded.
func fileOf(out outside, l *library) libraryFile {
	name := strings.TrimPrefix(loadedFrom(out, l.path), "/")
	info, err := fs.Stat(out.root, name)
	if err != nil {
		return libraryFile{}
	}
	return libraryFile{name, info.Size(), info.ModTime()}
}

// isReplaced reports whether the file is gone or another one. To load the new one beside the old
// would mix functions of both.
func (f libraryFile) isReplaced(root fs.FS) bool {
	if f.name == "" {
		return false
	}
	info, err := fs.Stat(root, f.name)
	return err != nil || info.Size() != f.size || !info.ModTime().Equal(f.changed)
}

// isDead reports whether no GPU can be asked, and it is not for a driver that is slow to answer.
func (s *source) isDead() bool {
	if s.gone {
		return true
	}
	for _, g := range s.gpus {
		if !g.lost || g.busy {
			return false
		}
	}
	return true
}

// gaveUp returns a *profile.GoneError where no Read can succeed again in this process, or none has
// for long.
func (s *source) gaveUp(now time.Duration) error {
	switch {
	case s.misfits >= 3 || s.replaced:
		return &profile.GoneError{Text: "sample GPUs: the driver was replaced by another version while sampling", Hint: "start the program again, so that it loads the new library"}
	case !s.isDead():
		s.deadAt = 0
		return nil
	case s.deadAt == 0:
		s.deadAt = max(now, 1)
		return nil
	case now-s.deadAt < s.out.giveUp:
		return nil
	}
	what := "all GPUs are lost"
	if s.gone {
		what = "the driver is gone: " + s.goneCode.String()
	} else if len(s.gpus) > 0 {
		what += ": " + s.gpus[0].code.String()
	}
	return &profile.GoneError{
		Text: fmt.Sprintf("sample GPUs: for %v %s", s.out.giveUp, what),
		Hint: "see dmesg for Xid or NVRM lines; a program that is started anew may find the driver again",
	}
}

// censusEvery is the interval at which it is checked whether there are GPUs that were not there, or
// could not be used, when the library was set up.
const censusEvery = time.Minute

// kernelGPUs is the directory in which the kernel module has a directory for each GPU.
const kernelGPUs = "proc/driver/nvidia/gpus"

// census is what a worker counts for all GPUs.
type census struct {
	listed int   // GPUs in the list of the driver
	bound  int   // GPUs of the kernel module; 0 where it does not say
	usable []int // of those that were refused
}

// takeCensus counts the GPUs. The driver may count only those that were there when the library was
// set up, so the kernel module is asked, too.
func (g *gpu) takeCensus(refused []int) {
	g.census = census{listed: -1, usable: g.census.usable[:0], bound: boundGPUs(g.root)}
	if n, ret := g.lib.lib.DeviceGetCount(); code(ret) == success {
		g.census.listed = n
	}
	for _, i := range refused {
		h, ret := g.lib.lib.DeviceGetHandleByIndex(i)
		if code(ret) != success {
			continue
		}
		if _, ret := h.Text(driver.SymUUID); code(ret) == success {
			g.census.usable = append(g.census.usable, i)
		}
	}
}

func boundGPUs(root fs.FS) int {
	list, err := fs.ReadDir(root, kernelGPUs)
	if err != nil {
		return 0
	}
	return len(list)
}

// weigh notes where the census differs from what the last set-up found, which calls for another.
func (s *source) weigh(c census) {
	if c.listed >= 0 && c.listed != s.listed || c.bound != s.bound || len(c.usable) > 0 {
		s.changed = true
	}
}
