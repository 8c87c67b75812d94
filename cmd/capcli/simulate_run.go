package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"capcli"
	"capcli/scenarios"
	"capcli/simulate"
	"capcli/simulate/billing"
)

// outcome is one finished run.
type outcome struct {
	plan    *plan
	run     int
	seed    capcli.Seed
	result  *simulate.Result
	invoice *billing.Invoice
	curve   *curve
	intake  scenarios.Intake

	contracts []scenarios.Contract // nil where the scenario says no more of them than prices
	owed      []scenarios.Contract // all that is committed
	kinds     []string             // of the pools, as the scenario states them
	cut       bool

	seen overview
}

// play runs every plan as often as asked, on all cores. The order of results,
// and every figure in them, is the same at any number of cores.
func (o *simulateOptions) play(ctx context.Context, e *env, plans []*plan) ([][]*outcome, error) {
	held := &heldJobs{}
	out, err := o.playAll(ctx, e, plans)
	if errIsOrder(err) {
		if !plans[0].echo {
			e.note("the trace is not in order of submission; it is sorted in memory (capcli import writes it in order)")
		}
		held.sorted = true
		if err = o.replan(ctx, e, plans, held); err == nil {
			out, err = o.playAll(ctx, e, plans)
		}
	}
	return out, err
}

// replan gives every plan a source that sorts.
func (o *simulateOptions) replan(_ context.Context, e *env, plans []*plan, held *heldJobs) error {
	for _, p := range plans {
		if !p.fromLog() {
			continue
		}
		if err := o.jobsOf(e, p, held); err != nil {
			return err
		}
	}
	return nil
}

func (o *simulateOptions) playAll(ctx context.Context, e *env, plans []*plan) ([][]*outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n := len(plans) * o.runs
	out := make([][]*outcome, len(plans))
	for i := range out {
		out[i] = make([]*outcome, o.runs)
	}
	errs := make([]error, n)
	var (
		todo = make(chan int)
		wait sync.WaitGroup
		lock sync.Mutex
		runs *pulse // nil, and silent, where there is a single run

		crash any
	)
	if n > 1 {
		runs = &pulse{shown: newProgress(e, "runs"), total: int64(n)}
	}
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for k := range todo {
				v := caught(func() {
					out[k/o.runs][k%o.runs], errs[k] = o.playOne(ctx, e, plans[k/o.runs], k%o.runs, runs)
				})
				if v != nil {
					lock.Lock()
					crash = v
					lock.Unlock()
				}
				runs.beat(errs[k] == nil)
				if v != nil || errs[k] != nil {
					cancel()
				}
			}
		})
	}
	for k := range n {
		todo <- k
	}
	close(todo)
	wait.Wait()
	runs.end()
	if crash != nil {
		panic(crash)
	}
	return out, firstError(errs)
}

// caught does f and gives what it panicked with, nil if it did not: a crash on
// another goroutine must not skip the program's own last words.
func caught(f func()) (crash any) {
	defer func() { crash = recover() }()
	f()
	return nil
}

// firstError is the first error that is not only the echo of another.
func firstError(errs []error) error {
	var echo error
	for _, err := range errs {
		switch {
		case err == nil:
		case errors.Is(err, context.Canceled):
			echo = err
		default:
			return err
		}
	}
	return echo
}

// playOne is one run: one of several that runs tells of, else it tells of its jobs.
func (o *simulateOptions) playOne(ctx context.Context, e *env, p *plan, run int, runs *pulse) (*outcome, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	so := scenarios.Options{Seed: p.seed, Run: run, Open: p.open}
	reading, err := p.source.open(run)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reading.done.Close() }()
	out := &outcome{plan: p, run: run, seed: p.seed.Child(run), curve: newCurve()}
	tell, ended := runs.tell(e)
	cfg, err := p.scenario.Config(p.admit(toldOf(ctx, reading.jobs, tell), &out.intake), so)
	if err != nil {
		return nil, err
	}
	cfg.Observers = append(cfg.Observers, out.curve)
	cfg.Hourly = cfg.Hourly || p.energy != nil
	if p.watch != nil {
		p.watch(run, &cfg)
	}
	var rows *jobRows
	if o.jobsOut != "" {
		if rows, err = newJobRows(e, o.jobsOut, p); err != nil {
			return nil, err
		}
		defer rows.abort()
		cfg.Observers = append(cfg.Observers, rows)
	}
	if out.result, err = simulate.Run(ctx, cfg); err != nil {
		return nil, p.runError(err)
	}
	ended(out.result.Jobs.Read)
	if out.invoice, err = p.scenario.Invoice(out.result.Record, out.result.Ended, so); err != nil {
		return nil, err
	}
	if err := out.contract(so); err != nil {
		return nil, err
	}
	if err := out.balance(); err != nil {
		return nil, &accountingError{err}
	}
	if err := out.measure(); err != nil {
		return nil, err
	}
	if reading.reader != nil && run == 0 && !p.echo {
		out.told(e, reading)
	}
	if rows != nil {
		return out, rows.commit()
	}
	return out, nil
}

// runError types the engine's errors for the exit code. What is wrong with the
// jobs is wrong with their file.
func (p *plan) runError(err error) error {
	var books *simulate.AccountError
	var input *capcli.InputError
	switch {
	case errors.As(err, &books):
		return &accountingError{err}
	case errors.As(err, &input) && input.File == "":
		named := *input
		named.File = p.source.name
		named.Hint = strings.ReplaceAll(named.Hint, "LOG", shellWord(p.source.name))
		return &named
	}
	return err
}

// balance holds the invoice's tables against each other, to the millionth.
func (r *outcome) balance() error {
	inv := r.invoice
	tenants := inv.Unallocated
	for i := range inv.ByTenant {
		tenants += inv.ByTenant[i].Total
	}
	var months capcli.USD
	for i := range inv.ByMonth {
		months += inv.ByMonth[i].Line.Cost
	}
	var tiers capcli.USD
	for i := range inv.ByTier {
		tiers += inv.ByTier[i].Cost
	}
	if tenants != inv.Total.Cost || months != inv.Total.Cost || tiers != inv.Total.Cost {
		return fmt.Errorf("the invoice is %s, its tenants sum to %s, its months to %s, its tiers to %s",
			inv.Total.Cost.Decimal(), tenants.Decimal(), months.Decimal(), tiers.Decimal())
	}
	return nil
}

// told says on stderr what the reader left out or took for granted.
func (r *outcome) told(e *env, reading *jobReading) {
	rep := reading.reader.Report()
	if rep.Rejected > 0 {
		e.note(fmt.Sprintf("%s: %s of %s rows rejected, most for: %s (capcli import lists each)",
			r.plan.source.name, grouped(rep.Rejected), grouped(rep.Rows), rep.Reasons[0].Reason))
	}
	for _, a := range rep.Assumed {
		e.note(fmt.Sprintf("%s: %s in %s rows", r.plan.source.name, a.Reason, grouped(a.N)))
	}
	for _, n := range rep.Notes {
		e.note(r.plan.source.name + ": " + n)
	}
	r.cut = rep.Cut
}
