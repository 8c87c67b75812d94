package roofline

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"capcli"
	"capcli/simulate/serving"
)

// IterationFit is a time fitted to measured iterations.
type IterationFit struct {
	Time   serving.Time `json:"time"`
	Rows   int          `json:"rows"`
	Error  Accuracy     `json:"held_out_error"` // of each row by a fit without it
	Origin Origin       `json:"origin"`
}

// iterationColumns are the names of the columns of a table of iterations.
var iterationColumns = [4][]string{{"tokens"}, {"sequences", "seqs"}, {"kv"}, {"us", "micros", "latency_us"}}

// ReadIterations reads a table of measured iterations: columns tokens, sequences, kv (tokens attended to by
// sequences that decode), us, and perhaps pa (pairs of tokens attended to by pieces of prompts).
func ReadIterations(file string, r io.Reader) ([]Sample, error) {
	s, err := openSheet(file, r)
	if err != nil {
		return nil, err
	}
	return s.iterations()
}

func (s *sheet) iterations() (out []Sample, err error) {
	var at [4]int
	for i, names := range iterationColumns {
		if at[i], err = s.Column(names...); err != nil {
			return nil, err
		}
	}
	pairs := s.FindColumn("pa")
	for err = s.next(); err == nil; err = s.next() {
		var x Sample
		for i, dst := range []*float64{&x.T, &x.S, &x.KV, &x.Micros} {
			if *dst, err = s.number(at[i]); err != nil {
				return nil, err
			}
		}
		if pairs >= 0 {
			if x.PA, err = s.number(pairs); err != nil {
				return nil, err
			}
		}
		if x.T <= 0 || x.S <= 0 || x.Micros <= 0 {
			return nil, s.fault("", "tokens, sequences and us want numbers above 0")
		}
		if x.S > x.T {
			return nil, s.fault("sequences", "%v sequences with %v tokens: each sequence of an iteration has one token or more", x.S, x.T)
		}
		if out = append(out, x); len(out) > maxMeasured {
			return nil, s.fault("", "more than %d iterations; thin them out", maxMeasured)
		}
	}
	return out, ended(err)
}

// maxMeasured is the largest number of measurements of one's own.
const maxMeasured = 5000

// folds is the number of parts of measurements; each part is judged by a fit to the others.
const folds = 4

// FitIterations fits a time to measured iterations. The error of each is that of a fit to the three quarters
// that it is not in.
func FitIterations(samples []Sample) (*IterationFit, error) {
	if len(samples) < 8 {
		return nil, &capcli.RequestError{Field: "time_table", Text: fmt.Sprintf("wants 8 iterations or more, found %d", len(samples))}
	}
	list := slices.Clone(samples)
	slices.SortFunc(list, func(a, b Sample) int {
		return cmp.Or(cmp.Compare(a.T, b.T), cmp.Compare(a.S, b.S), cmp.Compare(a.KV, b.KV), cmp.Compare(a.PA, b.PA), cmp.Compare(a.Micros, b.Micros))
	})
	errors := make([]float64, 0, len(list))
	for f := range folds {
		var kept, out []Sample
		for i, s := range list {
			if i%folds == f {
				out = append(out, s)
			} else {
				kept = append(kept, s)
			}
		}
		t := fitTime(kept)
		for _, s := range out {
			errors = append(errors, math.Abs(micros(&t, s.T, s.S, s.KV, s.PA)/s.Micros-1))
		}
	}
	fit := &IterationFit{Time: fitTime(list), Rows: len(list), Error: accuracy(errors)}
	fit.Origin = Origin{
		Source: fmt.Sprintf("fitted to %d measured iterations", len(list)), Decode: fit.Error, Prefill: fit.Error,
		Basis: "each measured iteration by a fit to three quarters of the others",
	}
	return fit, nil
}

// accuracy returns the mean and the 90th percentile of relative errors.
func accuracy(errors []float64) Accuracy {
	if len(errors) == 0 {
		return Accuracy{capcli.Figure(math.NaN()), capcli.Figure(math.NaN())}
	}
	sorted := slices.Sorted(slices.Values(errors))
	sum := capcli.Sum(sorted, func(e float64) float64 { return e })
	round := func(v float64) capcli.Figure { return capcli.Figure(math.Round(v*1e4) / 1e4) }
	return Accuracy{round(sum / float64(len(sorted))), round(sorted[(9*len(sorted)+9)/10-1])}
}

// steadyStep returns the mean time of an iteration, in microseconds, of n requests that are always present,
// with in tokens of prompt and out tokens of answer each, and prompts in pieces of at most chunk tokens: the
// time per output token of a server under steady load. Prompts come in lumps, so their cost is the
// time by which each piece lengthens an iteration that decodes, spread over the answer.
func steadyStep(t *serving.Time, n, in, out, chunk int64) float64 {
	kv := float64(n) * (float64(in) + float64(out)/2)
	base := micros(t, float64(n), float64(n), kv, 0)
	add := 0.0
	for k := int64(0); k < in; {
		c := min(max(1, chunk-(n-1)), in-k)
		add += micros(t, float64(n-1+c), float64(n), kv, float64(c*(2*k+c+1)/2)) - base
		k += c
	}
	return base + float64(n)/float64(out)*add
}

// micros is the time of an iteration in microseconds, not rounded.
func micros(t *serving.Time, tokens, sequences, kv, pa float64) float64 {
	most := math.Inf(-1)
	for _, l := range t.Lin {
		most = max(most, float64(l[0])+float64(l[1])*tokens)
	}
	return (float64(t.C0) + most + float64(t.Seq)*sequences + float64(t.KV)*kv + float64(t.PA)*pa) / 1e6
}
