package paper

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/decide/plan/joint"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/figure"
	"capcli/scenarios/outcome"
)

// answer says what to do, from the plan that knows most: one of mixes simulates waits, one over
// futures knows that demand is not known, one of a curve knows one demand. Without a plan it says
// what the runs came to. What spoils the answer comes first.
func (m *material) answer() Answer {
	var out Answer
	switch {
	case len(m.decisions) > 0:
		out = decisionAnswer(m.decisions[0].Doc)
	case len(m.mixes) > 0:
		out = m.mixAnswer(m.mixes[0].Doc)
	case len(m.services) > 0:
		out = serviceAnswer(m.services[0].Doc)
	case len(m.futures) > 0:
		out = futuresAnswer(m.futures[0].Doc)
	case len(m.joints) > 0:
		out = jointAnswer(m.joints[0].Doc)
	case len(m.curves) > 0:
		out = curveAnswer(m.curves[0].Doc)
	case len(m.trials) > 0:
		out = m.trialsAnswer()
	case len(m.forecasts) > 0:
		out = m.forecastAnswer()
	default:
		out.Sentence = capital(m.checks[0].Doc.Answer)
	}
	if first := m.spoilers(); len(first) > 0 {
		out.Sentence = sentence(first...) + " " + out.Sentence
	}
	if out.Heads == nil {
		out.Heads = []Headline{}
	}
	if out.Details == nil {
		out.Details = []string{}
	}
	return out
}

func (m *material) mixAnswer(r *mix.Result) Answer {
	b := r.Best
	if b == nil {
		return m.noMixAnswer(r)
	}
	over := overText(r)
	parts := []string{buyText(r)}
	if b.PerYear != nil {
		text := dollarsText(*b.PerYear) + " a year"
		if r.Futures != nil && r.Futures.Risk != "mean" {
			text = fmt.Sprintf("the %s of the cost is %s a year", r.Futures.Risk, dollarsText(*b.PerYear))
		}
		if len(b.CostRange) == 2 && r.Runs > 1 {
			text += fmt.Sprintf(", %s to %s%s", dollarsText(yearly(b.CostRange[0], b.Length)), dollarsText(yearly(b.CostRange[1], b.Length)), capcli.RangeOf(r.Runs, over))
		}
		parts[0] += ": " + text
	}
	parts = append(parts, servedText(b, r.Runs))
	if text := b.WaitsText(); text != "" {
		parts = append(parts, text)
	}
	if b.Held != nil && len(r.Limits) > 0 {
		parts = append(parts, heldText(number(b.Held), r.Runs, over))
	}
	var details []string
	switch bound, ok := yearlyBound(r); {
	case ok && r.Bound.Service():
		details = append(details, fmt.Sprintf("no mix of these pools that serves as well can cost less than %s a year, so the gap is at most %s", dollarsText(bound), share(figure.Number(r.Bound.Gap))))
	case ok:
		details = append(details, fmt.Sprintf("no mix of these pools can cost less than %s a year, so the gap is at most %s", dollarsText(bound), share(figure.Number(r.Bound.Gap))))
	default:
		details = append(details, "no lower bound on the cost is known")
	}
	if owed, end := owedAfter(r); owed > 0 {
		details = append(details, fmt.Sprintf("the order binds until %s: %s of it is for the time after the runs", end.Date(), dollarsText(owed)))
	}
	out := Answer{Sentence: sentence(parts...), Heads: m.mixHeads(r, over)}
	for _, d := range details {
		out.Details = append(out.Details, sentence(d))
	}
	return out
}

// heldText says in which share of the runs the limits hold.
func heldText(held figure.Number, runs int, over string) string {
	switch {
	case runs > 1:
		return fmt.Sprintf("the limits hold in %s of %s", share(held), over)
	case held < 1:
		return "the limits do not hold"
	}
	return "the limits hold in the one run"
}

// overText names what ranges are over: runs, or futures.
func overText(r *mix.Result) string {
	if r.Futures != nil {
		return fmt.Sprintf("%d futures", r.Runs)
	}
	return runsText(r.Runs)
}

