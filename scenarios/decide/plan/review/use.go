package review

import (
	"cmp"
	"fmt"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/money/focus"
	"capcli/simulate"
)

// Gauge records how many GPUs are held in a run, by the hour.
type Gauge struct {
	work  []capcli.GPUTime
	milli int64
	since capcli.Seconds
}

// Observe records starts, ends and interruptions of jobs.
func (g *Gauge) Observe(ev simulate.Event, _ *simulate.Cluster) {
	if ev.Job == nil {
		return
	}
	switch ev.Kind {
	case simulate.Start:
		g.accrue(ev.At)
		g.milli += ev.Job.Milli()
	case simulate.Finish, simulate.Preempt:
		g.accrue(ev.At)
		g.milli -= ev.Job.Milli()
	case simulate.Arrive, simulate.Drain, simulate.Lose, simulate.Gain, simulate.Wake, simulate.Drop:
	}
}

// accrue adds the GPUs that are held to the hours up to time at.
func (g *Gauge) accrue(at capcli.Seconds) {
	for g.since < at {
		i := int(g.since / capcli.Hour)
		for len(g.work) <= i {
			g.work = append(g.work, 0)
		}
		end := min(at, capcli.Seconds(i+1)*capcli.Hour)
		g.work[i] += capcli.GPUTime(g.milli * int64(end-g.since))
		g.since = end
	}
}

// Demand returns the GPUs held in a run that started at start and lasted for ended; input names it.
// A last hour that is not complete is left out, unless it is the only one.
func (g *Gauge) Demand(input string, start capcli.Time, ended capcli.Seconds) (*curve.Demand, error) {
	g.accrue(ended)
	if n := len(g.work); n > 1 && ended%capcli.Hour != 0 {
		g.work = g.work[:n-1]
	}
	if len(g.work) == 0 {
		return nil, &capcli.InputError{File: input, Text: "expected a run of an hour or more, found one that ended at once"}
	}
	c := &plan.Curve{Start: start, Step: capcli.Step{Seconds: capcli.Hour}, Work: g.work}
	return &curve.Demand{Input: input, Curve: c, Notes: []string{"what was used is the first run of " + input + ", played again"}}, nil
}

// BillUse sums the use in a bill in FOCUS: rows of use with a quantity in hours, spread over their
// charge periods. An hour of use counts as a GPU-hour.
type BillUse struct {
	File string

	hours       map[capcli.Time]float64
	first, last capcli.Time
	passed      int64 // rows that are not use in hours
}

// Add adds one row of the bill. It fails with a *capcli.InputError where the charge period is over
// 400 days.
func (u *BillUse) Add(row *focus.Row) error {
	unit := strings.ToLower(cmp.Or(row.ConsumedUnit, row.PricingUnit))
	n := row.ConsumedQuantity
	if !n.Known {
		n = row.PricingQuantity
	}
	from, to := row.ChargePeriodStart, row.ChargePeriodEnd
	unused := strings.EqualFold(row.CommitmentDiscountStatus, "Unused") || strings.EqualFold(row.CapacityReservationStatus, "Unused")
	if !strings.EqualFold(row.ChargeCategory, "Usage") || unused || !n.Known || !strings.Contains(unit, "hour") || !from.IsKnown() || to <= from {
		u.passed++
		return nil
	}
	if to-from > 400*capcli.Time(capcli.Day) {
		return &capcli.InputError{File: u.File, Line: row.Line, Field: "ChargePeriodEnd", Text: "expected a charge period of at most 400 days"}
	}
	hour := from - ((from%3600)+3600)%3600 // in which the charge period starts
	if u.hours == nil {
		u.hours, u.first = map[capcli.Time]float64{}, hour
	}
	each := n.Float() / float64(to-from)
	for at := hour; at < to; at += 3600 {
		u.hours[at] += each * float64(min(to, at+3600)-max(from, at))
	}
	u.first, u.last = min(u.first, hour), max(u.last, to)
	return nil
}

// Demand returns the use by the hour; notes are added to those of the result. It fails with a
// *capcli.InputError where the bill has no use in hours.
func (u *BillUse) Demand(notes []string) (*curve.Demand, error) {
	if u.hours == nil {
		return nil, &capcli.InputError{File: u.File, Text: "expected rows of use with a quantity in hours, found none", Hint: "look into it: capcli bill check " + u.File}
	}
	if (u.last-u.first)/3600 > 1_000_000 {
		return nil, &capcli.InputError{File: u.File, Text: "expected a bill of at most a hundred years"}
	}
	var levels []float64
	for at := u.first; at < u.last; at += 3600 {
		levels = append(levels, max(0, u.hours[at]))
	}
	out := &curve.Demand{Input: u.File, Notes: append([]string{}, notes...)}
	if u.passed > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%s %s %s no use in hours and were passed over", capcli.Grouped(u.passed), capcli.Plural(u.passed, "row"), capcli.Agree(u.passed, "is", "are")))
	}
	out.Notes = append(out.Notes, "an hour of use in the bill is taken for a GPU-hour")
	var err error
	out.Curve, err = plan.NewCurve(u.first, capcli.Step{Seconds: capcli.Hour}, levels)
	return out, err
}
