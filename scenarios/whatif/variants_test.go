package whatif_test

import (
	"strings"
	"testing"

	"capcli"
	figures "capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/scenarios/whatif"
)

// changeOf returns the difference of a metric between a plan of a comparison and the first.
func changeOf(t *testing.T, c *figures.Comparison, plan int, metric string) float64 {
	t.Helper()
	for _, f := range c.Figures {
		if f.Metric == figures.MetricNamed(metric) {
			return f.Changes[plan].Mean.Value
		}
	}
	t.Fatalf("no figure %s", metric)
	return 0
}

// The story input-kept-up: training that waits for input 40 % of its time becomes 1.5 times as fast. The
// work falls to two thirds. A fifth of the month's bill is saved, and a part of the reserved GPUs stands
// idle, which no saving counts.
func TestInputKeptUp(t *testing.T) {
	t.Parallel()
	for seed := range capcli.Seed(8) {
		seed++
		c, runs, err := whatif.Worth(t.Context(), &play.Maker{}, play.Question{Scenario: "input-kept-up", Seed: &seed}, []string{whatif.SpeedWord}, play.Request{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(c.Plans, ", "); got != "without, input fixed, evaluation compiled, all together" {
			t.Fatalf("plans %s", got)
		}
		was := *c.Figures[0].Mean[0]
		if saved := -changeOf(t, c, 3, "cost"); saved < 0.18*was || saved > 0.25*was {
			t.Errorf("seed %d: $%.0f of $%.0f saved, want 18 to 25 %%", seed, saved, was)
		}
		if alone, both := -changeOf(t, c, 1, "cost"), -changeOf(t, c, 3, "cost"); alone < 0.85*both || alone > both {
			t.Errorf("seed %d: the input alone saves $%.0f of $%.0f, want 85 %% or more", seed, alone, both)
		}
		if wait := changeOf(t, c, 3, "wait_mean"); wait > -4*60 {
			t.Errorf("seed %d: the mean wait changes by %.0f s, want 4 min less or more", seed, wait)
		}
		if idle := changeOf(t, c, 3, "stranded_usd"); idle < 9_000 || idle > 17_000 {
			t.Errorf("seed %d: $%.0f more of the reserved GPUs stands idle, want $9k to $17k", seed, idle)
		}
		vision := runs[1][0].Speed[0]
		if want := float64(vision.Before) * 2 / 3; vision.Jobs < 500 || float64(vision.After) < want || float64(vision.After) > want*1.0005 {
			t.Errorf("seed %d: the work goes from %d to %d, want two thirds", seed, vision.Before, vision.After)
		}
	}
}

func TestVariants(t *testing.T) {
	s := parse(t, "input-kept-up")
	tests := []struct {
		asked []string
		want  string // names and overrides, or the error
	}{
		{[]string{"speed"}, "without: speed[0].off=true speed[1].off=true; input fixed: speed[1].off=true; evaluation compiled: speed[0].off=true; all together: "},
		{[]string{"policy=fifo"}, "as it is: ; policy=fifo: policy=fifo"},
		{[]string{"seed=3", "policy=fifo"}, "as it is: ; seed=3: seed=3; policy=fifo: policy=fifo; all together: seed=3 policy=fifo"},
		{[]string{"policy=sjf", "policy=fifo"}, "as it is: ; policy=sjf: policy=sjf; policy=fifo: policy=fifo"},
		{[]string{"policy"}, "a change is path=value"},
		{[]string{"policy=fifo", "policy=fifo"}, "twice"},
		{[]string{"speed", "policy=fifo"}, "goes alone"},
	}
	for _, tt := range tests {
		list, err := whatif.Variants(s, tt.asked)
		if err != nil {
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%q: %v, want %q", tt.asked, err, tt.want)
			}
			continue
		}
		var got []string
		for _, v := range list {
			got = append(got, v.Name+": "+strings.Join(v.Sets, " "))
		}
		if text := strings.Join(got, "; "); text != tt.want {
			t.Errorf("%q: %s, want %s", tt.asked, text, tt.want)
		}
	}
	if _, err := whatif.Variants(parse(t, "default"), []string{"speed"}); err == nil || !strings.Contains(err.Error(), "no speed block") {
		t.Errorf("a scenario without a speed block: %v", err)
	}
}
