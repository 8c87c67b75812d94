package outcome

import (
	"slices"

	"capcli/simulate"
)

// Way is what the jobs of one shape did on one number of GPUs of one model.
type Way struct {
	simulate.WayUse
	PerHour *float64 `json:"work_per_gpu_hour"` // work done in a GPU-hour held; nil if none was held
}

// WaysOf returns what the ways of shapes did.
func WaysOf(list []simulate.WayUse) (out []Way) {
	for _, u := range list {
		out = append(out, wayOf(u))
	}
	return out
}

func wayOf(u simulate.WayUse) Way {
	w := Way{WayUse: u}
	if u.Held > 0 {
		v := u.WorkPerGPUHour()
		w.PerHour = &v
	}
	return w
}

// WaysOfRuns returns the ways that some run took, by shape, model and GPUs, with one row for each run: zeros
// where a run did not take it.
func WaysOfRuns(runs [][]Way) (out [][]*Way) {
	type key struct {
		shape, model string
		gpus         int
	}
	at := map[key]int{}
	for r, list := range runs {
		for i := range list {
			w := &list[i]
			k := key{w.Shape, w.GPUModel, w.GPUs}
			row, have := at[k]
			if !have {
				row = len(out)
				at[k] = row
				out = append(out, make([]*Way, len(runs)))
			}
			out[row][r] = w
		}
	}
	for _, row := range out {
		first := row[slices.IndexFunc(row, func(w *Way) bool { return w != nil })]
		for r := range row {
			if row[r] == nil {
				row[r] = &Way{WayUse: simulate.WayUse{Shape: first.Shape, GPUModel: first.GPUModel, GPUs: first.GPUs}}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b []*Way) int { return a[0].Compare(&b[0].WayUse) })
	return out
}
