package capcli

import "testing"

func TestStepsPeak(t *testing.T) {
	var none Steps[Time]
	if most, at := none.Peak(); most != 0 || at != 0 {
		t.Errorf("of nothing the peak is %d at %d", most, at)
	}
	var a, b Steps[Seconds]
	a.Add(10, 20, 3)
	a.Add(20, 30, 3) // begins where the other ends
	b.Add(15, 25, 2)
	b.Add(40, 50, 1)
	if most, at := a.Peak(); most != 3 || at != 10 {
		t.Errorf("the peak is %d at %d, want 3 at 10", most, at)
	}
	b.Join(&a)
	if most, at := b.Peak(); most != 5 || at != 15 {
		t.Errorf("together the peak is %d at %d, want 5 at 15", most, at)
	}
}

func TestNearestRank(t *testing.T) {
	for _, c := range [][3]int{{50, 1, 1}, {50, 2, 1}, {50, 3, 2}, {95, 20, 19}, {95, 21, 20}, {100, 7, 7}, {5, 3, 1}} {
		if got := NearestRank(c[0], c[1]); got != c[2] {
			t.Errorf("percentile %d of %d values has rank %d, want %d", c[0], c[1], got, c[2])
		}
	}
}
