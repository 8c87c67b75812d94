package outcome_test

import (
	"testing"

	"capcli"
	"capcli/scenarios/outcome"
)

// TestNameApart: plans of one name are told apart by their files, and those of one file by their number.
func TestNameApart(t *testing.T) {
	plan := func(name string, start, ended int64) outcome.Plan {
		return outcome.Plan{Name: name, Runs: []outcome.Outcome{{Start: capcli.Time(start), Ended: capcli.Seconds(ended)}}}
	}
	plans := []outcome.Plan{plan("a", 1798761600, 86400), plan("a", 1798761600, 86400), plan("b", 1798761600, 172800), plan("c", 0, 1), plan("c", 0, 1)}
	outcome.NameApart(plans, []string{"x", "y", "y", "z", "z"})
	for i, want := range []string{"a (x)", "a (y)", "b", "c (z, number 4)", "c (z, number 5)"} {
		if plans[i].Name != want {
			t.Errorf("plan %d is %q, want %q", i, plans[i].Name, want)
		}
	}
	if got := outcome.PeriodsText(plans[:2]); got != "2027-01-01 to 2027-01-01" {
		t.Errorf("the period is %q", got)
	}
	if got := outcome.PeriodsText(plans[1:3]); got != "a (y) 2027-01-01 to 2027-01-01, b 2027-01-01 to 2027-01-02" {
		t.Errorf("the periods are %q", got)
	}
}
