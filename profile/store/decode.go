package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/bits"
	"slices"

	"capcli"
	"capcli/profile"
)

// errFrame is the error of a frame whose checksum is right but whose payload is not of this
// format: another program wrote it.
var errFrame = errors.New("a frame that is not of this format")

// replay reads the ticks of a segment in order.
type replay struct {
	b    []byte
	at   int // offset in b behind the last sound frame
	head header

	devices []*profile.Device
	metrics numbering
	hosts   numbering
	groups  numbering
	reasons []profile.Reason
	last    []last
	texts   []string
	idents  []profile.Process
	host    last
	owners  []ownerWas
	told    []readingWas
	when    profile.Instant
	elapsed int64
	every   int64
	ticks   int
}

// numbering holds the metric and the grid of each metric number of the file.
type numbering struct {
	metrics []int // -1 where the metric is not known
	grids   []grid
}

// numberingOf returns the numbering of a header, where known are the names of the metrics that this
// version has. ok is false where the header is not sound.
func numberingOf(names []string, steps []float64, known []string) (n numbering, ok bool) {
	if len(names) > 64 || len(steps) != len(names) {
		return n, false
	}
	for i, name := range names {
		if !(steps[i] > 0) {
			return n, false
		}
		n.metrics = append(n.metrics, slices.Index(known, name))
		n.grids = append(n.grids, gridOf(steps[i]))
	}
	return n, true
}

// newReplay reads the header of a segment. ok is false where the header is not sound: then no
// tick of the segment was ever acknowledged.
func newReplay(b []byte) (r *replay, ok bool) {
	if len(b) < len(magic) || string(b[:len(magic)]) != magic {
		return nil, false
	}
	payload, end, ok := frameAt(b, len(magic))
	if !ok || payload[0] != headerFrame {
		return nil, false
	}
	r = &replay{b: b, at: end}
	if err := json.Unmarshal(payload[1:], &r.head); err != nil {
		return nil, false
	}
	h := &r.head
	if h.Schema != schema || len(h.Devices) > maxDevices {
		return nil, false
	}
	var sound [3]bool
	r.metrics, sound[0] = numberingOf(h.Metrics, h.Steps, metricNames)
	r.hosts, sound[1] = numberingOf(h.HostMetrics, h.HostSteps, hostNames)
	r.groups, sound[2] = numberingOf(h.GroupMetrics, h.GroupSteps, groupNames)
	if sound != [3]bool{true, true, true} {
		return nil, false
	}
	r.when, r.host = h.First, newLast(len(h.HostMetrics))
	r.meet(h.Devices)
	for _, words := range h.Reasons {
		r.reasons = append(r.reasons, profile.ReasonNamed(words))
	}
	return r, true
}

func (r *replay) meet(devices []profile.Device) {
	for i := range devices {
		r.devices = append(r.devices, &devices[i])
		r.last = append(r.last, newLast(len(r.head.Metrics)))
	}
}

// nextTick reads the next tick into t. It returns false at the first frame that is not sound.
func (r *replay) nextTick(t *profile.Tick) bool {
	payload, end, ok := frameAt(r.b, r.at)
	if ok && payload[0] == deviceFrame && len(r.devices) == 0 {
		var devices []profile.Device
		if err := json.Unmarshal(payload[1:], &devices); err != nil || len(devices) > maxDevices {
			return false
		}
		r.meet(devices)
		payload, end, ok = frameAt(r.b, end)
	}
	if !ok || payload[0] != tickFrame {
		return false
	}
	t.Reset()
	in := input{b: payload[1:]}
	r.tick(&in, t)
	if in.err != nil || len(in.b) > 0 {
		return false
	}
	r.at = end
	r.ticks++
	return true
}

// rest returns the number of bytes behind the last sound frame, and whether they are more than
// the torn end of a write.
func (r *replay) rest() (bytes int, damaged bool) {
	bytes = len(r.b) - r.at
	return bytes, bytes > 0 && hasSoundFrame(r.b, r.at)
}

// input reads values from a payload. After the first error it reads zeros only.
type input struct {
	b   []byte
	err error
}

func (in *input) fail() { in.b, in.err = nil, errFrame }

func (in *input) uvarint() uint64 {
	u, n := binary.Uvarint(in.b)
	if n <= 0 {
		in.fail()
		return 0
	}
	in.b = in.b[n:]
	return u
}

