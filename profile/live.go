package profile

import (
	"fmt"
	"math"
	"strings"
)

// Live is what is known of the devices while they are watched.
type Live struct {
	Ticks   int                  // with samples
	Past    map[string][]float64 // by UUID, the utilisation of the last ticks; NaN where it was not told
	Holders map[string]string    // by UUID
}

// NewLive returns a Live that has seen nothing.
func NewLive() *Live { return &Live{Past: map[string][]float64{}, Holders: map[string]string{}} }

// Add takes a tick with samples, of which the last keep are kept.
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

// label names whose process it is, and its job, pod, command or number.
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
