package shift_test

import (
	"testing"

	"capcli/simulate/shift"
)

// TestGAIASavings measures what each policy saves of the carbon, and what it costs and waits, relative to no
// wait: with nine reserved CPUs over four weeks of the year. The paper (figure 8) has the same policies in
// this order of savings: suspend, lowest window, carbon-time, reserved first, all jobs wait.
func TestGAIASavings(t *testing.T) {
	all := zones(t)
	jobs, mean := gaiaJobs(t)
	rows := []struct{ name, policy, choice string }{
		{"none", "carbon", "oracle"},
		{"latest, committed first", "cost", "oracle"},
		{"suspend", "suspend-resume", "oracle"},
		{"lowest-window, true length", "carbon", "oracle"},
		{"lowest-window, average", "carbon", "waiting"},
		{"carbon-time, average", "carbon", "cst_average"},
		{"lowest-window, committed first", "carbon-cost", "waiting"},
		{"carbon-time, committed first", "carbon-cost", "cst_average"},
	}
	for _, zone := range []string{"AU-NSW", "US-CAL-CISO", "SE"} {
		var carbon, dollars float64
		saved := map[string]float64{}
		for _, r := range rows {
			var kg, usd, wait, bound float64
			for _, index := range []int{500, 2600, 4700, 7000} {
				v := variant{policy: r.policy, choice: r.choice, zone: zone, waits: "6x24", index: index, reserved: 9}
				if r.name == "none" {
					v.waits = "0x0"
				}
				s := signalOf(t, &v, all)
				d := shift.NewDelayer(rulesOf(t, &v, mean, s))
				got, _ := play(t, &v, jobs, d)
				for _, x := range d.Savings() {
					kg += float64(x.Done)
					bound += float64(x.Least)
				}
				usd += got.dollars(9)
				for _, j := range jobs {
					wait += float64(int64(got.start[j.ID])-int64(j.Submit)) / hour / float64(4*len(jobs))
				}
			}
			if r.name == "none" {
				carbon, dollars = kg, usd
			}
			saved[r.name] = 1 - kg/carbon
			t.Logf("%-12s %-32s carbon %.3f dollars %.3f start later by %5.2f h (bound %.3f)", zone, r.name, kg/carbon, usd/dollars, wait, bound/carbon)
		}
		if !(saved["suspend"] >= saved["lowest-window, true length"] && saved["lowest-window, true length"] >= saved["carbon-time, average"] && saved["lowest-window, committed first"] <= saved["lowest-window, average"]) {
			t.Errorf("%s: the policies save %v, in another order than in the paper", zone, saved)
		}
	}
}
