package decide

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/outcome"
)

// sentence is the answer of a plan that holds the limits. What is not served comes first.
func (c *chain) sentence() string {
	p, out := c.out.Plan, c.out
	var b strings.Builder
	if out.Partial != "" {
		fmt.Fprintf(&b, "PARTIAL: %s. ", out.Partial)
	}
	if out.Counts != "" {
		b.WriteString(out.Counts + " ")
	}
	b.WriteString(c.shortText() + c.boundText())
	if p.Undone > 0 {
		fmt.Fprintf(&b, "Of the work %s is not served (%s GPU-hours on average). ", sharesText(p.Unserved), hoursText(p.Undone))
	}
	fmt.Fprintf(&b, "%s: %s over %s. %s", c.orderText(), p.Cost.Brief(), lengthText(out.Length), c.tiesText())
	fmt.Fprintf(&b, "It costs %s, and %s in the worst 5%%%s. ", c.rangeText(p), p.Worst.Brief(), c.againstText())
	if p.isPlace() {
		if p.Undone == 0 {
			b.WriteString("All work that can be done by the end is done. ")
		}
		fmt.Fprintf(&b, "Jobs wait %s on average (%s hours together), the p95 wait is %s (%s in the worst future), and the limits hold in %s of the futures. ", waitText(p.WaitMean), hoursText(p.WaitHours), waitText(p.WaitP95), waitText(float64(p.WaitWorst)), mix.PercentText(p.Held))
	} else {
		b.WriteString("It is a bill that covers whatever runs, and no place: nobody waits, and what is not covered runs on demand. ")
	}
	if out.Backtest != nil {
		b.WriteString(out.Backtest.Answer + " ")
	}
	b.WriteString(c.leftOutText() + c.reviewText() + c.sellerText())
	return strings.TrimSpace(b.String())
}

