package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"capcli"
	"capcli/scenarios/play"
	"capcli/simulate"
	"capcli/simulate/billing"
	planning "capcli/simulate/plan"
)

// readUsed reads what was in use: a job log, a table, a folder of runs or a bill.
func (r *planReviewed) readUsed(ctx context.Context, e *env) (*demandCurve, error) {
	c := &r.o.plan.curve
	if info, err := e.disk.stat(c.demand); err == nil && info.IsDir() {
		return r.playAgain(ctx, e, c.demand)
	}
	if r.o.focus {
		return usedInBill(ctx, e, c.demand)
	}
	return c.loadUsed(ctx, e)
}

// gauge follows how many GPUs are held, by the hour.
type gauge struct {
	work  []capcli.GPUTime
	milli int64
	since capcli.Seconds
}

// Observe follows starts and ends.
func (g *gauge) Observe(ev simulate.Event, _ *simulate.Cluster) {
	if ev.Job == nil {
		return
	}
	switch ev.Kind {
	case simulate.Start:
		g.to(ev.At)
		g.milli += ev.Job.Milli()
	case simulate.Finish, simulate.Preempt:
		g.to(ev.At)
		g.milli -= ev.Job.Milli()
	case simulate.Arrive, simulate.Drain, simulate.Lose, simulate.Gain, simulate.Wake:
	}
}

// to books what is held up to an instant.
func (g *gauge) to(at capcli.Seconds) {
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

// playAgain plays the first run of a folder of capcli simulate --out again. Its
// scenario says what was committed, where the flags do not.
func (r *planReviewed) playAgain(ctx context.Context, e *env, folder string) (*demandCurve, error) {
	x := &explanation{o: &explainOptions{replayed: true}, subject: folder, maker: newMaker(e)}
	x.o.sim.runs, x.o.sim.read = 1, r.o.plan.curve.history.read
	if err := x.open(e, folder); err != nil {
		return nil, err
	}
	p, err := x.make(ctx, e, &change{})
	if err != nil {
		return nil, err
	}
	g := &gauge{}
	p.Prepare = func(_ int, cfg *simulate.Config) error {
		cfg.Observers = append(cfg.Observers, g)
		return nil
	}
	all, err := x.o.sim.play(ctx, e, []*play.Case{p})
	if err != nil {
		return nil, err
	}
	res := all[0][0].Result
	g.to(res.Ended)
	if n := len(g.work); n > 1 && res.Ended%capcli.Hour != 0 {
		g.work = g.work[:n-1] // an hour that did not pass
	}
	if len(g.work) == 0 {
		return nil, &capcli.InputError{File: folder, Text: "expected a run of an hour or more, found one that ended at once"}
	}
	r.played = p
	curve := &planning.Curve{Start: res.Record.Start, Step: capcli.Step{Seconds: capcli.Hour}, Work: g.work}
	return &demandCurve{file: folder, curve: curve, notes: []string{"what was used is the first run of " + folder + ", played again"}}, nil
}

// usedInBill sums what a bill in FOCUS was used for: rows of use whose quantity is
// in hours, spread over their charge periods.
func usedInBill(ctx context.Context, e *env, name string) (*demandCurve, error) {
	hours := map[capcli.Time]float64{}
	var first, last capcli.Time = capcli.NoTime, 0
	var passed int64
	rep, err := readFocus(ctx, e, name, billing.FocusOptions{}, nil, func(row *billing.FOCUS) error {
		unit := strings.ToLower(cmp.Or(row.ConsumedUnit, row.PricingUnit))
		n := row.ConsumedQuantity
		if !n.Known {
			n = row.PricingQuantity
		}
		from, to := row.ChargePeriodStart, row.ChargePeriodEnd
		unused := strings.EqualFold(row.CommitmentDiscountStatus, "Unused") || strings.EqualFold(row.CapacityReservationStatus, "Unused")
		if !strings.EqualFold(row.ChargeCategory, "Usage") || unused || !n.Known || !strings.Contains(unit, "hour") || !from.Known() || to <= from {
			passed++
			return nil
		}
		if to-from > 400*capcli.Time(capcli.Day) {
			return &capcli.InputError{File: name, Line: row.Line, Field: "ChargePeriodEnd", Text: "expected a charge period of at most 400 days"}
		}
		each := n.Float() / float64(to-from)
		for at := from - mod(from, 3600); at < to; at += 3600 {
			hours[at] += each * float64(min(to, at+3600)-max(from, at))
		}
		if !first.Known() || from < first {
			first = from - mod(from, 3600)
		}
		last = max(last, to)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !first.Known() {
		return nil, &capcli.InputError{File: name, Text: "expected rows of use with a quantity in hours, found none", Hint: "look into it: capcli bill check " + name}
	}
	if (last-first)/3600 > 1_000_000 {
		return nil, &capcli.InputError{File: name, Text: "expected a bill of at most a hundred years"}
	}
	var levels []float64
	for at := first; at < last; at += 3600 {
		levels = append(levels, max(0, hours[at]))
	}
	notes := rep.Notes()
	if passed > 0 {
		notes = append(notes, fmt.Sprintf("%s %s no use in hours and were passed over", grouped(passed), plural(passed, "row")+" "+isAre(int(passed))))
	}
	notes = append(notes, "an hour of use in the bill is taken for a GPU-hour")
	curve, err := planning.NewCurve(first, capcli.Step{Seconds: capcli.Hour}, levels)
	return &demandCurve{file: name, curve: curve, notes: notes}, err
}

// mod is the rest of t by n, 0 or more.
func mod(t, n capcli.Time) capcli.Time { return ((t % n) + n) % n }
