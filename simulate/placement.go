package simulate

// Placement says where a job goes. Place appends the slices that l would take in one of
// the pools to dst, or returns dst unchanged when l does not fit. All slices are of one
// pool: a gang is never split over pools. Place changes nothing.
//
// The pools come in the order of the scenario and have equal rank. Each has at least as
// many free GPUs as l wants.
type Placement interface {
	Place(c *Cluster, l *Live, pools []int, dst []Slice) []Slice
}

// Counting is a Placement that only counts GPUs: any free GPUs of a pool will do, and
// CPUs and memory do not matter.
type Counting interface {
	CountsGPUs()
}

// Drawing is a Placement that draws random numbers for each question. The engine then
// asks it about each job anew, because a remembered answer would change later draws.
type Drawing interface {
	Draws()
}
