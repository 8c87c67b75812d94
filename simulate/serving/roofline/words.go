package roofline

import (
	"cmp"
	"fmt"
	"strings"

	"capcli"
)

// Summary says in one sentence what the model takes and how fast it is.
func (e *Estimate) Summary() string {
	text := fmt.Sprintf("%s on %d × %s with %s weights: %s of weights on each GPU, %s tokens in the KV cache",
		e.name(), e.GPUs, e.GPU.Name, e.Weights, Bytes(e.Memory.WeightBytes), capcli.Grouped(e.Memory.Tokens))
	if e.Missing != "" {
		return text + "; the time of a step is not known."
	}
	return fmt.Sprintf("%s; a step of one request takes %.1f ms, with an error of %.1f%% on average.", text, float64(e.Time.Micros(1, 1, 1024, 0))/1000, 100*float64(e.Origin.Decode.Mean))
}

func (e *Estimate) name() string {
	if e.Model.Name != "" {
		return e.Model.Name
	}
	return "The model"
}

// Remarks are what the reader needs beside the figures.
func (e *Estimate) Remarks() []string {
	if e.Missing != "" {
		return []string{"no time: " + e.Missing}
	}
	out := []string{
		"source: " + e.Origin.Source,
		"errors are of " + e.Origin.Basis + e.Origin.wholeServers(),
	}
	for _, s := range e.Origin.Stated {
		out = append(out, "stated: "+s)
	}
	for _, r := range e.Room {
		if r.Sequences == 0 {
			out = append(out, fmt.Sprintf("a request of %s tokens does not fit in the KV cache", capcli.Grouped(r.Tokens)))
		}
	}
	return out
}

// wholeServers says how far whole servers were off.
func (o *Origin) wholeServers() string {
	if o.Server == nil {
		return ". No whole server with this GPU and these weights was measured; capcli service fit calibrates by your own"
	}
	return fmt.Sprintf(". Whole servers with this GPU and these weights were off by %.0f%% on average, %.0f%% at the 90th percentile (%d rows); capcli service fit calibrates by your own",
		100*float64(o.Server.Mean), 100*float64(o.Server.P90), o.Server.Rows)
}

// Remark says in one sentence where the time comes from and how far it may be off.
func (o *Origin) Remark() string {
	text := "the time of an iteration is " + o.Source
	if o.Basis != "" {
		text += fmt.Sprintf("; decoding is off by %.1f%% on average, prefill by %.1f%%", 100*float64(o.Decode.Mean), 100*float64(o.Prefill.Mean)) + o.wholeServers()
	}
	for _, s := range o.Stated {
		text += "; stated: " + s
	}
	return text
}

// Summary says in one sentence how good the fit is.
func (f *FitResult) Summary() string {
	text := fmt.Sprintf("%d rows: rows that a fit does not see are off by %.1f%% on average, %.1f%% at the 90th percentile", f.Rows, 100*float64(f.HeldOut.Mean), 100*float64(f.HeldOut.P90))
	if f.Without == nil {
		return text + "."
	}
	return fmt.Sprintf("%s; without calibration %.1f%%.", text, 100*float64(f.Without.Mean))
}

// Lines are the lines of a service with the time of the model.
func (e *Estimate) Lines() []string {
	if e.Missing != "" {
		return []string{fmt.Sprintf("blocks: %d", e.Memory.Blocks)}
	}
	return blockLines(timeBlock(&e.Time) + fmt.Sprintf("blocks: %d\n", e.Memory.Blocks))
}

// Lines are the lines of a service that the fit gives; with several servers, those of each below a comment.
func (f *FitResult) Lines() []string {
	if f.Block != "" {
		return blockLines(f.Block)
	}
	var out []string
	for _, g := range f.Calibrated() {
		out = append(append(out, "# "+g.name()), blockLines(g.Block)...)
	}
	return out
}

// skipped says of the first servers without a calibration why.
func (f *FitResult) skipped() (out []string) {
	more := 0
	for _, g := range f.Groups {
		switch {
		case g.Skipped == "":
		case len(out) == 5:
			more++
		default:
			out = append(out, fmt.Sprintf("no calibration for %s (%d %s): %s", g.name(), g.Rows, capcli.Agree(g.Rows, "row", "rows"), g.Skipped))
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("nor for %d more; -o json says why", more))
	}
	return out
}

func (g *GroupFit) name() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s on %d × %s with %s weights", g.Engine, cmp.Or(g.Model, "the model"), g.GPUs, g.GPU, g.Weights))
}

func blockLines(block string) []string { return strings.Split(strings.TrimSuffix(block, "\n"), "\n") }

// Remarks are what the reader needs beside the figures.
func (f *FitResult) Remarks() []string {
	var out []string
	if f.LeftOut > 0 {
		out = append(out, fmt.Sprintf("%d %s left out: the batch, tokens or time is missing", f.LeftOut, capcli.Agree(f.LeftOut, "row was", "rows were")))
	}
	out = append(out, f.skipped()...)
	held := 0
	for _, p := range f.Predicted {
		if p.Present > 0 && p.Present < p.Batch {
			held++
		}
	}
	if held > 0 {
		out = append(out, fmt.Sprintf("%d of %d rows have more requests than the KV cache holds at once; the others wait", held, f.Rows))
	}
	if f.Without != nil && f.HeldOut.Mean > f.Without.Mean {
		out = append(out, "rows not seen are worse with the calibration than without: these measurements are too few, or of different servers; do not use it")
	}
	return out
}
