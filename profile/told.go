package profile

import (
	"math"
	"slices"
)

// Told is what a program told of itself under one name. Sums are whole numbers: they are the same in any order.
type Told struct {
	Micros int64     // time for which its figures stand
	Sum    Sum       // of figure x microseconds, in millionths
	Bins   []ToldBin // in order
}

// ToldBin is the time in which figures were alike, to 1.1 %.
type ToldBin struct {
	At     int32 // 64 times the binary logarithm, rounded down
	Micros int64
}

// Limits of what is told.
const (
	mostTold     = 1e13        // of a figure
	toldUnits    = 1e6         // in 1
	toldStands   = 600_000_000 // microseconds since the figure before for which one stands at most
	toldPerTwice = 64          // bins
	mostTellers  = 4096        // figures of a box at once
)

// Add counts a figure that stands for some microseconds.
func (t *Told) Add(v float64, micros int64) {
	if !(v >= 0) || micros <= 0 {
		return
	}
	v = min(v, mostTold)
	t.Micros += micros
	t.Sum.AddProduct(uint64(v*toldUnits+0.5), uint64(micros))
	at := int32(math.MinInt32)
	if v > 0 {
		at = int32(math.Floor(math.Log2(v) * toldPerTwice))
	}
	t.add(ToldBin{at, micros})
}

func (t *Told) add(b ToldBin) {
	i, found := slices.BinarySearchFunc(t.Bins, b.At, func(x ToldBin, at int32) int { return int(min(max(int64(x.At)-int64(at), -1), 1)) })
	if found {
		t.Bins[i].Micros += b.Micros
		return
	}
	t.Bins = slices.Insert(t.Bins, i, b)
}

// Merge adds what o tells.
func (t *Told) Merge(o *Told) {
	t.Micros += o.Micros
	t.Sum.Merge(o.Sum)
	for _, b := range o.Bins {
		t.add(b)
	}
}

// Total is the sum of figure x seconds: of tokens a second, the tokens.
func (t *Told) Total() float64 { return t.Sum.Float() / toldUnits / 1e6 }

// Mean is the mean over time; NaN where nothing was told.
func (t *Told) Mean() float64 { return t.Sum.Float() / toldUnits / float64(t.Micros) }

// Quantile is the figure under which the program was for the share q of the time, to 0.6 %; NaN where nothing was
// told.
func (t *Told) Quantile(q float64) float64 {
	left := q * float64(t.Micros)
	for i, b := range t.Bins {
		if left -= float64(b.Micros); left > 0 && i+1 < len(t.Bins) {
			continue
		}
		if b.At == math.MinInt32 {
			return 0
		}
		return math.Exp2((float64(b.At) + 0.5) / toldPerTwice)
	}
	return math.NaN()
}

// ToldSpan is what one teller told under one name within one whole hour of UTC.
type ToldSpan struct {
	Host   string
	Hour   Instant
	Holder Holder // whose it is; Kind is "" where nobody can be named
	Device string // UUID of the device of the rank that told it; "" is not known
	Name   string
	Told   Told
}

// toldKey tells the figures of a box apart.
type toldKey struct {
	jobRef         // of the holder
	device, figure string
}

// toldState is a figure and its span that is under way.
type toldState struct {
	span ToldSpan
	last Instant
}

// tellers are the figures that programs of one box tell.
type tellers struct {
	hour    Instant // of what is under way
	figures map[toldKey]*toldState
	order   []*toldState
	keys    []toldKey
}

func (p *Spanner) countTold(h *spanHost, t *Tick) {
	hour := t.At - positive(t.At, hourMicros)
	if hour != h.tellers.hour {
		p.flushTold(h, t.At)
		h.tellers.hour = hour
	}
	for i := range t.Readings {
		r := &t.Readings[i]
		if !(r.Value >= 0) {
			continue
		}
		x := h.holderOf(r)
		key := toldKey{jobRef: x.ref(), figure: r.Name}
		if r.Device != nil {
			key.device = r.Device.UUID
		}
		s := h.tellers.figures[key]
		if s == nil {
			if len(h.tellers.order) >= mostTellers {
				continue
			}
			if h.tellers.figures == nil {
				h.tellers.figures = map[toldKey]*toldState{}
			}
			s = &toldState{span: ToldSpan{Host: h.name, Holder: x, Device: key.device, Name: r.Name}}
			h.tellers.figures[key] = s
			h.tellers.order, h.tellers.keys = append(h.tellers.order, s), append(h.tellers.keys, key)
		}
		s.span.Hour = hour
		micros := int64(t.At - s.last)
		if s.last == 0 || micros <= 0 || micros > toldStands {
			micros = max(t.Every.Microseconds(), 1)
		}
		s.last = t.At
		s.span.Told.Add(r.Value, micros)
	}
}

// endTold passes on the span of a figure that is under way.
func (p *Spanner) endTold(s *toldState) {
	if s.span.Told.Micros > 0 {
		p.Told(&s.span)
	}
	s.span.Told = Told{Bins: s.span.Told.Bins[:0]}
}

// flushTold passes on all that is under way, and forgets who has been silent for an hour before now.
func (p *Spanner) flushTold(h *spanHost, now Instant) {
	n := 0
	for i, s := range h.tellers.order {
		p.endTold(s)
		if now-s.last > hourMicros {
			delete(h.tellers.figures, h.tellers.keys[i])
			continue
		}
		h.tellers.order[n], h.tellers.keys[n] = s, h.tellers.keys[i]
		n++
	}
	clear(h.tellers.order[n:])
	h.tellers.order, h.tellers.keys = h.tellers.order[:n], h.tellers.keys[:n]
}

// holderOf returns whose a reading is: the job that it names, or that holds its device, or the only one on the box.
func (h *spanHost) holderOf(r *Reading) Holder {
	p := Process{User: r.Owner.User, Container: r.Owner.Container, Pod: r.Owner.Pod, Namespace: r.Owner.Namespace, Job: r.Owner.Job}
	named := HolderOf(&p)
	if named.Kind != "process" {
		return named
	}
	var found Holder
	for _, d := range h.recent {
		for i := range d.held {
			x := &d.held[i]
			if r.Device != nil && d.device.UUID != r.Device.UUID || r.Owner.User != "" && x.Tenant != "" && x.Tenant != r.Owner.User {
				continue
			}
			if found.Kind != "" && found.Compare(x) != 0 {
				return Holder{} // several: nobody can be named
			}
			found = *x
		}
	}
	return found
}
