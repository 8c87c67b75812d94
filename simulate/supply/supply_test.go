package supply_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/supply"
)

// until takes the changes of a supply before an instant.
func changesUntil(s simulate.Supply, end capcli.Seconds) []simulate.Change {
	var out []simulate.Change
	for c, ok := s.Next(); ok && c.At < end; c, ok = s.Next() {
		out = append(out, c)
	}
	return out
}

func TestHazardTellsALegalStory(t *testing.T) {
	const nodes, notice, end = 50, 120, 30 * capcli.Day
	s := supply.NewHazard(nodes, 6*capcli.Hour, capcli.Hour, notice, capcli.Seed(1).Stream("failures"))
	last := make([]simulate.Change, nodes)
	for n := range last {
		last[n] = simulate.Change{Kind: simulate.Gain}
	}
	follows := map[simulate.Kind]simulate.Kind{simulate.Gain: simulate.Drain, simulate.Drain: simulate.Lose, simulate.Lose: simulate.Gain}
	var now capcli.Seconds
	changes := changesUntil(s, end)
	for _, c := range changes {
		before := last[c.Node]
		if c.At < now || c.Kind != follows[before.Kind] {
			t.Fatalf("%s of node %d at %d, after %s of it at %d and an event at %d", c.Kind, c.Node, c.At, before.Kind, before.At, now)
		}
		if c.Kind == simulate.Lose && c.At-before.At > notice {
			t.Fatalf("node %d went %d s after its notice, want at most %d", c.Node, c.At-before.At, notice)
		}
		now, last[c.Node] = c.At, c
	}
	if want := 50 * 30 * 24 / 7; len(changes) < 3*want*8/10 || len(changes) > 3*want*12/10 {
		t.Errorf("%d changes, want about %d", len(changes), 3*want)
	}
}

// The time that a node is up is a reward of an alternating renewal process: its
// variance is 2 U² D² T / (U+D)³ for exponential times (Cox, Renewal Theory,
// 1962, 7.3), and beginning up adds D/(U+D) · UD/(U+D) to its mean.
func TestHazardIsUpAsOftenAsItShould(t *testing.T) {
	for _, tt := range []struct{ up, down, notice capcli.Seconds }{
		{10 * capcli.Hour, 2 * capcli.Hour, 0},
		{30 * capcli.Day, 4 * capcli.Hour, 0},
		{2 * capcli.Hour, 5 * capcli.Hour, 120},
	} {
		const nodes = 400
		span := 200 * (tt.up + tt.down)
		lost := make([]capcli.Seconds, nodes)
		down := 0.0
		for n := range lost {
			lost[n] = -1
		}
		s := supply.NewHazard(nodes, tt.up, tt.down, tt.notice, capcli.Seed(11).Stream("failures"))
		for _, c := range changesUntil(s, span) {
			switch c.Kind {
			case simulate.Lose:
				lost[c.Node] = c.At
			case simulate.Gain:
				down += float64(c.At - lost[c.Node])
				lost[c.Node] = -1
			default:
			}
		}
		for _, at := range lost {
			if at >= 0 {
				down += float64(span - at)
			}
		}
		u, d, all := float64(tt.up), float64(tt.down), float64(span)
		got := 1 - down/(nodes*all)
		want := u/(u+d) + d/(u+d)*u*d/(u+d)/all
		sigma := math.Sqrt(2*u*u*d*d*all/((u+d)*(u+d)*(u+d))/nodes) / all
		if math.Abs(got-want) > 3.29*sigma {
			t.Errorf("up %d, down %d: up %.5f of the time, want %.5f ± %.5f (99.9%%)", tt.up, tt.down, got, want, 3.29*sigma)
		}
	}
}

// A larger pool sees the same failures of the nodes that the smaller has.
func TestHazardOfANodeIsItsOwn(t *testing.T) {
	story := func(nodes int) (out []simulate.Change) {
		for _, c := range changesUntil(supply.NewHazard(nodes, capcli.Day, capcli.Hour, 0, capcli.Seed(5).Stream("x")), 100*capcli.Day) {
			if c.Node < 5 {
				out = append(out, c)
			}
		}
		return out
	}
	small, large := story(5), story(77)
	if !slices.Equal(small, large) || len(small) < 500 {
		t.Errorf("five nodes have %d changes alone and %d among 77, or others", len(small), len(large))
	}
	if slices.Equal(small, changesUntil(supply.NewHazard(5, capcli.Day, capcli.Hour, 0, capcli.Seed(6).Stream("x")), 100*capcli.Day)) {
		t.Error("another seed tells the same story")
	}
	if _, ok := supply.NewHazard(0, capcli.Day, capcli.Hour, 0, capcli.Seed(6).Stream("x")).Next(); ok {
		t.Error("no node changed")
	}
}