// dollarsText writes an amount as the figures do.
func dollarsText(u capcli.USD) string { return usd(dollars(u)) }

// buyText says what to order, and the rules that it needs.
func buyText(r *mix.Result) string {
	var pools []string
	for _, b := range r.Buys {
		if b.GPUs == 0 {
			continue
		}
		terms := b.Terms
		if b.Term != "" {
			terms += " for " + b.Term
		}
		gpu := b.Model
		if gpu != "" {
			gpu += " "
		}
		pools = append(pools, fmt.Sprintf("%s %sGPUs (%s, %s)", capcli.Grouped(b.GPUs), gpu, b.Pool, terms))
	}
	text := "commit to nothing"
	if len(pools) > 0 {
		text = "commit to " + strings.Join(pools, " and ")
	}
	var rules []string
	for i := range r.Best.Choices {
		c := &r.Best.Choices[i]
		if !isSize(r, c) {
			rules = append(rules, c.Text())
		}
	}
	if len(rules) > 0 {
		text += ", with " + strings.Join(rules, ", ")
	}
	return text
}

// isSize reports whether a choice is the size of a pool that is in Buys, or of one of which none is
// bought.
func isSize(r *mix.Result, c *mix.Choice) bool {
	if !strings.HasSuffix(c.Path, ".gpus") && !strings.HasSuffix(c.Path, ".nodes") {
		return false
	}
	return slices.ContainsFunc(r.Buys, func(b mix.Bought) bool { return strings.HasPrefix(c.Path, "capacity."+b.Pool+".") }) || c.Value == "0"
}

// servedText says how much of the work is done by the end, and how much is not.
func servedText(b *mix.Mix, runs int) string {
	if b.Unserved == nil {
		return "how much of the work is served is not known"
	}
	if *b.Unserved == 0 {
		return "all work that could be done by the end is served"
	}
	text := fmt.Sprintf("all but %s of the work is served", outcome.ShareText(*b.Unserved))
	if len(b.UnservedIn) == 2 && runs > 1 {
		text += fmt.Sprintf(" (%s to %s%s)", outcome.ShareText(b.UnservedIn[0]), outcome.ShareText(b.UnservedIn[1]), capcli.RangeOf(runs, "the runs"))
	}
	return text
}

// undoneText writes a share of the work that is not served; none is 0%.
func undoneText(v float64) string {
	if v == 0 {
		return "0%"
	}
	return outcome.ShareText(v)
}

// owedAfter returns what the commitments of the plan cost after the runs, and when the last of them
// ends.
func owedAfter(r *mix.Result) (owed capcli.USD, end capcli.Time) {
	for _, o := range r.Owed {
		owed += o.LockIn
		end = max(end, o.End)
	}
	return owed, end
}

// mixHeads are the large figures of a plan of mixes.
func (m *material) mixHeads(r *mix.Result, over string) []Headline {
	b := r.Best
	about := "over " + lengthText(b.Length)
	heads := []Headline{}
	put := func(name string, v figure.Number, u figure.Unit, about string) {
		if v.IsKnown() {
			heads = append(heads, Headline{Name: name, Value: v, Unit: u, Text: headText(v, u), About: about})
		}
	}
	gpus := capcli.Sum(r.Buys, func(x mix.Bought) int64 { return x.GPUs })
	put("GPUs to commit to", figure.Number(gpus), figure.Count, orNone(poolNames(r)))
	put("Cost a year", dollarsOr(b.PerYear), figure.USD, fmt.Sprintf("at the rate of %s, mean of %s", lengthText(b.Length), over))
	if b.Unserved != nil {
		heads = append(heads, Headline{"Work not served", number(b.Unserved), figure.Share, undoneText(*b.Unserved), about})
	}
	put("Wait, 95th percentile", number(b.WaitP95), figure.Seconds, "mean of "+over)
	put("Mean wait", number(b.WaitMean), figure.Seconds, about)
	if len(r.Limits) > 0 {
		put("Limits held", number(b.Held), figure.Share, "of "+over)
	}
	if r.Bound != nil && r.Bound.Cost > 0 {
		put("Most above the lower bound", figure.Number(r.Bound.Gap), figure.Share, boundLabel(r))
	}
	return heads
}

