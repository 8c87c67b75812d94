package scenarios

import (
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
)

const campaignScenario = `capcli: scenario/v1
period: 2027-01-04 to 2027-03-31
jobs: {generate: {classes: [{name: teams, kind: steady, gpus: 8, job_gpus: 2, every: 1d}]}}
campaigns:
  - {name: next, from: 2027-01-11T06:00:00Z, gpus: 64, parameters: 3B, tokens: 60B, gpu_model: A100, mfu: 40%, piece: 1d, job_gpus: 32, runs: 2}
capacity: [{kind: on_demand, price: 3.00}]
`

// playCampaigns plays a scenario as the commands do, and returns the result and the jobs.
func playCampaigns(t *testing.T, text string, seed capcli.Seed, overrides ...string) (*simulate.Result, []capcli.Job, *Intake) {
	t.Helper()
	s, err := Parse("c.yaml", []byte(text), overrides...)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Seed: seed}
	made, _ := s.Generated(o)
	in := &Intake{}
	var jobs []capcli.Job
	for j, err := range s.AdmitPeriod(s.WithCampaigns(made, o, in), in) {
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, j)
	}
	cfg, err := s.Config(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Stages, err = simulate.NewStages(jobs); err != nil {
		t.Fatal(err)
	}
	r, err := simulate.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r, jobs, in
}

// A campaign of a scenario holds what the same campaign adds to a forecast: its GPUs for its length. Its
// jobs are in order among the others, and the bill is that of its terms.
func TestCampaignIsPlayed(t *testing.T) {
	with, jobs, in := playCampaigns(t, campaignScenario, 1)
	without, _, _ := playCampaigns(t, campaignScenario, 1, "campaigns=null")
	s, _ := Parse("c.yaml", []byte(campaignScenario))
	e := s.Campaigns[0].Event
	want := capcli.GPUTime(int64(e.Size) * int64(e.End-e.Start) * 1000)
	if got := with.Goodput - without.Goodput; got != want || in.Campaigns[0].Work != want {
		t.Errorf("the campaign holds %d thousandths of GPU-seconds, says %d, want %d", got, in.Campaigns[0].Work, want)
	}
	if !slices.IsSortedFunc(jobs, func(a, b capcli.Job) int { return int(a.Submit - b.Submit) }) {
		t.Error("jobs are out of order")
	}
	n := 0
	for _, j := range jobs {
		if j.Class == "next" {
			n++
			if j.GPUModel != "A100" || j.Tenant != "next" || j.GPUs != 32 || j.Run > capcli.Day {
				t.Errorf("job %+v", j)
			}
		}
	}
	if n != in.Campaigns[0].Jobs || n < 4 {
		t.Errorf("%d jobs, says %d", n, in.Campaigns[0].Jobs)
	}
}

// By seed a campaign happens or not, is late or not; the same seed plays the same.
func TestCampaignVariants(t *testing.T) {
	set := "campaigns[0].delays=[{by: 20d, probability: 50%}]"
	late, absent := 0, 0
	for seed := range capcli.Seed(40) {
		_, jobs, in := playCampaigns(t, campaignScenario, seed, set, "campaigns[0].probability=60%")
		c := in.Campaigns[0]
		switch {
		case !c.Happens:
			absent++
		case c.Delay > 0:
			late++
			if c.Delay != 20*capcli.Day {
				t.Errorf("late by %s", c.Delay)
			}
		}
		if some := slices.ContainsFunc(jobs, func(j capcli.Job) bool { return j.Class == "next" }); some != c.Happens {
			t.Errorf("seed %d: jobs %v, happens %v", seed, some, c.Happens)
		}
	}
	if absent < 8 || absent > 24 || late < 5 || late > 20 {
		t.Errorf("of 40 futures it is absent in %d and late in %d", absent, late)
	}
}

func TestCampaignFaultsOfAScenario(t *testing.T) {
	for change, want := range map[string]string{
		"from: 2028-01-01":           "outside the period",
		"from: 2027-01-11, kind: up": `unknown field "kind"`,
		"from: 2027-01-11, gpus: 0":  "gpus",
	} {
		text := strings.Replace(campaignScenario, "from: 2027-01-11T06:00:00Z", change, 1)
		if _, err := Parse("c.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "c.yaml:") {
			t.Errorf("%s: %v, want %q", change, err, want)
		}
	}
}
