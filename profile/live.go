package profile

import (
	"fmt"
	"math"
	"strings"
)

// Live is the recent state of the devices, for a live display.
type Live struct {
	Ticks   int                  // ticks added
	Past    map[string][]float64 // utilisation in the last ticks, in percent, by UUID; NaN if unknown
	Holders map[string]string    // label of a process that holds the device, by UUID
}

// NewLive returns a Live without ticks.
func NewLive() *Live { return &Live{Past: map[string][]float64{}, Holders: map[string]string{}} }

// Add adds a tick with samples. It keeps the utilisation of the last keep ticks.
func (l *Live) Add(t *Tick, keep int) {
	if t.LookedAtProcesses {
		clear(l.Holders)
		for i := range t.Processes {
			p := &t.Processes[i]
			l.Holders[p.Device.UUID] = p.label()
		}
	}
	for i := range t.Samples {
		s := &t.Samples[i]
		busy, ok := s.Get(UtilGPU)
		if !ok {
			busy = math.NaN()
		}
		past := append(l.Past[s.Device.UUID], busy)
		l.Past[s.Device.UUID] = past[max(0, len(past)-keep):]
	}
	l.Ticks++
}

// label returns the namespace or user of a process, and its job, pod, command or PID.
func (p *Process) label() string {
	who := p.User
	if p.Namespace != "" {
		who = p.Namespace
	}
	for _, id := range []string{p.Job, p.Pod, p.Command} {
		if id != "" {
			return strings.TrimSpace(who + " " + id)
		}
	}
	return strings.TrimSpace(fmt.Sprintf("%s %d", who, p.PID))
}
