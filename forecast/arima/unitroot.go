package arima

import (
	"math"

	"capcli/forecast/decompose"
	"capcli/forecast/model"
)

// kpssLevel and kpssTrend are the 5 % critical values of the test of
// Kwiatkowski, Phillips, Schmidt and Shin (1992), table 1.
const (
	kpssLevel = 0.463
	kpssTrend = 0.146
)

// kpss returns the test statistic for stationarity around a level, or around a trend
// (Kwiatkowski, Phillips, Schmidt and Shin 1992, J. Econometrics 54): the sum of squared partial
// sums of the residuals over n^2 times their long-run variance, with Bartlett weights up to
// lags. It is 0 for residuals that are all zero.
func kpss(y []float64, trend bool, lags int) float64 {
	n := len(y)
	e := residualsOfLine(y, trend)
	partial, sum, top := 0.0, 0.0, 0.0
	for _, v := range e {
		partial += v
		sum += partial * partial
		top += v * v
	}
	long := top
	for l := 1; l <= min(lags, n-1); l++ {
		c := 0.0
		for t := l; t < n; t++ {
			c += e[t] * e[t-l]
		}
		long += 2 * (1 - float64(l)/float64(lags+1)) * c
	}
	if !(long > 0) || top <= 1e-24*float64(n)*math.Pow(finiteTop(y), 2) {
		return 0
	}
	return sum / (float64(n) * long)
}

// residualsOfLine returns y minus its mean or, with trend, minus its least squares line.
func residualsOfLine(y []float64, trend bool) []float64 {
	n := float64(len(y))
	mean, slope, mid := 0.0, 0.0, (n-1)/2
	for _, v := range y {
		mean += v / n
	}
	if trend && n > 1 {
		for t, v := range y {
			slope += (float64(t) - mid) * (v - mean)
		}
		slope /= n * (n*n - 1) / 12
	}
	out := make([]float64, len(y))
	for t, v := range y {
		out[t] = v - mean - slope*(float64(t)-mid)
	}
	return out
}

// kpssLags returns the number of lags in R's ndiffs.
func kpssLags(n int) int { return int(3 * math.Sqrt(float64(n)) / 13) }

// ndiffs returns the number of differences, at most two, after which the KPSS test at 5 % calls for no
// other. Missing values are left out.
func ndiffs(y []float64, trend bool) int {
	critical := kpssLevel
	if trend {
		critical = kpssTrend
	}
	x := model.Observed(y)
	for d := range 2 {
		if len(x) < 2 || model.IsFlat(x) || kpss(x, trend, kpssLags(len(x))) <= critical {
			return d
		}
		x = lagged(x, 1)
	}
	return 2
}

// nsdiffs returns 1 when the seasonal strength of the series (Wang, Smith and Hyndman 2006) is
// over 0.64, else 0. It returns 0 for a series of at most two seasons. Lines between neighbours
// fill missing values.
func nsdiffs(y []float64, period int) int {
	if period < 2 || len(y) <= 2*period || model.IsFlat(model.Observed(y)) {
		return 0
	}
	d, err := decompose.MSTL(model.SpanGaps(y), []int{period})
	if err != nil || len(d.Seasons) == 0 || !(d.SeasonalStrength(0) > 0.64) {
		return 0
	}
	return 1
}
