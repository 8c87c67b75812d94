package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"capcli"
)

// After says how a purchase counts that lasts beyond the end of the known demand. The zero value is
// Prorated.
type After struct {
	Rule  AfterRule
	Milli int64 // of Tail: the demand after the end, in thousandths of GPUs
}

// AfterRule is a rule for the part of a purchase that lies beyond the end of the known demand.
type AfterRule uint8

// The rules for what lies beyond the end of the known demand.
const (
	// Prorated: a purchase covers its time within the known demand and costs its rate for that time.
	// What lies beyond is neither charged nor worth anything.
	Prorated AfterRule = iota
	// Tail: demand goes on at a level until the last purchase that is offered ends. Every purchase
	// costs all of its term.
	Tail
	// InFull: every purchase costs all of its term, and nothing is wanted after the end.
	InFull
	// Fitting: purchases that would last beyond the end are not offered.
	Fitting
)

// ParseAfter parses "prorated", "tail=64" (GPUs), "whole" or "fitting".
func ParseAfter(text string) (After, error) {
	name, level, tail := strings.Cut(strings.TrimSpace(text), "=")
	switch {
	case tail && name == "tail":
		v, err := strconv.ParseFloat(strings.TrimSpace(level), 64)
		if err != nil || !(v >= 0 && v <= maxGPUs) {
			return After{}, fmt.Errorf("tail wants the GPUs that are wanted after the end, found %q", level)
		}
		return After{Tail, int64(math.Round(v * 1000))}, nil
	case tail:
	case name == "prorated":
		return After{}, nil
	case name == "whole":
		return After{Rule: InFull}, nil
	case name == "fitting":
		return After{Rule: Fitting}, nil
	}
	return After{}, fmt.Errorf("%q says not what becomes of a term after the end of the demand; write prorated, tail=64 (GPUs), whole or fitting", text)
}

// String returns a in the form that ParseAfter reads.
func (a After) String() string {
	switch a.Rule {
	case Tail:
		return "tail=" + strconv.FormatFloat(float64(a.Milli)/1000, 'f', -1, 64)
	case InFull:
		return "whole"
	case Fitting:
		return "fitting"
	case Prorated:
	}
	return "prorated"
}

// paidUntil returns the end of the time that counts in the cost of a purchase that ends at to, where
// the demand ends at end.
func (a After) paidUntil(to, end capcli.Seconds) capcli.Seconds {
	if a.Rule == Prorated {
		return min(to, end)
	}
	return to
}

// KnownLen returns the length of the known demand of c, which the tail that Extend added follows.
func (c *Curve) KnownLen() capcli.Seconds { return c.StepStart(len(c.Work) - c.tail) }

// maxTailSteps is the most steps that Extend adds.
const maxTailSteps = 5_000_000

// Extend returns c with the tail that m expects: its level from the end of c until the last purchase
// that m offers ends. It returns c where m has no Tail, and where c has been extended already. The
// last step is cut where that purchase ends.
func (m *Market) Extend(c *Curve) (*Curve, error) {
	if m.After.Rule != Tail || c.tail > 0 {
		return c, nil
	}
	end := c.Len()
	until := end
	for i := range m.Terms {
		for _, o := range m.orders(c, i) {
			until = max(until, o.to)
		}
	}
	out := *c
	out.Work = slices.Clone(c.Work)
	for n := len(c.Work); out.AddSteps(0, out.Step, n) < until; n++ {
		if out.tail++; out.tail > maxTailSteps {
			return nil, fmt.Errorf("over %d steps after the end of the demand: take longer steps", maxTailSteps)
		}
		from, to := out.AddSteps(0, out.Step, n), min(until, out.AddSteps(0, out.Step, n+1))
		out.Work = append(out.Work, capcli.GPUTime(m.After.Milli*int64(to-from)))
	}
	if out.tail > 0 {
		out.until = until
	}
	return &out, out.Check()
}

// order is a purchase that can be made: when it is ordered, and from when to when it lasts.
type order struct{ at, from, to capcli.Seconds }

// orders returns the times at which a term can be bought on c, in order of time: those of the term,
// or those of the market.
func (m *Market) orders(c *Curve, term int) []order {
	t := &m.Terms[term]
	at := slices.Clone(t.On)
	if at == nil {
		at = c.Starts(m.period())
		for _, from := range append(c.Renewals(t.Length), m.Also...) {
			if t.Lead.Length() > 0 {
				from = c.AddSteps(from, t.Lead, -1)
			}
			at = append(at, from)
		}
	}
	slices.Sort(at)
	known := c.KnownLen()
	var out []order
	for _, at := range slices.Compact(at) {
		if at < 0 || at >= known {
			continue
		}
		o := order{at: at, from: at}
		if t.Lead.Length() > 0 {
			o.from = c.AddSteps(at, t.Lead, 1)
		}
		o.to = c.AddSteps(o.from, t.Length, 1)
		out = append(out, o)
	}
	return out
}

// Renewals returns the times at which purchases end that begin at the start of c and follow each other, so
// that one can be followed by the next without a gap.
func (c *Curve) Renewals(length capcli.Step) []capcli.Seconds {
	if length.Length() < capcli.Day {
		return nil // within a day the times of purchase are those that are asked for
	}
	var out []capcli.Seconds
	for n, known := 1, c.KnownLen(); ; n++ {
		at := c.AddSteps(0, length, n)
		if at >= known {
			return out
		}
		out = append(out, at)
	}
}

// LeftOut is a term that no purchase can be made on, and the reason.
type LeftOut struct {
	Term int
	Why  string
}

// LeftOut returns the terms of m that cannot be bought for c.
func (m *Market) LeftOut(c *Curve) []LeftOut {
	var out []LeftOut
	end, first := c.Len(), c.KnownLen()
	for i := range m.Terms {
		t := &m.Terms[i]
		orders := m.orders(c, i)
		late := func(o order) bool { return o.from >= first }
		switch {
		case t.Max > 0 && t.Max < m.lot():
			out = append(out, LeftOut{i, "its limit is less than a lot"})
		case len(orders) == 0:
			out = append(out, LeftOut{i, "none of its days of purchase lies within the demand"})
		case !slices.ContainsFunc(orders, func(o order) bool { return !late(o) }):
			out = append(out, LeftOut{i, "it is delivered after the end of the demand"})
		case m.After.Rule == Fitting && !slices.ContainsFunc(orders, func(o order) bool { return o.to <= end }):
			out = append(out, LeftOut{i, "it is longer than the demand"})
		}
	}
	return out
}
