package outcome

import (
	"slices"

	"capcli"
	"capcli/simulate"
)

// Slices is the use of the instances of one MIG profile in a pool of divided GPUs; of the row without a
// profile, the slices that were stranded.
type Slices struct {
	Pool          string         `json:"pool"`
	Profile       string         `json:"profile"` // "" is the slices that no instance could take
	Starts        int64          `json:"starts"`
	InstanceHours float64        `json:"instance_hours"`
	GPUHours      capcli.GPUTime `json:"gpu_hours"` // by compute slices
	Changes       int64          `json:"layout_changes"`
	Paused        capcli.GPUTime `json:"layout_change_gpu_hours"` // held by jobs while their GPU changed its layout
}

// SlicesOf returns the use of divided GPUs in a run, by pool and profile, with a last row of each pool for
// what was stranded; nil if no pool has MIG.
func SlicesOf(res *simulate.Result) (out []Slices) {
	for i := range res.MIG {
		u := &res.MIG[i]
		name := res.Record.Pools[u.Pool].Name
		for _, p := range u.Profiles {
			out = append(out, Slices{Pool: name, Profile: p.Profile, Starts: p.Starts, InstanceHours: float64(p.Held) / 3600, GPUHours: gpuTime(p.Compute, u.Compute)})
		}
		out = append(out, Slices{Pool: name, GPUHours: gpuTime(u.Stranded, u.Compute), Changes: u.Changes, Paused: u.Paused})
	}
	return out
}

// UsedSlices returns the rows that are not empty in one of several runs, side by side.
func UsedSlices(rows [][]*Slices) [][]*Slices {
	return slices.DeleteFunc(rows, func(row []*Slices) bool {
		return !slices.ContainsFunc(row, func(s *Slices) bool { return s.Profile == "" || s.Starts > 0 })
	})
}

// gpuTime returns compute-slice seconds as GPU time of GPUs with so many compute slices.
func gpuTime(seconds int64, slices int) capcli.GPUTime {
	return capcli.GPUTime(seconds * 1000 / int64(slices))
}

// strandedSlices returns the GPU-hours of slices that no instance could take; nil without divided GPUs.
func strandedSlices(o *Outcome) *float64 {
	if len(o.Slices) == 0 {
		return nil
	}
	var sum float64
	for i := range o.Slices {
		if o.Slices[i].Profile == "" {
			sum += o.Slices[i].GPUHours.Hours()
		}
	}
	return &sum
}
