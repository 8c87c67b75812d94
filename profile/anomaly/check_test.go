package anomaly

import (
	"errors"
	"math"
	"testing"

	"capcli"
	"capcli/profile"
)

func TestConditions(t *testing.T) {
	r := &Result{Anomalies: []*Anomaly{{Kind: xids, Severity: Warning}, {Kind: eccFatal, Severity: Critical}, {Kind: powerCapped, Severity: Info}}, Counts: map[string]int{xids: 1, eccFatal: 1, powerCapped: 1}}
	cost := 12 * capcli.Dollar
	total := &profile.UseResult{Idle: 4, Held: 8, Seen: 10, Util: 55.5, SM: capcli.Figure(math.NaN()), IdleCost: &cost}
	for _, c := range []struct {
		text string
		is   bool // true, or not known
	}{
		{"anomalies>2", true},
		{"anomalies > 3", false},
		{"warnings==2", true},
		{"critical!=1", false},
		{"xid>0", true},
		{"memory_creep>=1", false},
		{"idle_cost_usd>$11.5", true},
		{"idle_held_gpu_hours<=4", true},
		{"held_pct<80%", false},
		{"util_gpu_pct<60", true},
		{"sm_active_pct<60", true}, // not known
	} {
		checks, err := ParseChecks([]string{c.text})
		if err != nil {
			t.Fatal(err)
		}
		err = r.Judge(checks, total)
		if got := errors.Is(err, capcli.ConditionTrue); got != c.is || !got && err != nil {
			t.Errorf("%s: %v, want %v", c.text, err, c.is)
		}
		if len(r.Conditions) != 1 || r.Conditions[0].Text != c.text {
			t.Errorf("conditions %+v", r.Conditions)
		}
	}
	for _, text := range []string{"", "anomalies", "anomalie>1", "xid~1", "xid>", "xid>1h", ">1", "xid>NaN"} {
		var wrong *capcli.RequestError
		if _, err := ParseChecks([]string{text}); !errors.As(err, &wrong) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The statistics are those of their papers on small cases.
func TestStatistics(t *testing.T) {
	if at, p := pettitt([]float64{1, 2, 1, 2, 1, 9, 8, 9, 8, 9}, 2); at != 5 || math.Abs(p-2*math.Exp(-6*625.0/1100)) > 1e-12 {
		t.Errorf("change at %d, p %v", at, p) // every one after is above every one before: U = 5 x 5
	}
	if v := rising([]float64{1, 1, 1, 2, 2, 2}); math.Abs(v-9.0/15) > 1e-12 {
		t.Errorf("one step: tau %v", v)
	}
	if v := slopeOf([]float64{0, 2, 4, 100, 8, 10}); v != 2 {
		t.Errorf("slope %v with one outlier, want 2", v)
	}
	if a, b := fitLine([]float64{5, 1, 2, 3, 4, 6}, []float64{13, 5, 7, 9, 11, 15}); a != 3 || b != 2 {
		t.Errorf("line %v + %v x, want 3 + 2 x", a, b)
	}
	if v := spreadOf([]float64{1, 1, 1, 1, 1000}, 1); v != 0 {
		t.Errorf("spread %v with one outlier, want 0", v)
	}
	if v := median(nil); !math.IsNaN(v) {
		t.Errorf("median of nothing %v", v)
	}
	got := runs([]bool{true, false, true, true, false, false, false, true, true}, 2, 1)
	if len(got) != 2 || got[0] != (run{0, 4}) || got[1] != (run{7, 9}) {
		t.Errorf("runs %v", got)
	}
}
