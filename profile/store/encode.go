package store

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"

	"capcli"
	"capcli/profile"
)

// Bounds on a tick and on a segment. A longer text is cut; at the other bounds a segment ends or
// a tick is refused.
const (
	maxText    = 1024    // bytes of one text
	maxKnown   = 1 << 14 // numbered texts of a segment, and numbered processes
	maxDevices = 1 << 12
)

// last holds the figures of a device, of the box or of a job's processes in the last tick that had
// them, by the metric numbers of the segment.
type last struct {
	steps []int64
	why   []profile.Reason
	tick  int // number of that tick; -1 where there was none yet. Only encoded devices use it
}

func newLast(metrics int) last {
	return last{make([]int64, metrics), make([]profile.Reason, metrics), -1}
}

// ident holds the fields of a process that do not change.
type ident struct {
	device                                              int
	pid                                                 int64
	user, command, container, pod, namespace, job, kind string
	start                                               capcli.Time
}

// encoder encodes the ticks of one segment, each as its difference from the previous one. Its
// memory is bounded, and stops growing once every device, process and text has occurred.
type encoder struct {
	devices []profile.Device
	places  map[*profile.Device]int
	last    []last
	texts   map[string]uint64
	idents  map[ident]uint64
	around  surroundings
	at      profile.Instant
	elapsed int64
	every   int64
	ticks   int
}

func newEncoder(devices []profile.Device, first profile.Instant) *encoder {
	e := &encoder{places: map[*profile.Device]int{}, texts: map[string]uint64{}, idents: map[ident]uint64{}, around: newSurroundings(), at: first}
	e.meet(devices)
	return e
}

func (e *encoder) meet(devices []profile.Device) {
	e.devices = devices
	e.last = make([]last, len(devices))
	for i := range e.last {
		e.last[i] = newLast(int(profile.NumMetrics))
	}
}

// place returns the number of a device in the segment; false where the segment does not have it.
func (e *encoder) place(d *profile.Device) (int, bool) {
	if i, ok := e.places[d]; ok {
		return i, true
	}
	for i := range e.devices {
		if e.devices[i] == clean(d) {
			if len(e.places) >= maxDevices {
				clear(e.places)
			}
			e.places[d] = i
			return i, true
		}
	}
	return 0, false
}

// knows reports whether the segment can take t: it has all devices of t and room for more texts
// and processes, or has no devices yet.
func (e *encoder) knows(t *profile.Tick) bool {
	if len(e.texts) >= maxKnown || len(e.idents) >= maxKnown || !e.around.hasRoom() {
		return false
	}
	if len(e.devices) == 0 {
		return true
	}
	for i := range t.Samples {
		if _, ok := e.place(t.Samples[i].Device); !ok {
			return false
		}
	}
	for i := range t.Processes {
		if _, ok := e.place(t.Processes[i].Device); !ok {
			return false
		}
	}
	for i := range t.Readings {
		if d := t.Readings[i].Device; d != nil {
			if _, ok := e.place(d); !ok {
				return false
			}
		}
	}
	return true
}

// tick appends a frame with t and the events of more to b. It fails where the instant is outside
// the years 1970 to 9999, a device comes twice, or the tick is too large.
func (e *encoder) tick(b []byte, t *profile.Tick, more []profile.Event) ([]byte, error) {
	if !isSaneInstant(t.At) || len(t.Samples) > maxDevices {
		return b, fmt.Errorf("a tick of %v with %d samples, expected years 1970 to 9999 and at most %d", t.At.Std(), len(t.Samples), maxDevices)
	}
	from := len(b)
	b = append(beginFrame(b), tickFrame)
	elapsed, every := micros(t.Elapsed), micros(t.Every)
	b = binary.AppendVarint(b, int64(t.At-e.at))
	b = binary.AppendVarint(b, elapsed-e.elapsed)
	b = binary.AppendVarint(b, every-e.every)
	b = binary.AppendVarint(b, micros(t.Took))
	e.at, e.elapsed, e.every = t.At, elapsed, every
	b = binary.AppendUvarint(b, uint64(len(t.Samples)))
	for i := range t.Samples {
		var err error
		if b, err = e.sample(b, &t.Samples[i]); err != nil {
			return b, err
		}
	}
	b = binary.AppendUvarint(b, uint64(len(t.Processes)<<1|capcli.Bit(t.LookedAtProcesses)))
	for i := range t.Processes {
		b = e.process(b, &t.Processes[i])
	}
	b = binary.AppendUvarint(b, uint64(len(t.Events)+len(more)))
	for i := range t.Events {
		b = e.event(b, &t.Events[i])
	}
	for i := range more {
		b = e.event(b, &more[i])
	}
	b = e.surroundings(b, t)
	if n := len(b) - from - frameHead; n > maxFrame {
		return b, fmt.Errorf("a tick of %d bytes, over the limit of %d: %d samples, %d processes, %d events, %d groups, %d readings", n, maxFrame,
			len(t.Samples), len(t.Processes), len(t.Events), len(t.Groups), len(t.Readings))
	}
	endFrame(b, from)
	e.ticks++
	return b, nil
}

