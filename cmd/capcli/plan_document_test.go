package main

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"capcli"
	planning "capcli/simulate/plan"
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
		if !slices.Contains([]string{"", "error", "zero", "linear", "previous"}, gaps) || quantile < 0 || !(quantile < 1) {
			return
		}
		o := planCurveOptions{quantile: quantile, history: historyOptions{measure: "demand", whole: true, gaps: gaps}}
		if err := o.history.check(); err != nil {
			t.Fatal(err)
		}
		d, err := o.ofDocument("x.json", text)
		if err != nil {
			var input *capcli.InputError
			var usage *usageError
			if !errors.As(err, &usage) && (!errors.As(err, &input) || input.File != "x.json") {
				t.Fatalf("an error without a place: %v", err)
			}
			return
		}
		for i, w := range d.curve.Work {
			if w < 0 || math.IsNaN(d.curve.GPUs(i)) {
				t.Fatalf("step %d wants %v", i, w)
			}
		}
		if d.curve.Sum() < 0 || len(d.curve.Work) == 0 {
			t.Fatalf("%d steps want %v", len(d.curve.Work), d.curve.Sum())
		}
	})
}

// TestParseTerm reads the ways in which a term is written.
func TestParseTerm(t *testing.T) {
	tests := []struct {
		text    string
		name    string
		length  capcli.Step
		rate    string
		upfront int64
		max     int64
		wrong   string
	}{
		{text: "12mo=0.61", name: "12mo", length: capcli.Step{Months: 12}, rate: "0.61"},
		{text: "all=1y@$0.58,upfront=all", name: "all", length: capcli.Step{Months: 12}, rate: "0.58", upfront: planning.Whole},
		{text: "36h=2,max=8,upfront=12.5%", name: "36h", length: capcli.Step{Seconds: 36 * 3600}, rate: "2.00", upfront: 125_000, max: 8000},
		{text: "x=2w@free", name: "x", length: capcli.Step{Days: 14}, rate: "0.00"},
		{text: "=1", wrong: "LENGTH=PRICE"},
		{text: "1y", wrong: "LENGTH=PRICE"},
		{text: "a=b@1", wrong: `"b" is no length`},
		{text: "1y=1,upfront=2", wrong: "upfront wants"},
		{text: "1y=1,max=x", wrong: "number of GPUs"},
		{text: "1y=1,2", wrong: "later ones with their dates"},
	}
	for _, tt := range tests {
		got, err := (&marketSketch{}).parseTerm(tt.text)
		if tt.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("%s: %v, want %q", tt.text, err, tt.wrong)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		x := got.term
		if x.Name != tt.name || x.Length != tt.length || x.Upfront != tt.upfront || x.Max != tt.max || got.prices[0].rate.Decimal() != tt.rate {
			t.Errorf("%s: %+v %+v", tt.text, x, got.prices)
		}
	}
}
