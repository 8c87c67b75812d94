package simulate

// Placement says where a job goes. Place appends the slices that l would take in one of the pools
// to dst, or returns dst unchanged if l does not fit. All slices are in one pool: a gang is never
// split over pools. Place changes nothing.
//
// The pools come in the order of the scenario and have equal rank. Each has room for l by its
// number of free GPUs.
type Placement interface {
	Place(c *Cluster, l *Live, pools []int, dst []Slice) []Slice
}

// Counting is a Placement that only counts GPUs: any free GPUs of a pool will do, and
// CPUs and memory do not matter.
type Counting interface {
	CountsGPUs()
}

// Drawing is a Placement that draws random numbers for each question. The engine then asks it about
// every job and caches no answer, because a cached answer would change later draws.
type Drawing interface {
	Draws()
}
