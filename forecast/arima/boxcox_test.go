package arima

import (
	"errors"
	"math"
	"testing"

	"capcli/forecast/model"
	"capcli/testdata/golden"
)

func TestBoxCoxLambdaAsR(t *testing.T) {
	for _, name := range arimaGoldSeries {
		var want struct {
			Lambda struct{ Loglik float64 } `json:"boxcox_lambda"`
		}
		golden.Read(t, name+"-tests", &want)
		y, period := golden.Series(t, name), golden.Frequency[name]
		got, err := LikelihoodLambda(y, period)
		if err != nil || math.Abs(got-want.Lambda.Loglik) > 1e-9 {
			t.Errorf("%s: lambda by likelihood %.6f (%v), R %.6f", name, got, err, want.Lambda.Loglik)
		}
	}
}

func TestBoxCoxGoesBack(t *testing.T) {
	y := []float64{1e-3, 0.5, 1, 2, 1e4}
	for _, lambda := range []float64{-1, -0.3, 0, 0.5, 1, 2} {
		x, err := boxCox(y, lambda)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range x {
			if got := unBoxCox(v, lambda); relativeError(got, y[i]) > 1e-9 {
				t.Errorf("lambda %g: %g came back as %g", lambda, y[i], got)
			}
		}
	}
	if _, err := boxCox([]float64{0}, 0); !errors.Is(err, model.ErrUnfit) {
		t.Errorf("log of zero: %v", err)
	}
	if got := unBoxCox(10, -0.5); !math.IsInf(got, 1) {
		t.Errorf("beyond the transformation's reach: %g", got)
	}
}
