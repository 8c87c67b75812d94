package main

import (
	"context"
	"fmt"

	"capcli"
	planning "capcli/simulate/plan"
)

// futuresPlan is a plan for futures, and what it is held against.
type futuresPlan struct {
	o      *planOptions
	ask    *futuresAsk
	set    *futureSet
	market *planning.Market
	held   []planning.Held
	field  *planning.Field

	choice  *planning.Choice
	value   capcli.USD // the risk of the plan
	bound   capcli.USD
	alone   []*planning.Choice
	plans   []*planning.Assessed // the first is the plan
	waiting *planning.Waiting
	noWait  string // why waiting has no value
}

// planFutures plans for futures.
func planFutures(ctx context.Context, e *env, o *planOptions) error {
	r, err := newFuturesPlan(ctx, e, o)
	if err != nil {
		return err
	}
	if err := r.choose(ctx); err != nil {
		return planFailed(r.set.input, err)
	}
	if err := emit(e, o.output, r.doc(o.output.shape(e))); err != nil || r.set.partial == "" {
		return err
	}
	return &partialError{text: r.set.partial}
}

// planFailed types the errors of planning what a file wants, for the exit code.
func planFailed(file string, err error) error {
	return (&curvePlan{demand: &demandCurve{file: file}}).failed(err)
}

func newFuturesPlan(ctx context.Context, e *env, o *planOptions) (*futuresPlan, error) {
	ask, err := o.futures.ask(e, &o.curve)
	if err != nil {
		return nil, err
	}
	r := &futuresPlan{o: o, ask: ask}
	if r.set, err = o.futures.load(ctx, e, &o.curve, ask); err != nil {
		return nil, err
	}
	if r.market, err = ask.sketch.market(r.set.mean); err != nil {
		return nil, err
	}
	if r.held, err = heldOn(ask.sketch.held, r.market.Every, r.set.mean); err != nil {
		return nil, err
	}
	r.field, err = planning.NewField(&r.set.futures, r.market, r.held...)
	if err != nil {
		return nil, planFailed(r.set.input, err)
	}
	return r, nil
}

// choose finds the plan, and others to hold it against.
func (r *futuresPlan) choose(ctx context.Context) error {
	var err error
	if r.alone, err = r.field.Alone(ctx); err != nil {
		return err
	}
	mean := planning.Risk{}
	tail := planning.Risk{Kind: planning.CVaR, Level: 950_000}
	risks := []planning.Risk{r.ask.risk}
	for _, other := range []planning.Risk{mean, tail} {
		if other != r.ask.risk {
			risks = append(risks, other)
		}
	}
	for i, risk := range risks {
		c, err := r.field.Choose(ctx, risk)
		if err != nil {
			return err
		}
		if i == 0 {
			r.choice = c
		}
		if err := r.assess(risk.String(), "the least "+riskWords(risk)+" of the cost", c); err != nil {
			return err
		}
	}
	if r.value, err = r.field.Risk(r.plans[0], r.ask.risk); err != nil {
		return err
	}
	if r.bound, err = r.field.Bound(r.choice); err != nil {
		return err
	}
	if err := r.again(ctx); err != nil {
		return err
	}
	if err := r.sized(ctx); err != nil {
		return err
	}
	if err := r.baselines(ctx); err != nil {
		return err
	}
	return r.field.Regret(r.alone, r.plans...)
}

func (r *futuresPlan) assess(name, doc string, c *planning.Choice) error {
	a, err := r.field.Assess(name, doc, c)
	r.plans = append(r.plans, a)
	return err
}

// riskWords says a risk in words.
func riskWords(r planning.Risk) string {
	level := figureText(float64(r.Level) / 10_000)
	switch r.Kind {
	case planning.Quantile:
		return level + "% quantile"
	case planning.CVaR:
		return "mean of the worst " + figureText(100-float64(r.Level)/10_000) + "%"
	case planning.Mean:
	}
	return "mean"
}

// sized adds the plans that are made for one quantile of the demand.
func (r *futuresPlan) sized(ctx context.Context) error {
	for i, name := range []string{"conservative", "expected", "aggressive"} {
		q := r.o.futures.sized[i]
		c, err := r.field.SizedFor(ctx, r.set.futures.Quantiles(q))
		if err != nil {
			return err
		}
		if err := r.assess(name, fmt.Sprintf("the optimum of the demand that is not exceeded in %s%% of the futures", figureText(100*q)), c); err != nil {
			return err
		}
	}
	return nil
}

// baselines adds what rules of thumb do; without --baselines only that nothing is
// bought.
func (r *futuresPlan) baselines(ctx context.Context) error {
	list, err := r.field.Baselines(ctx)
	if err != nil {
		return err
	}
	if !r.o.futures.baselines {
		list = list[:1]
	}
	r.plans = append(r.plans, list...)
	return nil
}
