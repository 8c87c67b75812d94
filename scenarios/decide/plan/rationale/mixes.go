package rationale

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/outcome"
)

// explainMixes explains a plan that was searched among mixes: the limit that binds, the excess cost
// of other mixes, and the lower bound.
func explainMixes(file string, text []byte) (*Answer, error) {
	var p mix.Result
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, notAPlan(file, "found "+err.Error())
	}
	d := newAnswer(file)
	d.Assumed = append([]string{}, p.Assumption...)
	if p.Best == nil || p.Best.Cost == nil {
		return d, d.noMix(file, &p)
	}
	best := p.Best
	d.Cost = best.Cost
	d.Why = append(d.Why, fmt.Sprintf("%s is the cheapest of %d mixes tried that holds the limits in %.0f%% of %d runs or more%s", mixName(best), p.Counts.Tried, 100*p.Hold, p.Runs, waitsCounted(&p)))
	if u := best.Unserved; u != nil {
		d.Why = append(d.Why, fmt.Sprintf("it leaves %s of the work undone that could have been done by the end", outcome.ShareText(*u)))
	}
	if b := p.Bound; b != nil {
		d.Bound, d.Gap = &b.Cost, &b.Gap
		if b.Cost > 0 {
			d.Why = append(d.Why, fmt.Sprintf("it is %.1f%% above the %s", 100*b.Gap, b.Says))
		}
	}
	d.mixes(&p)
	d.Next = secondOf(&p)
	d.bills(&p)
	d.margins(&p)
	for _, t := range p.BreakEven {
		if t.At != nil && p.Against != nil {
			d.Why = append(d.Why, fmt.Sprintf("mix %d costs the same when a GPU-hour of %s is $%s* (now $%s*): this plan is cheaper %s that", *p.Against, t.Pool, t.At.Decimal(), t.Now.Decimal(), t.Best))
		}
	}
	d.Swings = slices.Clone(p.Tornado)
	slices.SortStableFunc(d.Swings, func(a, b mix.Swing) int {
		return cmp.Compare(max(b.Difference, -b.Difference), max(a.Difference, -a.Difference))
	})
	d.Assumed = append(d.Assumed, "prices are those of the scenario "+p.Scenario+", for the whole time")
	if n := p.Counts.Mixes - p.Counts.Tried; n > 0 {
		d.Unknown = append(d.Unknown, fmt.Sprintf("what the %d mixes would do that were not tried", n))
	}
	return d, nil
}

// bills says what the plan commits to as bills, what other ways to commit cost, and at which price each offer breaks
// even.
func (d *Answer) bills(p *mix.Result) {
	if p.Commitments == nil {
		return
	}
	d.Why = append(d.Why, "its commitments are the cheapest of all sizes on the use of this mix, over all runs together: "+p.CommitmentText())
	if text := p.CommittedAsText(); text != "" {
		d.Why = append(d.Why, strings.ToLower(text[:1])+text[1:]+" (of the mixes run in full)")
	}
	for _, b := range p.Bills {
		switch {
		case b.At == nil:
		case b.GPUs > 0:
			d.Why = append(d.Why, fmt.Sprintf("without %s the plan would %s*: it breaks even at $%s* a GPU-hour (now $%s*)", b.Offer, costMore(b.Without), b.At.Decimal(), b.Now.Decimal()))
		default:
			d.Why = append(d.Why, fmt.Sprintf("%s is not bought: a first one would pay below $%s* a GPU-hour (now $%s*)", b.Offer, b.At.Decimal(), b.Now.Decimal()))
		}
	}
}

func newAnswer(file string) *Answer {
	return &Answer{Schema: "capcli/explain_plan/v1", Subject: file, Why: []string{}, Others: []Other{}, Assumed: []string{}, Unknown: []string{}}
}

// noMix says why no mix was found. It fails where the document gives no reason.
func (d *Answer) noMix(file string, p *mix.Result) error {
	d.Binding = p.Binding
	if p.Closest == nil && p.Binding == nil {
		return notAPlan(file, "found one without a best mix and without a reason")
	}
	text := "no mix that was tried holds the limits"
	if p.Binding != nil {
		text += "; " + *p.Binding + " binds"
	}
	d.Why = append(d.Why, text)
	if c := p.Closest; c != nil {
		d.Why = append(d.Why, fmt.Sprintf("the closest, %s, %s", mixName(c), mixFails(c, 1)))
	}
	return nil
}

