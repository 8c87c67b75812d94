package simulate_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate"
)

// until takes the changes of a supply before an instant.
func until(s simulate.Supply, end capcli.Seconds) []simulate.Change {
	var out []simulate.Change
	for c, ok := s.Next(); ok && c.At < end; c, ok = s.Next() {
		out = append(out, c)
	}
	return out
}

func TestHazardTellsALegalStory(t *testing.T) {
	const nodes, notice, end = 50, 120, 30 * capcli.Day
	s := simulate.NewHazard(nodes, 6*capcli.Hour, capcli.Hour, notice, capcli.Seed(1).Stream("failures"))
	last := make([]simulate.Change, nodes)
	for n := range last {
		last[n] = simulate.Change{Kind: simulate.Gain}
	}
	follows := map[simulate.Kind]simulate.Kind{simulate.Gain: simulate.Drain, simulate.Drain: simulate.Lose, simulate.Lose: simulate.Gain}
	var now capcli.Seconds
	changes := until(s, end)
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
		s := simulate.NewHazard(nodes, tt.up, tt.down, tt.notice, capcli.Seed(11).Stream("failures"))
		for _, c := range until(s, span) {
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
		for _, c := range until(simulate.NewHazard(nodes, capcli.Day, capcli.Hour, 0, capcli.Seed(5).Stream("x")), 100*capcli.Day) {
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
	if slices.Equal(small, until(simulate.NewHazard(5, capcli.Day, capcli.Hour, 0, capcli.Seed(6).Stream("x")), 100*capcli.Day)) {
		t.Error("another seed tells the same story")
	}
	if _, ok := simulate.NewHazard(0, capcli.Day, capcli.Hour, 0, capcli.Seed(6).Stream("x")).Next(); ok {
		t.Error("no node changed")
	}
}

func TestSuppliesDoNotAllocate(t *testing.T) {
	wave := simulate.Availability{Gap: 60}
	for i := range 300 {
		wave.Counts = append(wave.Counts, i*i%17)
	}
	for name, s := range map[string]simulate.Supply{
		"hazard":       simulate.NewHazard(1000, capcli.Day, capcli.Hour, 120, capcli.Seed(5).Stream("x")),
		"availability": simulate.NewAvailability(wave, 16, simulate.Following{Notice: 120, Repeat: true}),
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
		f      simulate.Following
		want   string
	}{
		{"all there", []int{3, 3, 3}, 3, simulate.Following{}, ""},
		{"more than the pool", []int{9, 3, 9}, 3, simulate.Following{}, ""},
		{"the highest go, the lowest come", []int{3, 1, 2}, 3, simulate.Following{}, "100:lose2 100:lose1 200:gain1"},
		{"not there at first", []int{1, 3}, 3, simulate.Following{Notice: 60}, "0:lose2 0:lose1 100:gain1 100:gain2"},
		{"notice", []int{2, 1}, 2, simulate.Following{Notice: 60}, "40:drain1 100:lose1"},
		{"notice longer than it was there", []int{1, 2, 1}, 2, simulate.Following{Notice: 130}, "0:lose1 100:gain1 100:drain1 200:lose1"},
		{"notices out of order", []int{2, 3, 2, 1}, 3, simulate.Following{Notice: 150}, "0:lose2 100:gain2 100:drain2 150:drain1 200:lose2 300:lose1"},
		{"from the middle", []int{0, 2, 1, 2}, 2, simulate.Following{Offset: 130, Notice: 20}, "50:drain1 70:lose1 170:gain1"},
		{"after the end", []int{0, 2, 1}, 2, simulate.Following{Offset: 1000}, "0:lose1"},
		{"over and over", []int{2, 1}, 2, simulate.Following{Repeat: true}, "100:lose1 200:gain1 300:lose1 400:gain1 500:lose1 600:gain1"},
		{"over and over, the same", []int{2, 3}, 2, simulate.Following{Repeat: true}, ""},
		{"in proportion", []int{16, 8, 3}, 4, simulate.Following{Scale: true}, "100:lose3 100:lose2 200:lose1 200:lose0"},
		{"no history", nil, 2, simulate.Following{Repeat: true}, ""},
	} {
		s := simulate.NewAvailability(simulate.Availability{Gap: 100, Counts: tt.counts}, tt.nodes, tt.f)
		if got := tell(until(s, 650)); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// The changes, applied one by one, give the history back, and each node's
// notices are where its own ups and downs say.
func TestAvailabilityFollowsTheHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := simulate.Availability{Gap: 10, Counts: rapid.SliceOfN(rapid.IntRange(0, 6), 1, 30).Draw(t, "counts")}
		nodes := rapid.IntRange(1, 7).Draw(t, "nodes")
		f := simulate.Following{Notice: capcli.Seconds(rapid.IntRange(0, 60).Draw(t, "notice")), Repeat: rapid.Bool().Draw(t, "repeat")}
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
		got := until(simulate.NewAvailability(a, nodes, f), end)
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

// A gang of 16 GPUs over two nodes loses all of them when one node goes. It had
// run 5,000 s: work of 3,600 s is in a checkpoint (each takes 60 s). With the
// node back at 6,000 s it takes 100 s to restart and does the other 6,400 s with
// one more checkpoint: the end is at 12,560 s. Another job on a third node is
// left alone.
func TestAGangOnALostNodeRestartsFromItsCheckpoint(t *testing.T) {
	jobs := []capcli.Job{
		{ID: "gang", Tenant: "a", GPUs: 16, Run: 10_000, Deadline: capcli.NoTime},
		{ID: "other", Tenant: "b", GPUs: 8, Run: 9_000, Deadline: capcli.NoTime},
	}
	supply := &script{changes: []simulate.Change{{At: 5000, Kind: simulate.Lose, Node: 1}, {At: 6000, Kind: simulate.Gain, Node: 1}}}
	var seen log
	res, err := simulate.Run(context.Background(), simulate.Config{
		Jobs: stream(jobs), Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"), Observers: []simulate.Observer{&seen},
		Pools:    []simulate.Pool{{Name: "spot", Terms: simulate.Reserved, Nodes: 3, GPUsPerNode: 8, Supply: supply}},
		Restarts: simulate.Restarts{Classes: []simulate.RestartClass{{Interval: 3600, Cost: 60, Restart: 100}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = "0 arrive gang, 0 arrive other, 0 start gang, 0 start other, 5000 preempt gang, 5000 lose, 6000 gain, 6000 start gang, 9120 finish other, 12560 finish gang"
	if got := strings.Join(seen, ", "); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	s := res.Record.Months[0].Pools[0]
	for _, tt := range []struct {
		name      string
		got, want capcli.GPUTime
	}{
		{"offered", s.Offered, 24 * 12_560},
		{"used", s.Used, 16*(5000+6560) + 8*9120},
		{"down", s.Down, 8 * 1000},
		{"blocked", s.Blocked, 8 * 1000}, // the other node of the gang, while it waits
		{"idle", s.Idle, 8 * 3440},       // the third node, after its job
		{"lost", res.Record.Months[0].Use[0][0].Lost, 16 * (5000 - 3600 + 100 + 60)},
		{"redone", res.Redone, 16*(5000-3600+100+60) + 8*120},
		{"goodput", res.Goodput, 16*10_000 + 8*9000},
	} {
		if tt.got != tt.want*capcli.GPUSecond {
			t.Errorf("%s is %d GPU-seconds, want %d", tt.name, tt.got/capcli.GPUSecond, tt.want)
		}
	}
	if err := s.Balance(); err != nil {
		t.Error(err)
	}
	if res.Jobs.Losses != 1 || res.Jobs.Preemptions != 1 {
		t.Errorf("%d losses, %d preemptions; want 1 and 1", res.Jobs.Losses, res.Jobs.Preemptions)
	}
}

// A job that was promised a node which is lost within the lead time has not
// started: its wait is to the start that came true. One for which the period
// ends first has not waited to its end either.
func TestAStartThatNeverCame(t *testing.T) {
	jobs := []capcli.Job{
		{ID: "a", Tenant: "t", GPUs: 8, Run: 1000, Deadline: capcli.NoTime},
		{ID: "b", Tenant: "t", GPUs: 8, Run: 1000, Submit: 1450, Deadline: capcli.NoTime},
	}
	var ends []string
	supply := &script{changes: []simulate.Change{{At: 50, Kind: simulate.Lose}, {At: 400, Kind: simulate.Gain}}}
	res, err := simulate.Run(context.Background(), simulate.Config{
		Start: 0, Until: 1550, Jobs: stream(jobs), Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"),
		Pools: []simulate.Pool{{Name: "spot", Terms: simulate.Spot, Nodes: 1, GPUsPerNode: 8, Lead: 100, Supply: supply}},
		Observers: []simulate.Observer{onFinish(func(l *simulate.Live) {
			ends = append(ends, fmt.Sprintf("%s %d to %d, waited %d, queued %d", l.ID, l.FirstStart, l.Ended, l.Wait(), l.Queued))
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(ends, "; "), "a 500 to 1500, waited 500, queued 500"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if w := res.Wait; w.Started != 1 || w.Jobs != 2 || w.Known(100) || w.P50 != 500 || res.Tenants[0].Wait.MeanStarted != 500 || res.Jobs.Running != 0 || res.Jobs.Starting != 1 {
		t.Errorf("%+v, waits %+v, of the tenant %+v; want 1 starting and one wait of 500", res.Jobs, res.Wait, res.Tenants[0].Wait)
	}
}

// onFinish is an observer of jobs' ends.
type onFinish func(*simulate.Live)

func (f onFinish) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind == simulate.Finish {
		f(e.Job)
	}
}

// script is a supply that says what it was told to.
type script struct{ changes []simulate.Change }

func (s *script) Next() (c simulate.Change, ok bool) {
	if len(s.changes) == 0 {
		return c, false
	}
	c, s.changes = s.changes[0], s.changes[1:]
	return c, true
}

// log notes events in words.
type log []string

func (g *log) Observe(e simulate.Event, _ *simulate.Cluster) {
	text := fmt.Sprintf("%d %s", e.At, e.Kind)
	if e.Job != nil {
		text += " " + e.Job.ID
	}
	*g = append(*g, text)
}

func BenchmarkHazard(b *testing.B) {
	s := simulate.NewHazard(100_000, capcli.Day, capcli.Hour, 120, capcli.Seed(5).Stream("x"))
	b.ReportAllocs()
	for b.Loop() {
		s.Next()
	}
}
