package judge

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Mean sums a datum over time: thousandths of a second times parts of a unit. Sums are whole numbers,
// so that they are the same in any order.
type Mean struct{ Millis, Sum int64 }

// parts is the resolution of the sums of a datum: eighths, but whole MiB/s and MHz, whose sums over a
// fleet and a month would not fit.
func (d Datum) parts() float64 {
	switch d {
	case DatumPCIeTx, DatumPCIeRx, DatumNVLink, DatumNet, DatumClock:
		return 1
	default:
		return 8
	}
}

// Spell is the time of one sign.
type Spell struct {
	Sign   Sign
	Time   int64 // microseconds
	Lost   int64 // of Time
	Points int64 // sum of the confidence of each finding times its microseconds
	Data   [NumData]Mean
}

// Tally is the times of all signs, or nil. For each sign it has the numbers of a Spell: time, lost,
// points, the time in milliseconds, and for each datum the sum and the milliseconds in which it was not
// measured. Tallies add number by number, in any order.
type Tally []int64

// Places of the numbers of a sign.
const (
	atTime = iota
	atLost
	atPoints
	atMillis
	atData
	tallyWidth = atData + 2*int(NumData)
	// TallySize is the number of numbers of a Tally that is not nil.
	TallySize = tallyWidth * int(NumSigns)
)

// Make returns the numbers of t, all 0 where there was no finding.
func (t *Tally) Make() []int64 {
	if len(*t) < TallySize {
		full := make(Tally, TallySize)
		copy(full, *t)
		*t = full
	}
	return *t
}

func (t Tally) row(s Sign) []int64 {
	at := int(s) * tallyWidth
	if at+tallyWidth > len(t) {
		return nil
	}
	return t[at : at+tallyWidth]
}

// Add counts a finding for some microseconds.
func (t *Tally) Add(f *Finding, micros int64) {
	row := Tally(t.Make()).row(f.Sign)
	ms := micros / 1000
	row[atTime] += micros
	row[atLost] += int64(math.Round(f.Lost * float64(micros)))
	row[atPoints] += int64(f.Confidence) * micros
	row[atMillis] += ms
	for d := range NumData {
		if f.Evidence.Known[d] {
			row[atData+2*d] += int64(math.Round(f.Evidence.Values[d]*d.parts())) * ms
		} else {
			row[atData+2*d+1] += ms
		}
	}
}

// Merge adds the times of o.
func (t *Tally) Merge(o Tally) {
	for s := range NumSigns {
		from := o.row(s)
		if from == nil || from[atTime] == 0 {
			continue
		}
		to := Tally(t.Make()).row(s)
		for i, n := range from {
			to[i] += n
		}
	}
}

// Times returns every number n-fold over d, rounded to the nearest. All numbers are over 0.
func (t Tally) Times(n, d int64) Tally {
	if len(t) == 0 {
		return nil
	}
	out := make(Tally, len(t))
	for i, v := range t {
		if v > 0 {
			hi, lo := bits.Mul64(uint64(v), uint64(n))
			lo, carry := bits.Add64(lo, uint64(d/2), 0)
			q, _ := bits.Div64(hi+carry, lo, uint64(d))
			out[i] = int64(q)
		}
	}
	return out
}

// Time returns the time of a sign in microseconds.
func (t Tally) Time(s Sign) int64 {
	if row := t.row(s); row != nil {
		return row[atTime]
	}
	return 0
}

// Total returns the time of all signs in microseconds.
func (t Tally) Total() (micros int64) {
	for s := range NumSigns {
		micros += t.Time(s)
	}
	return micros
}

// Paused returns the time of pauses between bursts that minutes show, in microseconds.
func (t Tally) Paused() (micros int64) {
	return t.lostTime(SignPaused) + t.lostTime(SignPausedInput)
}

func (t Tally) lostTime(s Sign) int64 {
	if row := t.row(s); row != nil {
		return row[atLost]
	}
	return 0
}

// Spells returns the times of the signs that were found, in order of the signs.
func (t Tally) Spells() (out []Spell) {
	for s := range NumSigns {
		row := t.row(s)
		if row == nil || row[atTime] == 0 {
			continue
		}
		p := Spell{Sign: s, Time: row[atTime], Lost: row[atLost], Points: row[atPoints]}
		for d := range NumData {
			p.Data[d] = Mean{row[atMillis] - row[atData+2*d+1], row[atData+2*d]}
		}
		out = append(out, p)
	}
	return out
}

func mergeData(to, from *[NumData]Mean) {
	for d := range to {
		to[d].Millis += from[d].Millis
		to[d].Sum += from[d].Sum
	}
}

// Found is the time of one kind, with its evidence.
type Found struct {
	Kind   Kind
	Time   int64 // microseconds
	Lost   int64 // of Time, that brought nothing
	Points int64
	Data   [NumData]Mean
}

// Confidence is how sure the finding is, in the mean over its time.
func (f *Found) Confidence() Confidence {
	if f.Time == 0 {
		return Low
	}
	return Confidence(math.Round(float64(f.Points) / float64(f.Time)))
}

// Value returns the mean of a datum, or NaN where it was not measured.
func (f *Found) Value(d Datum) float64 {
	return float64(f.Data[d].Sum) / d.parts() / float64(f.Data[d].Millis)
}

// MergeFound adds the findings of o to those of to and returns them, in order of Descriptions.
func MergeFound(to, o []Found) []Found {
	for i := range o {
		p := findKind(&to, o[i].Kind)
		p.Time, p.Lost, p.Points = p.Time+o[i].Time, p.Lost+o[i].Lost, p.Points+o[i].Points
		mergeData(&p.Data, &o[i].Data)
	}
	return to
}

func findKind(to *[]Found, k Kind) *Found {
	i, ok := slices.BinarySearchFunc(*to, k.rank(), func(f Found, rank int) int { return cmp.Compare(f.Kind.rank(), rank) })
	if !ok {
		*to = slices.Insert(*to, i, Found{Kind: k})
	}
	return &(*to)[i]
}
