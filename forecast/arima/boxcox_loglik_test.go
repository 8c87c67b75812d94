package arima

import (
	"fmt"
	"math"

	"capcli/forecast/model"
)

// LikelihoodLambda is the lambda, in steps of 0.05 within [-1, 2], with the
// highest likelihood of a regression on a line and, for a period over 1, on
// seasonal dummies (Box and Cox 1964). The values, without missing ones, must be
// over 0.
func LikelihoodLambda(y []float64, period int) (float64, error) {
	y = model.Observed(y)
	logs := 0.0
	for i, v := range y {
		if !(v > 0) {
			return 0, fmt.Errorf("box-cox: value %d is %g, want values over 0: %w", i+1, v, model.ErrUnfit)
		}
		logs += math.Log(v)
	}
	n := float64(len(y))
	if len(y) < period+3 {
		return 0, fmt.Errorf("box-cox: %d values for %d coefficients: %w", len(y), period+1, model.ErrTooShort)
	}
	mean := math.Exp(logs / n)
	best, at := math.Inf(1), 1.0
	for k := -20; k <= 40; k++ {
		lambda := float64(k) / 20
		x, err := boxCox(y, lambda)
		if err != nil {
			continue
		}
		ssq := seasonalLine(x, period) / math.Pow(mean, 2*(lambda-1))
		if ssq < best {
			best, at = ssq, lambda
		}
	}
	return at, nil
}

// seasonalLine is the sum of squares that a line and seasonal dummies leave of
// x. By the theorem of Frisch, Waugh and Lovell, the means of the seasons come
// off both x and time first.
func seasonalLine(x []float64, period int) float64 {
	period = max(1, period)
	meanX, meanT, count := make([]float64, period), make([]float64, period), make([]float64, period)
	for t, v := range x {
		s := t % period
		meanX[s] += v
		meanT[s] += float64(t)
		count[s]++
	}
	var xx, xt, tt float64
	for t, v := range x {
		s := t % period
		a, b := v-meanX[s]/count[s], float64(t)-meanT[s]/count[s]
		xx += a * a
		xt += a * b
		tt += b * b
	}
	if tt == 0 {
		return xx
	}
	return xx - xt*xt/tt
}
