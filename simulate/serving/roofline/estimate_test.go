package roofline

import (
	"errors"
	"strings"
	"testing"

	"capcli"
	"capcli/testdata/golden"
)

// bandwidths are bytes a second of the memory of a GPU, of its data sheet.
var bandwidths = map[string]float64{"a100_sxm": 2.04e12, "h100_sxm": 3.35e12, "h200_sxm": 4.8e12, "b200_sxm": 8e12, "l40s": 0.864e12}

// TestEveryModelOnEveryGPU holds the time of each known model against physics: a step of one sequence reads
// all weights, at no more than the bandwidth of the memory and at no less than a fifth of it, a batch takes
// longer than one sequence and less than as many alone, and a longer prompt takes longer.
func TestEveryModelOnEveryGPU(t *testing.T) {
	known := 0
	for _, m := range Models.All() {
		for i, g := range GPUs.All() {
			if golden.Short() && i%4 != 0 {
				continue
			}
			for _, tp := range []int64{1, 2, 4, 8} {
				for _, w := range []string{"bf16", "fp8"} {
					r := Defaults
					r.Model, r.GPU, r.GPUs, r.Weights = m.Value, g.Value, tp, w
					e, err := r.Estimate()
					if err != nil {
						var asked *capcli.RequestError
						if !errors.As(err, &asked) {
							t.Errorf("%s on %d %s, %s: %v", m.Name, tp, g.Name, w, err)
						}
						continue
					}
					known++
					checkEstimate(t, e)
				}
			}
		}
	}
	if known < golden.Draws(400) {
		t.Errorf("%d estimates", known)
	}
}

func checkEstimate(t *testing.T, e *Estimate) {
	t.Helper()
	what := strings.Join([]string{e.Model.Name, e.GPU.Name, e.Weights}, " ")
	one := float64(e.Time.Picoseconds(1, 1, 1000, 0)) / 1e12
	floor := float64(e.Memory.WeightBytes) / bandwidths[e.GPU.Name]
	overhead := 40e-6 * float64(e.Model.Layers) * float64(1+min(1, e.GPUs-1)) // launches and all-reduces of a layer
	if one < 0.8*floor || one > 5*floor+overhead {
		t.Errorf("%s, %d GPUs: a step takes %.2f ms; reading the weights takes %.2f ms", what, e.GPUs, one*1e3, floor*1e3)
	}
	many := float64(e.Time.Picoseconds(64, 64, 64_000, 0)) / 1e12
	if many < one || many > 64*one {
		t.Errorf("%s, %d GPUs: 64 sequences take %.2f ms, one %.2f", what, e.GPUs, many*1e3, one*1e3)
	}
	short, long := e.Time.Picoseconds(2048, 1, 0, 2048*2049/2), e.Time.Picoseconds(8192, 1, 0, 8192*8193/2)
	if long < 2*short || long > 20*short {
		t.Errorf("%s, %d GPUs: prompts of 2048 and 8192 tokens take %d and %d ps", what, e.GPUs, short, long)
	}
	if len(e.Time.Lin) < 1 || len(e.Time.Lin) > 3 {
		t.Errorf("%s: %d lines", what, len(e.Time.Lin))
	}
}

// TestEstimateIsRemembered holds that the second estimate is that of the first, and not composed again.
func TestEstimateIsRemembered(t *testing.T) {
	q := DefaultQuestion()
	q.Model, q.GPU = "yi-34b", "H200"
	first, err := q.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	want := first.Time.Picoseconds(64, 64, 64_000, 0)
	first.Time.Lin[0] = [2]int64{1, 1} // of the caller alone
	perRun := testing.AllocsPerRun(10, func() {
		again, err := q.Estimate()
		if err != nil || again.Time.Picoseconds(64, 64, 64_000, 0) != want {
			t.Fatal("the second estimate differs")
		}
	})
	if perRun > 200 {
		t.Errorf("an estimate that is known allocates %v times", perRun)
	}
}
