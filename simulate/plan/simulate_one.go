package plan

import (
	"context"

	"capcli/simulate"
	"capcli/simulate/billing"
)

// Run simulates candidate c in the given run.
func (p *Problem) Run(ctx context.Context, c *Candidate, run int) (*simulate.Result, error) {
	jobs, err := p.Jobs(run)
	if err != nil {
		return nil, err
	}
	cfg, err := c.Config(run)
	if err != nil {
		return nil, err
	}
	cfg.List = jobs
	return simulate.Run(ctx, cfg)
}

// Price is what a result of the candidate's key costs under its rates.
func (p *Problem) Price(c *Candidate, run int, res *simulate.Result) (Outcome, error) {
	inv, err := c.invoice(res)
	if err != nil {
		return Outcome{}, err
	}
	return NewOutcome(c.Index, run, p.Seed.Child(run), res, inv, p.Within, !c.Unpriced), nil
}

func (c *Candidate) invoice(res *simulate.Result) (*billing.Invoice, error) {
	if c.Invoice != nil {
		return c.Invoice(res.Record, res.Ended)
	}
	return billing.Price(res.Record, c.Rates)
}

// Outcome simulates and prices candidate i in a run: a pure function of the
// inputs and the two numbers, which is what a shard of a sweep computes.
func (p *Problem) Outcome(ctx context.Context, i, run int) (Outcome, error) {
	c, err := p.Candidate(i)
	if err != nil {
		return Outcome{}, err
	}
	res, err := p.Run(ctx, c, run)
	if err != nil {
		return Outcome{}, err
	}
	return p.Price(c, run, res)
}
