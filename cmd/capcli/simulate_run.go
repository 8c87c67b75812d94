package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"capcli"
	"capcli/profile/trace"
	"capcli/scenarios"
	"capcli/scenarios/play"
)

// heldJobs is what was read once for a call: the log of --trace and stdin.
type heldJobs struct {
	logs   *play.Logs
	fitted *fitted
	survey *scenarios.LogSurvey // of --trace; nil until it is asked for
}

// fitted is a scenario made for a trace that came without one.
type fitted struct {
	text []byte
	note string
}

func newHeldJobs(e *env) *heldJobs { return &heldJobs{logs: &play.Logs{Open: e.opener()}} }

// opener opens inputs by their names.
func (e *env) opener() trace.Opener {
	return func(name string) (trace.Input, io.Closer, error) { return openInput(e, name) }
}

// play runs every plan as often as asked.
func (o *simulateOptions) play(ctx context.Context, e *env, plans []*play.Case) ([][]*play.Run, error) {
	unit := "jobs"
	if len(plans)*o.runs > 1 {
		unit = "runs"
	}
	p, done := newProgress(e, unit), int64(0)
	out, err := play.Play(ctx, plans, play.Request{Runs: o.runs, Note: e.note, Progress: func(n, total int64) {
		done = n
		p.at(n, total)
	}})
	if err == nil || unit == "runs" {
		p.end(done)
	}
	return out, err
}

// fitting makes a scenario for a trace that came without one: owned capacity of
// the size that was in use in the log; else that its header names; else that its
// jobs would keep four fifths busy.
func (o *simulateOptions) fitting(ctx context.Context, e *env, held *heldJobs) (*fitted, error) {
	if held.fitted != nil {
		return held.fitted, nil
	}
	if held.survey == nil {
		if err := o.surveyLog(ctx, e, held); err != nil {
			return nil, err
		}
	}
	gpus, why := held.survey.Size()
	what := fmt.Sprintf("%s owned GPUs, %s, at $%s a GPU-hour", grouped(gpus), why, assumedPrice)
	e.note("no scenario: assumed " + what + " (capcli scenarios init --trace writes a scenario that fits the log)")
	held.fitted = &fitted{
		text: []byte(fmt.Sprintf("capcli: scenario/v1\nname: trace\ncapacity:\n  - {name: assumed, kind: owned, gpus: %d, price: %s}\n", gpus, assumedPrice)),
		note: "capacity and price are assumed: " + what,
	}
	return held.fitted, nil
}

// assumedPrice is what an owned GPU-hour is taken to cost where nobody said:
// a round figure, and every result that uses it says so.
const assumedPrice = "2.00"

// plan reads a scenario, changed by the flags.
func (o *simulateOptions) plan(ctx context.Context, e *env, name, policy, placement string, held *heldJobs) (*play.Case, error) {
	if err := o.settlePeriod(ctx, e, held); err != nil {
		return nil, err
	}
	text, file, made, err := o.text(ctx, e, name, held)
	if err != nil {
		return nil, err
	}
	own, err := ownPrices(e, o.prices)
	if err != nil {
		return nil, err
	}
	s, err := scenarios.ParseWith(own, file, text, o.sets...)
	if err != nil {
		return nil, cmp.Or(o.logForScenario(e, name), err)
	}
	s.Policy.Name = cmp.Or(policy, s.Policy.Name)
	s.Placement = cmp.Or(placement, s.Placement)
	s.Policy.Perfect = s.Policy.Perfect || o.perfect
	read, err := o.read.options()
	if err != nil {
		return nil, err
	}
	options := play.Options{Trace: o.trace, Read: read, Logs: held.logs, Note: e.note}
	if o.seeded {
		seed := capcli.Seed(o.seed)
		options.Seed = &seed
	}
	c, err := play.NewCase(s, options)
	if err != nil {
		return nil, err
	}
	c.Notes, c.Text, c.Made = append(made[:len(made):len(made)], c.Notes...), text, made
	return c, nil
}
