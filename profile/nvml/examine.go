//go:build linux && cgo

package nvml

import (
	"context"
	"strings"
	"time"

	"capcli/profile"
)

// Examine looks at the box and its GPUs once, in about a second, and reports what can be
// measured. It never fails: faults are in the report.
func Examine(o profile.SourceOptions) Report {
	out := theBox()
	l, c := findLibrary(o.Where, out.root)
	if c != success {
		r := boxReport(out)
		t := diagnose(c, out.root, o.Where)
		r.add("driver", Bad, t.What, t.Fix)
		return r
	}
	return examine(l, o, out)
}

func examine(l *library, o profile.SourceOptions, out outside) Report {
	r := boxReport(out)
	o.Every, o.Processes, o.Slow = 2*shortest, time.Hour, true
	s, err := open(l, o, out)
	if err != nil {
		r.add("driver", Bad, err.Error(), "")
		if t, ok := err.(*trouble); ok { //nolint:errorlint // open makes it itself and never wraps it
			r.Checks[0].Text, r.Checks[0].Fix = t.What, t.Fix
		}
		return r
	}
	defer func() { _ = s.Close() }()
	r.OK, r.Driver, r.NVML, r.Library = true, l.version, l.nvml, loadedFrom(out, l.path)
	for _, text := range s.refused {
		r.add("GPU", Bad, text, "see dmesg, and who may open /dev/nvidia*")
	}
	// GPM and rates need two ticks; processes are in the first tick only.
	var t profile.Tick
	var processes []profile.Reason
	for i := range 3 {
		t.Reset()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		err := s.Read(ctx, &t)
		cancel()
		if err != nil {
			r.add("GPU", Bad, err.Error(), "")
			return r
		}
		if i == 0 {
			for _, g := range s.gpus {
				processes = append(processes, g.heldBy())
			}
		}
		pause(2 * shortest)
	}
	for i, g := range s.gpus {
		r.GPUs = append(r.GPUs, g.report(&t, processes[i]))
	}
	r.judge(out.root)
	return r
}

func pause(d time.Duration) {
	timer := newTimer()
	timer.Reset(d)
	<-timer.C
}

// heldBy returns why the list of processes is missing: Timeout while the worker is stuck.
func (g *gpu) heldBy() profile.Reason {
	if g.busy {
		return profile.Timeout
	}
	return g.processWhy
}

func (g *gpu) report(t *profile.Tick, processes profile.Reason) GPUReport {
	r := GPUReport{Device: *g.first, Processes: processes, GPM: g.gpmWhy, ECCEvents: g.eccEvents}
	r.RemappedRows, r.RemapPending, r.RemapFailed = g.repair.rows, g.repair.pending, g.repair.failed
	for i := range t.Samples {
		s := &t.Samples[i]
		switch {
		case s.Device == g.first:
			r.Why = s.Why
		case s.Device.Parent == g.first.UUID:
			r.MIG = true
			r.Instances = append(r.Instances, InstanceReport{*s.Device, s.Why})
		}
	}
	return r
}

// loadedFrom returns the path of the loaded library, from the memory maps of this program; name
// where they do not have it.
func loadedFrom(out outside, name string) string {
	if strings.HasPrefix(name, "/") {
		return name
	}
	for line := range strings.Lines(firstLines(out.root, "proc/self/maps")) {
		if i := strings.IndexByte(line, '/'); i >= 0 && strings.Contains(line[i:], "libnvidia-ml.so") {
			return strings.TrimSpace(line[i:])
		}
	}
	return name
}
