package roadmap

import (
	"fmt"
	"math"

	"capcli"
	"capcli/forecast/model"
)

// Campaign is a planned training run. Its GPU-hours follow from its size, or from a past run
// scaled by parameters and data.
type Campaign struct {
	Name       string
	Parameters float64 // number of parameters, N
	// Active is the number of parameters that a token passes through, of a mixture of experts; 0 is all.
	Active float64
	Tokens float64 // number of tokens, D
	// TokensOf is what the tokens are pieces of: text, images, video, audio or other; "" is not stated.
	TokensOf string
	// GPUModel is the model of GPU that its jobs want; "" is any.
	GPUModel string
	Format   string // number format trained in, for the peak of other models; "" is bf16
	// PeakFLOPS is the peak of one GPU, in operations per second in the training format. MFU is
	// the share of it that the model's own operations reach (model FLOPs utilisation), from 0 to
	// 1. Both may be 0 where Past is set.
	PeakFLOPS float64
	MFU       float64
	// MFULo and MFUHi bound MFU; 0 is MFU itself.
	MFULo, MFUHi float64
	Profile      *Measured // the source of MFU; nil if it is stated
	Past         *PastRun
	Scaling      Scaling // of Past to the new size
	// GPUs is the number of GPUs that the run holds. Parallel is the share of its work that more
	// GPUs speed up (Amdahl 1967), 0 for all of it. The rest takes as long on any number of
	// GPUs, and all of them are held meanwhile.
	GPUs     int
	Parallel float64
	// Failures is the share added for runs that fail and are repeated; large runs usually
	// plan 0.15 to 0.25. 0 stands for 0.2, a negative figure for none.
	Failures   float64
	Evaluation float64 // GPU time for evaluation, as a share of that of the runs
	Ablations  float64 // GPU time of smaller runs before and beside it, as a share of that of the runs
	Runs       int     // number of such runs one after another; 0: 1
	Prices     Prices
	Work       Work
}

// Measured names a profile summary whose tensor activity stands for the MFU.
type Measured struct {
	File          string
	Jobs, Tenants []string // the measured jobs; all if both are empty
	Share         float64  // MFU over tensor activity, from 0 to 1
}

// PastRun is a measured run.
type PastRun struct {
	Parameters float64
	Tokens     float64
	GPUHours   float64
	GPUs       int
}

// Growth is by how much a doubling multiplies the GPU-hours: a range with a middle.
type Growth struct{ Lo, Mid, Hi float64 }

// Scaling says how GPU-hours grow with size and data. A zero Growth is the usual one: a doubling of
// parameters costs 1.8 to 2.2 times, of tokens 2 times.
type Scaling struct{ Parameters, Tokens Growth }

// The usual growth. The operations of a dense transformer double with its parameters and with its tokens
// (6 N D); what a GPU reaches of its peak differs by size, which the range of the parameters is for.
var (
	usualOfParameters = Growth{1.8, 2, 2.2}
	usualOfTokens     = Growth{2, 2, 2}
)

// scale returns the factor on GPU-hours of a size that is ratio times as large: g to the power of the
// number of doublings, log2(ratio). lo is the least of the range, hi the most.
func (g Growth) scale(ratio float64) (lo, mid, hi float64) {
	doublings := math.Log2(ratio)
	lo, mid, hi = math.Pow(g.Lo, doublings), math.Pow(g.Mid, doublings), math.Pow(g.Hi, doublings)
	return min(lo, hi), mid, max(lo, hi)
}

func (g Growth) isValid() bool {
	return g == Growth{} || g.Lo >= 1 && g.Lo <= g.Mid && g.Mid <= g.Hi && g.Hi <= 16
}