func poolNames(r *mix.Result) []string {
	return capcli.Map(r.Buys, func(b mix.Bought) string { return b.Pool })
}

// headText writes a value for a headline: large amounts in three digits.
func headText(v figure.Number, u figure.Unit) string {
	if !v.IsKnown() {
		return "n/a"
	}
	if u == figure.USD {
		return capcli.USDOf(float64(v)).Brief()
	}
	return u.Text(v)
}

// noMixAnswer says that there is nothing to buy from a plan without a mix.
func (m *material) noMixAnswer(r *mix.Result) Answer {
	parts := []string{fmt.Sprintf("no mix that was tried holds the limits in %s of %s, so there is nothing to order", share(figure.Number(r.Hold)), overText(r))}
	if len(r.Unpriced) > 0 && r.Closest == nil {
		parts = []string{"no mix has a price, so there is nothing to order: " + r.Unpriced[0].Fault}
	}
	if r.Binding != nil {
		parts = append(parts, fmt.Sprintf("the limit %s binds", *r.Binding))
	}
	if c := r.Closest; c != nil {
		text := "the nearest mix is " + choicesText(c.Choices)
		if c.PerYear != nil {
			text += fmt.Sprintf(", at %s a year", dollarsText(*c.PerYear))
		}
		if c.WaitP95 != nil {
			text += fmt.Sprintf(" with a p95 wait of %s", wait(number(c.WaitP95)))
		}
		parts = append(parts, text, servedText(c, r.Runs))
	}
	return Answer{Sentence: sentence(parts...)}
}

func futuresAnswer(r *futures.Result) Answer {
	p := &r.Plans[0]
	parts := []string{purchasesText(r.Optimum.Purchases)}
	if p.Mean != nil {
		text := fmt.Sprintf("%s on average over %s futures until %s", dollarsText(*p.Mean), capcli.Grouped(int64(r.Futures.Count)), untilText(r))
		if p.P95 != nil {
			text += fmt.Sprintf(", at most %s in 95%% of them", dollarsText(*p.P95))
		}
		parts = append(parts, text)
	}
	parts = append(parts, fmt.Sprintf("%s of the mean is on demand; all demand is served at once, so no wait is simulated", dollarsText(p.OnDemand)))
	if r.Optimum.Bound > 0 && r.Optimum.Gap != nil {
		parts = append(parts, fmt.Sprintf("no purchases have a %s under %s, so the gap is at most %s", r.Risk, dollarsText(r.Optimum.Bound), share(figure.Number(*r.Optimum.Gap))))
	}
	parts = append(parts, fmt.Sprintf("against knowing the future it loses %s on average, %s at most", dollarsText(p.MeanRegret), dollarsText(p.MaxRegret)))
	if w := r.Waiting; w != nil {
		parts = append(parts, fmt.Sprintf("deciding again after %s is worth %s", w.For, dollarsText(w.Deciding)))
	}
	heads := []Headline{
		{"Mean cost", dollarsOr(p.Mean), figure.USD, headText(dollarsOr(p.Mean), figure.USD), fmt.Sprintf("over %d futures until %s", r.Futures.Count, untilText(r))},
		{"Cost in 95% of futures, at most", dollarsOr(p.P95), figure.USD, headText(dollarsOr(p.P95), figure.USD), ""},
		{"Unused commitments", dollars(p.Unused), figure.USD, headText(dollars(p.Unused), figure.USD), "mean over the futures"},
	}
	return Answer{Sentence: sentence(parts...), Heads: knownHeads(heads)}
}

// knownHeads leaves out headlines without a value.
func knownHeads(heads []Headline) []Headline {
	out := []Headline{}
	for _, h := range heads {
		if h.Value.IsKnown() {
			out = append(out, h)
		}
	}
	return out
}

