package mix

import (
	"fmt"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/money/billing"
)

// Lead answers in one line: what to buy, its cost over the period and a year, whether the
// limits hold, how much work is left undone, how long jobs wait, what the size is tied with and what a wrong one costs. It
// says where the search was stopped early.
func (r *Result) Lead() string {
	if r.Partial != "" {
		return "PARTIAL (" + r.Partial + "). Best so far: " + r.answer()
	}
	return r.answer()
}

// answer is the lead without the remark on a stopped search.
func (r *Result) answer() string {
	if r.Best == nil {
		return fmt.Sprintf("No mix holds the limits in %s of the runs.", PercentText(r.Hold))
	}
	e, risk := r.Best.Entry, ""
	if r.Risk.Kind != plan.Mean {
		risk = r.Risk.Words() + " of the cost "
	}
	year, _ := billing.PerYear(e.Cost(), e.Length())
	text := fmt.Sprintf("%s: %s%s for %s, ~%s a year; %s; %s", r.purchaseText(), risk, e.Cost(), LengthText(e.Length()), year, r.limitsText(), e.undoneInPlan())
	if waits := r.Best.WaitsText(); waits != "" {
		text += "; " + waits
	}
	switch b := r.Bound; {
	case b.Cost <= 0:
	case b.Service():
		text += fmt.Sprintf("; at most %.1f%% above any mix that serves the work as early (lower bound %s)", 100*b.Gap, b.Cost)
	default:
		text += fmt.Sprintf("; at most %.1f%% above the lower bound of any mix (%s)", 100*b.Gap, b.Cost)
	}
	for _, more := range []string{r.StandingText(), r.CommittedAsText(), r.ModelsText()} {
		if more != "" {
			text += ". " + strings.TrimSuffix(more, ".")
		}
	}
	return text + "."
}

// purchaseText says what the best mix commits to, and the rules it runs by.
func (r *Result) purchaseText() string {
	s := r.Chosen
	var pools []string
	for i := range s.Capacity {
		c := &s.Capacity[i]
		if !c.Kind.Committed() || c.Floats && r.Commitments != nil { // what covers is said below
			continue
		}
		what := fmt.Sprintf("%s GPUs of %s", capcli.Grouped(int64(max(c.GPUs, c.Nodes*c.GPUsPerNode))), c.Name)
		if c.NodesFile != "" {
			what = c.Name + " as in " + c.NodesFile
		}
		terms := c.KindName()
		if c.Term != "" {
			terms += " for " + c.Term
		}
		pools = append(pools, fmt.Sprintf("%s (%s)", what, terms))
	}
	text := "Commit to nothing"
	switch {
	case len(pools) == 0 && r.Commitments.BillGPUs() > 0:
		text = "Buy no place"
	case len(pools) > 0:
		text = "Buy " + strings.Join(pools, " and ")
	}
	rules := capcli.Map(r.Rules(), func(c Choice) string { return c.Text() })
	if len(rules) > 0 {
		text += ", with " + strings.Join(rules, ", ")
	}
	if bills := r.CommitmentText(); bills != "" {
		text += "; " + bills
	}
	return text
}

// limitsText says whether the best mix holds the limits, and in which share of the runs.
func (r *Result) limitsText() string {
	what := "the limits hold"
	switch len(r.Limits) {
	case 0:
		return "no limit is set"
	case 1:
		what = r.Limits[0].Text + " holds"
	}
	if r.Runs > 1 {
		return fmt.Sprintf("%s in %s of %d runs", what, PercentText(r.Best.Entry.HeldShare()), r.Runs)
	}
	return what
}

// undoneInPlan says which share of the work that could be done by the end is left undone, and what
// that adds to the cost.
func (e *Entry) undoneInPlan() string {
	if share, _ := e.Mean("unserved_share"); share == 0 {
		return "all possible work is done"
	}
	text := e.UndoneText() + " of the work is left undone"
	if p := e.Penalty(); p > 0 {
		text += fmt.Sprintf(", of the cost %s", p)
	}
	return text
}

// LengthText formats a length of time; whole days are given in days.
func LengthText(s capcli.Seconds) string {
	if s > 0 && s%capcli.Day == 0 {
		return fmt.Sprintf("%d %s", s/capcli.Day, capcli.Plural(int64(s/capcli.Day), "day"))
	}
	return s.String()
}
