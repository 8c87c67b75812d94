package store

import (
	"math"
	"math/bits"

	"capcli/profile"
)

// ownerWas is an owner of a segment and the last figures of its processes.
type ownerWas struct {
	owner profile.Owner
	last  last
}

// readingWas is what readings of one number are of, and the bits of the last value.
type readingWas struct {
	of   profile.Reading
	bits uint64
}

// surroundings reads what encoder.surroundings wrote.
func (r *replay) surroundings(in *input, t *profile.Tick) {
	n := in.uvarint()
	if t.LookedAtHost = n&1 == 1; t.LookedAtHost {
		r.figures(in, &r.host)
		setKnown(r.hosts, &r.host, t.Host.Values[:], t.Host.Why[:])
	}
	for n >>= 1; n > 0 && in.err == nil; n-- {
		i := r.owner(in)
		if in.err != nil {
			return
		}
		w := &r.owners[i]
		r.figures(in, &w.last)
		g := t.NextGroup(w.owner)
		setKnown(r.groups, &w.last, g.Values[:], g.Why[:])
	}
	for n := in.count(len(in.b)); n > 0 && in.err == nil; n-- {
		r.reading(in, t)
	}
}

// setKnown sets the values and reasons of a row to the figures w. A metric that the segment does not
// have is NotAsked.
func setKnown(n numbering, w *last, values []float64, why []profile.Reason) {
	for m := range values {
		values[m], why[m] = 0, profile.NotAsked
	}
	for k, m := range n.metrics {
		if m < 0 {
			continue
		}
		if why[m] = w.why[k]; why[m] == profile.Known {
			if values[m] = n.grids[k].value(w.steps[k]); values[m] < 0 {
				values[m], why[m] = 0, profile.OutOfRange
			}
		}
	}
}

func (r *replay) owner(in *input) int {
	i := in.count(len(r.owners))
	if in.err == nil && i == len(r.owners) {
		var o profile.Owner
		for _, s := range [...]*string{&o.User, &o.Container, &o.Pod, &o.Namespace, &o.Job} {
			*s = r.text(in)
		}
		r.owners = append(r.owners, ownerWas{o, newLast(len(r.head.GroupMetrics))})
	}
	return i
}

func (r *replay) reading(in *input, t *profile.Tick) {
	i := in.count(len(r.told))
	if in.err == nil && i == len(r.told) {
		of := profile.Reading{}
		if k := r.owner(in); in.err == nil {
			of.Owner = r.owners[k].owner
		}
		if d := in.count(len(r.devices)); d > 0 && in.err == nil {
			of.Device = r.devices[d-1]
		}
		of.Name = r.text(in)
		r.told = append(r.told, readingWas{of: of})
	}
	by := bits.ReverseBytes64(in.uvarint())
	if in.err != nil {
		return
	}
	w := &r.told[i]
	w.bits ^= by
	if w.of.Value = math.Float64frombits(w.bits); isFinite(w.of.Value) {
		t.Readings = append(t.Readings, w.of)
	}
}

// isFinite reports whether v is a number: what is none is no reading.
func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