// mixName returns a mix in words: its number and its choices.
func mixName(m *mix.Mix) string {
	var out []string
	for _, c := range m.Choices {
		out = append(out, strings.TrimPrefix(strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(c.Path, "capacity."), "overflow."), ".", " ")+" "+c.Value, " "))
	}
	if len(out) == 0 {
		return fmt.Sprintf("mix %d", m.Mix)
	}
	return fmt.Sprintf("mix %d (%s)", m.Mix, strings.Join(out, ", "))
}

// mixFails returns the limits that a mix holds in too few runs; "" where it holds all.
func mixFails(m *mix.Mix, hold float64) string {
	var out []string
	for _, l := range m.Distances {
		if l.Held >= hold {
			continue
		}
		out = append(out, fmt.Sprintf("holds %s in %.0f%% of the runs%s", l.Limit, 100*l.Held, missedBy(&l)))
	}
	return strings.Join(out, " and ")
}

// missedBy returns by how much the mean is beyond a limit; "" where it is not.
func missedBy(l *mix.Distance) string {
	if l.Miss == nil || *l.Miss <= 0 {
		return ""
	}
	name, _, _ := strings.Cut(l.Limit, " ")
	m, err := outcome.FindMetric(name)
	switch {
	case err != nil:
	case m.Unit == outcome.InSeconds:
		return fmt.Sprintf(" (%s beyond it in the mean)", capcli.Seconds(*l.Miss+0.5))
	case m.Unit == outcome.InUSD:
		return fmt.Sprintf(" (%s beyond it in the mean)", capcli.USD(*l.Miss*1e6+0.5))
	}
	return ""
}

// mixes lists the other mixes that were run, in order of cost. A cheaper mix must break a limit;
// the limit that the cheapest of them breaks is the one that binds.
func (d *Answer) mixes(p *mix.Result) {
	cheaper := 0
	for _, m := range othersOf(p) {
		loses := *m.Cost - *p.Best.Cost
		if loses < 0 && mixFails(m, p.Hold) != "" {
			cheaper++
			d.bind(m, p.Hold)
		}
		d.Others = append(d.Others, Other{Name: mixName(m), Cost: m.Cost, Loses: &loses, Why: verdictOf(p, m)})
	}
	if p.Counts.Starved > 0 {
		d.Why = append(d.Why, p.Counts.StarvedText())
	}
	switch {
	case d.Binding != nil:
		d.Why = append(d.Why, fmt.Sprintf("the limit %s binds: %d %s less and %s", *d.Binding, cheaper, capcli.Agree(cheaper, "mix costs", "mixes cost"), capcli.Agree(cheaper, "breaks it", "break a limit; the cheapest of them breaks this one")))
	case len(p.Limits) > 0 && p.Counts.Starved == 0 && waitsCounted(p) == "":
		d.Why = append(d.Why, "no limit binds: none of the mixes listed costs less")
	}
}

// othersOf returns the mixes with a cost other than the best, each once, in order of cost.
func othersOf(p *mix.Result) []*mix.Mix {
	seen := map[int]bool{p.Best.Mix: true}
	var all []*mix.Mix
	for _, m := range slices.Concat(p.Plans, p.Frontier, p.All, []*mix.Mix{p.Own, p.Next}) {
		if m != nil && m.Cost != nil && !seen[m.Mix] {
			seen[m.Mix] = true
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *mix.Mix) int { return cmp.Or(cmp.Compare(*a.Cost, *b.Cost), cmp.Compare(a.Mix, b.Mix)) })
	return all
}

