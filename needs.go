package capcli

// Needs are what a job requires of a GPU and of its node. The zero value requires nothing.
type Needs struct {
	GPUMemMiB    int64  // memory that the model of GPU must have, in MiB ("at least 80 GB")
	Capability   int    // least compute capability, in tenths: 80 is 8.0
	Interconnect string // kind of link between the GPUs of a node, such as nvlink; "" is any
	Profile      string // MIG profile of one instance, such as 1g.10gb; "" is none. GPUs is 1 then
}
