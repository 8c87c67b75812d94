package roofline

import (
	"cmp"
	"math"
	"slices"

	"capcli/simulate/serving"
)

// Judge returns the relative errors of a time on the iterations that are composed from every second point
// of attention that Half leaves out: mean and 90th percentile of decoding, then of whole prompts. Points
// of decoding have 127 tokens or more before them and at most 256 sequences; prompts have 128
// tokens or more together, and no more than the products were measured with.
func (l *Layout) Judge(t *Tables, time *serving.Time) [4]float64 {
	tokens := t.Tokens(l.Weights)
	if len(tokens) == 0 {
		return [4]float64{}
	}
	var decode, prefill []Sample
	for i, p := range t.decode[l.attention()] {
		if i%2 == 1 && p.Length >= 127 && p.Batch <= 256 {
			decode = append(decode, l.decoding(t, p.Batch, p.Length))
		}
	}
	for i, p := range t.prefill[l.attention()] {
		if n := p.Batch * p.Length; i%2 == 1 && n >= 128 && n <= tokens[len(tokens)-1] {
			prefill = append(prefill, l.prefilling(t, p.Batch, p.Length))
		}
	}
	var out [4]float64
	out[0], out[1] = relativeError(decode, time)
	out[2], out[3] = relativeError(prefill, time)
	return out
}

// relativeError returns the mean and the 90th percentile of the relative error.
func relativeError(samples []Sample, t *serving.Time) (mean, p90 float64) {
	if len(samples) == 0 {
		return 0, 0
	}
	errors := make([]float64, len(samples))
	for i, s := range samples {
		errors[i] = math.Abs(micros(t, s.T, s.S, s.KV, s.PA)/s.Micros - 1)
		mean += errors[i] * cmp.Or(s.Weight, 1)
	}
	slices.Sort(errors)
	return mean / float64(len(samples)), errors[(9*len(errors)+9)/10-1]
}

// Measure describes the GPU of tables, fits the times of layouts, which must be of attention that was measured, to the
// tables, and judges both by the points that it leaves out.
func Measure(t *Tables, layouts []Layout) *Measured {
	half := t.Half()
	m := &Measured{Operations: Describe(half), Errors: map[string][4]float64{}, Times: map[string]Fitted{}}
	counts := map[string]float64{}
	for i := range layouts {
		l := &layouts[i]
		composed := Compose(l, m.Operations)
		mean := m.Errors[l.Weights]
		for j, e := range l.Judge(t, &composed) {
			mean[j] += e
		}
		m.Errors[l.Weights] = mean
		counts[l.Weights]++
		fitted := Fitted{Time: Compose(l, half)}
		fitted.Errors = l.Judge(t, &fitted.Time)
		m.Times[l.Key()] = fitted
	}
	for w, e := range m.Errors {
		for j := range e {
			e[j] /= counts[w]
		}
		m.Errors[w] = e
	}
	return m
}

// Knows reports whether tables have all operations of l.
func (t *Tables) Knows(l *Layout) bool {
	return t.products[l.Weights] != nil && t.decode[l.attention()] != nil && t.prefill[l.attention()] != nil && (l.GPUs == 1 || t.reduce[l.GPUs] != nil)
}
