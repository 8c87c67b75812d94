package forecast

import (
	"encoding/json"
	"math"
	"testing"

	"capcli"
	"capcli/forecast/model"
	"capcli/testdata/golden"
)

func TestScoresAsR(t *testing.T) {
	for _, name := range []string{"AirPassengers", "WWWusage", "UKgas", "JohnsonJohnson", "LakeHuron", "ldeaths", "nottem", "wineind"} {
		t.Run(name, func(t *testing.T) {
			all := map[string]json.RawMessage{}
			golden.Read(t, name+"-accuracy", &all)
			y := golden.Series(t, name)
			var h int
			if err := json.Unmarshal(all["h"], &h); err != nil {
				t.Fatal(err)
			}
			train, test := y[:len(y)-h], y[len(y)-h:]
			for _, kind := range []string{"naive", "snaive"} {
				raw, ok := all[kind]
				if !ok {
					continue
				}
				var want struct {
					Test map[string]any `json:"test"`
				}
				if err := json.Unmarshal(raw, &want); err != nil {
					t.Fatal(err)
				}
				made, err := Models.Get(kind)
				if err != nil {
					t.Fatal(err)
				}
				fit, err := made(Options{Seasons: []int{golden.Frequency[name]}}).Fit(capcli.Series{Values: train})
				if err != nil {
					t.Fatal(err)
				}
				f, err := fit.Forecast(h)
				if err != nil {
					t.Fatal(err)
				}
				for measure, got := range map[string]float64{
					"ME": bias(test, f.Mean), "RMSE": rmse(test, f.Mean), "MAE": MAE(test, f.Mean),
					"MAPE": MAPE(test, f.Mean), "MASE": mase(test, f.Mean, scale(train, golden.Frequency[name])),
				} {
					w, ok := want.Test[measure].(float64)
					if ok && math.Abs(got-w) > 1e-9*math.Max(1, math.Abs(w)) {
						t.Errorf("%s %s = %.12g, want %.12g", kind, measure, got, w)
					}
				}
			}
		})
	}
}

// By hand: every figure below follows from the definitions in the comments of score.go.
func TestScoresByHand(t *testing.T) {
	actual := []float64{10, 20, math.NaN(), 0}
	mean := []float64{12, 16, 5, 0}
	iv := model.Interval{Level: 90, Lo: []float64{8, 17, 0, 1}, Hi: []float64{11, 19, 9, 2}}
	tests := []struct {
		name      string
		got, want float64
	}{
		{"MAE", MAE(actual, mean), 2},
		{"RMSE", rmse(actual, mean), math.Sqrt(20.0 / 3)},
		{"bias", bias(actual, mean), 2.0 / 3},
		{"sMAPE", smape(actual, mean), (200*2.0/22 + 200*4.0/36) / 3},
		{"MAPE", MAPE(actual, mean), (20.0 + 20) / 3},
		{"scale", scale([]float64{1, 5, 2, 9}, 2), 2.5},
		{"MASE", mase(actual, mean, 4), 0.5},
		{"OWA", OWA(10, 1, 20, 4), 0.375},
		{"MSIS", msis(actual, iv, 2), (3 + 2 + 1 + 20*(1.0+1)) / 3 / 2},
		{"coverage", coverage(actual, iv), 1.0 / 3},
		{"pinball", pinball(actual, mean, 0.9), (0.2 + 3.6) / 3},
		{"CRPS", crps(actual, model.Forecast{Mean: mean}), 2},
		{"sample CRPS of one draw", SampleCRPS(3, []float64{5}), 2},
		{"sample CRPS of two", SampleCRPS(3, []float64{2, 6}), 2 - 1},
	}
	for _, tt := range tests {
		if math.Abs(tt.got-tt.want) > 1e-12 {
			t.Errorf("%s = %g, want %g", tt.name, tt.got, tt.want)
		}
	}
	if got := MAE(nil, nil); !math.IsNaN(got) {
		t.Errorf("MAE of nothing = %g, want NaN", got)
	}
}
