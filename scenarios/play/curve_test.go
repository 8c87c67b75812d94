package play

import (
	"slices"
	"testing"

	"capcli/simulate"
)

// TestCommittedCurveFollowsDates draws what is committed where it is.
func TestCommittedCurveFollowsDates(t *testing.T) {
	c := &Curve{width: 60}
	got := c.Committed([]simulate.Pool{
		{Name: "first", Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: 8, Until: 120},
		{Name: "second", Terms: simulate.Owned, Nodes: 2, GPUsPerNode: 8, From: 90},
		{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 100},
	}, 200, 4)
	if want := []float64{8, 16, 16, 16}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
