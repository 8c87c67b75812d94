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
	Tokens     float64 // number of tokens, D
	// PeakFLOPS is the peak of one GPU, in operations per second in the training format. MFU is
	// the share of it that the model's own operations reach (model FLOPs utilisation), from 0 to
	// 1. Both may be 0 where Past is set.
	PeakFLOPS float64
	MFU       float64
	Past      *PastRun
	// GPUs is the number of GPUs that the run holds. Parallel is the share of its work that more
	// GPUs speed up (Amdahl 1967), 0 for all of it. The rest takes as long on any number of
	// GPUs, and all of them are held meanwhile.
	GPUs     int
	Parallel float64
	// Failures is the share added for runs that fail and are repeated; large runs usually
	// plan 0.15 to 0.25. 0 stands for 0.2, a negative figure for none.
	Failures float64
	Runs     int // number of such runs one after another; 0: 1
}

// PastRun is a measured run.
type PastRun struct {
	Parameters float64
	Tokens     float64
	GPUHours   float64
	GPUs       int
}

// Cost is what a campaign costs in GPU-hours and time.
type Cost struct {
	FLOPs    float64 `json:"flops"`        // 6 N D for each run
	GPUHours float64 `json:"gpu_hours"`    // of all runs with the buffer
	Lo       float64 `json:"gpu_hours_lo"` // with a buffer of 15 %, or the campaign's own where that is less
	Hi       float64 `json:"gpu_hours_hi"` // with a buffer of 25 %, or the campaign's own where that is more
	Hours    float64 `json:"hours"`        // from start to end
}

const (
	buffer    = 0.20
	bufferLow = 0.15
	bufferTop = 0.25
)

// Cost computes the GPU-hours. A dense transformer takes 6 operations a
// parameter and token, 2 forward and 4 back (Kaplan et al. 2020, "Scaling laws
// for neural language models"). From a past run they scale by parameters times
// tokens; its GPU-hours are brought to the new number of GPUs by Amdahl's law:
// on n GPUs, work that takes w GPU-hours on one takes (1-p) w + p w/n hours.
func (c *Campaign) Cost() (Cost, error) {
	if err := c.check(); err != nil {
		return Cost{}, err
	}
	runs, parallel, share := math.Max(1, float64(c.Runs)), c.Parallel, c.Failures
	if parallel == 0 {
		parallel = 1
	}
	switch {
	case share == 0:
		share = buffer
	case share < 0:
		share = 0
	}
	out := Cost{FLOPs: 6 * c.Parameters * c.Tokens}
	work := 0.0 // GPU-hours on one GPU
	if p := c.Past; p != nil {
		speed := amdahl(parallel, p.GPUs)
		work = p.GPUHours / float64(p.GPUs) * speed * (c.Parameters / p.Parameters) * (c.Tokens / p.Tokens)
	} else {
		work = out.FLOPs / (c.PeakFLOPS * c.MFU) / 3600
	}
	hours := runs * work / amdahl(parallel, c.GPUs)
	held := hours * float64(c.GPUs)
	out.Hours, out.GPUHours = hours*(1+share), held*(1+share)
	out.Lo, out.Hi = held*(1+math.Min(bufferLow, share)), held*(1+math.Max(bufferTop, share))
	if !model.IsFinite(out.Hi) || !model.IsFinite(out.FLOPs) {
		return Cost{}, fmt.Errorf("campaign %q: its cost is beyond any figure: %w", c.Name, model.ErrUnfit)
	}
	return out, nil
}

// amdahl returns how many times as fast n GPUs are as one.
func amdahl(parallel float64, n int) float64 {
	return 1 / (1 - parallel + parallel/float64(n))
}

func (c *Campaign) check() error {
	bad := func(field, text string, args ...any) error {
		return &capcli.InputError{Field: field, Text: fmt.Sprintf("campaign %q: ", c.Name) + fmt.Sprintf(text, args...), Err: model.ErrUnfit}
	}
	positive := func(v float64) bool { return v > 0 && model.IsFinite(v) }
	switch {
	case !positive(c.Parameters):
		return bad("parameters", "expected more than 0, found %g", c.Parameters)
	case !positive(c.Tokens):
		return bad("tokens", "expected more than 0, found %g", c.Tokens)
	case c.GPUs < 1:
		return bad("gpus", "expected 1 or more, found %d", c.GPUs)
	case !(c.Parallel >= 0 && c.Parallel <= 1):
		return bad("parallel", "expected a share from 0 to 1, found %g", c.Parallel)
	case !model.IsFinite(c.Failures):
		return bad("failures", "expected a share, found %g", c.Failures)
	case c.Runs < 0:
		return bad("runs", "expected 1 or more, found %d", c.Runs)
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
	return nil
}

// Event returns the campaign as a number of GPUs held from start on, for a time whose
// uncertainty is that of the buffer.
func (c *Campaign) Event(start capcli.Time) (Event, error) {
	cost, err := c.Cost()
	if err != nil {
		return Event{}, err
	}
	length := math.Ceil(cost.Hours * 3600)
	if length > 1e11 {
		return Event{}, fmt.Errorf("campaign %q: it would take %.0f hours, want fewer: %w", c.Name, cost.Hours, model.ErrUnfit)
	}
	sd := (cost.Hi - cost.Lo) / 2 / cost.GPUHours * length / model.ZScore(80)
	return Event{
		Name: c.Name, Shape: Pulse, Start: start, End: start + capcli.Time(max(1, length)), Size: float64(c.GPUs),
		LengthSD: capcli.Seconds(math.Round(sd)),
	}, nil
}
