package forecast

import (
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"capcli"
	"capcli/forecast/arima"
	"capcli/testdata/golden"
)

// TestAutoARIMAHourly reports time and accuracy on the hourly series of M4
// (every sixth of the 414, or all with CAPCLI_ACCURACY set).
func TestAutoARIMAHourly(t *testing.T) {
	step := 60
	if os.Getenv("CAPCLI_ACCURACY") != "" {
		step = 6
	}
	if golden.Short() {
		t.Skip("takes seconds")
	}
	train, test := table(t, "m4/Hourly-train"), table(t, "m4/Hourly-test")
	var times []float64
	mase, n, inside, of := 0.0, 0.0, 0.0, 0.0
	for i := 0; i < len(train); i += step {
		start := time.Now()
		fit, err := arima.AutoARIMA{Period: 24}.FitARIMA(capcli.Series{Values: train[i]})
		if err != nil {
			t.Fatal(i, err)
		}
		f, err := fit.Forecast(48, 95)
		if err != nil {
			t.Fatal(i, err)
		}
		times = append(times, time.Since(start).Seconds())
		scale := 0.0
		for k := 24; k < len(train[i]); k++ {
			scale += math.Abs(train[i][k]-train[i][k-24]) / float64(len(train[i])-24)
		}
		for k, v := range f.Mean {
			mase += math.Abs(v-test[i][k]) / scale / 48
			if f.Intervals[0].Lo[k] <= test[i][k] && test[i][k] <= f.Intervals[0].Hi[k] {
				inside++
			}
			of++
		}
		n++
	}
	slices.Sort(times)
	sum := 0.0
	for _, v := range times {
		sum += v
	}
	t.Logf("%.0f series: mean %.3f s, median %.3f s, most %.3f s; MASE %.3f, coverage %.3f (R: mean 31.2 s, median 11 s; 1.106, 0.943)",
		n, sum/n, times[len(times)/2], times[len(times)-1], mase/n, inside/of)
}
