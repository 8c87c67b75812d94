package scenarios

import (
	"testing"

	"capcli/testdata/golden"
)

// H100s and A100s for language and vision models: a scheduler that knows how fast jobs are on each, against
// one that does not. The claim is completion times up to 3.5 times shorter.
func TestH100OrA100(t *testing.T) {
	golden.SkipLong(t)
	const light, heavy = "jobs.generate.classes[0].mean_gpus=60", "jobs.generate.classes[0].mean_gpus=125"
	ratio := map[string]float64{}
	for _, load := range []string{light, "", heavy} {
		aware, agnostic := 0.0, 0.0
		for seed := range ruleSeeds {
			sets := []string{seedSet(seed)}
			if load != "" {
				sets = append(sets, load)
			}
			a, b := play(t, "h100-or-a100", sets...), play(t, "h100-or-a100", append(sets, "policy.agnostic=true")...)
			if a.r.MeanJCT >= b.r.MeanJCT {
				t.Errorf("seed %d, %s: %.0f s where models are known, %.0f s where they are not", seed+1, load, a.r.MeanJCT, b.r.MeanJCT)
			}
			if share := a.r.Served.UnservedShare(); share > 0.01 {
				t.Errorf("seed %d, %s: %.4f of the work is left undone where models are known", seed+1, load, share)
			}
			aware, agnostic = aware+a.r.MeanJCT, agnostic+b.r.MeanJCT
		}
		ratio[load] = agnostic / aware
	}
	t.Log(ratio)
	checkNear(t, "ratio of completion times, light load", ratio[light], 1.05, 0.01)
	checkNear(t, "ratio of completion times", ratio[""], 1.23, 0.03)
	checkNear(t, "ratio of completion times, where only one keeps up", ratio[heavy], 2, 0.1)
}
