package play

import (
	"bytes"
	"encoding/json"
	"math"
	"runtime"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/outcome"
	"capcli/testdata/golden"
)

// timelineOf plays a library scenario once with a timeline.
func timelineOf(t *testing.T, name string, sets ...string) *Run {
	t.Helper()
	text, ok := scenarios.Library(name)
	if !ok {
		t.Fatalf("no scenario %s", name)
	}
	s, err := scenarios.ParseWith(nil, name+".yaml", text, sets...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewCase(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	runs, err := Play(t.Context(), []*Case{c}, Request{Timeline: true, Lines: 40})
	if err != nil {
		t.Fatal(err)
	}
	return runs[0][0]
}

// area returns the GPU-hours under a line.
func area(t *outcome.Timeline, values []float64) float64 {
	sum := 0.0
	for i, v := range values {
		sum += v * float64(min(t.Step, t.Length-capcli.Seconds(i)*t.Step)) / 3600
	}
	return sum
}

// TestTimelineSumsToTheOutcome holds the timelines of the library's scenarios against the figures of
// their runs: weeks to the millionth of a dollar and the thousandth of a GPU-second, steps as
// exactly as means rounded to a thousandth of a GPU can be.
func TestTimelineSumsToTheOutcome(t *testing.T) {
	cases := [][]string{{"default", "capacity.base.fenced=false"}} // a pool that floats
	for i, name := range scenarios.Names() {
		if i%4 != 0 && golden.Short() {
			continue
		}
		cases = append(cases, []string{name})
	}
	for _, x := range cases {
		t.Run(strings.Join(x, " "), func(t *testing.T) {
			r := timelineOf(t, x[0], x[1:]...)
			tl := r.Timeline
			var used capcli.GPUTime
			var cost capcli.USD
			byTier := map[string]capcli.USD{}
			var length capcli.Seconds
			for i := range tl.Weeks {
				w := &tl.Weeks[i]
				length += w.Length
				var sum capcli.USD
				for k := range w.Tiers {
					used += w.Tiers[k].Used
					sum += *w.Tiers[k].Cost
					byTier[w.Tiers[k].Tier] += *w.Tiers[k].Cost
				}
				if sum != *w.Cost {
					t.Errorf("week %s: tiers cost %s, the week %s", w.Start, sum, w.Cost)
				}
				cost += *w.Cost
			}
			if length != r.Ended || used != r.Capacity.Used || cost != *r.Cost.Total {
				t.Errorf("weeks have %d s, %d used, %s; the run %d s, %d used, %s", length, used, cost.Decimal(), r.Ended, r.Capacity.Used, r.Cost.Total.Decimal())
			}
			for tier, want := range r.Cost.ByTier {
				if byTier[tier] != want {
					t.Errorf("%s: weeks cost %s, the run %s", tier, byTier[tier].Decimal(), want.Decimal())
				}
			}
			near := func(what string, got float64, want capcli.GPUTime) {
				hours := float64(want) / 3.6e6
				if math.Abs(got-hours) > 0.0005*float64(r.Ended)/3600+1e-6*hours {
					t.Errorf("%s: steps sum to %v GPU-hours, the run has %v", what, got, hours)
				}
			}
			near("idle", area(tl, tl.Idle), r.Capacity.StrandedIdle-r.Invoice.Uncovered())
			near("blocked", area(tl, tl.Blocked), r.Capacity.StrandedBlock)
			near("down", area(tl, tl.Down), r.Capacity.StrandedDown)
			all := 0.0
			for i := range tl.Tiers {
				all += area(tl, tl.Tiers[i].Used)
			}
			if math.Abs(all-float64(r.Capacity.Used)/3.6e6) > 0.002*float64(r.Ended)/3600 {
				t.Errorf("tiers used %v GPU-hours, the run %v", all, r.Capacity.Used)
			}
			if mean := area(tl, tl.Waiting) * 3600 / float64(r.Ended); r.Queue.Mean > 0 && math.Abs(mean-r.Queue.Mean) > 0.01*r.Queue.Mean+0.01 {
				t.Errorf("mean queue %v, the run says %v", mean, r.Queue.Mean)
			}
			most := int64(0)
			for _, p := range tl.WaitingPeak {
				most = max(most, p)
			}
			if most != r.Queue.Max {
				t.Errorf("at most %d jobs wait, the run says %d", most, r.Queue.Max)
			}
			if n := len(tl.Demand); n > 400 || n < 60 {
				t.Errorf("%d steps", n)
			}
		})
	}
}

// TestTimelineChangesNoFigure plays a scenario with commitments beside its pools, with a timeline
// and without, on one core and on four.
func TestTimelineChangesNoFigure(t *testing.T) {
	text := []byte(`capcli: scenario/v1
name: plans
period: 2027-01-11 to 2027-03-20
jobs: {generate: {classes: [{name: a, jobs_per_day: 60, sizes: [{gpus: 1, weight: 1}, {gpus: 8, weight: 1}], run_median: 3h}]}}
capacity:
  - {name: own, kind: owned, gpus: 16, price: 1.10}
  - {name: od, kind: on_demand, gpu_model: A100, max_gpus: 64, price: 3.90, min_billing: 10m}
  - {name: cheap, kind: spot, gpus: 16, price: 1.60, price_path: [{from: 2027-02-03, price: 1.20}]}
commitments:
  - {id: plan, product: savings_plan, from: 2027-01-01, term: 1y, commit: 12.50, payment: none, rates: [{gpu_model: A100, discount: 28%}]}
`)
	var want, figures []byte
	for _, cores := range []int{1, 4} {
		old := runtime.GOMAXPROCS(cores)
		for _, on := range []bool{true, false} {
			s, err := scenarios.Parse("plans.yaml", text)
			if err != nil {
				runtime.GOMAXPROCS(old)
				t.Fatal(err)
			}
			c, err := NewCase(s, Options{})
			if err != nil {
				t.Fatal(err)
			}
			all, err := Play(t.Context(), []*Case{c}, Request{Runs: 3, Timeline: on})
			if err != nil {
				t.Fatal(err)
			}
			if all[0][1].Timeline != nil {
				t.Error("the second run has a timeline")
			}
			o := all[0][0].Outcome
			if on {
				var sum capcli.USD
				for _, w := range o.Timeline.Weeks {
					sum += *w.Cost
				}
				if sum != *o.Cost.Total || o.Timeline.Weeks[1].Tiers[1].Cost == nil || len(o.Timeline.Weeks) != 10 {
					t.Errorf("%d weeks cost %s, the run %s", len(o.Timeline.Weeks), sum.Decimal(), o.Cost.Total.Decimal())
				}
			}
			if on && cores == 4 {
				b, err := json.Marshal(o.Timeline)
				if err != nil || !bytes.Equal(b, want) {
					t.Errorf("the timeline differs on %d cores: %v", cores, err)
				}
			} else if on {
				want, _ = json.Marshal(o.Timeline)
			}
			o.Timeline = nil
			got, _ := json.Marshal(o)
			if figures == nil {
				figures = got
			} else if !bytes.Equal(got, figures) {
				t.Error("the timeline changed a figure")
			}
		}
		runtime.GOMAXPROCS(old)
	}
}

// TestJobLines follows the jobs of a day on eight GPUs: spells follow one another from submission on,
// runs sum to the GPU time used, and more jobs than asked for are left out.
func TestJobLines(t *testing.T) {
	for _, most := range []int{5, 400} {
		s, err := scenarios.Parse("day.yaml", []byte(`capcli: scenario/v1
name: day
period: 2027-01-01 to 2027-01-01
jobs: {generate: {classes: [{name: a, jobs_per_day: 60, sizes: [{gpus: 1, weight: 1}, {gpus: 8, weight: 1}, {gpus: 16, weight: 0.2}], run_median: 1h}]}}
capacity:
  - {name: own, kind: owned, gpus: 8, price: 1}
  - {name: cheap, kind: spot, nodes: 1, gpus_per_node: 8, price: 1, hazard: {mean_up: 2h, mean_down: 10m, notice: 0s}}
`))
		if err != nil {
			t.Fatal(err)
		}
		c, err := NewCase(s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		all, err := Play(t.Context(), []*Case{c}, Request{Timeline: true, Lines: most})
		if err != nil {
			t.Fatal(err)
		}
		r := all[0][0]
		if most == 5 {
			if r.Timeline.Jobs != nil {
				t.Errorf("%d jobs are followed, want none over 5", len(r.Timeline.Jobs))
			}
			continue
		}
		if int64(len(r.Timeline.Jobs)) != r.Jobs.Read || r.Jobs.Preemptions == 0 || r.Jobs.Unplaceable == 0 {
			t.Fatalf("%d jobs of %+v", len(r.Timeline.Jobs), r.Jobs)
		}
		used, preempted, endings := 0.0, int64(0), map[outcome.JobEnding]int64{}
		for i := range r.Timeline.Jobs {
			j := &r.Timeline.Jobs[i]
			endings[j.State]++
			at := j.Submit
			for _, s := range j.Spells {
				if s.From != at || s.To < s.From || (s.State == outcome.SpellWaiting) != (s.Pool == "") {
					t.Errorf("job %s: %+v", j.ID, j.Spells)
				}
				if at = s.To; s.Pool != "" {
					used += j.GPUs * float64(s.To-s.From)
				}
				if s.State == outcome.SpellPreempted {
					preempted++
				}
			}
		}
		if int64(used*1000) != int64(r.Capacity.Used) || preempted != r.Jobs.Preemptions {
			t.Errorf("spells use %v and %d were preempted; the run used %d, and %d were", used*1000, preempted, r.Capacity.Used, r.Jobs.Preemptions)
		}
		if endings[outcome.JobFinished] != r.Jobs.Finished || endings[outcome.JobRunning] != r.Jobs.Running || endings[outcome.JobWaiting] != r.Jobs.Waiting || endings[outcome.JobUnplaceable] != r.Jobs.Unplaceable {
			t.Errorf("endings %v, the run has %+v", endings, r.Jobs)
		}
	}
}
