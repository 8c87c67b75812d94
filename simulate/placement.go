package simulate

// Placement says where a job goes. It appends to dst the slices that l would
// take in one of pools (all of one pool, for a gang is not split over pools)
// and gives dst back unchanged when l does not fit. It changes nothing.
//
// Pools come in the order of the scenario and have equal rank; each has at
// least as many free GPUs as l wants.
type Placement interface {
	Place(c *Cluster, l *Live, pools []int, dst []Slice) []Slice
}

// Counting is a Placement that looks at numbers of GPUs alone: any free GPUs of a
// pool serve, and CPUs and memory do not count.
type Counting interface {
	CountsGPUs()
}
