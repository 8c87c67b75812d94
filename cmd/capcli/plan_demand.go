package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"capcli"
	"capcli/profile/demand"
	"capcli/profile/trace"
	planning "capcli/simulate/plan"
)

// demandCurve is the curve that is planned, and where it came from.
type demandCurve struct {
	file    string
	curve   *planning.Curve
	notes   []string
	partial string // what is missing of the input; "" is nothing
}

// load reads the curve.
func (o *planCurveOptions) load(ctx context.Context, e *env) (*demandCurve, error) {
	h := &o.history
	h.measure, h.whole = cmp.Or(o.measure, "demand"), true
	if err := h.check(); err != nil {
		return nil, err
	}
	in, closer, err := openInput(e, o.demand)
	if err != nil {
		return nil, err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	head := trace.Peek(&in)
	if isDocument(trace.PlainHead(in.Name, head)) {
		return o.fromDocument(in)
	}
	if o.quantile > 0 {
		return nil, &usageError{text: "--quantile is for what capcli forecast -o json wrote, and " + in.Name + " is not", hint: "name a column of a table: --value-col hi-80"}
	}
	hs, err := h.loadInput(ctx, e, in)
	if err != nil {
		return nil, err
	}
	return o.ofHistories(hs)
}

// ofHistories takes the one series asked for, or the sum of all.
func (o *planCurveOptions) ofHistories(hs *demand.Histories) (*demandCurve, error) {
	out := &demandCurve{file: hs.Inputs[0], notes: hs.Notes, partial: hs.Partial}
	picked := hs.List
	if o.series != "" {
		names := capcli.Catalog[*demand.History]{Kind: "series"}
		for _, h := range hs.List {
			names.Add(h.Name, "", h)
		}
		h, err := names.Get(o.series)
		if err != nil {
			return nil, err
		}
		picked = []*demand.History{h}
	} else if i := slices.IndexFunc(hs.List, func(h *demand.History) bool { return h.Name == "total" }); i >= 0 && len(hs.List) > 1 {
		picked = hs.List[i : i+1]
		out.notes = append(out.notes, "the series called total, which has the others in it; --series takes another")
	}
	sum, err := sumOf(hs, picked)
	if err != nil {
		return nil, err
	}
	if len(picked) > 1 {
		out.notes = append(out.notes, fmt.Sprintf("the sum of %d series; --series takes one", len(picked)))
	}
	for _, h := range picked {
		out.notes = append(out.notes, h.Warnings...)
	}
	start, step := capcli.NoTime, capcli.Step{Seconds: capcli.Hour}
	if hs.Clock {
		start, step = picked[0].Grid.At(0), hs.Step
		out.curve, err = planning.NewCurve(start, step, sum)
	} else {
		if o.history.steps.Length() > 0 {
			step = o.history.steps
		}
		out.curve, err = planning.NewCurve(start, step, sum)
	}
	var at *planning.StepError
	if errors.As(err, &at) {
		return nil, &capcli.InputError{File: out.file, Field: "y", Text: fmt.Sprintf("%s: %s", picked[0].StampText(at.Step), at.Text), Hint: "a demand is GPUs, 0 or more; for gaps say --gaps zero, linear or previous"}
	}
	return out, err
}

// sumOf adds up series on the same steps.
func sumOf(hs *demand.Histories, list []*demand.History) ([]float64, error) {
	first := list[0]
	out := append([]float64(nil), first.Values...)
	for _, h := range list[1:] {
		if len(h.Values) != len(out) || h.Stamp(0) != first.Stamp(0) {
			return nil, &capcli.InputError{
				File: hs.Inputs[0], Text: fmt.Sprintf("%s goes from %s to %s, %s from %s to %s: they have no sum", first.Name, first.StampText(0), first.StampText(len(out)-1), h.Name, h.StampText(0), h.StampText(len(h.Values)-1)),
				Hint: "take one: --series " + first.Name,
			}
		}
		for i, v := range h.Values {
			out[i] += v
		}
	}
	return out, nil
}
