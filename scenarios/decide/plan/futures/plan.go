package futures

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/decide/plan/market"
)

// againBranches is the most groups into which a decision divides a group of the one before.
const againBranches = 3

// solver is a plan in progress, in the frame of the mean of the futures.
type solver struct {
	q *Question
	market.Frame
	set   *Set
	field *plan.Field

	choice  *plan.Choice
	value   capcli.USD // the risk of the plan
	bound   capcli.USD
	alone   []*plan.Choice
	plans   []*plan.Assessed // the first is the plan
	waiting *plan.Waiting
	noWait  string // why there is no value of waiting
	tried   int    // plans tried for the limits
	unheld  bool   // no plan tried holds the limits
}

// Plan finds the purchases of the least risk over futures. Errors are those of curve.Question.Plan.
func (q *Question) Plan(ctx context.Context, set *Set) (*Result, error) {
	f, err := q.Sketch.Frame(set.Mean)
	if err != nil {
		return nil, err
	}
	s := &solver{q: q, Frame: f, set: set}
	if s.field, err = plan.NewField(&set.Futures, s.Market, s.Held...); err != nil {
		return nil, curve.Failed(set.Input, err)
	}
	if err := s.choose(ctx); err != nil {
		return nil, curve.Failed(set.Input, err)
	}
	return s.result(), nil
}

// choose finds the plan, and other plans to compare it with.
func (s *solver) choose(ctx context.Context) error {
	var err error
	if s.alone, err = s.field.OptimumOfEach(ctx); err != nil {
		return err
	}
	risks := []plan.Risk{s.q.risk}
	for _, other := range []plan.Risk{{}, {Kind: plan.CVaR, Level: 950_000}} {
		if other != s.q.risk {
			risks = append(risks, other)
		}
	}
	for i, risk := range risks {
		c, err := s.field.Choose(ctx, risk)
		if err != nil {
			return err
		}
		if i == 0 {
			s.choice = c
		}
		if err := s.assess(risk.String(), "the least "+risk.Words()+" of the cost", c); err != nil {
			return err
		}
	}
	if err := s.bind(ctx); err != nil {
		return err
	}
	if s.value, err = s.field.Risk(s.plans[0], s.q.risk); err != nil {
		return err
	}
	if s.bound, err = s.field.Bound(s.choice); err != nil {
		return err
	}
	if err := s.decideAgain(ctx); err != nil {
		return err
	}
	if err := s.size(ctx); err != nil {
		return err
	}
	if s.q.request.Baselines {
		list, err := s.field.Baselines(ctx)
		if err != nil {
			return err
		}
		s.plans = append(s.plans, list...)
	} else {
		nothing, err := s.field.BuyNothing()
		if err != nil {
			return err
		}
		s.plans = append(s.plans, nothing)
	}
	return s.field.Regret(s.alone, s.plans...)
}

func (s *solver) assess(name, doc string, c *plan.Choice) error {
	a, err := s.field.Assess(name, doc, c)
	s.plans = append(s.plans, a)
	return err
}

// size adds the plans that are sized for one quantile of the demand each.
func (s *solver) size(ctx context.Context) error {
	for _, q := range s.q.request.SizedFor {
		c, err := s.field.SizedFor(ctx, s.set.Futures.Quantiles(q))
		if err != nil {
			return err
		}
		percent := strconv.FormatFloat(100*q, 'f', -1, 64)
		name := "p" + percent
		if q == 0.5 {
			name = "median"
		}
		if err := s.assess(name, fmt.Sprintf("the optimum of the demand that each step alone does not exceed in %s%% of the futures", percent), c); err != nil {
			return err
		}
	}
	return nil
}

// decideAgain finds the plan that decides again, and the value of waiting.
func (s *solver) decideAgain(ctx context.Context) error {
	if s.q.wait.Length() <= 0 {
		s.noWait = "not asked for (--wait)"
		return nil
	}
	mean, err := s.field.Choose(ctx, plan.Risk{})
	if err != nil {
		return err
	}
	s.waiting, err = s.field.Wait(ctx, plan.Stages{Every: s.q.wait, Branches: againBranches, Signals: s.set.planned()}, mean, s.alone)
	if errors.Is(err, plan.ErrNothingAhead) {
		s.noWait = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	a, err := s.field.AssessStaged("again", "the least mean cost of a plan that is revised every "+s.q.request.Wait, s.waiting.Plan)
	s.plans = append(s.plans, a)
	return err
}