// Cost is what a campaign costs in GPU-hours, time and money.
type Cost struct {
	FLOPs    float64        `json:"flops"`        // 6 N D for each run
	MFU      float64        `json:"mfu"`          // stated, or measured; 0 where a past run stands for it
	GPUHours float64        `json:"gpu_hours"`    // of all runs with the buffer
	Lo       float64        `json:"gpu_hours_lo"` // with a buffer of 15 %, or the campaign's own where that is less, and the best of MFU and scaling
	Hi       float64        `json:"gpu_hours_hi"` // with a buffer of 25 %, or the campaign's own where that is more, and the worst of MFU and scaling
	Hours    float64        `json:"hours"`        // from start to end
	Length   capcli.Seconds `json:"length_s"`     // the same in whole seconds, rounded up
	Parts    []Part         `json:"parts"`        // what the GPU-hours are for
	Terms    []Term         `json:"terms,omitempty"`
	Total    *Term          `json:"total,omitempty"` // of Terms; nil where nothing is priced
}

// Part is GPU-hours for one purpose.
type Part struct {
	Name     string  `json:"part"`
	GPUHours float64 `json:"gpu_hours"`
}

const (
	buffer    = 0.20
	bufferLow = 0.15
	bufferTop = 0.25

	// longest is the longest campaign, in seconds.
	longest = 1e11
)

// Cost computes the GPU-hours. A dense transformer takes 6 operations a
// parameter and token, 2 forward and 4 back (Kaplan et al. 2020, "Scaling laws
// for neural language models"). From a past run they scale by parameters and
// tokens; its GPU-hours are brought to the new number of GPUs by Amdahl's law:
// on n GPUs, work that takes w GPU-hours on one takes (1-p) w + p w/n hours.
func (c *Campaign) Cost() (Cost, error) {
	if err := c.check(); err != nil {
		return Cost{}, err
	}
	runs, share := math.Max(1, float64(c.Runs)), c.failureShare()
	out := Cost{FLOPs: 6 * c.computed() * c.Tokens, MFU: c.MFU}
	lo, work, hi := c.work(out.FLOPs)
	hours := runs * work / amdahl(c.parallel(), c.GPUs)
	held, beside := hours*float64(c.GPUs), 1+c.Evaluation+c.Ablations
	out.Hours, out.GPUHours = hours*(beside+share), held*(beside+share)
	out.Lo = held * lo / work * (beside + math.Min(bufferLow, share))
	out.Hi = held * hi / work * (beside + math.Max(bufferTop, share))
	if !model.IsFinite(out.Hi) || !model.IsFinite(out.FLOPs) {
		return Cost{}, fmt.Errorf("campaign %q: its cost is beyond any figure: %w", c.Name, model.ErrUnfit)
	}
	if length := math.Ceil(out.Hours * 3600); length <= longest {
		out.Length = capcli.Seconds(max(1, length))
	}
	for _, p := range []Part{{"training", held}, {"failed and repeated runs", held * share}, {"evaluation", held * c.Evaluation}, {"ablations", held * c.Ablations}} {
		if p.GPUHours > 0 {
			out.Parts = append(out.Parts, p)
		}
	}
	return out, c.price(&out)
}

// computed returns the number of parameters that take operations for each token.
func (c *Campaign) computed() float64 {
	if c.Active > 0 {
		return c.Active
	}
	return c.Parameters
}

func (c *Campaign) parallel() float64 {
	if c.Parallel == 0 {
		return 1
	}
	return c.Parallel
}

func (c *Campaign) failureShare() float64 {
	switch {
	case c.Failures == 0:
		return buffer
	case c.Failures < 0:
		return 0
	}
	return c.Failures
}

// work returns the GPU-hours that one run would take on a single GPU: the least, the middle and the most.
func (c *Campaign) work(flops float64) (lo, mid, hi float64) {
	if p := c.Past; p != nil {
		once := p.GPUHours / float64(p.GPUs) * amdahl(c.parallel(), p.GPUs)
		size, data := c.Scaling.Parameters, c.Scaling.Tokens
		if size == (Growth{}) {
			size = usualOfParameters
		}
		if data == (Growth{}) {
			data = usualOfTokens
		}
		sizeLo, sizeMid, sizeHi := size.scale(c.computed() / p.Parameters)
		dataLo, dataMid, dataHi := data.scale(c.Tokens / p.Tokens)
		return once * sizeLo * dataLo, once * sizeMid * dataMid, once * sizeHi * dataHi
	}
	best, worst := c.MFU, c.MFU
	if c.MFUHi > 0 {
		best = c.MFUHi
	}
	if c.MFULo > 0 {
		worst = c.MFULo
	}
	peak := flops / c.PeakFLOPS / 3600
	return peak / best, peak / c.MFU, peak / worst
}