func TestSuppliesDoNotAllocate(t *testing.T) {
	wave := supply.Availability{Gap: 60}
	for i := range 300 {
		wave.Counts = append(wave.Counts, i*i%17)
	}
	for name, s := range map[string]simulate.Supply{
		"hazard":       supply.NewHazard(1000, capcli.Day, capcli.Hour, 120, capcli.Seed(5).Stream("x")),
		"availability": supply.NewAvailability(wave, 16, supply.Following{Notice: 120, Repeat: true}),
	} {
		for range 5000 {
			s.Next()
		}
		if n := testing.AllocsPerRun(1000, func() { s.Next() }); n != 0 {
			t.Errorf("%s: %v allocations a change", name, n)
		}
	}
}

// tell writes changes as a story: "0:lose2 60:gain2".
func tell(changes []simulate.Change) string {
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, " %d:%s%d", c.At, c.Kind, c.Node)
	}
	return strings.TrimPrefix(b.String(), " ")
}

func TestAvailabilityStories(t *testing.T) {
	for _, tt := range []struct {
		name   string
		counts []int
		nodes  int
		f      supply.Following
		want   string
	}{
		{"all there", []int{3, 3, 3}, 3, supply.Following{}, ""},
		{"more than the pool", []int{9, 3, 9}, 3, supply.Following{}, ""},
		{"the highest go, the lowest come", []int{3, 1, 2}, 3, supply.Following{}, "100:lose2 100:lose1 200:gain1"},
		{"not there at first", []int{1, 3}, 3, supply.Following{Notice: 60}, "0:lose2 0:lose1 100:gain1 100:gain2"},
		{"notice", []int{2, 1}, 2, supply.Following{Notice: 60}, "40:drain1 100:lose1"},
		{"notice longer than it was there", []int{1, 2, 1}, 2, supply.Following{Notice: 130}, "0:lose1 100:gain1 100:drain1 200:lose1"},
		{"notices out of order", []int{2, 3, 2, 1}, 3, supply.Following{Notice: 150}, "0:lose2 100:gain2 100:drain2 150:drain1 200:lose2 300:lose1"},
		{"from the middle", []int{0, 2, 1, 2}, 2, supply.Following{Offset: 130, Notice: 20}, "50:drain1 70:lose1 170:gain1"},
		{"after the end", []int{0, 2, 1}, 2, supply.Following{Offset: 1000}, "0:lose1"},
		{"over and over", []int{2, 1}, 2, supply.Following{Repeat: true}, "100:lose1 200:gain1 300:lose1 400:gain1 500:lose1 600:gain1"},
		{"over and over, the same", []int{2, 3}, 2, supply.Following{Repeat: true}, ""},
		{"in proportion", []int{16, 8, 3}, 4, supply.Following{Scale: true}, "100:lose3 100:lose2 200:lose1 200:lose0"},
		{"no history", nil, 2, supply.Following{Repeat: true}, ""},
	} {
		s := supply.NewAvailability(supply.Availability{Gap: 100, Counts: tt.counts}, tt.nodes, tt.f)
		if got := tell(changesUntil(s, 650)); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// The changes, applied one by one, give the history back, and each node's
// notices are where its own ups and downs say.
func TestAvailabilityFollowsTheHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := supply.Availability{Gap: 10, Counts: rapid.SliceOfN(rapid.IntRange(0, 6), 1, 30).Draw(t, "counts")}
		nodes := rapid.IntRange(1, 7).Draw(t, "nodes")
		f := supply.Following{Notice: capcli.Seconds(rapid.IntRange(0, 60).Draw(t, "notice")), Repeat: rapid.Bool().Draw(t, "repeat")}
		const end = 1000
		count := func(at capcli.Seconds) int {
			i := int(at / a.Gap)
			if f.Repeat {
				i %= len(a.Counts)
			}
			return min(nodes, a.Counts[min(i, len(a.Counts)-1)])
		}
		want := map[simulate.Change]bool{}
		for n := range nodes {
			up, since := true, capcli.Seconds(0)
			for at := capcli.Seconds(0); at < end+100; at += a.Gap {
				is := n < count(at)
				switch {
				case up && !is:
					want[simulate.Change{At: at, Kind: simulate.Lose, Node: n}] = true
					if f.Notice > 0 && at > 0 {
						want[simulate.Change{At: max(since, at-f.Notice), Kind: simulate.Drain, Node: n}] = true
					}
				case is && !up:
					want[simulate.Change{At: at, Kind: simulate.Gain, Node: n}] = true
					since = at
				}
				up = is
			}
		}
		got := changesUntil(supply.NewAvailability(a, nodes, f), end)
		for i, c := range got {
			if !want[c] {
				t.Fatalf("%s of node %d at %d should not be; counts %v", c.Kind, c.Node, c.At, a.Counts)
			}
			delete(want, c)
			if i > 0 && c.At < got[i-1].At {
				t.Fatalf("%d comes after %d", c.At, got[i-1].At)
			}
		}
		for c := range want {
			if c.At < end {
				t.Fatalf("%s of node %d at %d is missing; counts %v", c.Kind, c.Node, c.At, a.Counts)
			}
		}
	})
}

func BenchmarkHazard(b *testing.B) {
	s := supply.NewHazard(100_000, capcli.Day, capcli.Hour, 120, capcli.Seed(5).Stream("x"))
	b.ReportAllocs()
	for b.Loop() {
		s.Next()
	}
}
