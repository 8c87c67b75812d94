package scenarios

import (
	"testing"

	"capcli"
	"capcli/simulate"
)

// 64 GPUs for 8 h and 16 for 32 h are the same GPU-hours. The deadline sends releases wide to on-demand, the
// price sends research narrow to what is reserved; nothing is late, and it costs a third less than as asked.
func TestWidthByPriceAndDeadline(t *testing.T) {
	t.Parallel()
	for seed := range storySeeds {
		asked := play(t, "width-by-price", seedSet(seed), "widths=asked")
		cheap := play(t, "width-by-price", seedSet(seed))
		narrow := play(t, "width-by-price", seedSet(seed), "shapes[0].scaling.times={16: 32h, 64: 8h}", "widths=narrowest", "jobs.generate.classes[0].slack=5")
		if c := asked.r.Jobs; c.Misses != 0 || cheap.r.Jobs.Misses != 0 {
			t.Errorf("seed %d: %d jobs were late as asked, %d when the cheapest way was taken", seed+1, c.Misses, cheap.r.Jobs.Misses)
		}
		if saved := 1 - float64(cheap.cost())/float64(asked.cost()); saved < 0.33 || saved > 0.39 {
			t.Errorf("seed %d: the cheapest ways save %.1f %%", seed+1, 100*saved)
		}
		wide, thin := useOf(cheap.r, 64), useOf(cheap.r, 16)
		if wide.Starts == 0 || thin.Starts == 0 || wide.Starts+thin.Starts != asked.r.Ways[0].Starts {
			t.Errorf("seed %d: %d jobs ran on 64 GPUs and %d on 16; as asked %d", seed+1, wide.Starts, thin.Starts, asked.r.Ways[0].Starts)
		}
		if n := useOf(narrow.r, 64).Starts; n != 0 {
			t.Errorf("seed %d: %d jobs run wide although no deadline wants it", seed+1, n)
		}
	}
}

// useOf returns what the ways on a number of GPUs did.
func useOf(r *simulate.Result, gpus int) (sum simulate.WayUse) {
	for _, w := range r.Ways {
		if w.GPUs == gpus {
			sum.Starts += w.Starts
			sum.Held += w.Held
		}
	}
	return sum
}

// cost returns what the run cost.
func (x played) cost() capcli.USD { return x.inv.Total.Cost }