// secondOf returns in words the second cheapest mix that holds the limits, and its excess cost. The
// cost of mixes dropped before their last run is unknown, so one of them may be cheaper.
func secondOf(p *mix.Result) string {
	if p.Next == nil || p.Next.Cost == nil {
		return ""
	}
	of := ""
	if p.Counts.Full < p.Counts.Tried {
		of = fmt.Sprintf(", of the %d run in full,", p.Counts.Full)
	}
	text := fmt.Sprintf("the second cheapest%s is %s, which costs %s* more", of, mixName(p.Next), *p.Next.Cost-*p.Best.Cost)
	if more := *p.Next.Cost - *p.Best.Cost; more < 0 {
		text = fmt.Sprintf("the second cheapest, waits counted,%s is %s, which costs %s* less and has waits that count %s* more", of, mixName(p.Next), -more, waitsOf(p.Next)-waitsOf(p.Best))
	}
	if a, b := p.Best.Unserved, p.Next.Unserved; a != nil && b != nil && outcome.ShareText(*a) != outcome.ShareText(*b) {
		text += fmt.Sprintf(" and leaves %s of the work undone instead of %s", outcome.ShareText(*b), outcome.ShareText(*a))
	}
	return text
}

// bind sets Binding to the first limit that a cheaper mix breaks.
func (d *Answer) bind(m *mix.Mix, hold float64) {
	for i := range m.Distances {
		if d.Binding == nil && m.Distances[i].Held < hold {
			d.Binding = &m.Distances[i].Limit
		}
	}
}

// verdictOf says whether a mix holds the limits, and which it does not.
func verdictOf(p *mix.Result, m *mix.Mix) string {
	why := mixFails(m, p.Hold)
	if u := m.Unserved; u != nil && p.Best.Unserved != nil && outcome.ShareText(*u) != outcome.ShareText(*p.Best.Unserved) {
		why = strings.TrimPrefix(why+"; ", "; ") + "leaves " + outcome.ShareText(*u) + " of the work undone"
	}
	switch {
	case m.Runs < p.Runs:
		return fmt.Sprintf("dropped after %d of %d runs", m.Runs, p.Runs)
	case why == "" && *m.Cost < *p.Best.Cost && waitsOf(m) > waitsOf(p.Best):
		return fmt.Sprintf("jobs wait longer, which counts %s more", waitsOf(m)-waitsOf(p.Best))
	case why == "" && len(p.Limits) > 0:
		return "holds the limits"
	}
	return why
}

// waitsOf returns what the waits of a mix count in the choice.
func waitsOf(m *mix.Mix) capcli.USD {
	if m.WaitCost == nil {
		return 0
	}
	return *m.WaitCost
}

// waitsCounted says that waits are counted, where a mix that costs less and holds the limits was not taken for its waits.
func waitsCounted(p *mix.Result) string {
	for _, m := range othersOf(p) {
		if *m.Cost < *p.Best.Cost && m.Runs == p.Runs && mixFails(m, p.Hold) == "" && waitsOf(m) > waitsOf(p.Best) {
			return fmt.Sprintf(", where an hour that a job waits counts %s", p.WaitPrice)
		}
	}
	return ""
}

// margins says what the last GPU of each pool is worth, and what one more would be.
func (d *Answer) margins(p *mix.Result) {
	for i, m := range p.Marginal {
		if !m.Best {
			continue
		}
		if i > 0 && p.Marginal[i-1].Pool == m.Pool && m.Saved != nil {
			d.Why = append(d.Why, fmt.Sprintf("the last GPU of %s (%d) is needed %.0f%% of the time: without it the plan would %s*%s", m.Pool, m.GPUs, 100*m.Needed, costMore(*m.Saved), servesOtherwise(m.Undone, p.Marginal[i-1].Undone)))
		}
		if i+1 < len(p.Marginal) && p.Marginal[i+1].Pool == m.Pool && p.Marginal[i+1].Saved != nil {
			next := p.Marginal[i+1]
			d.Why = append(d.Why, fmt.Sprintf("one more GPU of %s would be needed %.0f%% of the time: with it the plan would %s*%s", next.Pool, 100*next.Needed, costMore(-*next.Saved), servesOtherwise(m.Undone, next.Undone)))
		}
	}
}

// servesOtherwise says that a change leaves another share of the work undone; "" where it does not.
func servesOtherwise(now, then float64) string {
	if outcome.ShareText(now) == outcome.ShareText(then) {
		return ""
	}
	return fmt.Sprintf(", and leave %s of the work undone in place of %s", outcome.ShareText(then), outcome.ShareText(now))
}

// costMore returns a difference in cost as a verb phrase.
func costMore(u capcli.USD) string {
	if u < 0 {
		return "cost " + (-u).String() + " less"
	}
	return "cost " + u.String() + " more"
}
