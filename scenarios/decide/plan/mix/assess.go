package mix

import "context"

// Assess runs mixes in full, in every run, without a search: each is a list of changes to the
// scenario, "capacity.base.gpus=64". A change that makes no valid scenario fails with what is wrong
// with it. The gap of a mix is unknown. The mixes are in the order of the list.
func (p *Planner) Assess(ctx context.Context, mixes [][]string) ([]*Mix, error) {
	var list []*Candidate
	for i, changes := range mixes {
		s, err := p.req.Case.Scenario.With(changes...)
		if err != nil {
			return nil, p.Fault(err)
		}
		c, err := p.candidateOf(s, i, nil)
		if err != nil {
			return nil, p.Fault(err)
		}
		list = append(list, c)
	}
	entries, err := p.Search.runAll(ctx, p.problem, list)
	if err != nil {
		return nil, p.Fault(err)
	}
	found := &Found{Entries: entries, Runs: p.problem.Runs, limits: p.Search.Limits, hold: p.Search.Hold}
	s := &study{Planner: p, found: found, bound: noBound(""), out: &Result{}}
	return s.mixes(entries), nil
}

// Holds reports whether the mix holds all limits in the given share of its runs, and each-run limits
// in every run.
func (m *Mix) Holds(share float64) bool { return m.Entry.fault() == "" && m.Entry.holds(share) }
