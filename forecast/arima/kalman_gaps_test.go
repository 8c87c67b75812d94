package arima

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"capcli"
)

// levelsOf are the values that start values of zero and differenced values make.
func levelsOf(f arimaForm, start, w []float64) []float64 {
	delta := f.differences()
	y := append([]float64(nil), start...)
	for t, v := range w {
		for j, d := range delta {
			v += d * y[t+len(delta)-1-j]
		}
		y = append(y, v)
	}
	return y
}

// TestGapFilterIsTheGaussianLikelihood holds the filter, with differences and
// missing values, to the covariance matrix of the values written out.
func TestGapFilterIsTheGaussianLikelihood(t *testing.T) {
	for name, c := range map[string]struct {
		form arimaForm
		par  []float64
		gaps []int
	}{
		"walk":              {arimaForm{d: 1, m: 1}, nil, []int{1, 20, 21, 39}},
		"two differences":   {arimaForm{p: 1, d: 2, q: 1, m: 1}, []float64{0.5, 0.4}, []int{2, 11, 12, 30}},
		"season":            {arimaForm{p: 1, d: 1, q: 1, bigP: 1, bigD: 1, bigQ: 1, m: 4}, []float64{0.4, -0.3, 0.5, -0.6}, []int{2, 3, 15, 28, 29, 30, 31, 32}},
		"a phase never had": {arimaForm{q: 1, bigD: 1, m: 4}, []float64{0.6}, []int{1, 5, 9, 13, 17, 21, 25, 29, 33, 37}},
		"no gap":            {arimaForm{p: 2, bigD: 1, m: 3}, []float64{0.4, 0.2}, nil},
	} {
		ar, ma := c.form.lags()
		phi, theta := make([]float64, ar), make([]float64, ma)
		c.form.expand(c.par, phi, theta)
		const n = 40
		lost := c.form.lostValues()
		y := levelsOf(c.form, simulatedARMA(lost, nil, nil, 3), simulatedARMA(n-lost, phi, theta, 5))
		for _, i := range c.gaps {
			y[i] = math.NaN()
		}
		var k kalman
		var g gapFilter
		if !k.start(phi, theta, c.form.states(), n, 1) {
			t.Fatal(name)
		}
		out := [][]float64{make([]float64, n)}
		g.start(c.form, phi, theta, k.covariance(), 1)
		logs, used := g.run([][]float64{y}, out, nil)
		ssq := 0.0
		for _, v := range out[0] {
			if v == v {
				ssq += v * v
			}
		}
		wantLogs, wantSquares, wantUsed := writtenOut(t, c.form, y, k.covs.gamma, phi)
		if used != wantUsed || math.Abs(logs-wantLogs) > 1e-3 || math.Abs(ssq-wantSquares) > 1e-3 {
			t.Errorf("%s: %d values, logs %.8g, squares %.8g; want %d, %.8g, %.8g", name, used, logs, ssq, wantUsed, wantLogs, wantSquares)
		}
	}
}

// writtenOut is the likelihood from the covariance matrix of the values, the
// first of which have the variance unknown.
func writtenOut(t *testing.T, f arimaForm, y, gamma, phi []float64) (logs, ssq float64, used int) {
	t.Helper()
	n, lost := len(y), f.lostValues()
	for k := len(gamma); k < n; k++ {
		v := 0.0
		for j, p := range phi {
			v += p * gamma[k-1-j]
		}
		gamma = append(gamma, v)
	}
	by := mat.NewDense(n, n, nil) // of start and differenced values in each value
	base := mat.NewSymDense(n, nil)
	for j := range n {
		unit := make([]float64, n)
		unit[j] = 1
		by.SetCol(j, levelsOf(f, unit[:lost], unit[lost:]))
		for i := lost; i <= j; i++ {
			base.SetSym(i, j, gamma[j-i])
		}
		if j < lost {
			base.SetSym(j, j, unknown)
		}
	}
	var half, full mat.Dense
	half.Mul(by, base)
	full.Mul(&half, by.T())
	var at []int
	for i, v := range y {
		if v == v {
			at = append(at, i)
		}
	}
	cov := mat.NewSymDense(len(at), nil)
	for a, i := range at {
		for b, j := range at[:a+1] {
			cov.SetSym(b, a, full.At(i, j))
		}
	}
	var c mat.Cholesky
	if !c.Factorize(cov) {
		t.Fatal("the covariance is not positive")
	}
	var l mat.TriDense
	c.LTo(&l)
	innovations := make([]float64, len(at))
	for a, i := range at {
		v := y[i]
		for b := range a {
			v -= l.At(a, b) * innovations[b]
		}
		innovations[a] = v / l.At(a, a)
		if variance := l.At(a, a) * l.At(a, a); variance < 1e4 {
			logs += math.Log(variance)
			ssq += innovations[a] * innovations[a]
			used++
		}
	}
	return logs, ssq, used
}

// TestARIMAOfExactSeries: what goes on without error is forecast without error,
// and lies in its interval.
func TestARIMAOfExactSeries(t *testing.T) {
	gap := func(f func(i int) float64) func(i int) float64 {
		return func(i int) float64 {
			if i%9 == 2 && i < 120 {
				return math.NaN()
			}
			return f(i)
		}
	}
	seven, line := func(int) float64 { return 7 }, func(i int) float64 { return 100 - 3*float64(i) }
	saw := func(i int) float64 { return float64(i%12 + i/12) }
	tenths := func(i int) float64 { return float64(i) * 0.1 }
	for name, f := range map[string]func(i int) float64{
		"constant": seven, "line": line, "saw": saw, "constant with gaps": gap(seven), "line with gaps": gap(line), "tenths": tenths,
	} {
		fit, err := AutoARIMA{Period: 12}.FitARIMA(capcli.Series{Values: filled(120, f)})
		if err != nil {
			t.Fatal(name, err)
		}
		ahead, err := fit.Forecast(30, 95)
		if err != nil {
			t.Fatal(name, err)
		}
		for k, v := range ahead.Mean {
			want := f(120 + k)
			lo, hi := ahead.Intervals[0].Lo[k], ahead.Intervals[0].Hi[k]
			if name != "tenths" && v != want || lo > want || hi < want || hi-lo > 1e-12 {
				t.Errorf("%s: step %d is %v in [%v, %v], want %v", name, k+1, v, lo, hi, want)
			}
		}
	}
}
