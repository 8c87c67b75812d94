package outcome

import (
	"testing"

	"capcli"
)

// doubled is all that a new metric takes: its entry in the table.
var doubled = &Metric{"doubled_cost", InUSD, false, "twice the cost", money(func(o *Outcome) *capcli.USD {
	if o.Cost.Total == nil {
		return nil
	}
	twice := 2 * *o.Cost.Total
	return &twice
})}

// TestNewMetric adds a metric to the table and takes it away again: limits,
// conditions, figures over runs and columns know it meanwhile.
func TestNewMetric(t *testing.T) {
	if _, err := ParseCheck("doubled_cost<=$100"); err == nil {
		t.Fatal("a metric that is not in the table is known")
	}
	Metrics = append(Metrics, doubled)
	byName[doubled.Name] = doubled
	defer func() {
		Metrics = Metrics[:len(Metrics)-1]
		delete(byName, doubled.Name)
	}()
	cheap, dear := keptOutcome("easy", 0, 40, 0), keptOutcome("easy", 1, 60, 0)
	runs := []*Outcome{&cheap, &dear}
	if s, known := SpreadOf(runs, "doubled_cost"); !known || s.Mean.Value != 100 {
		t.Errorf("the mean over runs is %v (%v), want 100", s.Mean.Value, known)
	}
	c, err := ParseCheck("doubled_cost<=$100")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false} {
		if holds, known := c.Holds(runs[i]); holds != want || !known {
			t.Errorf("%s of run %d: %v (%v), want %v", c, i, holds, known, want)
		}
	}
	if got := doubled.Column(); got != "doubled_cost_usd" {
		t.Errorf("its column is %s", got)
	}
}
