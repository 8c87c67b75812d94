package mix

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
)

// CommittedAs is the cheapest mix that commits in one way: as bills alone, as places alone, as both or not at all.
type CommittedAs struct {
	As    string     `json:"as"` // bills, places, both, nothing
	Mix   int        `json:"mix"`
	GPUs  int64      `json:"place_gpus"`
	Bills int64      `json:"bill_gpus"` // most at once
	Cost  capcli.USD `json:"cost_usd"`
	More  capcli.USD `json:"more_than_plan_usd"`
	Holds bool       `json:"holds_limits"` // false where a limit on cost is broken without commitments
	Best  bool       `json:"best"`
}

// BillGPUs returns the most GPUs that are committed as bills at once; 0 for nil.
func (c *Coverage) BillGPUs() int64 {
	if c == nil {
		return 0
	}
	var held capcli.Steps[capcli.Time]
	for _, b := range c.Bought {
		held.Add(b.Start, b.End, b.GPUs)
	}
	most, _ := held.Peak()
	return most
}

// committedAs compares the ways to commit over the mixes that were run in full and hold the limits; empty where the
// plan has no offers. Without its commitments a mix costs what it does when all its use is on demand.
func (s *study) committedAs() ([]CommittedAs, error) {
	if s.problem.tariff == nil || s.best == nil {
		return nil, nil
	}
	by := map[string]CommittedAs{}
	keep := func(c CommittedAs) {
		if old, has := by[c.As]; !has || c.Cost < old.Cost || c.Cost == old.Cost && c.Best {
			by[c.As] = c
		}
	}
	for _, e := range s.found.runInFull() {
		if e.Cover == nil || !e.holds(s.Search.Hold) {
			continue
		}
		places, err := committedGPUs(e)
		if err != nil {
			return nil, err
		}
		bills := e.Cover.BillGPUs()
		keep(CommittedAs{As: waysToCommit[capcli.Bit(places > 0)+2*capcli.Bit(bills > 0)], Mix: e.Index, GPUs: places, Bills: bills, Cost: e.Cost(), Holds: true, Best: e == s.best})
		if bills > 0 {
			alone := e.risk.WeightedUSD(e.Cover.alone, e.weightsOfRuns(), true)
			keep(CommittedAs{As: waysToCommit[capcli.Bit(places > 0)], Mix: e.Index, GPUs: places, Cost: alone, Holds: e.withoutBills(s.Search.Limits).holds(s.Search.Hold)})
		}
	}
	var out []CommittedAs
	for _, as := range waysToCommit {
		if c, has := by[as]; has {
			c.More = c.Cost - s.best.Cost()
			out = append(out, c)
		}
	}
	return out, nil
}

// WithoutBills returns a mix that was assessed as it is without its commitments as bills: what they cover is paid at
// its price on demand. It returns m where it has none.
func (p *Planner) WithoutBills(m *Mix) *Mix {
	if m == nil || m.Commitments.BillGPUs() == 0 {
		return m
	}
	e := m.Entry.withoutBills(p.Search.Limits)
	found := &Found{Entries: []*Entry{e}, Runs: p.problem.Runs, limits: p.Search.Limits, hold: p.Search.Hold}
	return (&study{Planner: p, found: found, bound: noBound(""), out: &Result{}}).mix(e)
}

// withoutBills returns an entry with what its outcomes cost without its commitments as bills.
func (e *Entry) withoutBills(limits []Limit) *Entry {
	x := &Entry{Candidate: e.Candidate, Rival: -1, risk: e.risk, weights: e.weights, allowed: e.allowed, Outcomes: slices.Clone(e.Outcomes)}
	for run := range x.Outcomes {
		o := &x.Outcomes[run]
		o.OnDemand += e.Cover.alone[run] - o.Cost + e.Cover.Committed
		o.Committed, o.Cost = o.Committed-e.Cover.Committed, e.Cover.alone[run]
	}
	x.judge(limits)
	return x
}

// waysToCommit are the values of CommittedAs.As: bit 0 is places, bit 1 bills.
var waysToCommit = []string{"nothing", "places", "bills", "both"}

// CommitmentText says what the plan commits to as bills, and what that does; "" where it has no offers.
func (r *Result) CommitmentText() string {
	c := r.Commitments
	if c == nil {
		return ""
	}
	if len(c.Bought) == 0 {
		return "no commitment as a bill lowers the cost"
	}
	var parts []string
	for _, b := range c.Bought[:min(3, len(c.Bought))] {
		parts = append(parts, fmt.Sprintf("%s %s %s from %s", capcli.Grouped(b.GPUs), capcli.Plural(b.GPUs, "GPU"), b.terms(), b.Start.Date()))
	}
	if n := len(c.Bought) - len(parts); n > 0 {
		parts = append(parts, fmt.Sprintf("%d more %s", n, capcli.Plural(int64(n), "purchase")))
	}
	text := fmt.Sprintf("commit as bills to %s, which cover %s of the use on demand", strings.Join(parts, ", "), PercentText(share(c.Covered, c.Wanted)))
	if c.RoundUp > 0 {
		text += fmt.Sprintf("; whole machines cost %s of it", c.RoundUp)
	}
	return text
}

// terms says what is bought: for 1y, or of a pool of the scenario, for its term.
func (b *Commitment) terms() string {
	switch {
	case b.Pool == "":
		return "for " + b.Offer
	case b.Term == "":
		return "of " + b.Pool
	}
	return "of " + b.Pool + " for " + b.Term
}

// CommittedAsText compares the plan with committing in other ways; "" where there is nothing to compare.
func (r *Result) CommittedAsText() string {
	var parts []string
	for i := range r.CommittedAs {
		c := &r.CommittedAs[i]
		if own := slices.IndexFunc(r.CommittedAs, func(o CommittedAs) bool { return o.Best }); own == i || c.More <= 0 {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s more %s", c.More, map[string]string{"nothing": "without a commitment", "places": "as places alone", "bills": "as bills alone", "both": "as places and bills"}[c.As]))
	}
	if len(parts) == 0 {
		return ""
	}
	return "It would cost " + strings.Join(parts, ", ")
}

func share(part, all float64) float64 {
	if all == 0 {
		return 0
	}
	return float64(int(part/all*1000+0.5)) / 1000
}
