package main

import (
	"context"
	"fmt"
	"slices"

	"capcli"
	"capcli/profile/demand"
	planning "capcli/simulate/plan"
)

// futureSet is the futures that are planned for, and where they came from.
type futureSet struct {
	input   string
	series  []string // whose sum they are
	futures planning.Futures
	mean    *planning.Curve
	drawn   bool // around a demand, by --demand-error
	notes   []string
	partial string // what is missing of the input
}

// draw makes futures around a demand.
func (o *futuresOptions) draw(ctx context.Context, e *env, c *planCurveOptions, a *futuresAsk) (*futureSet, error) {
	demand, err := c.load(ctx, e)
	if err != nil {
		return nil, err
	}
	gpus := make([]float64, len(demand.curve.Work))
	for i := range gpus {
		gpus[i] = demand.curve.GPUs(i)
	}
	n := o.paths
	if n == 0 {
		n = 200
	}
	out := &futureSet{input: demand.file, drawn: true, notes: demand.notes, partial: demand.partial}
	grid := capcli.Grid{Origin: demand.curve.Start, Step: demand.curve.Step}
	if out.futures, err = a.wobble.Futures(grid, gpus, n, capcli.Seed(o.seed)); err != nil {
		return nil, &usageError{text: err.Error()}
	}
	return out, out.finish()
}

// ofHistories sorts the series of a file of futures.
func (o *futuresOptions) ofHistories(c *planCurveOptions, hs *demand.Histories) (*futureSet, error) {
	out := &futureSet{input: hs.Inputs[0], notes: hs.Notes, partial: hs.Partial}
	paths := map[string][]*demand.History{} // by series, then future
	var names []string
	for _, h := range hs.List {
		of, path, err := pathNames(h.Name)
		if err != nil || path >= maxFutures {
			return nil, &capcli.InputError{File: out.input, Field: "path", Text: fmt.Sprintf("%s: expected the number of a future, from 0 to %d", h.Name, maxFutures-1), Hint: "futures are what capcli forecast --paths 200 --out futures.parquet writes: unique_id, path, ds, y"}
		}
		if paths[of] == nil {
			names = append(names, of)
		}
		list := paths[of]
		for len(list) <= path {
			list = append(list, nil)
		}
		if list[path] != nil {
			return nil, &capcli.InputError{File: out.input, Field: "path", Text: fmt.Sprintf("%s: expected each future once, found it twice", h.Name)}
		}
		list[path] = h
		paths[of] = list
	}
	if c.demand != "" {
		out.notes = append(out.notes, "the plan is for the futures of "+out.input+"; --demand is not read")
	}
	picked, err := out.pick(c.series, names)
	if err != nil {
		return nil, err
	}
	out.series = picked
	n := len(paths[picked[0]])
	if o.paths > n {
		return nil, &usageError{text: fmt.Sprintf("--paths %d: %s has %d futures", o.paths, out.input, n), hint: "leave out --paths, or write more futures: capcli forecast … --paths " + fmt.Sprint(o.paths)}
	}
	if o.paths > 0 {
		n = o.paths
	}
	for path := range n {
		if err := out.add(hs, paths, path); err != nil {
			return nil, err
		}
	}
	first := paths[picked[0]][0]
	out.futures.Grid = capcli.Grid{Origin: capcli.NoTime, Step: capcli.Step{Seconds: capcli.Hour}}
	switch {
	case hs.Clock:
		out.futures.Grid = capcli.Grid{Origin: first.Grid.At(0), Step: hs.Step}
	case c.history.steps.Length() > 0:
		out.futures.Grid.Step = c.history.steps
	}
	return out, out.finish()
}

// pick says which series count: the one asked for, else the one that is the sum of
// the others, else all.
func (f *futureSet) pick(asked string, names []string) ([]string, error) {
	if asked != "" {
		have := capcli.Catalog[struct{}]{Kind: "series"}
		for _, n := range names {
			have.Add(n, "", struct{}{})
		}
		if _, err := have.Get(asked); err != nil {
			return nil, err
		}
		return []string{asked}, nil
	}
	if len(names) > 1 && slices.Contains(names, "total") {
		f.notes = append(f.notes, "the series called total, which has the others in it; --series takes another")
		return []string{"total"}, nil
	}
	if len(names) > 1 {
		f.notes = append(f.notes, fmt.Sprintf("the sum of %d series, future by future; --series takes one", len(names)))
	}
	return names, nil
}

// add sums the series of one future.
func (f *futureSet) add(hs *demand.Histories, paths map[string][]*demand.History, path int) error {
	var list []*demand.History
	for _, name := range f.series {
		if path >= len(paths[name]) || paths[name][path] == nil {
			return &capcli.InputError{File: f.input, Field: "path", Text: fmt.Sprintf("%s: expected futures numbered from 0 without a gap, the same for each series; future %d is missing", name, path), Hint: "write the futures again: capcli forecast … --paths 200 --out futures.parquet"}
		}
		list = append(list, paths[name][path])
	}
	sum, err := sumOf(hs, list)
	if err != nil {
		return err
	}
	first := paths[f.series[0]][0]
	if len(sum) != len(first.Values) || list[0].Stamp(0) != first.Stamp(0) {
		return &capcli.InputError{File: f.input, Field: "ds", Text: fmt.Sprintf("future %d: expected %d steps from %s as in future 0, found %d from %s", path, len(first.Values), first.StampText(0), len(sum), list[0].StampText(0))}
	}
	f.futures.Paths = append(f.futures.Paths, sum)
	return nil
}

// finish checks what was read.
func (f *futureSet) finish() error {
	if err := f.futures.Check(); err != nil {
		return &capcli.InputError{File: f.input, Text: err.Error(), Hint: "a demand is GPUs, 0 or more, in every step of every future"}
	}
	var err error
	f.mean, err = planning.NewCurve(f.futures.Grid.Origin, f.futures.Grid.Step, f.futures.Means())
	return err
}