// purchasesText says what to buy first: the purchases of the earliest instant, and how many follow.
func purchasesText(list []market.Purchase) string {
	if len(list) == 0 {
		return "commit to nothing"
	}
	first := list[0].Start
	for i := range list {
		if first.After(list[i].Start) {
			first = list[i].Start
		}
	}
	var now []string
	later := 0
	for i := range list {
		p := &list[i]
		if p.Start != first {
			later++
			continue
		}
		now = append(now, fmt.Sprintf("%s GPUs on %s", count(figure.Number(p.GPUs)), p.Term))
	}
	text := "commit to " + strings.Join(now, " and ")
	if first.Dated() {
		text += " from " + first.Time.Date()
	}
	if later > 0 {
		text += fmt.Sprintf(", and to %d more %s later", later, capcli.Plural(int64(later), "purchase"))
	}
	return text
}

func curveAnswer(r *curve.Result) Answer {
	o := &r.Optimum
	parts := []string{
		purchasesText(o.Purchases),
		fmt.Sprintf("%s for a mean demand of %s GPUs, %s of it on demand", dollarsText(o.Cost), count(figure.Number(r.Demand.Mean)), dollarsText(o.OnDemand)),
		fmt.Sprintf("all on demand costs %s", dollarsText(o.AllOnDemand)),
		fmt.Sprintf("no purchases cost less than %s, so the gap is at most %s", dollarsText(o.Bound), share(figure.Number(o.Gap))),
		"the demand counts as known and served at once: its risk and waits are not in this plan",
	}
	heads := []Headline{
		{"Cost", dollars(o.Cost), figure.USD, headText(dollars(o.Cost), figure.USD), "of the demand given"},
		{"On demand", dollars(o.OnDemand), figure.USD, headText(dollars(o.OnDemand), figure.USD), "part of the cost"},
	}
	return Answer{Sentence: sentence(parts...), Heads: heads}
}

// jointAnswer is the answer of a plan of several models.
func jointAnswer(r *joint.Result) Answer {
	parts := []string{
		fmt.Sprintf("make %d purchases for %d GPU models: %s a year, %s of the cost on demand", len(r.Purchases), len(r.Models), dollarsText(r.CostYear), dollarsText(r.OnDemand)),
		fmt.Sprintf("all on demand costs %s in place of %s", dollarsText(r.AllOnDemand), dollarsText(r.Cost)),
		fmt.Sprintf("no plan costs less than %s, so the gap is at most %s", dollarsText(r.Bound), share(figure.Number(r.Gap))),
		"the demand counts as known and served at once: its risk and waits are not in this plan",
	}
	heads := []Headline{{"Cost a year", dollars(r.CostYear), figure.USD, headText(dollars(r.CostYear), figure.USD), "of the demand given"}}
	return Answer{Sentence: sentence(parts...), Heads: heads}
}

// forecastAnswer says where demand goes; it is no order.
func (m *material) forecastAnswer() Answer {
	r := m.forecasts[0].Doc
	if len(r.Series) == 0 || len(r.Series[0].Mean) == 0 {
		return Answer{Sentence: "The forecast has no series."}
	}
	s := &r.Series[0]
	last := len(s.Mean) - 1
	text := fmt.Sprintf("the forecast of %s is %s at %s", orNone(r.Input), count(figure.Number(s.Mean[last])), s.DS[last])
	return Answer{Sentence: sentence(text, "it says what will be wanted, not what to buy")}
}

