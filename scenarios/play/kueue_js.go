package play

import (
	"context"

	"capcli"
	"capcli/scenarios/kubernetes"
	"capcli/simulate"
)

// The engine of a page leaves Kueue out: live.NewWorld refuses a scenario on which it decides.

func (c *Case) findWorkloads(*Options) error {
	return &capcli.RequestError{Field: "kueue", Text: "is not part of the engine of pages", Hint: "capcli simulate plays such a scenario"}
}

func (c *Case) reading(run int) (*Reading, error) { return c.Source.Read(run) }

func (c *Case) decide(context.Context, *simulate.Config, *Curve, *jobLines, func(n int64)) (*simulate.Result, *kubernetes.Study, error) {
	return nil, nil, c.findWorkloads(nil)
}
