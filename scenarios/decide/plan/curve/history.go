package curve

import (
	"errors"
	"fmt"
	"slices"

	"capcli"
	"capcli/forecast/demand"
	"capcli/scenarios/decide/plan"
)

// total is the name of the series that is the sum of the others.
const total = "total"

// gapsHint is the hint where a demand has gaps or negative values.
const gapsHint = "a demand is GPUs, 0 or more; for gaps say --gaps zero, linear or previous"

// fromHistories returns the demand of one series, or without a name of the series total or else of
// the sum of all. step is the length of a step without dates; zero is an hour.
func fromHistories(hs *demand.Histories, series string, step capcli.Step) (*Demand, error) {
	out := &Demand{Input: hs.Inputs[0], Unknown: hs.Unknown, Notes: hs.Notes, Partial: hs.Partial}
	picked := hs.List
	if series != "" {
		h, err := Named(hs, series)
		if err != nil {
			return nil, err
		}
		picked = []*demand.History{h}
	} else if i := slices.IndexFunc(hs.List, func(h *demand.History) bool { return h.Name == total }); i >= 0 && len(hs.List) > 1 {
		picked = hs.List[i : i+1]
		out.Notes = append(out.Notes, "the series called total, which has the others in it; --series takes another")
	}
	sum, err := Sum(picked)
	if err != nil {
		return nil, err
	}
	if len(picked) > 1 {
		out.Notes = append(out.Notes, fmt.Sprintf("the sum of %d series; --series takes one", len(picked)))
	}
	for _, h := range picked {
		out.Notes = append(out.Notes, h.Warnings...)
	}
	grid := Grid(picked[0], step)
	out.Curve, err = plan.NewCurve(grid.Origin, grid.Step, sum)
	var at *plan.StepError
	if errors.As(err, &at) {
		return nil, &capcli.InputError{File: out.Input, Field: "y", Text: fmt.Sprintf("%s: %s", picked[0].StampText(at.Step), at.Text), Hint: gapsHint}
	}
	return out, err
}

// Named returns the series with a name.
func Named(hs *demand.Histories, name string) (*demand.History, error) {
	names := capcli.Catalog[*demand.History]{Kind: "series"}
	for _, h := range hs.List {
		names.Add(h.Name, "", h)
	}
	return names.Get(name)
}

// Grid returns the steps of a series, from its first one. Where it has no dates they have the
// length step; zero is an hour.
func Grid(h *demand.History, step capcli.Step) capcli.Grid {
	switch {
	case h.Set.Clock:
		return capcli.Grid{Origin: h.Grid.At(0), Step: h.Set.Step}
	case step.Length() <= 0:
		step = capcli.Step{Seconds: capcli.Hour}
	}
	return capcli.Grid{Origin: capcli.NoTime, Step: step}
}

// Sum returns the sum of series. It fails with a *capcli.InputError where their steps differ.
func Sum(list []*demand.History) ([]float64, error) {
	first := list[0]
	out := slices.Clone(first.Values)
	for _, h := range list[1:] {
		if len(h.Values) != len(out) || h.Stamp(0) != first.Stamp(0) {
			return nil, &capcli.InputError{
				File: first.Set.Inputs[0], Text: fmt.Sprintf("%s goes from %s to %s, %s from %s to %s: they have no sum", first.Name, first.StampText(0), first.StampText(len(out)-1), h.Name, h.StampText(0), h.StampText(len(h.Values)-1)),
				Hint: "take one: --series " + first.Name,
			}
		}
		for i, v := range h.Values {
			out[i] += v
		}
	}
	return out, nil
}
