package heat

import (
	"capcli"
	"capcli/profile"
)

// Measure is a quantity that a heatmap shows.
type Measure struct {
	Title string  // for people
	Unit  string  // "%", "W", "GPU-hours" or "USD"
	Top   float64 // top of the scale; 0 is the highest value
	Adds  bool    // values of several hours and devices are added, not averaged
	// of returns what a Use adds to a cell: the value is sum / weight, or sum where Adds is set.
	of func(u *profile.Use) (sum, weight float64)
}

// Measures are the measures by name.
var Measures = capcli.Catalog[Measure]{Kind: "measure"}

// PricedMeasure is the measure that needs the price of a GPU-hour.
const PricedMeasure = "idle-dollars"

const powerMeasure = "power"

func init() {
	spread := func(of func(u *profile.Use) *profile.Distribution) func(u *profile.Use) (sum, weight float64) {
		return func(u *profile.Use) (sum, weight float64) {
			d := of(u)
			return d.Sum.Float() / 8, float64(d.Micros)
		}
	}
	idle := func(u *profile.Use) (sum, weight float64) { return float64(u.Idle) / 3.6e9, float64(u.Seen) }
	Measures.Add("use", "share of time in which a kernel ran", Measure{"busy", "%", 100, false, spread(func(u *profile.Use) *profile.Distribution { return &u.Util })})
	Measures.Add("sm", "SM activity", Measure{"SM active", "%", 100, false, spread(func(u *profile.Use) *profile.Distribution { return &u.SM })})
	Measures.Add("tensor", "activity of tensor cores", Measure{"tensor active", "%", 100, false, spread(func(u *profile.Use) *profile.Distribution { return &u.Tensor })})
	Measures.Add("memory", "share of the memory in use", Measure{"memory used", "%", 100, false, spread(func(u *profile.Use) *profile.Distribution { return &u.Memory })})
	Measures.Add(powerMeasure, "power of a GPU", Measure{"power of a GPU", "W", 0, false, spread(func(u *profile.Use) *profile.Distribution { return &u.Watts })})
	Measures.Add("held", "share of time in which a process held the GPU", Measure{"held", "%", 100, false, func(u *profile.Use) (sum, weight float64) {
		return 100 * float64(u.Held), float64(u.Seen)
	}})
	Measures.Add("idle", "GPU-hours that were held and idle", Measure{"held and idle", "GPU-hours", 0, true, idle})
	Measures.Add(PricedMeasure, "dollars for GPU-hours that were held and idle; needs a price", Measure{"held and idle", "USD", 0, true, idle})
}

// By is what a row of a heatmap is.
type By string

// Bys are the kinds of rows by name.
var Bys = capcli.Catalog[By]{Kind: "kind of row"}

func init() {
	Bys.Add("host", "a row for each box", "host")
	Bys.Add("gpu", "a row for each GPU or MIG instance", "gpu")
	Bys.Add("job", "a row for each job, on all of its GPUs", "job")
	Bys.Add("tenant", "a row for each tenant, on all GPUs that its jobs held", "tenant")
}
