package simulate

import (
	"strings"

	"capcli"
)

// MIG says how the GPUs of a pool are divided into instances (NVIDIA Multi-Instance GPU).
type MIG struct {
	Table   string         // GPU model in the table of profiles, such as A100-80GB
	Layout  []string       // profiles of every GPU, if they are fixed; nil makes instances as jobs ask for them
	Driver  bool           // instances go where drivers put them by their documented order, not to the lowest start
	Reslice capcli.Seconds // time that a GPU without instances takes to change its layout
}

// Sharing says what jobs lose that share a GPU (MPS or time slicing).
type Sharing struct {
	Most     int     // most jobs on one GPU; 0 is as many as fit
	Num, Den []int64 // factor on the run time with 1, 2, 3 … jobs on the GPU; the last holds for more
}

// Domain is a level of a pool's topology, such as rack. Each domain is consecutive nodes, all within one
// domain of the level above.
type Domain struct {
	Level  string
	Nodes  int     // nodes of one domain; the last may have fewer
	Starts []int32 // first nodes of the domains, ascending from 0, where they differ in size; nil is each Nodes
}

// Place is where a pool is. The parts go from wide to narrow.
type Place struct {
	Provider, Region, Zone string
}

// String returns provider/region/zone, as far as it is known.
func (p Place) String() string {
	parts := []string{p.Provider, p.Region, p.Zone}
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, "/")
}
