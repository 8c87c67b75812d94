package curve

import (
	"errors"
	"math"
	"testing"

	"capcli/forecast/demand"
	"capcli/profile/logs/series"

	"capcli"
)

// FuzzDemandDocument reads anything as a demand curve in JSON: it gives a curve
// of known demands, none under 0, or an error that names the file.
func FuzzDemandDocument(f *testing.F) {
	for _, text := range []string{
		`{"start": "2027-01-01", "step_s": 3600, "values": [4, 5.5, null]}`,
		`{"step": "1mo", "values": [1e9]}`,
		`[1, 2, 3]`, `[]`, `{}`, `[{"ds": 0, "y": 1}, {"ds": 1, "y": 2}]`,
		`[{"unique_id": "a", "ds": "2027-01-01", "y": 1}, {"unique_id": "b", "ds": "2027-01-01", "y": 2}]`,
		`{"schema": "capcli/forecast/v1", "step": "1h", "line_quantiles": {"expected": 0.8}, "series": [{"unique_id": "a", "ds": ["2027-01-01T00:00:00Z"],
		 "mean": [4], "intervals": [{"level": 80, "lo": [2], "hi": [6]}], "lines": {"expected": [5]}}]}`,
	} {
		for _, quantile := range []float64{0, 0.8, 0.9} {
			f.Add([]byte(text), quantile, "linear")
			f.Add([]byte(text), quantile, "")
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, quantile float64, gaps string) {
		source := Source{Request: demand.Request{Gaps: series.Gaps(gaps), Curve: true}, Quantile: quantile}
		if source.Check() != nil || !(quantile < 1) || gaps == "missing" {
			return
		}
		d, err := source.parseDocument("x.json", text)
		if err != nil {
			var input *capcli.InputError
			var usage *capcli.RequestError
			if !errors.As(err, &usage) && (!errors.As(err, &input) || input.File != "x.json") {
				t.Fatalf("an error without a place: %v", err)
			}
			return
		}
		for i, w := range d.Curve.Work {
			if w < 0 || math.IsNaN(d.Curve.GPUs(i)) {
				t.Fatalf("step %d wants %v", i, w)
			}
		}
		if d.Curve.Sum() < 0 || len(d.Curve.Work) == 0 {
			t.Fatalf("%d steps want %v", len(d.Curve.Work), d.Curve.Sum())
		}
	})
}
