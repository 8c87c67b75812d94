package billing

import (
	"cmp"
	"errors"
	"slices"

	"capcli"
)

// reserve gives the hours with the portfolio's capacity reservations applied:
// use that runs in one names it, and the part that nobody uses is a bucket of
// its own. Reservations are filled by the second, each in order of start, then
// ID: at each moment the owner's use before others', then in order of SKU,
// account, tenant and job.
func (h *Hours) reserve(p *Portfolio) (*Hours, error) {
	if !h.told {
		return nil, errors.New("a capacity reservation is billed by the second, but of this use only hours are known; price it from lines of use")
	}
	g, err := Gather(h.from, h.to, h.currency)
	if err != nil {
		return nil, err
	}
	g.h.byJob = h.byJob
	var orders []*Commitment
	for i := range p.Commitments {
		if _, is := p.Commitments[i].Product.(CapacityReservation); is {
			orders = append(orders, &p.Commitments[i])
		}
	}
	slices.SortFunc(orders, func(a, b *Commitment) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID)) })
	lines := slices.Clone(h.lines)
	for i := range lines {
		if l := &lines[i]; l.Kind == UseOnDemand {
			l.Seconds, l.Minimum = max(l.Seconds, l.Minimum), 0
		}
	}
	for _, c := range orders {
		if lines, err = g.fill(c, lines); err != nil {
			return nil, err
		}
	}
	for i := range lines {
		if l := &lines[i]; l.Kind == UseOnDemand {
			if err := g.stretch(l.bucket(), g.by(l), l.Units, l.Start, l.Seconds); err != nil {
				return nil, err
			}
		}
	}
	g.h.who = slices.Clip(g.h.who)
	if err := g.copyRest(h); err != nil {
		return nil, err
	}
	out, err := g.Hours()
	if err == nil {
		out.lines, out.told = h.lines, true
	}
	return out, err
}

// copyRest books what reservations do not touch as it was.
func (g *Gatherer) copyRest(h *Hours) error {
	for b := range h.buckets {
		if h.buckets[b].kind == UseOnDemand {
			continue
		}
		for _, e := range h.cells[b] {
			if err := g.put(h.buckets[b], h.who[e.who], h.first+capcli.Time(e.hour)*hour, e.time); err != nil {
				return err
			}
		}
	}
	return nil
}

// holder is a line of use that may run in a reservation, while it runs.
type holder struct {
	line     *UseLine
	from, to capcli.Time
}

// fill runs use in one reservation: it books its unused part and gives the
// lines anew, those pieces naming it that ran in it.
func (g *Gatherer) fill(c *Commitment, lines []UseLine) ([]UseLine, error) {
	p, _ := c.Product.(CapacityReservation)
	from, to := max(c.Start, g.h.from), min(c.End, g.h.to)
	if from >= to {
		return lines, nil
	}
	var rest []UseLine
	var in []holder
	for i := range lines {
		l := &lines[i]
		end := l.Start + capcli.Time(l.Seconds)
		named := l.Capacity == c.ID
		open := named || (!p.Targeted && l.Capacity == "")
		if l.Kind != UseOnDemand || !open || l.Start >= to || end <= from || !c.Scope.Matches(&l.SKU, l.Account) {
			rest = append(rest, *l)
			continue
		}
		in = append(in, holder{l, max(l.Start, from), min(end, to)})
		rest = append(rest, piece(l, l.Start, from), piece(l, to, end))
	}
	slices.SortStableFunc(in, func(a, b holder) int { return compareHolders(c, a.line, b.line) })
	idle := p.idleBucket(c)
	times := []capcli.Time{from, to}
	for _, k := range in {
		times = append(times, k.from, k.to)
	}
	slices.Sort(times)
	times = slices.Compact(times)
	for i := 0; i+1 < len(times); i++ {
		at, until := times[i], times[i+1]
		free := p.Units
		for _, k := range in {
			if k.from > at || k.to <= at {
				continue
			}
			part := piece(k.line, at, until)
			took := min(free, part.Units)
			free -= took
			if part.Capacity = c.ID; took > 0 {
				rest = append(rest, part)
				rest[len(rest)-1].Units = took
			}
			if part.Capacity, part.Units = k.outside(c), part.Units-took; part.Units > 0 {
				rest = append(rest, part)
			}
		}
		if err := g.stretch(idle, user{}, free, at, capcli.Seconds(until-at)); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(rest, func(l UseLine) bool { return l.Kind == UseOnDemand && (l.Seconds <= 0 || l.Units == 0) }), nil
}

// outside is what a line's capacity is called while the reservation is full: it
// may run in another.
func (k holder) outside(c *Commitment) string {
	if k.line.Capacity == c.ID {
		return ""
	}
	return k.line.Capacity
}

// piece is the part of a line from one instant to another.
func piece(l *UseLine, from, to capcli.Time) UseLine {
	out := *l
	out.Start, out.Seconds = from, capcli.Seconds(max(0, to-from))
	return out
}

// compareHolders is the order in which use is let into a reservation. It does
// not look at when a line began, so cutting a line changes nothing.
func compareHolders(c *Commitment, a, b *UseLine) int {
	x, y := a.bucket(), b.bucket()
	return cmp.Or(
		cmp.Compare(btoi(a.Capacity != c.ID), btoi(b.Capacity != c.ID)),
		cmp.Compare(btoi(a.Account != c.Owner), btoi(b.Account != c.Owner)),
		x.compare(&y), cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Job, b.Job))
}
