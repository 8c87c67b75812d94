package simple

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"capcli"
	"capcli/forecast/model"
)

// byNormalEquations is the ordinary regression of y on a constant or the phases of a season, on time, and with bend on its
// square: the coefficients, their covariance over the variance, and the sum of squared errors.
func byNormalEquations(y []float64, m int, bend bool) (x func(i int) []float64, coef []float64, cov *mat.Dense, sse float64) {
	x = func(i int) []float64 {
		row := make([]float64, m, m+2)
		row[i%m] = 1
		row = append(row, float64(i))
		if bend {
			row = append(row, float64(i*i))
		}
		return row
	}
	k := len(x(0))
	design, right := mat.NewDense(len(y), k, nil), mat.NewVecDense(len(y), slices.Clone(y))
	for i := range y {
		design.SetRow(i, x(i))
	}
	var square, inverse mat.Dense
	square.Mul(design.T(), design)
	if err := inverse.Inverse(&square); err != nil {
		panic(err)
	}
	var cross, beta, errors mat.VecDense
	cross.MulVec(design.T(), right)
	beta.MulVec(&inverse, &cross)
	errors.MulVec(design, &beta)
	errors.SubVec(right, &errors)
	return x, beta.RawVector().Data, &inverse, mat.Dot(&errors, &errors)
}

// TestLineAsNormalEquations: means, widths and the t value of a bend are those of the textbook's normal equations.
func TestLineAsNormalEquations(t *testing.T) {
	rng := capcli.Seed(8).Stream("lines")
	for n := 10; n < 60; n += 7 {
		for _, season := range []float64{0, 5} {
			y := make([]float64, n)
			for i := range y {
				y[i] = 20 + 0.3*float64(i) + season*math.Sin(float64(i)*math.Pi/2) + rng.NormFloat64()
			}
			fit, err := Line{Period: 4}.FitLine(capcli.Series{Values: y})
			if err != nil {
				t.Fatal(err)
			}
			m := 1
			if fit.Seasonal {
				m = 4
			}
			if want := season > 0; fit.Seasonal != want {
				t.Errorf("%d values, season %g: seasonal figures %v, want %v", n, season, fit.Seasonal, want)
			}
			x, coef, cov, sse := byNormalEquations(y, m, false)
			mean, sd := fit.Moments(9)
			for h := range mean {
				row := x(n + h)
				want, v := 0.0, mat.NewVecDense(len(row), row)
				for k, c := range coef {
					want += c * row[k]
				}
				wide := math.Sqrt(sse / float64(n-m-1) * (1 + mat.Inner(v, cov, v)))
				if math.Abs(mean[h]-want) > 1e-8 || math.Abs(sd[h]-wide) > 1e-8 {
					t.Errorf("%d values, step %d: %.6f ± %.6f, want %.6f ± %.6f", n, h+1, mean[h], sd[h], want, wide)
				}
			}
			_, bent, spread, rest := byNormalEquations(y, m, true)
			last := len(bent) - 1
			want := bent[last] / math.Sqrt(spread.At(last, last)*rest/float64(n-m-2))
			if math.Abs(fit.Curve-want) > 1e-4*math.Max(1, math.Abs(want)) {
				t.Errorf("%d values: t value of a bend %.6f, want %.6f", n, fit.Curve, want)
			}
		}
	}
}

// TestLinePaths: futures of a line have its means and widths.
func TestLinePaths(t *testing.T) {
	y := make([]float64, 30)
	rng := capcli.Seed(9).Stream("line")
	for i := range y {
		y[i] = float64(i) + []float64{6, -2, -4}[i%3] + rng.NormFloat64()
	}
	fit, err := Line{Period: 3}.FitLine(capcli.Series{Values: y})
	if err != nil {
		t.Fatal(err)
	}
	mean, sd := fit.Moments(6)
	const draws = 20000
	at := make([][]float64, 6)
	for range draws {
		for i, v := range fit.Path(6, rng) {
			at[i] = append(at[i], v-mean[i])
		}
	}
	for i, off := range at {
		if math.Abs(model.Mean(off)) > 0.04*sd[i] || math.Abs(model.RMS(off)/sd[i]-1) > 0.03 {
			t.Errorf("step %d: mean off by %.4f, spread %.4f; want 0 and %.4f", i+1, model.Mean(off), model.RMS(off), sd[i])
		}
	}
	if _, err := (Line{}).Fit(capcli.Series{Values: y[:3]}); err == nil {
		t.Error("three values: no error")
	}
	if _, err := (Line{}).Fit(capcli.Series{Values: []float64{1, 2, math.NaN(), 4}}); err == nil {
		t.Error("a missing value: no error")
	}
}
