package forecast

import (
	"math"
	"testing"

	"capcli"
	"capcli/forecast/smoothing"
)

// TestShippedKeepsToBounds: where a line falls below zero the shipped model stays at
// zero, with every range and future, and a cap holds; a series that was negative
// may stay so.
func TestShippedKeepsToBounds(t *testing.T) {
	y := capcli.Series{Name: "falling", Step: 3600, Values: make([]float64, 40)}
	for i := range y.Values {
		y.Values[i] = 80 - 2*float64(i) + float64(i*i%5)
	}
	const h = 24
	raw, err := smoothing.ETS{Form: "AAN"}.Fit(y)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := raw.Forecast(h); err != nil || f.Mean[h-1] >= 0 {
		t.Fatalf("the line should fall below zero: %v, %v", f.Mean, err)
	}
	model, err := Shipped("holt", y, h, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	model.Cap = []float64{6}
	fit, err := model.Fit(y)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Forecast(h, 80, 95)
	if err != nil {
		t.Fatal(err)
	}
	figures := append(f.Figures(), fit.Path(h, capcli.Seed(1).Stream("bounds")))
	for _, list := range figures {
		for i, v := range list {
			if v < 0 || v > 6 {
				t.Errorf("step %d: %g, want 0 to 6", i+1, v)
			}
		}
	}
	below := y
	below.Values = append([]float64{-1}, y.Values...)
	if m, err := Shipped("holt", below, h, Options{}); err != nil || !math.IsInf(m.Floor, -1) {
		t.Errorf("a history below zero: floor %g, %v; want none", m.Floor, err)
	}
	if _, err := Shipped("hold", y, h, Options{}); err == nil {
		t.Error("a model of no known name: no error")
	}
}
