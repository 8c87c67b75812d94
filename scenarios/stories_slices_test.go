package scenarios

import (
	"fmt"
	"testing"
)

// fewestGPUs returns the fewest GPUs, in nodes of four, on which a story's waits at the 95th percentile are
// within five minutes, and the share of GPU time in use and stranded in slices there.
func fewestGPUs(t *testing.T, name string, seed int, from int) (gpus int, used, stranded float64) {
	t.Helper()
	for nodes := from; nodes < 60; nodes++ {
		x := play(t, name, seedSet(seed), fmt.Sprintf("capacity[0].nodes=%d", nodes))
		if x.r.Wait.P95 > 300 {
			continue
		}
		all := x.inv.Total.Time
		for _, u := range x.r.MIG {
			stranded += float64(u.Stranded) / float64(u.Compute) / 3600 / all.Offered.Hours()
		}
		return 4 * nodes, all.Used.Hours() / all.Offered.Hours(), stranded
	}
	t.Fatalf("%s: no number of nodes is enough", name)
	return 0, 0, 0
}

// MIG for notebooks: the claim is a seventh of the GPUs. Beside jobs that take half a GPU it is a quarter, at
// the same limit on waits, and a few percent of the compute slices are stranded.
func TestNotebooksOnSlices(t *testing.T) {
	var cut, whole, used, usedWhole, stranded float64
	for seed := range storySeeds {
		c, u, s := fewestGPUs(t, "notebooks-mig", seed, 3)
		w, v, none := fewestGPUs(t, "notebooks-whole", seed, 12)
		if none != 0 {
			t.Errorf("seed %d: slices are stranded on whole GPUs", seed+1)
		}
		t.Logf("seed %d: %d divided GPUs, %.3f used, %.3f stranded; %d whole GPUs, %.3f used", seed+1, c, u, s, w, v)
		cut, whole = cut+float64(c)/storySeeds, whole+float64(w)/storySeeds
		used, usedWhole, stranded = used+u/storySeeds, usedWhole+v/storySeeds, stranded+s/storySeeds
	}
	checkNear(t, "divided GPUs", cut, 20, 1)
	checkNear(t, "whole GPUs", whole, 77.5, 2)
	checkNear(t, "GPUs, divided against whole", cut/whole, 0.258, 0.015)
	checkNear(t, "GPU time in use, divided", used, 0.383, 0.01)
	checkNear(t, "GPU time in use, whole", usedWhole, 0.489, 0.015)
	checkNear(t, "compute slices stranded", stranded, 0.0275, 0.005)
}
