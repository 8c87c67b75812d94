package main

import (
	"context"
	"errors"
	"strings"

	"capcli"
	"capcli/simulate/plan/futures"
)

// load reads the futures, or draws them.
func (o *futuresOptions) load(ctx context.Context, e *env, c *planCurveOptions, source *futures.Source) (*futures.Set, error) {
	if o.file == "" {
		return o.draw(ctx, e, c, source)
	}
	h := c.history
	h.measure, h.whole = "demand", true
	if h.id == "" {
		h.id = "unique_id,path"
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	hs, err := h.loadFile(ctx, e, o.file)
	var bad *capcli.InputError
	if errors.As(err, &bad) && c.history.id == "" && o.file != "-" {
		h.ask.ID = "path" // of one series, its name left out
		again, second := h.loadFile(ctx, e, o.file)
		switch {
		case second == nil:
			hs, err = again, nil
		case bad.Field == "unique_id,path": // there is no name: what is wrong is something else
			err = second
		}
	}
	if errors.As(err, &bad) && strings.Contains(bad.Error(), "path") {
		named := *bad
		named.Hint = "futures are what capcli forecast --paths 200 --out futures.parquet writes: unique_id, path, ds, y"
		return nil, &named
	}
	if err != nil {
		return nil, err
	}
	if c.demand != "" {
		hs.Notes = append(hs.Notes, "the plan is for the futures of "+hs.Inputs[0]+"; --demand is not read")
	}
	return source.FromHistories(hs, c.series, c.history.steps)
}

// draw makes futures around a demand.
func (o *futuresOptions) draw(ctx context.Context, e *env, c *planCurveOptions, source *futures.Source) (*futures.Set, error) {
	demand, err := c.load(ctx, e)
	if err != nil {
		return nil, err
	}
	gpus := make([]float64, len(demand.Curve.Work))
	for i := range gpus {
		gpus[i] = demand.Curve.GPUs(i)
	}
	out, err := source.Draw(demand.Input, capcli.Grid{Origin: demand.Curve.Start, Step: demand.Curve.Step}, gpus)
	if err != nil {
		return nil, err
	}
	out.Notes, out.Partial = demand.Notes, demand.Partial
	return out, nil
}
