package model

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

func IsFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func NaNs(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

// Mean is the mean, without overflow of the sum; 0 of none.
func Mean(v []float64) float64 {
	m := 0.0
	for i, x := range v {
		m += (x - m) / float64(i+1)
	}
	return m
}

// RMS is the root of the mean square, without overflow of the squares; 0 of none.
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

// CheckPresent says whether every value is a finite number.
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

// Largest is the largest absolute value, 0 of none.
func Largest(y []float64) float64 {
	top := 0.0
	for _, v := range y {
		top = math.Max(top, math.Abs(v))
	}
	return top
}

// Scaled is a copy of y times by.
func Scaled(y []float64, by float64) []float64 {
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = v * by
	}
	return out
}

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

// IsCondition reports whether err only says that a matrix is poorly conditioned, so that
// there still is an answer.
func IsCondition(err error) bool {
	var c mat.Condition
	return errors.As(err, &c) && !math.IsInf(float64(c), 1)
}
