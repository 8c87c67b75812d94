package futures

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/scenarios/decide/plan"
)

// holdDefault is the share of the futures in which all limits must hold together.
const holdDefault = "95%"

// Levels of risk and of demand of which plans are tried where limits bind, and the factors by which
// the purchases of each are multiplied.
var (
	triedLevels  = []int64{500_000, 800_000, 900_000, 950_000, 990_000}
	triedDemands = []float64{0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99}
	triedFactors = []float64{0, 0.25, 0.5, 0.75, 0.9, 1.1, 1.25, 1.5, 2}
)

// candidate is a plan that was tried, with its figures.
type candidate struct {
	choice   *plan.Choice
	assessed *plan.Assessed
	share    float64 // of the futures in which all limits hold
	miss     float64 // how far the worst limit is missed, as a share of it
}

// bind makes the plan hold its limits: of the plans tried that hold all limits in enough futures,
// it is the one of the least risk. Where the plan of the least risk of all holds them, it stays.
// Where none does, the plan is the one that misses its worst limit by the least share, and
// unheld says so.
func (s *solver) bind(ctx context.Context) error {
	if len(s.q.limits) == 0 {
		return nil
	}
	best, err := s.candidate(s.choice)
	if err != nil || best.share >= s.q.hold {
		return err
	}
	tried, err := s.tryChoices(ctx)
	if err != nil {
		return err
	}
	count := 1
	for _, c := range tried {
		for _, f := range append([]float64{1}, triedFactors...) {
			x, err := s.field.Multiply(c, f)
			if errors.Is(err, capcli.ErrOverflow) {
				continue
			}
			if err != nil {
				return err
			}
			got, err := s.candidate(x)
			if err != nil {
				return err
			}
			count++
			if s.prefers(got, best) {
				best = got
			}
		}
	}
	best.choice.Bound, best.choice.Rounds = s.choice.Bound, s.choice.Rounds // with limits no plan is better
	best.choice.Value = s.q.risk.Measure(best.choice.Costs)
	s.choice, s.tried = best.choice, count
	best.assessed.Name, best.assessed.Doc = "limits", fmt.Sprintf("the least %s of the cost, of %d plans tried, that holds the limits", s.q.risk.Words(), count)
	if best.share < s.q.hold {
		best.assessed.Name, best.assessed.Doc, s.unheld = "nearest", fmt.Sprintf("of %d plans tried, the one nearest to the limits", count), true
	}
	s.plans = append([]*plan.Assessed{best.assessed}, s.plans...)
	return nil
}

// prefers reports whether a is a better plan than b: it holds the limits and costs less, or misses
// them by less.
func (s *solver) prefers(a, b *candidate) bool {
	heldA, heldB := a.share >= s.q.hold, b.share >= s.q.hold
	switch {
	case heldA != heldB:
		return heldA
	case heldA:
		return s.q.risk.Measure(a.choice.Costs).Cmp(s.q.risk.Measure(b.choice.Costs)) < 0
	}
	return a.miss < b.miss
}

// tryChoices returns the plans of the least CVaR and the least quantile of several levels, and those
// sized for several quantiles of demand.
func (s *solver) tryChoices(ctx context.Context) ([]*plan.Choice, error) {
	risks := []plan.Risk{{}, {Kind: plan.Quantile, Level: int64(math.Round(s.q.hold * 1e6))}}
	for _, level := range triedLevels {
		risks = append(risks, plan.Risk{Kind: plan.CVaR, Level: level})
	}
	out := []*plan.Choice{s.choice}
	for _, r := range risks {
		if r.Level >= 1_000_000 {
			r = plan.Risk{Kind: plan.Quantile, Level: 999_999} // the highest cost of all
		}
		c, err := s.field.Choose(ctx, r)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	for _, q := range triedDemands {
		c, err := s.field.SizedFor(ctx, s.set.Futures.Quantiles(q))
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// candidate returns a choice with the share of the futures in which the limits hold.
func (s *solver) candidate(c *plan.Choice) (*candidate, error) {
	a, err := s.field.Assess("", "", c)
	if err != nil {
		return nil, err
	}
	if err := s.field.Regret(s.alone, a); err != nil {
		return nil, err
	}
	out := &candidate{choice: c, assessed: a, share: holdingShare(a, s.q.limits)}
	for i := range s.q.limits {
		out.miss = max(out.miss, s.q.limits[i].miss(a, s.q.hold))
	}
	return out, nil
}

// figureAt returns the figure of the limit that a share of the futures keeps: the nearest rank, from
// the best future on. It returns false where it is known in none.
func (l *limit) figureAt(a *plan.Assessed, hold float64) (float64, bool) {
	var all []float64
	for i := range a.Outcomes {
		if v, known := l.metric.get(&a.Outcomes[i]); known {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	slices.Sort(all)
	if l.least {
		slices.Reverse(all)
	}
	k := int(math.Ceil(hold*float64(len(all)) - 1e-9))
	return all[min(len(all), max(1, k))-1], true
}

// miss returns how far a plan is beyond the limit in a share of the futures, as a share of the
// limit; 0 where it holds.
func (l *limit) miss(a *plan.Assessed, hold float64) float64 {
	v, known := l.figureAt(a, hold)
	over := v - l.value
	if l.least {
		over = -over
	}
	if !known || over <= 0 {
		return 0
	}
	return over / max(math.Abs(l.value), 1e-9)
}

// unheldText says that no plan holds the limits, and how near the nearest is; "" where the plan
// holds them. A limit on cost below the lower bound of what the futures cost cannot be held.
func (s *solver) unheldText() string {
	if !s.unheld {
		return ""
	}
	a := s.plans[0]
	text := fmt.Sprintf("none of %d plans tried holds the limits in %g%% of %d futures. Nearest: ", s.tried, 100*s.q.hold, len(a.Outcomes))
	for i := range s.q.limits {
		l := &s.q.limits[i]
		if l.miss(a, s.q.hold) == 0 && holdingShare(a, s.q.limits[i:i+1]) >= s.q.hold {
			continue
		}
		v, _ := l.figureAt(a, s.q.hold)
		if i > 0 && text[len(text)-1] != ' ' {
			text += "; "
		}
		text += fmt.Sprintf("%s in %.1f%% of them, %s in %g%%", l.text, 100*holdingShare(a, s.q.limits[i:i+1]), l.valueText(v), 100*s.q.hold)
	}
	return text
}

// valueText writes a figure of the limit's metric.
func (l *limit) valueText(v float64) string {
	if l.metric.share {
		return fmt.Sprintf("%.1f%%", 100*v)
	}
	return capcli.USDOf(v).String()
}

// NoPlan returns a *capcli.ResultError where no plan tried holds the limits: the nearest, and how
// far it is from them. The plan of the result is then the nearest.
func (r *Result) NoPlan() error {
	if r.Unheld == "" {
		return nil
	}
	return &capcli.ResultError{Kind: capcli.NoPlan, Text: r.Unheld, Hint: "loosen the limit (--max, --min), or let it fail in more futures (--futures hold=80%)"}
}