// trialsAnswer says which of the simulated plans costs least of those that hold their limits, or
// what the only one came to.
func (m *material) trialsAnswer() Answer {
	if why := m.foreign(); why != "" {
		return Answer{Sentence: sentence("the runs cannot be compared: "+why, "each is shown by itself")}
	}
	best := m.cheapest()
	if best == nil {
		t := &m.trials[0]
		if len(m.trials) == 1 {
			return m.trialAnswer(t)
		}
		out := m.trialAnswer(t)
		out.Sentence = sentence(fmt.Sprintf("none of the %d plans holds its limits with a known price, so none is recommended", len(m.trials))) + " " + out.Sentence
		return out
	}
	out := m.trialAnswer(best)
	if len(m.trials) > 1 {
		text := fmt.Sprintf("of %d plans %s is the cheapest that holds its limits", len(m.trials), m.name(best))
		out.Sentence = sentence(text) + " " + out.Sentence
	}
	return out
}

// cheapest returns the plan with the least cost of a year of those that hold all their limits in
// every run and leave no more work undone than a plan may; nil where there is none.
func (m *material) cheapest() *trial {
	var best *trial
	least := unknown
	for i := range m.trials {
		t := &m.trials[i]
		cost, _, _, _ := t.spread("cost_per_year")
		undone, _, _, _ := t.spread("unserved_share")
		if held := t.heldShare(); !cost.IsKnown() || held.IsKnown() && held < 1 || undone > mostUndone {
			continue
		}
		if best == nil || cost < least {
			best, least = t, cost
		}
	}
	return best
}

// trialAnswer says what a simulated plan came to.
func (m *material) trialAnswer(t *trial) Answer {
	var length capcli.Seconds
	for i := range t.Runs {
		length = max(length, t.Runs[i].Ended)
	}
	cost, lo, hi, _ := t.spread("cost_per_year")
	text := "the plan " + m.name(t) + " has no known cost"
	if cost.IsKnown() {
		text = fmt.Sprintf("the plan %s costs %s a year at the rate of %s", m.name(t), usd(cost), lengthText(length))
		if len(t.Runs) > 1 {
			text += fmt.Sprintf(", %s to %s%s", usd(lo), usd(hi), capcli.RangeOf(len(t.Runs), runsText(len(t.Runs))))
		}
	}
	parts := []string{text, trialServed(t)}
	p95, _, _, atLeast := t.spread("wait_p95")
	if p95.IsKnown() {
		word := "at most "
		if atLeast {
			word = "over "
		}
		clause := "95% of the jobs wait " + word + wait(p95)
		if atLeast {
			clause = "the 95th percentile of waits is over " + wait(p95)
		}
		parts = append(parts, clause)
	}
	if held := t.heldShare(); held.IsKnown() {
		parts = append(parts, heldText(held, len(t.Runs), runsText(len(t.Runs))))
	}
	stranded, _, _, _ := t.spread("stranded_usd")
	total, _, _, _ := t.spread("cost")
	if stranded > 0 && total > 0 {
		parts = append(parts, fmt.Sprintf("%s of the cost of %s is for committed GPUs that nobody held", usd(stranded), usd(total)))
	}
	undone, _, _, _ := t.spread("unserved_share")
	heads := knownHeads([]Headline{
		{"Cost a year", cost, figure.USD, headText(cost, figure.USD), "at the rate of " + lengthText(length)},
		{"Work not served", undone, figure.Share, undoneText(float64(undone)), "over " + lengthText(length)},
		{"Wait, 95th percentile", p95, figure.Seconds, cmp.Or(map[bool]string{true: "over "}[atLeast], "") + wait(p95), "mean of " + runsText(len(t.Runs))},
	})
	return Answer{Sentence: sentence(parts...), Heads: heads}
}

// trialServed says how much of the work was served, and how much was not.
func trialServed(t *trial) string {
	undone, lo, hi, _ := t.spread("unserved_share")
	switch {
	case !undone.IsKnown():
		return "how much of the work is served is not known"
	case undone == 0:
		return "all work that could be done by the end is served"
	}
	text := fmt.Sprintf("all but %s of the work is served", outcome.ShareText(float64(undone)))
	if len(t.Runs) > 1 {
		text += fmt.Sprintf(" (%s to %s%s)", outcome.ShareText(float64(lo)), outcome.ShareText(float64(hi)), capcli.RangeOf(len(t.Runs), "the runs"))
	}
	return text
}