func (in *input) varint() int64 {
	u := in.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// count reads a uvarint of at most most; a larger one is an error.
func (in *input) count(most int) int {
	u := in.uvarint()
	if u > uint64(most) {
		in.fail()
		return 0
	}
	return int(u)
}

func (in *input) byte() byte {
	if len(in.b) == 0 {
		in.fail()
		return 0
	}
	c := in.b[0]
	in.b = in.b[1:]
	return c
}

func (in *input) bytes(n int) []byte {
	if n > len(in.b) {
		in.fail()
		return nil
	}
	s := in.b[:n]
	in.b = in.b[n:]
	return s
}

func (r *replay) tick(in *input, t *profile.Tick) {
	r.when += profile.Instant(in.varint())
	r.elapsed += in.varint()
	r.every += in.varint()
	t.At, t.Elapsed, t.Every, t.Took = r.when, ofMicros(r.elapsed), ofMicros(r.every), ofMicros(in.varint())
	if !isSaneInstant(r.when) {
		in.fail()
	}
	for n := in.count(maxDevices); n > 0 && in.err == nil; n-- {
		r.sample(in, t)
	}
	n := in.uvarint()
	t.LookedAtProcesses = n&1 == 1
	for n >>= 1; n > 0 && in.err == nil; n-- {
		r.process(in, t)
	}
	for n := in.count(len(in.b)); n > 0 && in.err == nil; n-- {
		t.Events = append(t.Events, profile.Event{
			At: r.when + profile.Instant(in.varint()), Kind: profile.EventKind(r.text(in)), Device: r.text(in),
			Value: in.varint(), Text: r.text(in),
		})
	}
	if in.err == nil && len(in.b) > 0 { // a tick of an earlier version, and one without them, ends here
		r.surroundings(in, t)
	}
}

func (r *replay) device(in *input) (int, *profile.Device) {
	i := in.count(len(r.devices))
	if in.err != nil || i == len(r.devices) {
		in.fail()
		return 0, nil
	}
	return i, r.devices[i]
}

func (r *replay) reason(in *input) profile.Reason {
	i := int(in.byte())
	if i >= len(r.reasons) {
		in.fail()
		return profile.Failed
	}
	return r.reasons[i]
}

func (r *replay) sample(in *input, t *profile.Tick) {
	i, d := r.device(in)
	if d == nil {
		return
	}
	w := &r.last[i]
	r.figures(in, w)
	s := t.NextSample(d)
	for k, m := range r.metrics.metrics {
		switch {
		case m < 0:
		case w.why[k] == profile.Known:
			s.Set(profile.Metric(m), r.metrics.grids[k].value(w.steps[k]))
		default:
			s.Miss(profile.Metric(m), w.why[k])
		}
	}
}

// figures reads what appendFigures wrote, and changes w accordingly.
func (r *replay) figures(in *input, w *last) {
	changed := in.uvarint()
	if bits.Len64(changed) > len(w.steps) {
		in.fail()
		return
	}
	for ; changed != 0 && in.err == nil; changed &= changed - 1 {
		m := bits.TrailingZeros64(changed)
		u := in.uvarint()
		w.steps[m] += int64(u>>2) ^ -int64(u>>1&1)
		if u&1 == 1 {
			w.why[m] = r.reason(in)
		}
	}
}

func (r *replay) process(in *input, t *profile.Tick) {
	n := in.count(len(r.idents))
	if in.err == nil && n == len(r.idents) {
		_, d := r.device(in)
		p := profile.Process{Device: d, PID: in.varint(), Start: capcli.Time(in.varint())}
		for _, s := range [...]*string{&p.User, &p.Command, &p.Container, &p.Pod, &p.Namespace, &p.Job, &p.Kind} {
			*s = r.text(in)
		}
		r.idents = append(r.idents, p)
	}
	if in.err != nil {
		return
	}
	p := r.idents[n]
	p.MemBytes, p.MemWhy = r.optional(in, grids[profile.MemUsed])
	p.SMPct, p.SMWhy = r.optional(in, pctGrid)
	if in.err == nil {
		t.Processes = append(t.Processes, p)
	}
}

func (r *replay) optional(in *input, g grid) (float64, profile.Reason) {
	why := r.reason(in)
	if why != profile.Known {
		return 0, why
	}
	n := in.uvarint()
	if n > mostSteps {
		in.fail()
	}
	return g.value(int64(n)), profile.Known
}

func (r *replay) text(in *input) string {
	n := in.count(len(r.texts))
	if in.err != nil {
		return ""
	}
	if n == len(r.texts) {
		r.texts = append(r.texts, string(in.bytes(in.count(maxText))))
	}
	return r.texts[n]
}