// amdahl returns how many times as fast n GPUs are as one.
func amdahl(parallel float64, n int) float64 { return 1 / (1 - parallel + parallel/float64(n)) }

func (c *Campaign) check() error {
	bad := func(field, text string, args ...any) error {
		return &capcli.InputError{Field: field, Text: fmt.Sprintf("campaign %q: ", c.Name) + fmt.Sprintf(text, args...), Err: model.ErrUnfit}
	}
	positive := func(v float64) bool { return v > 0 && model.IsFinite(v) }
	share := func(v float64) bool { return v >= 0 && v <= 100 }
	switch {
	case !positive(c.Parameters):
		return bad("parameters", "expected more than 0, found %g", c.Parameters)
	case !(c.Active >= 0 && c.Active <= c.Parameters):
		return bad("active_parameters", "expected 0 to all of %g, found %g", c.Parameters, c.Active)
	case !positive(c.Tokens):
		return bad("tokens", "expected more than 0, found %g", c.Tokens)
	case c.GPUs < 1:
		return bad("gpus", "expected 1 or more, found %d", c.GPUs)
	case !(c.Parallel >= 0 && c.Parallel <= 1):
		return bad("parallel", "expected a share from 0 to 1, found %g", c.Parallel)
	case !model.IsFinite(c.Failures):
		return bad("failures", "expected a share, found %g", c.Failures)
	case !share(c.Evaluation):
		return bad("evaluation", "expected a share, found %g", c.Evaluation)
	case !share(c.Ablations):
		return bad("ablations", "expected a share, found %g", c.Ablations)
	case c.Runs < 0:
		return bad("runs", "expected 1 or more, found %d", c.Runs)
	case !c.Scaling.Parameters.isValid() || !c.Scaling.Tokens.isValid():
		return bad("scaling", "expected what a doubling costs, 1 to 16 times, low to high, found %v", c.Scaling)
	}
	if p := c.Past; p != nil {
		if !positive(p.Parameters) || !positive(p.Tokens) || !positive(p.GPUHours) || p.GPUs < 1 {
			return bad("past", "expected parameters, tokens, GPU-hours and GPUs over 0, found %g, %g, %g and %d", p.Parameters, p.Tokens, p.GPUHours, p.GPUs)
		}
		return nil
	}
	if !positive(c.PeakFLOPS) {
		return bad("peak_flops", "expected more than 0, or a past run, found %g", c.PeakFLOPS)
	}
	if !positive(c.MFU) || c.MFU > 1 {
		return bad("mfu", "expected a share over 0 and up to 1, or a past run, found %g", c.MFU)
	}
	if c.MFULo < 0 || c.MFULo > c.MFU || c.MFUHi > 1 || c.MFUHi != 0 && c.MFUHi < c.MFU {
		return bad("mfu", "expected a range that holds %g, found %g to %g", c.MFU, c.MFULo, c.MFUHi)
	}
	return nil
}

// Event returns the campaign as a number of GPUs held from start on, for a time whose
// uncertainty is that of the buffer, of the MFU and of the scaling.
func (c *Campaign) Event(start capcli.Time) (Event, error) {
	cost, err := c.Cost()
	if err != nil {
		return Event{}, err
	}
	if cost.Length == 0 {
		return Event{}, fmt.Errorf("campaign %q: it would take %.0f hours, want fewer: %w", c.Name, cost.Hours, model.ErrUnfit)
	}
	sd := (cost.Hi - cost.Lo) / 2 / cost.GPUHours * float64(cost.Length) / model.ZScore(80)
	return Event{
		Name: c.Name, Shape: Pulse, Start: start, End: start + capcli.Time(cost.Length), Size: float64(c.GPUs),
		LengthSD: capcli.Seconds(math.Round(sd)),
	}, nil
}
