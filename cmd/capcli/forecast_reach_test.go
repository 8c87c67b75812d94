package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"capcli"
	"capcli/forecast"
)

// TestForecastIsTheLibrarys: the library's shipped model gives the figures that the
// command prints, to the last digit, and no bound is the command's own.
func TestForecastIsTheLibrarys(t *testing.T) {
	var b strings.Builder
	b.WriteString("unique_id,ds,y\n")
	y := capcli.Series{Name: "falling", Step: 1, Values: make([]float64, 60)}
	for i := range y.Values {
		y.Values[i] = max(0, math.Round(120-2*float64(i)+float64(i*i%7)))
		_, _ = fmt.Fprintf(&b, "falling,%d,%g\n", i, y.Values[i])
	}
	file := filepath.Join(t.TempDir(), "falling.csv")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	const h = 24
	for _, model := range []string{"holt", "auto", "arima", "drift", "theta"} {
		shipped, err := forecast.Shipped(model, y, h, forecast.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		fit, err := shipped.Fit(y)
		if err != nil {
			t.Fatal(err)
		}
		want, err := fit.Forecast(h, 80, 95)
		if err != nil {
			t.Fatal(err)
		}
		out, _ := capcliRun(t, 0, "forecast", file, "--model", model, "--season", "0", "--horizon", "24", "--origins", "1", "-o", "csv")
		for i, row := range forecastRows(t, out) {
			for column, figure := range map[string]float64{"mean": want.Mean[i], "lo-80": want.Intervals[0].Lo[i], "hi-95": want.Intervals[1].Hi[i]} {
				if got := number(t, row[column]); got != figure || got < 0 {
					t.Errorf("%s, step %d: %s is %g, the library says %g", model, i+1, column, got, figure)
				}
			}
		}
	}
}

// TestForecastKeepsWithinReach: no model's ranges leave the past behind, go below
// zero or above the capacity, and where they would, that is said.
func TestForecastKeepsWithinReach(t *testing.T) {
	var b strings.Builder
	b.WriteString("unique_id,ds,y\n")
	const n, top = 96, 5000
	for i := range n {
		calm := 30 + 12*math.Sin(float64(i)*math.Pi/12) + float64(i*i%7)
		if i == n-1 {
			calm = top
		}
		_, _ = fmt.Fprintf(&b, "spike,%d,%g\nrare,%d,%d\n", i, calm, i, i%11/10*8)
	}
	file := filepath.Join(t.TempDir(), "wild.csv")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, model := range []string{"auto", "naive", "drift", "theta", "holt", "hw", "prophet", "tsb", "tbats"} {
		args := []string{"forecast", file, "--model", model, "--season", "24", "--horizon", "24", "--origins", "1"}
		out, _ := capcliRun(t, 0, append(args, "-o", "csv")...)
		for _, row := range forecastRows(t, out) {
			most := 10.0 * top
			if row["unique_id"] == "rare" {
				most = 10 * 8
			}
			for _, column := range []string{"mean", "lo-80", "hi-80", "lo-95", "hi-95"} {
				if v := number(t, row[column]); v < 0 || v > top+most {
					t.Errorf("%s: %s of %s is %g", model, column, row["unique_id"], v)
				}
			}
		}
		if model == "tbats" {
			if doc, _ := capcliRun(t, 0, append(args, "-o", "json")...); !strings.Contains(doc, "they are held there") {
				t.Errorf("a model that ran away is not said to:\n%s", doc)
			}
			continue
		}
		out, _ = capcliRun(t, 0, append(args, "--capacity", "40", "-o", "csv")...)
		for _, row := range forecastRows(t, out) {
			if v := number(t, row["hi-95"]); v > 40 {
				t.Errorf("%s: hi-95 of %s is %g over the capacity", model, row["unique_id"], v)
			}
		}
	}
}