// orderText says what to buy first.
func (c *chain) orderText() string {
	p, out := c.out.Plan, c.out
	if p.As == asBoth {
		return c.stackText()
	}
	if p.GPUs == 0 && len(p.Commitments) == 0 && p.As != asPlace {
		return fmt.Sprintf("Commit to nothing: take all %s on demand, at %s a GPU-hour", out.GPU, c.offer.OnDemand.PerGPU())
	}
	if p.As == asPlace {
		text := fmt.Sprintf("Commit to %s fenced %s for %s from %s, at %s a GPU-hour, and take the rest on demand at %s", capcli.Grouped(int64(p.GPUs)), out.GPU, c.place.Term, out.Start.Date(), c.place.PerGPU(), c.offer.OnDemand.PerGPU())
		if p.Patience != "0s" {
			text += ", for jobs that have waited " + p.Patience
		}
		return text
	}
	if p.GPUs == 0 {
		next := &p.Commitments[0]
		return fmt.Sprintf("Commit to nothing now, and to %s %s for %s from %s: until then take all on demand, at %s a GPU-hour", gpusText(next.GPUs), out.GPU, next.Term, next.Start.Time.Date(), c.offer.OnDemand.PerGPU())
	}
	var parts []string
	later := 0
	for i := range p.Commitments {
		x := &p.Commitments[i]
		if x.Start.Time != out.Start {
			later++
			continue
		}
		parts = append(parts, fmt.Sprintf("%s for %s at %s a GPU-hour", gpusText(x.GPUs), x.Term, x.Rate))
	}
	text := fmt.Sprintf("Commit to %s %s from %s", capcli.Grouped(int64(p.GPUs)), out.GPU, out.Start.Date())
	if len(parts) == 1 {
		x := &p.Commitments[0]
		text = fmt.Sprintf("Commit to %s %s for %s from %s, at %s a GPU-hour", capcli.Grouped(int64(p.GPUs)), out.GPU, x.Term, out.Start.Date(), x.Rate)
	} else {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	text += fmt.Sprintf(", and take the rest on demand at %s", c.offer.OnDemand.PerGPU())
	if later > 0 {
		text += fmt.Sprintf(", with %d further %s on later dates", later, capcli.Plural(int64(later), "purchase"))
	}
	return text
}

// lengthText writes a length of time; whole days are in days.
func lengthText(s capcli.Seconds) string {
	if s%capcli.Day == 0 {
		return fmt.Sprintf("%d %s", s/capcli.Day, capcli.Plural(int64(s/capcli.Day), "day"))
	}
	return s.String()
}

// gpusText writes a number of GPUs.
func gpusText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// rangeText says what the cost is in most of the futures.
func (c *chain) rangeText(p *Choice) string {
	return fmt.Sprintf("%s to %s%s", p.Range[0].Brief(), p.Range[1].Brief(), capcli.RangeOf(c.out.Futures, fmt.Sprintf("%d futures", c.out.Futures)))
}

// againstText says what named baselines cost more.
func (c *chain) againstText() string {
	var parts []string
	for _, x := range []struct{ name, text string }{{allOnDemand, "all on demand"}, {heldAlone, "buying nothing more"}, {ruleOf30, "the break-even level of the last 30 days"}} {
		d := c.named(x.name)
		if d == nil || d.GPUs == c.out.Plan.GPUs && d.Cost == c.out.Plan.Cost {
			continue
		}
		word := "more"
		if d.Difference < 0 {
			word = "less"
		}
		text := fmt.Sprintf("%s costs %s %s", x.text, max(d.Difference, -d.Difference).Brief(), word)
		if x.name == ruleOf30 {
			text = fmt.Sprintf("%s (%s GPUs) costs %s %s", x.text, capcli.Grouped(int64(d.GPUs)), max(d.Difference, -d.Difference).Brief(), word)
		}
		parts = append(parts, text)
	}
	for _, x := range []struct{ name, text string }{{placeAlone, "fenced GPUs alone cost"}, {billAlone, "a bill alone costs"}} {
		if d := c.named(x.name); c.out.Plan.As == asBoth && d != nil && d.Holds {
			parts = append(parts, fmt.Sprintf("%s %s more", x.text, d.Difference.Brief()))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, ", ")
}

// tiesText says which sizes cost the same, and what a wrong one costs.
func (c *chain) tiesText() string {
	t := c.out.Ties
	if t == nil {
		return ""
	}
	var b strings.Builder
	if t.Most > t.Least {
		fmt.Fprintf(&b, "%s to %s GPUs cost the same within the noise", gpusText(t.Least), gpusText(t.Most))
	}
	var wrong []string
	for _, w := range t.Wrong {
		if w.Added > 0 {
			wrong = append(wrong, fmt.Sprintf("%s would cost %s more", gpusText(w.GPUs), w.Added.Brief()))
		}
	}
	switch {
	case b.Len() == 0 && len(wrong) == 0:
		return ""
	case b.Len() == 0:
		b.WriteString(strings.Join(wrong, ", "))
	case len(wrong) > 0:
		b.WriteString("; " + strings.Join(wrong, ", "))
	}
	return b.String() + ". "
}

// reviewText says when to decide again, and what that is worth.
func (c *chain) reviewText() string {
	r := c.out.Review
	if r == nil || r.Value < c.out.Plan.Cost/200 {
		return ""
	}
	return fmt.Sprintf("Decide again on %s: that is worth %s. ", r.Date, r.Value.Brief())
}

// boundText warns of an order that binds far beyond the question, of which only the part within is valued.
func (c *chain) boundText() string {
	o := c.out.Order
	if o == nil || float64(o.Until-c.out.Start) <= beyond*float64(c.out.Length) || o.Until <= c.out.End+capcli.Time(31*capcli.Day) {
		return ""
	}
	term := ""
	if c.out.Plan.As == asPlace {
		term = c.place.Term
	} else if i := slices.IndexFunc(o.Parts, func(p Part) bool { return p.Until == o.Until }); i >= 0 {
		term = o.Parts[i].Term
	} else {
		term = c.out.Plan.Commitments[0].Term
	}
	return fmt.Sprintf("The order would bind until %s, and the question ends on %s: before signing ask --horizon %s. ", o.Until.Date(), c.out.End.Date(), term)
}

// leftOutText names the terms that were left out because they bind far beyond the question.
func (c *chain) leftOutText() string {
	var b strings.Builder
	_, far := c.fitting(c.offer)
	var names []string
	for _, q := range far {
		names = append(names, fmt.Sprintf("%s at %s", q.Term, q.PerGPU()))
	}
	if len(names) > 0 {
		fmt.Fprintf(&b, "Left out, for they bind far beyond the question: %s (--horizon %s asks about them). ", strings.Join(names, ", "), far[len(far)-1].Term)
	}
	return b.String()
}

// sellerText names the cheapest seller where it is another, and what it would save.
func (c *chain) sellerText() string {
	if len(c.out.Sellers) == 0 {
		return ""
	}
	s := &c.out.Sellers[0]
	if s.Difference >= 0 || strings.EqualFold(s.Provider, c.offer.OnDemand.Provider) {
		return ""
	}
	how := "all on demand at " + s.OnDemand.String()
	if s.GPUs > 0 {
		how = fmt.Sprintf("%s GPUs for %s at %s", gpusText(s.GPUs), s.Term, s.Rate)
	}
	return fmt.Sprintf("The same GPU is listed cheapest by %s (%s, %s): %s less, if it can be had there. ", s.Provider, how, s.Dated.Date(), (-s.Difference).Brief())
}

// named returns an alternative; nil where it is not listed.
func (c *chain) named(name string) *Choice {
	for i := range c.out.Alternatives {
		if c.out.Alternatives[i].Name == name {
			return &c.out.Alternatives[i]
		}
	}
	return nil
}

// noAnswer is the answer where no plan holds the limits.
func (c *chain) noAnswer() string {
	out := c.out
	var b strings.Builder
	if out.Counts != "" {
		b.WriteString(out.Counts + " ")
	}
	b.WriteString(c.shortText())
	if p := c.named(budgetName); p != nil && p.Undone > 0 {
		fmt.Fprintf(&b, "The budget does not pay for the work: at least %s of it (%s GPU-hours on average) would not be served by the %s GPUs that it pays for, which cost %s. ",
			sharesText(p.Unserved), hoursText(p.Undone), capcli.Grouped(int64(p.GPUs)), p.Cost.Brief())
	}
	fmt.Fprintf(&b, "No plan holds the limits (%s) in %s of the futures.", strings.Join(out.Limits, ", "), mix.PercentText(out.Hold))
	if n := out.Nearest; n != nil {
		fmt.Fprintf(&b, " The nearest commits to %s GPUs: %s over %s (%s in the worst 5%%)", capcli.Grouped(int64(n.GPUs)), n.Cost.Brief(), lengthText(out.Length), n.Worst.Brief())
		if n.isPlace() {
			fmt.Fprintf(&b, ", with a patience of %s, p95 wait %s", n.Patience, waitText(n.WaitP95))
		}
		if n.Undone > 0 {
			fmt.Fprintf(&b, ", %s of the work not served", sharesText(n.Unserved))
		}
		fmt.Fprintf(&b, "; it holds the limits in %s of the futures.", mix.PercentText(n.Held))
	}
	b.WriteString(c.asksText())
	return b.String()
}

// sharedUse is the factor on use from which it is said that jobs are taken to share machines.
const sharedUse = 1.02

// warnings says what the answer stands on that may not hold.
func (c *chain) warnings() []string {
	log, out := &c.out.Log, c.out
	days := int64(out.Length / capcli.Day)
	var list []string
	switch {
	case log.Days < days:
		list = append(list, fmt.Sprintf("%s has %d days and the question is about %d: the forecast was tried %s, and its far end is a guess", c.pastText(), log.Days, days, triedText(log.Tested)))
	case int64(log.Tested) < days:
		list = append(list, fmt.Sprintf("the horizon of %d days is beyond what the forecast was tried for: %s", days, triedText(log.Tested)))
	}
	if log.AheadLow < 0.5*log.Ahead || log.AheadTop > 2*log.Ahead {
		list = append(list, fmt.Sprintf("the futures differ widely: %.0f to %.0f GPUs on average, about %.0f. A shorter horizon, or a later decision on a part, is worth more than another digit", log.AheadLow, log.AheadTop, log.Ahead))
	}
	if log.Use != nil && *log.Use < 0.95*log.Demand && log.WaitP95 != nil {
		list = append(list, fmt.Sprintf("capacity held the demand down in the log: %.0f GPUs were in use and %.0f wanted had nobody waited (recorded p95 wait %s). The plan is for what was wanted", *log.Use, log.Demand, *log.WaitP95))
	}
	if c.alone > sharedUse {
		list = append(list, fmt.Sprintf("use is billed by the GPU, as where jobs share machines: if each job had machines of %d GPUs of its own, use would be %.2f times as high", c.lot(), c.alone))
	}
	if p := out.Plan; p != nil && p.OnDemand > 0 {
		list = append(list, "on-demand GPUs are taken to be there at the stated price whenever a job needs them")
	}
	return list
}

func triedText(days int) string {
	if days == 0 {
		return "for no day on the past"
	}
	return fmt.Sprintf("for at most %d days ahead on the past", days)
}

func sharesText(v float64) string {
	if v < 0.001 {
		return "under 0.1%"
	}
	return mix.PercentText(v)
}

func hoursText(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return capcli.Grouped(int64(v + 0.5))
}

func waitText(s float64) string { return outcome.MetricNamed("wait_p95").Text(s) }

// Next is a command that goes on from the answer. folder is where the documents are: it plays the
// recommendation, or the tiers where they were planned, in full detail with the jobs of the log. Where folder is "", it asks the question
// again and keeps the documents.
func (r *Result) Next(folder string) string {
	if folder == "" {
		return command(append(append([]string{"decide"}, r.asked...), "--out", "decision")...)
	}
	file, changes := ScenarioFile, r.changes()
	if r.Tiers != nil {
		file, changes = TiersYAML, r.Tiers.Changes
	}
	words := []string{"simulate", folder + "/" + file}
	if r.prices != "" {
		file := r.prices
		if !path.IsAbs(file) {
			file = path.Join(folder, file)
		}
		words = append(words, "--prices", file)
	}
	return command(append(withFlag(words, "--set", changes), "--out", folder+"/runs")...)
}

// changes returns the changes of the scenario that make the recommendation.
func (r *Result) changes() []string {
	at := point{r.Plan.GPUs, r.Plan.Patience}
	if r.Plan.As == asBoth {
		at.gpus = r.Plan.Place
	}
	return at.changes()
}

// flags are the flags of capcli decide that ask the request.
func (c *chain) flags() []string {
	out := withFlag([]string{"--trace", c.Trace}, "--trace", c.More)
	out = append(append(out, "--gpu", c.GPU, "--horizon", c.Horizon), c.readFlags()...)
	if c.Read.Format != "" {
		out = append(out, "--read", "format="+c.Read.Format)
	}
	if c.Joined != "" {
		out = append(out, "--read", "joined="+c.Joined)
	}
	out = withFlag(withFlag(out, "--max", c.Max), "--min", c.Min)
	out = withFlag(withFlag(out, "--held", c.Held), "--events", c.Events)
	d := NewRequest("", "")
	for _, f := range [][3]string{
		{"--budget", c.Budget, ""},
		{"--as-if", c.AsIf, ""},
		{"--prices", c.Prices, ""},
		{"--provider", c.Seller, ""},
		{"--wait-cost", c.WaitCost, d.WaitCost},
		{"--backtest", strconv.Itoa(c.Origins), strconv.Itoa(d.Origins)},
		{"--risk", c.Risk, d.Risk},
		{"--hold", c.Hold, d.Hold},
		{"--paths", strconv.Itoa(c.Futures), strconv.Itoa(d.Futures)},
		{"--seed", strconv.FormatUint(uint64(c.Seed), 10), strconv.FormatUint(uint64(d.Seed), 10)},
	} {
		if f[1] != f[2] {
			out = append(out, f[0], f[1])
		}
	}
	return out
}
