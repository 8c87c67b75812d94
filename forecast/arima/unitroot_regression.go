package arima

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"capcli/forecast/model"
)

// UnitRoot is the test that decides the number of differences.
type UnitRoot int

// The tests. The null hypothesis of KPSS is a stationary series, that of the others a random
// walk.
const (
	KPSS           UnitRoot = iota // Kwiatkowski, Phillips, Schmidt and Shin (1992)
	DickeyFuller                   // augmented by one lag (Said and Dickey 1984)
	PhillipsPerron                 // Phillips and Perron (1988), Z of the t statistic
)

// differ reports whether the test at 5 % calls for a difference of x. With trend the alternative
// to a unit root is stationarity around a trend, otherwise around a level.
func (u UnitRoot) differ(x []float64, trend bool) bool {
	n := float64(len(x) - 1)
	switch u {
	case KPSS:
	case DickeyFuller:
		return dickeyFuller(x, trend, 1) > dickeyFullerCritical(len(x)-1, trend)
	case PhillipsPerron:
		critical := -2.8621 - 2.738/n - 8.36/(n*n) // MacKinnon (1991), table 1
		if trend {
			critical = -3.4126 - 4.039/n - 17.83/(n*n)
		}
		return phillipsPerron(x, trend, int(4*math.Pow(n/100, 0.25))) > critical
	}
	critical := kpssLevel
	if trend {
		critical = kpssTrend
	}
	return kpss(x, trend, kpssLags(len(x))) > critical
}

// ndiffs returns the number of differences, at most two, after which the test calls for no
// other. Missing values are left out.
func (u UnitRoot) ndiffs(y []float64, trend bool) int {
	x := model.Observed(y)
	for d := range 2 {
		if len(x) < 2 || model.IsFlat(x) || !u.differ(x, trend) {
			return d
		}
		x = lagged(x, 1)
	}
	return 2
}

// dickeyFullerCritical returns the 5 % point for n values (Fuller 1976, table 8.5.2).
func dickeyFullerCritical(n int, trend bool) float64 {
	level, line := []float64{-3.00, -2.93, -2.89, -2.88, -2.87, -2.86}, []float64{-3.60, -3.50, -3.45, -3.43, -3.42, -3.41}
	row := 0
	for _, from := range []int{25, 50, 100, 250, 500} {
		if n >= from {
			row++
		}
	}
	if trend {
		return line[row]
	}
	return level[row]
}

// dickeyFuller returns the t statistic of a in
//
//	y(t) - y(t-1) = c [+ b t] + a y(t-1) + sum over j = 1..lags of g(j) (y(t-j) - y(t-j-1)) + e(t)
//
// It returns NaN when the regression has no solution.
func dickeyFuller(y []float64, trend bool, lags int) float64 {
	change := lagged(y, 1)
	rows := len(change) - lags
	var columns [][]float64
	if rows > 0 {
		columns = levelColumns(y[lags:len(y)-1], trend)
		for j := 1; j <= lags; j++ {
			columns = append(columns, change[lags-j:len(change)-j])
		}
	}
	a, sd, _ := regressOrdinary(columns, change[max(0, min(lags, len(change))):])
	return a / sd
}

// levelColumns returns the columns of a unit root regression: the value before, a constant and,
// with trend, a line.
func levelColumns(before []float64, trend bool) [][]float64 {
	columns := [][]float64{before, filled(len(before), func(int) float64 { return 1 })}
	if trend {
		columns = append(columns, filled(len(before), func(i int) float64 { return float64(i+1) - float64(len(before))/2 }))
	}
	return columns
}

// regressOrdinary regresses y on the columns by least squares. It returns the first coefficient,
// its standard error and the residuals. It returns NaN and nil where there are too few values or
// no solution.
func regressOrdinary(columns [][]float64, y []float64) (first, sd float64, rest []float64) {
	n, k := len(y), len(columns)
	if k == 0 || n <= k {
		return math.NaN(), math.NaN(), nil
	}
	x := mat.NewDense(n, k, nil)
	for j, c := range columns {
		x.SetCol(j, c)
	}
	var qr mat.QR
	qr.Factorize(x)
	var b mat.VecDense
	if err := qr.SolveVecTo(&b, false, mat.NewVecDense(n, y)); err != nil && !model.IsCondition(err) {
		return math.NaN(), math.NaN(), nil
	}
	// The variance of the first coefficient is the first element of the inverse of R'R: solve
	// R'u = (1, 0, ...).
	var r mat.Dense
	qr.RTo(&r)
	u, length := make([]float64, k), 0.0
	for i := range k {
		v := 0.0
		if i == 0 {
			v = 1
		}
		for j := range i {
			v -= r.At(j, i) * u[j]
		}
		u[i] = v / r.At(i, i)
		length += u[i] * u[i]
	}
	rest = make([]float64, n)
	for t := range rest {
		rest[t] = y[t]
		for j, c := range columns {
			rest[t] -= b.AtVec(j) * c[t]
		}
	}
	return b.AtVec(0), math.Sqrt(length * squares(rest) / float64(n-k)), rest
}

// phillipsPerron returns Z of the t statistic of a = 1 in y(t) = c [+ b t] + a y(t-1) + e(t),
// with the long-run variance of e by Bartlett weights up to lags (Phillips and Perron 1988,
// Biometrika 75; with trend their M replaces the variance of y). It returns NaN for fewer than
// four values or a regression without solution.
func phillipsPerron(y []float64, trend bool, lags int) float64 {
	if len(y) < 4 {
		return math.NaN()
	}
	now := y[1:]
	n := float64(len(now))
	a, sd, e := regressOrdinary(levelColumns(y[:len(y)-1], trend), now)
	if e == nil {
		return math.NaN()
	}
	short := squares(e) / n
	long := short
	for l := 1; l <= lags && l < len(e); l++ {
		long += 2 / n * (1 - float64(l)/float64(lags+1)) * model.Dot(e[l:], e[:len(e)-l])
	}
	spread := squares(residualsOfLine(now, trend)) / (n * n)
	if trend {
		mean, line := 0.0, 0.0
		for t, v := range now {
			mean += v
			line += float64(t+1) * v
		}
		mean, line = mean*math.Pow(n, -1.5), line*math.Pow(n, -2.5)
		spread = (1-1/(n*n))*squares(now)/(n*n) - 12*line*line + 12*(1+1/n)*line*mean - (4+6/n+2/(n*n))*mean*mean
	}
	return math.Sqrt(short/long)*(a-1)/sd - 0.5*(long-short)/math.Sqrt(long*spread)
}
