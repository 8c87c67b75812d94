package forecast

import (
	"testing"

	"capcli"
	"capcli/forecast/model"
	"capcli/testdata/golden"
)

// ends are a forecast as the golden answers of R forecast 8.20 have it.
type ends struct {
	Mean    []float64 `json:"mean"`
	Lower80 []float64 `json:"lower80"`
	Upper80 []float64 `json:"upper80"`
	Lower95 []float64 `json:"lower95"`
	Upper95 []float64 `json:"upper95"`
}

// sameForecast compares a model's forecast with R's: means within tolerance,
// interval ends within five times it.
func sameForecast(t *testing.T, what string, m model.Model, y []float64, want ends, tolerance float64) {
	t.Helper()
	f, err := m.Fit(capcli.Series{Values: y})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	got, err := f.Forecast(len(want.Mean), 80, 95)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	golden.CheckNear(t, what+" mean", got.Mean, want.Mean, tolerance)
	golden.CheckNear(t, what+" lower80", got.Intervals[0].Lo, want.Lower80, 5*tolerance)
	golden.CheckNear(t, what+" upper80", got.Intervals[0].Hi, want.Upper80, 5*tolerance)
	golden.CheckNear(t, what+" lower95", got.Intervals[1].Lo, want.Lower95, 5*tolerance)
	golden.CheckNear(t, what+" upper95", got.Intervals[1].Hi, want.Upper95, 5*tolerance)
}

func TestSimpleModelsAsR(t *testing.T) {
	for _, name := range []string{"AirPassengers", "WWWusage", "UKgas", "JohnsonJohnson", "LakeHuron", "ldeaths", "nottem", "wineind", "gold"} {
		t.Run(name, func(t *testing.T) {
			all := map[string]ends{}
			golden.Read(t, name+"-simple", &all)
			y := golden.Series(t, name)
			o := Options{}
			if m := golden.Frequency[name]; m > 1 {
				o.Seasons = []int{m}
			}
			for ours, r := range map[string]string{"naive": "naive", "snaive": "snaive", "drift": "rwdrift", "mean": "meanf", "theta": "theta"} {
				want, ok := all[r]
				if !ok || ours == "theta" && name == "gold" { // Theta takes no missing values
					continue
				}
				made, err := Models.Get(ours)
				if err != nil {
					t.Fatal(err)
				}
				tolerance := 1e-10
				if name == "gold" && ours == "mean" {
					tolerance = 1e-5 // R counts the missing values among n
				}
				if ours == "theta" {
					tolerance = 1e-3 // R's simplex stops within 1e-4 of the best alpha, ours goes on
				}
				sameForecast(t, ours, made(o), y, want, tolerance)
			}
		})
	}
}
