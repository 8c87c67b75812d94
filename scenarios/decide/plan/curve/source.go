package curve

import (
	"context"
	"fmt"

	"capcli"
	"capcli/forecast/demand"
	"capcli/profile/logs/trace"
)

// Source is the source of a demand curve. It has one input: a table, a job log, or one JSON
// document with a start, a step and values, a list of rows, or a forecast.
type Source struct {
	demand.Request
	Series   string  // only the series of that name; "" is the series total or else the sum of all
	Quantile float64 // of a forecast, the demand that is not exceeded with this probability; 0 is the mean
}

// Read reads the curve.
func (s *Source) Read(ctx context.Context, from demand.Sources) (*Demand, error) {
	ask := *s
	ask.Curve = true
	if err := ask.Check(); err != nil {
		return nil, err
	}
	in, closer, err := from.Open(s.Inputs[0])
	if err != nil {
		return nil, err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	if isDocument(trace.PlainHead(in.Name, trace.Peek(&in))) {
		return ask.readDocument(in)
	}
	if s.Quantile > 0 {
		return nil, &capcli.RequestError{Field: "quantile", Text: "is for what capcli forecast -o json wrote, and " + in.Name + " is not", Hint: "name a column of a table: --value-col hi-80"}
	}
	hs, err := demand.ReadInput(ctx, ask.Request, from, in)
	if err != nil {
		return nil, err
	}
	return fromHistories(hs, s.Series, s.Step)
}

// Check returns a *capcli.RequestError where the source is wrong, before anything is read.
func (s *Source) Check() error {
	if s.Quantile < 0 || s.Quantile >= 1 {
		return &capcli.RequestError{Field: "quantile", Text: fmt.Sprintf("wants a chance between 0 and 1, found %g", s.Quantile), Hint: "--quantile 0.8"}
	}
	return s.Request.Check()
}