// isSaneInstant reports whether an instant is in the years 1970 to 9999, so that its date has ten
// characters.
func isSaneInstant(at profile.Instant) bool { return at >= 0 && at < 253_402_300_800_000_000 }

// sample appends the number of a device, the set of its metrics that changed, and each change.
func (e *encoder) sample(b []byte, s *profile.Sample) ([]byte, error) {
	i, _ := e.place(s.Device)
	was := &e.last[i]
	if was.tick == e.ticks {
		return b, fmt.Errorf("device %s comes twice in a tick", s.Device.UUID)
	}
	was.tick = e.ticks
	b = binary.AppendUvarint(b, uint64(i))
	return appendFigures(b, grids[:], s.Values[:], s.Why[:], was), nil
}

// appendFigures appends the set of the metrics that differ from was, and each difference. It sets
// was to the new figures. There are at most 64 metrics.
func appendFigures(b []byte, grids []grid, values []float64, why []profile.Reason, was *last) []byte {
	var changed uint64
	var steps [64]int64
	var now [64]profile.Reason
	for m, g := range grids {
		now[m] = why[m]
		if now[m] == profile.Known {
			var ok bool
			if steps[m], ok = g.steps(values[m]); !ok {
				now[m], steps[m] = profile.OutOfRange, 0
			}
		}
		if now[m] != was.why[m] || steps[m] != was.steps[m] {
			changed |= 1 << m
		}
	}
	b = binary.AppendUvarint(b, changed)
	for left := changed; left != 0; left &= left - 1 {
		m := bits.TrailingZeros64(left)
		b = appendFigure(b, now[m], was.why[m], steps[m]-was.steps[m])
		was.steps[m], was.why[m] = steps[m], now[m]
	}
	return b
}

// appendFigure appends the change of one metric: by how many steps, and the reason where that changed
// too. A missing figure counts as 0 steps.
func appendFigure(b []byte, why, was profile.Reason, by int64) []byte {
	zigzag := uint64(by<<1) ^ uint64(by>>63)
	b = binary.AppendUvarint(b, zigzag<<1|uint64(capcli.Bit(why != was)))
	if why != was {
		b = append(b, byte(why))
	}
	return b
}

// optional appends a figure without reference to the previous tick: the reason, then the steps
// where it is known.
func optional(b []byte, g grid, v float64, why profile.Reason) []byte {
	n, ok := g.steps(v)
	if why == profile.Known && (!ok || n < 0) {
		why = profile.OutOfRange
	}
	b = append(b, byte(why))
	if why == profile.Known {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

func (e *encoder) process(b []byte, p *profile.Process) []byte {
	i, _ := e.place(p.Device)
	id := ident{i, p.PID, p.User, p.Command, p.Container, p.Pod, p.Namespace, p.Job, p.Kind, p.Start}
	n, known := e.idents[id]
	if !known {
		n = uint64(len(e.idents))
		e.idents[id] = n
	}
	b = binary.AppendUvarint(b, n)
	if !known {
		b = binary.AppendUvarint(b, uint64(i))
		b = binary.AppendVarint(b, p.PID)
		b = binary.AppendVarint(b, int64(p.Start))
		for _, s := range [...]string{p.User, p.Command, p.Container, p.Pod, p.Namespace, p.Job, p.Kind} {
			b = e.text(b, s)
		}
	}
	b = optional(b, grids[profile.MemUsed], p.MemBytes, p.MemWhy)
	return optional(b, pctGrid, p.SMPct, p.SMWhy)
}

func (e *encoder) event(b []byte, v *profile.Event) []byte {
	b = binary.AppendVarint(b, int64(v.At-e.at))
	b = e.text(b, string(v.Kind))
	b = e.text(b, v.Device)
	b = binary.AppendVarint(b, v.Value)
	return e.text(b, v.Text)
}

// text appends the number of a text and, at its first occurrence, the text.
func (e *encoder) text(b []byte, s string) []byte {
	n, known := e.texts[s]
	if !known {
		n = uint64(len(e.texts))
		e.texts[strings.Clone(s)] = n
	}
	b = binary.AppendUvarint(b, n)
	if !known {
		s = cleanText(s)
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

// cleanText returns s as valid UTF-8 of at most maxText bytes.
func cleanText(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.ToValidUTF8(s, "")
}

// clean returns d with cleanText applied to its texts.
func clean(d *profile.Device) profile.Device {
	c := *d
	for _, s := range [...]*string{&c.UUID, &c.Model, &c.Bus, &c.Driver, &c.Parent, &c.Profile} {
		*s = cleanText(*s)
	}
	return c
}
