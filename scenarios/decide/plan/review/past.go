package review

import (
	"cmp"
	"fmt"
	"slices"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/market"
)

// past is the commitments in the last part of a curve of use.
type past struct {
	market.Frame
	from, to  capcli.Seconds
	contracts []*contract // in the order in which they serve: the lowest rate first
}

// contract is one commitment in the time looked at.
type contract struct {
	market.Contract
	active     capcli.Seconds // part of that time
	paid, used capcli.GPUTime
	served     []plan.Piece // use that it served, over time
}

// newPast sorts the contracts in the order in which they serve. It fails where a contract has no
// GPUs or no duration.
func newPast(f market.Frame, list []market.Contract, last capcli.Seconds) (*past, error) {
	if err := f.Curve.Check(); err != nil {
		return nil, err
	}
	p := &past{Frame: f, to: f.Curve.Len()}
	p.from = max(0, p.to-last)
	for _, c := range list {
		if c.Milli <= 0 || c.To <= c.From {
			return nil, fmt.Errorf("%s: expected some GPUs from one instant to a later one", c.Name)
		}
		p.contracts = append(p.contracts, &contract{Contract: c})
	}
	slices.SortStableFunc(p.contracts, func(a, b *contract) int {
		if a.Priced != b.Priced {
			return map[bool]int{true: -1, false: 1}[a.Priced]
		}
		return cmp.Or(cmp.Compare(a.Rate, b.Rate), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return p, nil
}

// serve assigns the use to the contracts, and fills in what they served.
func (p *past) serve(out *Result) {
	cuts := []capcli.Seconds{p.from}
	for _, c := range p.contracts {
		cuts = append(cuts, c.From, c.To)
	}
	slices.Sort(cuts)
	for s := range p.Curve.Pieces(cuts) {
		if s.From < p.from {
			continue
		}
		out.Used += s.Work
		for _, c := range p.contracts {
			if s.From < c.From || s.To > c.To {
				continue
			}
			room := capcli.GPUTime(c.Milli * int64(s.To-s.From))
			served := s
			served.Work = min(room, s.Work)
			s.Work -= served.Work
			out.Covered += served.Work
			c.active, c.paid, c.used = c.active+s.To-s.From, c.paid+room, c.used+served.Work
			c.served = append(c.served, served)
		}
		out.OnDemand += capcli.Cost(p.Market.OnDemand.At(s.From), s.Work)
	}
	for _, c := range p.contracts {
		out.Committed += c.paid
		out.Commitments = append(out.Commitments, p.commitment(c))
		if unused := out.Commitments[len(out.Commitments)-1].UnusedUSD; unused != nil {
			out.Unused += *unused
		}
	}
}

// forEver is the time left from which a commitment counts as one without an end.
const forEver = 90 * 366 * capcli.Day

func (p *past) commitment(c *contract) Commitment {
	out := Commitment{
		Name: c.Name, GPUs: market.GPUs(c.Milli), From: p.Instant(c.From), Utilisation: market.Share(c.used, c.paid),
		Committed: c.paid, Used: c.used, Unused: c.paid - c.used, RateWhy: "no price is given",
	}
	if c.To-p.to < forEver {
		until, days := p.Instant(c.To), max(0, float64(c.To-p.to)/float64(capcli.Day))
		out.Until, out.DaysLeft = &until, &days
	} else {
		out.LeftWhy = "it has no end"
	}
	if c.Priced {
		unused := capcli.Cost(c.Rate, c.paid-c.used)
		idle := market.GPUs(c.idleGPUs(c.Rate.Float() / max(1e-9, p.Market.OnDemand.At(p.to).Float())))
		out.Rate, out.RateWhy, out.UnusedUSD, out.Idle = &c.Rate, "", &unused, &idle
	}
	return out
}

// idleGPUs returns the thousandths of the whole GPUs of c that were in use for at most a share of
// the time. Where the share is the rate over the on-demand price, paying on demand for those GPUs
// would have cost no more.
func (c *contract) idleGPUs(share float64) int64 {
	level := func(p plan.Piece) int64 { return int64(p.Work) / int64(p.To-p.From) }
	slices.SortStableFunc(c.served, func(a, b plan.Piece) int { return cmp.Compare(level(b), level(a)) })
	var sum capcli.Seconds
	for i, s := range c.served {
		sum += s.To - s.From
		gpus := level(s) / 1000
		if i+1 < len(c.served) && level(c.served[i+1])/1000 == gpus {
			continue
		}
		if float64(sum) > share*float64(c.active) {
			return max(0, c.Milli-gpus*1000)
		}
	}
	return c.Milli
}
