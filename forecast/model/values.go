package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// IsFinite reports whether v is neither missing nor infinite.
func IsFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// NaNs returns n missing values.
func NaNs(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

// Mean returns the mean of v without overflow of the sum; 0 for no values.
func Mean(v []float64) float64 {
	m := 0.0
	for i, x := range v {
		m += (x - m) / float64(i+1)
	}
	return m
}

// RMS returns the root mean square of v without overflow of the squares; 0 for no values.
func RMS(v []float64) float64 {
	top := Largest(v)
	if top == 0 || len(v) == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range v {
		sum += (x / top) * (x / top)
	}
	return top * math.Sqrt(sum/float64(len(v)))
}

// CheckPresent returns an error where a value is missing (ErrMissing) or infinite (ErrUnfit).
func CheckPresent(y []float64) error {
	for i, v := range y {
		if math.IsNaN(v) {
			return fmt.Errorf("value %d: %w", i+1, ErrMissing)
		}
		if math.IsInf(v, 0) {
			return fmt.Errorf("value %d is infinite: %w", i+1, ErrUnfit)
		}
	}
	return nil
}

// Largest returns the largest absolute value of y; 0 for no values.
func Largest(y []float64) float64 {
	top := 0.0
	for _, v := range y {
		top = math.Max(top, math.Abs(v))
	}
	return top
}

// Scaled returns a copy of y with each value multiplied by by.
func Scaled(y []float64, by float64) []float64 {
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = v * by
	}
	return out
}

// Dot returns the sum of the products of a and the first len(a) values of b.
func Dot(a, b []float64) float64 {
	b = b[:len(a)]
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// Observed returns the values that are not missing.
func Observed(y []float64) []float64 {
	out := make([]float64, 0, len(y))
	for _, v := range y {
		if v == v {
			out = append(out, v)
		}
	}
	return out
}

// IsCondition reports whether err only says that a matrix is poorly conditioned, in which case
// there is a result nevertheless.
func IsCondition(err error) bool {
	var c mat.Condition
	return errors.As(err, &c) && !math.IsInf(float64(c), 1)
}

// SpanGaps returns y with straight lines through missing values, and the nearest known value
// before the first and after the last known one. It returns a copy of y where none is known.
func SpanGaps(y []float64) []float64 {
	out := slices.Clone(y)
	last := -1
	for t, v := range y {
		if v != v {
			continue
		}
		for i := last + 1; i < t; i++ {
			out[i] = v
			if last >= 0 {
				out[i] = y[last] + (v-y[last])*float64(i-last)/float64(t-last)
			}
		}
		last = t
	}
	for i := last + 1; last >= 0 && i < len(y); i++ {
		out[i] = y[last]
	}
	return out
}

// IsFlat reports whether the values differ by no more than rounding.
func IsFlat(y []float64) bool {
	if len(y) == 0 {
		return true
	}
	lo, hi := y[0], y[0]
	for _, v := range y {
		lo, hi = math.Min(lo, v), math.Max(hi, v)
	}
	return hi-lo <= 1e-14*math.Max(math.Abs(lo), math.Abs(hi))
}

// Quantile returns the quantile p of sorted values by R's type 7: linear interpolation between
// order statistics.
func Quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-1)
	j := min(i+1, len(sorted)-1)
	return sorted[i] + (at-float64(i))*(sorted[j]-sorted[i])
}

// ConformalQuantile sorts errs and returns the smallest of them that is at least the next error
// with probability p: the one of rank p (n+1) (Vovk, Gammerman & Shafer 2005).
func ConformalQuantile(errs []float64, p float64) float64 {
	slices.Sort(errs)
	rank := int(math.Ceil(p * float64(len(errs)+1)))
	return errs[max(0, min(len(errs), rank)-1)]
}

// Median returns the median of v. It does not change v.
func Median(v []float64) float64 {
	sorted := slices.Clone(v)
	slices.Sort(sorted)
	return Quantile(sorted, 0.5)
}
