package shift

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"capcli"
	"capcli/simulate"

	"pgregory.net/rapid"
)

// drawSignal draws a signal of steps of one to five seconds.
func drawSignal(t *rapid.T) *Signal {
	var steps []Step
	at := capcli.Time(rapid.IntRange(0, 50).Draw(t, "start"))
	for range rapid.IntRange(1, 12).Draw(t, "steps") {
		steps = append(steps, Step{at, int64(rapid.IntRange(0, 4).Draw(t, "value"))})
		at += capcli.Time(rapid.IntRange(1, 5).Draw(t, "length"))
	}
	s, err := NewSignal(steps, at+40)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func drawAsk(t *rapid.T, s *Signal) Ask {
	return Ask{
		At: s.starts[0] + capcli.Time(rapid.IntRange(0, 6).Draw(t, "at")), Run: capcli.Seconds(rapid.IntRange(1, 12).Draw(t, "run")),
		Most: capcli.Seconds(rapid.IntRange(0, 20).Draw(t, "most")), Step: capcli.Seconds(rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "step")),
	}
}

// second returns the value of one second, by looking through all steps.
func second(s *Signal, t capcli.Time) int64 {
	v := s.values[0]
	for i, from := range s.starts {
		if from <= t {
			v = s.values[i]
		}
	}
	return v
}

// slow is the cost of a run, second by second.
func slow(s *Signal, from capcli.Time, run capcli.Seconds) (sum int64) {
	for k := range run {
		sum += second(s, from+capcli.Time(k))
	}
	return sum
}

// TestStarts compares each policy that chooses one start with a search of all starts, second by second,
// or each Step.
func TestStarts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSignal(t)
		a := drawAsk(t, s)
		every := max(1, a.Step)
		window, ratio := capcli.Seconds(0), capcli.Seconds(0)
		now := slow(s, a.At, a.Run)
		share := func(x capcli.Seconds) *big.Rat {
			return big.NewRat(now-slow(s, a.At+capcli.Time(x), a.Run), int64(x+a.Run))
		}
		for x := capcli.Seconds(0); x <= a.Most; x++ {
			if x%every != 0 {
				continue
			}
			if slow(s, a.At+capcli.Time(x), a.Run) < slow(s, a.At+capcli.Time(window), a.Run) {
				window = x
			}
			if share(x).Cmp(share(ratio)) > 0 {
				ratio = x
			}
		}
		for name, want := range map[string]capcli.Seconds{"none": 0, "lowest-window": window, "carbon-time": ratio} {
			policy, err := Policies.Get(name)
			if err != nil {
				t.Fatal(err)
			}
			if got := policy(s, a); len(got) != 1 || got[0].From != want || got[0].To != want+a.Run {
				t.Fatalf("%s of %+v over %v %v: got %v, want a start at %d", name, a, s.starts, s.values, got, want)
			}
		}
	})
}

// TestSuspended compares the plans with pauses with a search second by second. No set of seconds
// within the slack costs less than that of suspend.
func TestSuspended(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSignal(t)
		a := drawAsk(t, s)
		horizon := a.Run + a.Most
		order := make([]capcli.Seconds, horizon)
		for k := range order {
			order[k] = capcli.Seconds(k)
		}
		slices.SortStableFunc(order, func(x, y capcli.Seconds) int {
			return int(second(s, a.At+capcli.Time(x)) - second(s, a.At+capcli.Time(y)))
		})
		chosen := order[:a.Run]
		slices.Sort(chosen)
		check(t, "suspend", cheapestSeconds(s, a), chosen)
	})
}

// check compares a plan with the seconds in which a job runs.
func check(t *rapid.T, name string, plan []simulate.Part, want []capcli.Seconds) {
	var got []capcli.Seconds
	for i, p := range plan {
		if i > 0 && p.From <= plan[i-1].To {
			t.Fatalf("%s: part %v touches the one before it", name, plan)
		}
		for k := p.From; k < p.To; k++ {
			got = append(got, k)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%s: the job runs in seconds %v, want %v", name, got, want)
	}
}

// TestBound: with no policy does a job cost less than with the cheapest seconds of its slack.
func TestBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSignal(t)
		a := drawAsk(t, s)
		least := CostOf(s, a.At, cheapestSeconds(s, a))
		for _, p := range Policies.All() {
			if got := CostOf(s, a.At, p.Value(s, a)); got < least {
				t.Fatalf("%s costs %d, below the bound %d", p.Name, got, least)
			}
		}
	})
}

// TestUnknown: a start whose run would end after the signal is known is not chosen.
func TestUnknown(t *testing.T) {
	s, err := NewSignal([]Step{{0, 9}, {10, 1}}, 15)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range Policies.All() {
		plan := p.Value(s, Ask{At: 0, Run: 8, Most: 100})
		if plan[len(plan)-1].To > 15 && plan[0].From > 10 {
			t.Errorf("%s: %v runs when the signal is not known", p.Name, plan)
		}
	}
	if got := lowestWindow(s, Ask{Run: 8, Most: 100}); got[0].From != 7 {
		t.Errorf("the last start whose run is known costs least: got %v, want 7", got)
	}
}

// TestReadSignal: steps that are read as they are needed give the same sums.
func TestReadSignal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var steps []Step
	for h := range 50 {
		steps = append(steps, Step{capcli.Time(h) * 3600, int64(r.IntN(900_000))})
	}
	all, err := NewSignal(steps, 50*3600)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	read := ReadSignal(func(at capcli.Time) (int64, capcli.Time, bool) {
		asked++
		h := int(at / 3600)
		if h >= len(steps) {
			return 0, 0, false
		}
		return steps[h].Value, steps[h].From + 3600, true
	})
	if got, want := read.Sum(1000, 5000), all.Sum(1000, 5000); got != want || asked != 2 {
		t.Errorf("got %d after %d steps, want %d after 2", got, asked, want)
	}
	if got, want := read.Sum(100, 50*3600), all.Sum(100, 50*3600); got != want {
		t.Errorf("got %d, want %d", got, want)
	}
	if got := read.KnownUntil(100 * 3600); got != 50*3600 {
		t.Errorf("known until %d, want %d", got, 50*3600)
	}
}

func TestBadSignals(t *testing.T) {
	for _, steps := range [][]Step{nil, {{0, -1}}, {{0, Dearest + 1}}, {{5, 1}, {5, 2}}, {{5, 1}, {4, 2}}, {{200, 1}}} {
		if _, err := NewSignal(steps, 100); err == nil {
			t.Errorf("%v: want an error", steps)
		}
	}
}

func ExamplePolicy() {
	night, _ := NewSignal([]Step{{0, 400}, {6 * 3600, 100}, {8 * 3600, 500}, {9 * 3600, 200}}, 24*3600)
	ask := Ask{At: 0, Run: 4 * capcli.Hour, Most: 8 * capcli.Hour}
	for _, name := range []string{"none", "lowest-window", "carbon-time", "suspend"} {
		policy, _ := Policies.Get(name)
		plan := policy(night, ask)
		fmt.Println(name, plan, CostOf(night, ask.At, plan)/3600)
	}
	// Output:
	// none [{0 s 4h00m}] 1600
	// lowest-window [{6h00m 10h00m}] 900
	// carbon-time [{4h00m 8h00m}] 1000
	// suspend [{6h00m 8h00m} {9h00m 11h00m}] 600
}
