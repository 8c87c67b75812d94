package mix

import (
	"context"
	"errors"
	"fmt"
	"math"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
)

// config returns the configuration of a run of candidate c, with its jobs.
func (p *Problem) config(c *Candidate, run int) (simulate.Config, error) {
	jobs, err := p.Jobs(run)
	if err != nil {
		return simulate.Config{}, err
	}
	cfg, err := c.Config(run)
	cfg.List = jobs
	return cfg, err
}

// price prices a result of the candidate's key under the candidate's rates. Where it cannot be
// priced, the outcome's Fault says why. It fails only where the accounts of the result are wrong.
func (p *Problem) price(ctx context.Context, c *Candidate, run int, ran *simulated) (Outcome, error) {
	res := ran.Result
	inv, err := c.invoice(res)
	var books *simulate.AccountError
	switch {
	case errors.As(err, &books):
		return Outcome{}, err
	case err != nil:
		none := &billing.Invoice{ByPool: make([]billing.Line, len(res.Record.Pools))}
		out := newOutcome(c.Index, run, p.Seed.Child(run), ran, none, p.Within, false)
		out.Fault = err.Error()
		return out, nil
	}
	out := newOutcome(c.Index, run, p.Seed.Child(run), ran, inv, p.Within, !c.Unpriced)
	if c.Services != nil {
		if out.Services, err = c.Services(ctx, run, res, inv, !c.Unpriced); err != nil {
			return Outcome{}, err
		}
	}
	if p.PriceUnserved {
		out.charge()
	}
	out.chargeWaits(p.WaitPrice)
	if p.tariff != nil {
		return out, p.tariff.meter(&out, c, res.Record)
	}
	return out, nil
}

// charge adds the unserved work to the cost, at the on-demand price.
func (o *Outcome) charge() {
	switch {
	case o.unservedWork() == 0:
	case o.UnservedAmount == nil:
		o.Priced, o.Fault = false, fmt.Sprintf("%.1f GPU-hours are left undone, and no on-demand price is known for them", o.unservedWork().Hours())
	case o.Cost > math.MaxInt64-*o.UnservedAmount:
		o.Priced, o.Fault = false, capcli.ErrOverflow.Error()
	default:
		o.Penalty = *o.UnservedAmount
		o.Cost += o.Penalty
	}
}

func (c *Candidate) invoice(res *simulate.Result) (*billing.Invoice, error) {
	if c.Invoice != nil {
		return c.Invoice(res.Record, res.Ended)
	}
	return billing.Price(res.Record, c.Rates)
}

// Outcome simulates and prices candidate i in a run. It depends on the inputs and the two numbers
// alone.
func (p *Problem) Outcome(ctx context.Context, i, run int) (Outcome, error) {
	c, err := p.Candidate(i)
	if err != nil {
		return Outcome{}, err
	}
	ran, err := p.simulate(ctx, c, run, loss{})
	if err != nil {
		return Outcome{}, err
	}
	return p.price(ctx, c, run, ran)
}
