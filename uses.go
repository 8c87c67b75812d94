package capcli

// SharedKind is a kind of thing beside GPUs that running jobs share.
type SharedKind uint8

// The kinds.
const (
	SharedStore SharedKind = iota // bandwidth of the storage of a pool
	SharedCPU                     // CPUs of a node
	SharedMem                     // bandwidth of the memory of a node
	SharedNet                     // bandwidth of the network out of a node, or out of a rack or another domain

	SharedKinds = iota
)

// String returns the name that scenarios, job logs and results give the kind, with its unit.
func (k SharedKind) String() string {
	return [...]string{"store_gib_per_s", "host_cpus", "host_gib_per_s", "net_gib_per_s"}[k]
}

// Use is what a job takes of one kind while it runs at full speed.
type Use struct {
	Each  int64 // by each of its GPUs, or by a job without GPUs: millionths of a GiB a second, or of a CPU
	Share int64 // of its run time, the part that gets longer where it is granted less: millionths
}

// Uses are what a job takes, by kind.
type Uses [SharedKinds]Use
