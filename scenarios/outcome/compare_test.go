package outcome

import (
	"testing"

	"capcli"
)

// keptOutcome is a saved run that costs so many dollars and whose 95th percentile of waits is
// so many seconds; below 0 only a lower bound of that is known.
func keptOutcome(policy string, run int, dollars float64, wait capcli.Seconds) Outcome {
	usd := capcli.USDOf(dollars)
	o := Outcome{Scenario: "s", Policy: policy, Placement: "first", Run: run, Ended: capcli.Day}
	o.Cost.Total = &usd
	o.Started = 1
	if o.WaitP95 = &wait; wait < 0 {
		least := -wait
		o.WaitP95, o.WaitP95From = nil, &least
	}
	return o
}

func figureOf(t *testing.T, c *Comparison, name string) *ComparedFigure {
	t.Helper()
	for i := range c.Figures {
		if c.Figures[i].Metric.Name == name {
			return &c.Figures[i]
		}
	}
	t.Fatalf("no figure %s", name)
	return nil
}

// Runs are compared by their numbers, and only those that every plan has.
func TestCompareInPairs(t *testing.T) {
	plans := Plans([]Outcome{keptOutcome("a", 0, 10, 5), keptOutcome("b", 1, 30, 9), keptOutcome("a", 1, 20, 5), keptOutcome("b", 2, 99, 1), keptOutcome("b", 0, 14, 7)})
	if len(plans) != 2 || plans[0].Name != "s/a/first" || len(plans[1].Runs) != 3 {
		t.Fatalf("got plans %+v", plans)
	}
	c := Compare(plans)
	if c.Runs != 2 {
		t.Errorf("got %d pairs, want 2", c.Runs)
	}
	cost := figureOf(t, c, "cost")
	if *cost.Mean[0] != 15 || *cost.Mean[1] != 22 {
		t.Errorf("costs are %v and %v, want 15 and 22", *cost.Mean[0], *cost.Mean[1])
	}
	if got, want := *cost.Difference[0], (Range{7, 4, 10}); got != want {
		t.Errorf("the difference is %+v, want %+v", got, want)
	}
	if r := c.Rankings(); *r[1].Cost != 22 || r[1].Wait.Value != 8 || r[1].Unserved != nil {
		t.Errorf("ranked by %+v", r[1])
	}
}

// A mean with a lower bound among its terms is one itself; against a first plan that is
// only known to be over something nothing is.
func TestCompareLowerBounds(t *testing.T) {
	low, sure := keptOutcome("a", 0, 1, -50), keptOutcome("b", 0, 1, 80)
	wait := figureOf(t, Compare(Plans([]Outcome{sure, low})), "wait_p95")
	if wait.Mean[1] != nil || *wait.AtLeast[1] != 50 || !wait.Changes[1].Mean.AtLeast || wait.Difference[0] != nil {
		t.Errorf("over 50 against 80 is %+v", wait)
	}
	wait = figureOf(t, Compare(Plans([]Outcome{low, sure})), "wait_p95")
	if wait.Changes[1] != nil || wait.Difference[0] != nil {
		t.Errorf("80 against over 50 is %+v", wait)
	}
}

// Results of before there were figures of undone work do not know them, but know the
// waits of their jobs, which they did not count.
func TestCompareOldResults(t *testing.T) {
	old := keptOutcome("a", 0, 1, 5)
	old.Started, old.WaitMean = 0, 3
	new := keptOutcome("b", 0, 1, 5)
	new.Possible, new.UnservedShare = capcli.GPUTime(1), 0.5
	c := Compare(Plans([]Outcome{old, new}))
	if f := figureOf(t, c, "unserved_share"); f.Mean[0] != nil || *f.Mean[1] != 0.5 || f.Difference[0] != nil {
		t.Errorf("undone work is %+v", f)
	}
	if f := figureOf(t, c, "wait_mean"); *f.Mean[0] != 3 {
		t.Errorf("the mean wait is %v, want 3", f.Mean[0])
	}
}

// The parts of a plan's cost are means over all of its runs.
func TestSplitCosts(t *testing.T) {
	a, b := keptOutcome("a", 0, 3, 1), keptOutcome("a", 1, 5, 1)
	a.Cost.ByTenant = map[string]capcli.USD{"x": 3 * capcli.Dollar}
	b.Cost.ByTenant = map[string]capcli.USD{"x": capcli.Dollar, "y": 4 * capcli.Dollar}
	s := SplitCosts(Plans([]Outcome{a, b}), "tenant")
	if len(s.Rows) != 2 || s.Rows[0].Cost != 2*capcli.Dollar || s.Rows[1].Cost != 2*capcli.Dollar || s.Rows[0].Share != 0.5 {
		t.Errorf("got %+v", s.Rows)
	}
}
