package main

import (
	"cmp"
	"context"

	"capcli/profile/trace"
	"capcli/simulate/plan/curve"
)

// load reads the curve.
func (o *planCurveOptions) load(ctx context.Context, e *env) (*curve.Demand, error) {
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
	return curve.FromHistories(hs, o.series, o.history.steps)
}
