package judge

import "slices"

// Kind is what a GPU or a job did, or what held it back.
type Kind string

// The kinds of findings, and the verdicts that name no single finding.
const (
	NeverBusy    Kind = "never_busy"                  // held, and never computed
	MostlyIdle   Kind = "mostly_idle"                 // held, and nobody at work for most of the time
	Idle         Kind = "idle_held"                   // of a finding: nobody at work
	Stuck        Kind = "stuck"                       // a kernel runs and does nothing
	Starved      Kind = "input_starved"               // computes in bursts and waits between them
	HostTransfer Kind = "host_transfer_bound"         // waits on copies from and to the host
	CommBetween  Kind = "communication_between_nodes" // waits on GPUs of other boxes
	CommInNode   Kind = "communication_in_node"       // waits on GPUs of its box
	CommBound    Kind = "communication_bound"         // waits on transfers; over which link cannot be told
	SmallKernels Kind = "small_kernels"               // kernels too small for the GPU
	ThermalCap   Kind = "thermally_capped"            // held back by heat
	PowerCap     Kind = "power_capped"                // held back by the power limit
	Light        Kind = "light"                       // kernels run, but fill little of the GPU
	MemoryBound  Kind = "memory_bound"                // as fast as device memory is
	ComputeBound Kind = "compute_bound"               // as fast as the GPU computes
	Working      Kind = "working"
	Unknown      Kind = "unknown" // cannot be told
	Mixed        Kind = "mixed"   // no finding has the majority
	Free         Kind = "free"    // nobody held it
	TooShort     Kind = "too_short"
)

// Description is what a kind means and what to do about it.
type Description struct {
	Kind  Kind
	Words string // of a verdict's share of time: "waits on other nodes 62% of the time"
	Count string // of GPUs with this verdict: "3 waiting on other nodes"
	Do    string
}

// Descriptions describes the kinds, from the worst use of money to the best.
var Descriptions = []Description{
	{NeverBusy, "allocated, never busy", "allocated but never busy", "ask the owner, then give it back; of a gang, first look whether the other ranks work"},
	{MostlyIdle, "allocated and idle", "mostly idle", "ask the owner; a smaller share, a queue, or an end after an hour without work"},
	{Idle, "allocated and idle", "idle while held", "ask the owner; a smaller share, a queue, or an end after an hour without work"},
	{Stuck, "stuck in a kernel", "stuck", "look for a rank that died or a collective that never ends, then restart from the last checkpoint"},
	{Starved, "waits for input", "short of input", "more loader processes, data nearer or in a better format, more CPU; not fewer GPUs at first"},
	{HostTransfer, "waits on copies from and to the host", "waiting on copies to the host", "offload less, pin memory, overlap copies with compute"},
	{CommBetween, "waits on other nodes", "waiting on other nodes", "look at the network first: fewer nodes, larger batches, overlap; the GPUs are needed, do not take them away"},
	{CommInNode, "waits on GPUs of its node", "waiting on GPUs of their node", "another split of the model, GPUs with NVLink between them, overlap"},
	{CommBound, "waits on transfers between GPUs or hosts", "waiting on transfers", "sample the network and NVLink to tell which link"},
	{SmallKernels, "runs kernels too small for the GPU", "with kernels too small", "larger batches, CUDA graphs, fused kernels; or a MIG slice"},
	{ThermalCap, "held back by heat", "held back by heat", "cooling, dust, the place in the rack; then the vendor"},
	{PowerCap, "held back by the power limit", "held back by the power limit", "raise the limit where power and cooling allow, or accept it"},
	{Light, "lightly loaded", "lightly used", "share the GPU, a MIG slice, or fewer replicas"},
	{MemoryBound, "bound by memory bandwidth", "bound by memory", "works as fast as memory is: larger batches, or a GPU with more bandwidth"},
	{ComputeBound, "bound by compute", "bound by compute", "works as fast as the GPU is"},
	{Working, "working", "working", "nothing stands out"},
	{Unknown, "cannot tell", "that cannot be told", "sample SM activity, links and the network (capcli doctor)"},
	{Mixed, "mixed", "with mixed findings", "see --table findings"},
	{Free, "free", "free", "nobody holds it"},
	{TooShort, "observed for too short a time", "observed for too short a time", "sample for longer"},
}

// Describe returns the description of k.
func (k Kind) Describe() Description {
	if i := k.rank(); i < len(Descriptions) {
		return Descriptions[i]
	}
	return Description{Kind: k, Words: string(k), Count: string(k)}
}

// rank orders kinds, from the worst use of money to the best.
func (k Kind) rank() int {
	if i := slices.IndexFunc(Descriptions, func(d Description) bool { return d.Kind == k }); i >= 0 {
		return i
	}
	return len(Descriptions)
}

// Confidence says how sure a finding is.
type Confidence uint8

// The confidences.
const (
	Low Confidence = 1 + iota
	Medium
	High
)

// String returns the confidence in words.
func (c Confidence) String() string {
	switch {
	case c >= High:
		return "high"
	case c == Medium:
		return "medium"
	}
	return "low"
}

// MarshalText returns the confidence in words.
func (c Confidence) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Sign is what one minute of a device shows by itself.
type Sign uint8

// The signs. Those of pauses and of PCIe need to know the job before they have a meaning.
const (
	SignIdle        Sign = iota // no kernel ran
	SignIdleTraffic             // no kernel ran, but copies or the network were at work
	SignStuck                   // a kernel ran all the time and did nothing
	SignPaused                  // bursts with pauses; their rhythm and the job tell why
	SignPausedInput             // bursts with pauses while tasks wait for a disk, a core or the network
	SignGaps                    // gaps between kernels shorter than a sample
	SignNVLink                  // SMs wait while NVLink is at work
	SignNetwork                 // SMs wait while PCIe or NVLink and the network carry as much each way
	SignPCIeEven                // SMs wait while PCIe carries about as much each way
	SignPCIeOneWay              // SMs wait while PCIe carries most one way
	SignSmall                   // kernels run all the time on a small part of the SMs
	SignHeat                    // heat holds the clocks back
	SignPower                   // the power limit holds the clocks back
	SignMemory                  // near the peak of memory bandwidth
	SignCompute                 // near the peak of an arithmetic pipe
	SignLight                   // little of the GPU is in use
	SignWork                    // works; nothing is near a peak
	SignUnknown                 // not measured, too coarse or contradictory
	NumSigns
)
