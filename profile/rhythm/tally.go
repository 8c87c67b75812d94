package rhythm

import (
	"encoding/binary"
	"math"
	"slices"
)

// Tally counts what the windows of a job showed. Tallies add up exactly, in any order.
type Tally struct {
	Judged int64 // windows with samples enough, and work that changed
	Bins   []Bin // in order
}

// Bin counts the windows whose periods are alike.
type Bin struct {
	At     int32
	N      int32
	Sure   int32 // of N
	Micros int64 // sum of the periods
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
	b := Bin{At: int32(at), N: 1, Micros: int64(math.Round(f.Period * 1e6))}
	if f.Sure {
		b.Sure = 1
	}
	t.add(b)
}

func (t *Tally) add(b Bin) {
	i, found := slices.BinarySearchFunc(t.Bins, b.At, func(x Bin, at int32) int { return int(x.At) - int(at) })
	if !found {
		t.Bins = slices.Insert(t.Bins, i, b)
		return
	}
	x := &t.Bins[i]
	x.N, x.Sure, x.Micros = x.N+b.N, x.Sure+b.Sure, x.Micros+b.Micros
}

// Reset forgets all windows and keeps the memory.
func (t *Tally) Reset() { t.Judged, t.Bins = 0, t.Bins[:0] }

// Merge adds the windows of o.
func (t *Tally) Merge(o *Tally) {
	t.Judged += o.Judged
	for _, b := range o.Bins {
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
	for i, b := range t.Bins {
		out.Shown += int64(b.N)
		sum, end := int64(0), i
		for ; end < len(t.Bins) && t.Bins[end].At <= b.At+2*near; end++ {
			sum += int64(t.Bins[end].N)
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
	for _, b := range t.Bins[from:to] {
		micros, sure = micros+b.Micros, sure+int64(b.Sure)
	}
	out.Seconds = float64(micros) / float64(best) / 1e6
	out.Low = math.Min(out.Seconds, binBase*math.Pow(binRatio, float64(t.Bins[from].At)))
	out.High = math.Max(out.Seconds, binBase*math.Pow(binRatio, float64(t.Bins[to-1].At)+1))
	if from == to-1 { // one bin: its mean is as near as its edges
		one := t.Bins[from].Micros / int64(t.Bins[from].N)
		out.Low, out.High = float64(one)/1e6, float64(one)/1e6
	}
	out.Sure = 2*sure > best
	return out
}

// Append appends t in binary, for storage.
func (t *Tally) Append(to []byte) []byte {
	to = binary.AppendUvarint(to, uint64(t.Judged))
	last := uint64(0)
	for _, b := range t.Bins {
		to = binary.AppendUvarint(to, uint64(b.At)-last)
		to = binary.AppendUvarint(to, uint64(b.N))
		to = binary.AppendUvarint(to, uint64(b.Sure))
		to = binary.AppendUvarint(to, uint64(b.Micros))
		last = uint64(b.At)
	}
	return to
}
