package judge

import (
	"cmp"
	"math"
	"slices"
)

// Mean sums a datum over time: thousandths of a second times parts of a unit. Sums are whole numbers,
// so that they are the same in any order.
type Mean struct{ Millis, Sum int64 }

// parts is the resolution of the sums of a datum: eighths, but whole MiB/s, whose sums over a fleet and
// a month would not fit.
func (d Datum) parts() float64 {
	switch d {
	case DatumPCIeTx, DatumPCIeRx, DatumNVLink, DatumNet, DatumClock:
		return 1
	}
	return 8
}

// Spell is the time of one sign.
type Spell struct {
	Sign   Sign
	Time   int64 // microseconds
	Lost   int64 // of Time
	Points int64 // sum of the confidence of each finding times its microseconds
	Data   [NumData]Mean
}

// Spells are the times of signs, at most one of each, in order of the signs.
type Spells []Spell

// Add counts a finding for some microseconds.
func (s *Spells) Add(f *Finding, micros int64) {
	p := s.find(f.Sign)
	p.Time += micros
	p.Lost += int64(math.Round(f.Lost * float64(micros)))
	p.Points += int64(f.Confidence) * micros
	for d := range NumData {
		if f.Evidence.Known[d] {
			ms := micros / 1000
			p.Data[d].Millis += ms
			p.Data[d].Sum += int64(math.Round(f.Evidence.Values[d]*d.parts())) * ms
		}
	}
}

func (s *Spells) find(sign Sign) *Spell {
	i, ok := slices.BinarySearchFunc(*s, sign, func(p Spell, sign Sign) int { return cmp.Compare(p.Sign, sign) })
	if !ok {
		*s = slices.Insert(*s, i, Spell{Sign: sign})
	}
	return &(*s)[i]
}

// Merge adds the times of o.
func (s *Spells) Merge(o Spells) {
	for i := range o {
		p := s.find(o[i].Sign)
		p.Time, p.Lost, p.Points = p.Time+o[i].Time, p.Lost+o[i].Lost, p.Points+o[i].Points
		mergeData(&p.Data, &o[i].Data)
	}
}

func mergeData(to, from *[NumData]Mean) {
	for d := range to {
		to[d].Millis += from[d].Millis
		to[d].Sum += from[d].Sum
	}
}

// Time returns the time of a sign in microseconds.
func (s Spells) Time(sign Sign) int64 {
	for i := range s {
		if s[i].Sign == sign {
			return s[i].Time
		}
	}
	return 0
}

// Total returns the time of all signs in microseconds.
func (s Spells) Total() (micros int64) {
	for i := range s {
		micros += s[i].Time
	}
	return micros
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
