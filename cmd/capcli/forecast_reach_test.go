package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"capcli/testdata/golden"
)

// TestForecastKeepsWithinReach: no model's ranges leave the past behind, go below
// zero or above the capacity, and where they would, that is said.
func TestForecastKeepsWithinReach(t *testing.T) {
	golden.SkipLong(t)
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
		args := []string{"forecast", file, "--model", model, "--season", "24", "--horizon", "24", "--origins", "1", "--fit", "outliers=keep"}
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
			if doc, _ := capcliRun(t, 0, append(args, "-o", "json")...); !strings.Contains(doc, "are cut there") {
				t.Errorf("a model that ran away is not said to:\n%s", doc)
			}
			continue
		}
		out, _ = capcliRun(t, 0, append(args, "--cap", "40", "-o", "csv")...)
		for _, row := range forecastRows(t, out) {
			if v := number(t, row["hi-95"]); v > 40 {
				t.Errorf("%s: hi-95 of %s is %g over the cap", model, row["unique_id"], v)
			}
		}
	}
}
