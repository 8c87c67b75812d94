package rhythm

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// Tally counts what the windows of a job showed. Tallies add up exactly, in any order.
type Tally struct {
	Judged int64 // windows with samples enough, and work that changed
	bins   []bin // in order
}

// bin counts the windows whose periods are alike.
type bin struct {
	at      uint16
	n, sure int32
	micros  int64 // sum of the periods
}

// Bins of periods: each is 2 % wide, from 10 ms on.
const (
	binBase  = 0.01
	binRatio = 1.02
	mostBins = 700 // to 10,000 s
)

// near is the number of bins to each side whose periods count as the same: 5 %.
const near = 2

// Rules that decide whether windows agree on a step.
const (
	leastWindows = 3
	leastFound   = 0.25 // share of the windows judged that show the period
	leastAgree   = 0.5  // share of those that show a period, which show this one
)

// Add counts a window.
func (t *Tally) Add(f Found) {
	if !f.Judged {
		return
	}
	t.Judged++
	if f.Period <= 0 {
		return
	}
	at := min(max(int(math.Log(f.Period/binBase)/math.Log(binRatio)), 0), mostBins-1)
	b := bin{at: uint16(at), n: 1, micros: int64(math.Round(f.Period * 1e6))}
	if f.Sure {
		b.sure = 1
	}
	t.add(b)
}

func (t *Tally) add(b bin) {
	i, found := slices.BinarySearchFunc(t.bins, b.at, func(x bin, at uint16) int { return int(x.at) - int(at) })
	if !found {
		t.bins = slices.Insert(t.bins, i, b)
		return
	}
	x := &t.bins[i]
	x.n, x.sure, x.micros = x.n+b.n, x.sure+b.sure, x.micros+b.micros
}

// Merge adds the windows of o.
func (t *Tally) Merge(o *Tally) {
	t.Judged += o.Judged
	for _, b := range o.bins {
		t.add(b)
	}
}

// Step is the length of a job's steps by its windows.
type Step struct {
	Seconds   float64 // 0 where it cannot be told
	Low, High float64 // shortest and longest that windows which agree showed, to 1 %
	Judged    int64   // windows
	Shown     int64   // windows that show some period
	Agree     int64   // windows that show this one, to 5 %
	Sure      bool    // most of them are no images of a step shorter than two samples
}

// Step returns the period on which most windows agree.
func (t *Tally) Step() Step {
	out := Step{Judged: t.Judged}
	best, from, to := int64(0), 0, 0
	for i, b := range t.bins {
		out.Shown += int64(b.n)
		sum, end := int64(0), i
		for ; end < len(t.bins) && t.bins[end].at <= b.at+2*near; end++ {
			sum += int64(t.bins[end].n)
		}
		if sum > best {
			best, from, to = sum, i, end
		}
	}
	out.Agree = best
	if best < leastWindows || float64(best) < leastFound*float64(t.Judged) || float64(best) < leastAgree*float64(out.Shown) {
		return out
	}
	micros, sure := int64(0), int64(0)
	for _, b := range t.bins[from:to] {
		micros, sure = micros+b.micros, sure+int64(b.sure)
	}
	out.Seconds = float64(micros) / float64(best) / 1e6
	out.Low = math.Min(out.Seconds, binBase*math.Pow(binRatio, float64(t.bins[from].at)))
	out.High = math.Max(out.Seconds, binBase*math.Pow(binRatio, float64(t.bins[to-1].at)+1))
	if from == to-1 { // one bin: its mean is as near as its edges
		one := t.bins[from].micros / int64(t.bins[from].n)
		out.Low, out.High = float64(one)/1e6, float64(one)/1e6
	}
	out.Sure = 2*sure > best
	return out
}

// Append appends t in binary, for storage.
func (t *Tally) Append(to []byte) []byte {
	to = binary.AppendUvarint(to, uint64(t.Judged))
	last := uint64(0)
	for _, b := range t.bins {
		to = binary.AppendUvarint(to, uint64(b.at)-last)
		to = binary.AppendUvarint(to, uint64(b.n))
		to = binary.AppendUvarint(to, uint64(b.sure))
		to = binary.AppendUvarint(to, uint64(b.micros))
		last = uint64(b.at)
	}
	return to
}

// errTally is the error of bytes that Append did not write.
var errTally = errors.New("rhythm: damaged tally")

// ParseTally reads what Append wrote.
func ParseTally(from []byte) (Tally, error) {
	var t Tally
	bad := false
	next := func(most uint64) uint64 {
		v, n := binary.Uvarint(from)
		if n <= 0 || v > most {
			bad = true
			return 0
		}
		from = from[n:]
		return v
	}
	t.Judged = int64(next(math.MaxInt64))
	at := uint64(0)
	for i := 0; len(from) > 0 && !bad; i++ {
		step := next(mostBins)
		at += step
		b := bin{at: uint16(at), n: int32(next(math.MaxInt32)), sure: int32(next(math.MaxInt32)), micros: int64(next(math.MaxInt64))}
		if i > 0 && step == 0 || at >= mostBins || b.n < 1 || b.sure > b.n || int64(b.n) > t.Judged {
			bad = true
		}
		t.bins = append(t.bins, b)
	}
	if bad {
		return Tally{}, errTally
	}
	return t, nil
}
