package outcome

import "testing"

// A mean with a lower bound among its terms is one itself, and so is a rank with one at
// or below it.
func TestSpreadOfLowerBounds(t *testing.T) {
	for _, x := range []struct {
		name string
		all  []Figure
		want Spread
	}{
		{"one", []Figure{{Value: 7}}, Spread{1, Figure{Value: 7}, Figure{Value: 7}, Figure{Value: 7}}},
		{"known", []Figure{{Value: 3}, {Value: 1}}, Spread{2, Figure{Value: 2}, Figure{Value: 1}, Figure{Value: 3}}},
		{"a high bound", []Figure{{Value: 3, AtLeast: true}, {Value: 1}}, Spread{2, Figure{2, true}, Figure{Value: 1}, Figure{3, true}}},
		{"a low bound", []Figure{{Value: 3}, {Value: 1, AtLeast: true}}, Spread{2, Figure{2, true}, Figure{1, true}, Figure{3, true}}},
	} {
		if got, known := SpreadOver(x.all); !known || got != x.want {
			t.Errorf("%s: %+v, want %+v", x.name, got, x.want)
		}
	}
	if _, known := SpreadOver(nil); known {
		t.Error("the spread of nothing is known")
	}
}

// Of equal plans the first leads, and a plan without a price leads in nothing but time
// and work.
func TestLeaders(t *testing.T) {
	at := func(v float64) *float64 { return &v }
	plan := func(name string, cost, queued *float64, undone float64) Ranking {
		return Ranking{Name: name, Cost: cost, Queued: queued, Unserved: &Unserved{Share: undone}}
	}
	for _, x := range []struct {
		name                        string
		all                         []Ranking
		cheapest, quickest, fullest string
		priced, same                bool
	}{
		{"alone", []Ranking{plan("a", at(1), at(1), 0)}, "a", "a", "a", true, true},
		{"equal", []Ranking{plan("a", at(1), at(1), 0), plan("b", at(1), at(1), 0)}, "a", "a", "a", true, true},
		{"each in one", []Ranking{plan("a", at(1), at(9), 0.5), plan("b", at(2), at(1), 0.2), plan("c", at(3), at(2), 0)}, "a", "b", "c", true, false},
		{"one without a price", []Ranking{plan("a", at(2), at(9), 0.5), plan("b", nil, at(1), 0)}, "a", "b", "b", false, true},
	} {
		got := LeadersOf(x.all)
		if got.Cheapest.Name != x.cheapest || got.Quickest.Name != x.quickest || got.Fullest.Name != x.fullest || got.Priced != x.priced || got.SameCost != x.same {
			t.Errorf("%s: %s, %s, %s, priced %v, same cost %v", x.name, got.Cheapest.Name, got.Quickest.Name, got.Fullest.Name, got.Priced, got.SameCost)
		}
	}
}
