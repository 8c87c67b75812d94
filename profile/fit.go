package profile

import (
	"math"
	"strings"
)

// Resource is what a GPU may run short of.
type Resource string

// The resources.
const (
	Memory      Resource = "memory"
	Compute     Resource = "SM"
	MemoryRates Resource = "DRAM bandwidth"
)

// Rules by which a job fits.
const (
	memoryMargin = 1.10 // on the most memory that was in use
	sliceMemory  = 0.90 // an instance has up to a tenth less than its part of the memory
	shareAtMost  = 500  // thousandths: two jobs to a GPU, or it is no sharing
	shareStep    = 50
	fullMemory   = 0.85 // of a device in use all the time looks like an allocator's reserve
	flatMemory   = 0.95 // p50 over the most in use
)

// Need is what a job used of a GPU at one time. Memory is what its allocator held,
// which is at least what the job needed.
type Need struct {
	Bytes    float64 // the most
	Whole    float64 // bytes of the GPU
	SM       float64 // share of the GPU, at the 95th percentile of the time held
	DRAM     float64 // the same; NaN where it was not told
	ByUtil   bool    // SM was not told: the time a kernel ran stands in, which is as much or more
	Reserved bool    // memory looks reserved by an allocator, so that less may do
}

// Fit is something smaller that a job would run on.
type Fit struct {
	Model string
	Slice string   // of Model, by MIG; "" is the whole of it
	Binds Resource // that rules out the next smaller, or where there is none has least room
	Share float64  // of the GPU that the job held, that it would still take
}

// Fitting is what a job could run on.
type Fitting struct {
	Need  Need
	Slice *Fit     // of the model that it ran on; nil is none
	Model *Fit     // nil is none
	Binds Resource // of a job that fits nothing smaller: what it lacks
	Milli int      // thousandths of a GPU that it could share; 0 is none
	Why   string   // it cannot be told; "" where it can
}

// FreedHours is the GPU-hours of its model that a job would leave to others on
// its slice, and where it has none on the smaller model.
func (f *Fitting) FreedHours(held float64) float64 {
	switch {
	case f.Slice != nil:
		return held * (1 - f.Slice.Share)
	case f.Model != nil:
		return held
	}
	return 0
}

// reservers are programs that take nearly all memory when they start: vLLM and
// SGLang (--gpu-memory-utilization, --mem-fraction-static), TensorFlow and JAX
// (XLA preallocates three quarters).
var reservers = []string{"vllm", "sglang", "tensorflow", "jax", "xla"}

// need is what was seen of a job; why says what is missing.
func (j *JobUse) need() (n Need, why string) {
	u := j.Use
	n = Need{Bytes: u.MemoryBytes, Whole: u.MemoryTotal, SM: u.SM.Quantile(0.95) / 100, DRAM: u.DRAM.Quantile(0.95) / 100}
	if u.SM.Time() == 0 {
		n.SM, n.ByUtil = u.Util.Quantile(0.95)/100, true
	}
	command := strings.ToLower(j.Command)
	for _, r := range reservers {
		n.Reserved = n.Reserved || strings.Contains(command, r)
	}
	most := n.Bytes / n.Whole
	n.Reserved = n.Reserved || most >= fullMemory && u.Memory.Quantile(0.5)/100 >= flatMemory*most
	switch {
	case u.Seen < leastSeen:
		why = "seen for too short a time"
	case j.MIG:
		why = "runs on a MIG instance already"
	case j.Devices > 1:
		why = "holds several GPUs at once, which instances cannot: they do not reach each other"
	case u.Shared > 0:
		why = "shared its GPU: what it used alone cannot be told"
	case n.Whole == 0:
		why = "memory was not told"
	case math.IsNaN(n.SM):
		why = "activity was not told"
	}
	return n, why
}

// Fits says what smaller a job could run on: the smallest slice that MIG makes of
// its own model, the smallest model (in the order of GPUModels), and the part of a
// GPU that it could share.
//
// Memory has to hold a tenth more than was ever in use. The share of SMs active at
// p95 has to be there in SMs of a slice, and as FP16 throughput of another model,
// as if every active SM were at its peak; DRAM activity in bandwidth.
func (j *JobUse) Fits() Fitting {
	n, why := j.need()
	out := Fitting{Need: n, Why: why}
	if why != "" {
		return out
	}
	if m := int(math.Ceil(1000*math.Max(n.Bytes*memoryMargin/n.Whole, math.Max(n.SM, orZero(n.DRAM)))/shareStep)) * shareStep; !n.ByUtil && m <= shareAtMost {
		out.Milli = max(m, shareStep)
	}
	at := modelOf(j.Model, n.Whole)
	if at < 0 {
		if out.Milli == 0 {
			out.Binds, _ = n.lacks(1, 1, 1)
		}
		return out
	}
	own := &GPUModels[at]
	search := fitSearch{need: n}
	for i := range own.Slices {
		s := &own.Slices[i]
		if search.try(n.Whole*s.Memory*sliceMemory, s.Compute, s.Memory) {
			out.Slice = &Fit{own.Name, s.Name, search.binds, s.Share()}
			break
		}
	}
	out.Binds = search.binds
	search = fitSearch{need: n}
	for i := range GPUModels[:at] {
		m := &GPUModels[i]
		if m.mark == own.mark && m.GiB == own.GiB {
			continue
		}
		if search.try(m.GiB*(1<<30), m.TFLOPS/own.TFLOPS, m.GBPerS/own.GBPerS) {
			out.Model = &Fit{m.Name, "", search.binds, 0}
			break
		}
	}
	if out.Binds == "" {
		out.Binds = search.binds
	}
	return out
}

// fitSearch goes through candidates from the smallest up.
type fitSearch struct {
	need  Need
	binds Resource // that the candidate before lacked
}

func (s *fitSearch) try(bytes, compute, bandwidth float64) bool {
	binds, ratio := s.need.lacks(bytes/s.need.Whole, compute, bandwidth)
	if ratio > 1 || s.binds == "" {
		s.binds = binds
	}
	return ratio <= 1
}

// lacks returns the resource with the largest need relative to supply, both as shares
// of the GPU that the job ran on.
func (n *Need) lacks(memory, compute, bandwidth float64) (Resource, float64) {
	most, binds := n.Bytes*memoryMargin/n.Whole/memory, Memory
	if r := n.SM / compute; r > most {
		most, binds = r, Compute
	}
	if r := n.DRAM / bandwidth; r > most {
		most, binds = r, MemoryRates
	}
	return binds, most
}

func orZero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}
