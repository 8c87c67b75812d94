package profile

import (
	"cmp"
	"math"
	"strings"

	"capcli/profile/accelerator"
)

// Resource is a resource of a GPU that can rule out a smaller candidate.
type Resource string

// The resources.
const (
	Memory      Resource = "memory"
	Compute     Resource = "SM"
	MemoryRates Resource = "DRAM bandwidth"
)

// Rules that decide whether a job fits a smaller candidate.
const (
	memoryMargin = 1.10 // factor on the highest memory in use
	sliceMemory  = 0.90 // an instance has up to a tenth less memory than its share of the GPU
	shareAtMost  = 500  // thousandths of a GPU: at least two jobs share it
	shareStep    = 50   // thousandths of a GPU to which shares are rounded up
	fullMemory   = 0.85 // share of memory in use from which it may be an allocator's reserve
	flatMemory   = 0.95 // it counts as a reserve if the median is this share of the maximum
)

// Need is what a job used of one GPU, also where it ran on a MIG instance of it. Its memory is what the allocator held: the job needed that
// or less.
type Need struct {
	Bytes    float64 // highest memory in use
	Whole    float64 // bytes of memory of the GPU
	SM       float64 // share of the SMs active, 95th percentile over time
	DRAM     float64 // share of the memory bandwidth used, 95th percentile over time; NaN is unknown
	ByUtil   bool    // SM is GPU utilisation, which is never less, because active SMs are unknown
	Reserved bool    // the memory looks reserved by an allocator: the job may need less
}

// Fit is smaller hardware on which a job would run.
type Fit struct {
	Model string
	Slice string   // MIG profile of Model; "" is the whole GPU
	Binds Resource // resource that rules out the next smaller candidate; the scarcest if there is none
	Share float64  // share of the job's GPU that the slice takes; 0 for a model
}

// Fitting says on what smaller hardware a job could run.
type Fitting struct {
	Need  Need
	Slice *Fit     // smallest MIG slice of the job's own model; nil if none fits
	Model *Fit     // smallest other model; nil if none fits
	Binds Resource // resource that rules out the next smaller candidate
	Milli int      // thousandths of a shared GPU that suffice; 0 if the job cannot share
	Has   float64  // share of a GPU that the job has: 1, or that of its MIG instance
	Why   string   // why the fit is unknown; "" if it is known
}

// FreedHours returns the GPU-hours of its own model that the job frees when it moves to
// its slice, or without one to the smaller model.
func (f *Fitting) FreedHours(held float64) float64 {
	switch {
	case f.Slice != nil:
		return held * (1 - f.Slice.Share/f.Has)
	case f.Model != nil:
		return held
	}
	return 0
}

// reservers are programs that allocate most memory when they start: vLLM and SGLang
// (--gpu-memory-utilization, --mem-fraction-static), TensorFlow and JAX (XLA preallocates three
// quarters).
var reservers = []string{"vllm", "sglang", "tensorflow", "jax", "xla"}

// need returns what the job used. why says why its fit cannot be determined, or is "".
func (j *JobUse) need() (n Need, why string) {
	u := j.Use
	n = Need{Bytes: u.MemoryBytes, Whole: u.MemoryTotal, SM: u.SM.Quantile(0.95) / 100, DRAM: u.DRAM.Quantile(0.95) / 100}
	if u.SM.Micros == 0 {
		n.SM, n.ByUtil = u.Util.Quantile(0.95)/100, true
	}
	command := strings.ToLower(j.Command)
	for _, r := range reservers {
		n.Reserved = n.Reserved || strings.Contains(command, r)
	}
	most := n.Bytes / n.Whole
	n.Reserved = n.Reserved || most >= fullMemory && u.Memory.Quantile(0.5)/100 >= flatMemory*most
	switch {
	case u.Watched < leastSeen:
		why = "observed for too short a time"
	case j.Devices > 1:
		why = "holds several GPUs at once, which instances cannot: they do not reach each other"
	case u.Shared > 0:
		why = "shared its GPU: its own part of the use is unknown"
	case n.Whole == 0:
		why = "memory was not reported"
	case math.IsNaN(n.SM):
		why = "activity was not reported"
	}
	if why == "" && j.MIG {
		why = n.enlarge(j)
	}
	return n, why
}

// enlarge turns what the job used of its MIG instance into what that is of the GPU. why says why that
// is unknown, or is "".
func (n *Need) enlarge(j *JobUse) (why string) {
	s, ok := accelerator.SliceOf(j.Model, j.Profile)
	switch {
	case !ok:
		return "runs on a MIG instance of an unknown profile"
	case strings.Contains(j.Profile, "c."):
		return "shares the memory of its MIG instance with other compute instances"
	case len(j.uses) > 1:
		return "ran on MIG instances of several profiles"
	}
	n.Whole *= wholeGPU / float64(s.Memory)
	n.SM *= float64(s.Compute) / wholeGPU
	n.DRAM *= float64(s.Memory) / wholeGPU
	return ""
}

// Fits returns what smaller hardware the job could run on: the smallest MIG slice of its
// own model, the smallest other model (in the order of GPUModels), and the part of a
// shared GPU. For a job on a MIG instance only smaller slices count.
//
// A candidate must offer a tenth more memory than was ever in use, and at p95 the active
// SMs and the DRAM bandwidth. On a slice, active SMs are compared with its SMs; on another
// model, with its FP16 throughput, as if every active SM ran at its peak.
func (j *JobUse) Fits() Fitting {
	n, why := j.need()
	out := Fitting{Need: n, Why: why, Has: 1}
	if why != "" {
		return out
	}
	if j.MIG {
		j.fitSlice(&out, modelOf(j.Model, n.Whole), float64(j.uses[0].parts)/wholeGPU)
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
	j.fitSlice(&out, at, 1)
	search := fitSearch{need: n}
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
	out.Binds = cmp.Or(out.Binds, search.binds)
	return out
}

// fitSlice sets the smallest MIG slice of the model that the job fits, if it is less than the share
// of a GPU that the job has.
func (j *JobUse) fitSlice(out *Fitting, at int, has float64) {
	out.Has = has
	search := fitSearch{need: out.Need}
	if at < 0 {
		out.Binds, _ = out.Need.lacks(1, 1, 1)
		return
	}
	m := &GPUModels[at]
	for i := range m.Slices {
		s := &m.Slices[i]
		if s.Share() < has && search.try(out.Need.Whole*s.Memory*sliceMemory, s.Compute, s.Memory) {
			out.Slice = &Fit{m.Name, s.Name, search.binds, s.Share()}
			break
		}
	}
	out.Binds = search.binds
}

// fitSearch tries candidates in ascending order.
type fitSearch struct {
	need  Need
	binds Resource // scarcest resource of the last candidate that did not fit
}

// try reports whether the job fits a candidate with the given bytes of memory, and the given
// shares of the compute and of the bandwidth of the job's own GPU.
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
