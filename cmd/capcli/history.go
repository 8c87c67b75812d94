package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/profile/demand"
	"capcli/profile/series"
	"capcli/profile/trace"
)

// historyOptions say where the history is and how to read it.
type historyOptions struct {
	read            traceOptions
	by              []string
	measure         string
	peak            bool
	peakBy          string // the period of --peak; "" is a step
	periods         bool   // --horizon is a list
	step            string
	agg, gaps       string
	id, time, value string
	prom            promOptions
	censor          censorOptions
	total           bool   // add the sum of all series
	separator       string // between the levels of ids
	whole           bool   // a demand curve

	ask   demand.Request // after check
	steps capcli.Step
	zone  *time.Location
}

// promOptions say what to ask a Prometheus server.
type promOptions struct {
	address, query, from, to string
	tokenFile                string
}

// censorOptions say what bounds the forecast, and what held the history down. These
// are two things: a cap is a promise about the future, a past capacity is the reason
// why usage was not demand.
type censorOptions struct {
	capacity, past, cap         string // N or FILE
	pending                     string // FILE
	capacityCol, pendingCol     string
	capacityQuery, pendingQuery string
}

func (o *historyOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.by, "by", nil, "a series for each `KEY`: pool (of samples host), gpu_model, tenant, class, total")
	f.StringVar(&o.measure, "measure", "demand", "`WHAT`, usage, queue, arrivals, arrival-hours; busy, sm…")
	f.Var(peakFlag{o}, "peak", "highest level in each step of a job log; or of each `PERIOD`, day or week")
	f.Lookup("peak").NoOptDefVal = "step"
	f.StringVar(&o.step, "step", "", "`STEP` between values: 15m, 1h, 1d, 1w, 1mo (default: as in a table; 1h of jobs)")
	f.StringVar(&o.agg, "agg", "", "`HOW` values in one step combine: mean (default with --step), sum or max")
	f.StringVar(&o.gaps, "gaps", "", "steps without a value: `WHAT`, error, zero, linear, previous, missing (default)")
	f.StringVar(&o.id, "id-col", "", "`NAME` of the column that tells series apart (unique_id); a,b joins two")
	f.StringVar(&o.time, "time-col", "", "`NAME` of the column of times (ds)")
	f.StringVar(&o.value, "value-col", "", "`NAME` of the column of values (y)")
	f.StringVar(&o.prom.address, "prom", "", "take the history from the Prometheus server at this `URL`")
	f.StringVar(&o.prom.query, "query", "", "`PROMQL` to ask it")
	f.StringVar(&o.prom.from, "from", "", "begin of the time asked for, a date or a time: `WHEN`")
	f.StringVar(&o.prom.to, "to", "", "end of the time asked for: `WHEN`")
	f.StringVar(&o.prom.tokenFile, "prom-token-file", "", "`FILE` with the bearer token for the server")
	c := &o.censor
	f.StringVar(&c.capacity, "capacity", "", "a number is --cap, a FILE is --past-capacity: `N|FILE`")
	f.StringVar(&c.past, "past-capacity", "", "GPUs there were, `N|FILE`; of samples also measured: tells demand from usage")
	f.StringVar(&c.cap, "cap", "", "no forecast, range or future above it: `N|FILE` (unique_id, ds, capacity)")
	f.StringVar(&c.pending, "pending", "", "GPUs that waited: `FILE`; demand is then usage and queue together")
	f.StringVar(&c.capacityCol, "capacity-col", "", "`NAME` of the column of past capacity, in the history or in its file")
	f.StringVar(&c.pendingCol, "pending-col", "", "`NAME` of the column of waiting GPUs, in the history or in its file")
	f.StringVar(&c.capacityQuery, "capacity-query", "", "`PROMQL` of the past capacity")
	f.StringVar(&c.pendingQuery, "pending-query", "", "`PROMQL` of the waiting GPUs")
	f.BoolVar(&o.total, "total", false, "add the sum of all series as a series of its own")
	f.StringVar(&o.separator, "id-sep", "", "ids have levels between `SEP`, team/h100 is part of team: add the sums")
	addFormatFlag(cmd, &o.read)
	addTraceFlags(cmd, &o.read)
	explainedBy(cmd, "capcli trace describe", "format")
	completeList(cmd, "by", func() []string { return demand.Keys })
	complete(cmd, "gaps", func() []string { return demand.GapRules })
	complete(cmd, "agg", func() []string { return demand.CombineRules })
	complete(cmd, "measure", func() []string { return demand.Measures })
}

// check makes the request of the flags, and refuses what is wrong with them.
func (o *historyOptions) check() error {
	c := &o.censor
	o.ask = demand.Request{
		By: o.by, Measure: o.measure, Peak: o.peak, PeakPeriods: o.peakBy != "" || o.periods,
		Combine: series.Combine(o.agg), Gaps: series.Gaps(o.gaps), ID: o.id, Time: o.time, Value: o.value,
		Prometheus: o.prom.address, Query: o.prom.query, TokenFile: o.prom.tokenFile, From: o.prom.from, To: o.prom.to,
		Pending: c.pending, CapacityColumn: c.capacityCol, PendingColumn: c.pendingCol, CapacityQuery: c.capacityQuery, PendingQuery: c.pendingQuery,
		Total: o.total, Separator: o.separator, Curve: o.whole,
	}
	if err := c.levels(&o.ask); err != nil {
		return err
	}
	if o.step != "" {
		var err error
		if o.ask.Step, err = capcli.ParseStep(o.step); err != nil {
			return &usageError{text: "--step: " + err.Error()}
		}
	}
	var err error
	if o.ask.Trace, err = o.read.options(); err != nil {
		return err
	}
	o.steps, o.zone = o.ask.Step, o.ask.Trace.TZ
	return o.ask.Check()
}

// levels tells numbers from files and refuses what says the same thing twice.
func (o *censorOptions) levels(r *demand.Request) error {
	var err error
	if o.cap != "" {
		if r.Cap, err = demand.ParseLevel("cap", o.cap); err != nil {
			return err
		}
	}
	switch {
	case o.past == demand.MeasuredText:
		r.Past.Measured = true
	case o.past != "":
		if r.Past, err = demand.ParseLevel("past-capacity", o.past); err != nil {
			return err
		}
	}
	if o.capacity == "" {
		return nil
	}
	l, err := demand.ParseLevel("capacity", o.capacity)
	switch {
	case err != nil:
		return err
	case l.File == "" && r.Cap.Given():
		return &usageError{text: fmt.Sprintf("--capacity %s and --cap %s say the same thing", o.capacity, o.cap), hint: "give one of them; the GPUs that there were are --past-capacity"}
	case l.File == "":
		r.Cap = l
	case r.Past.Given() || o.capacityQuery != "":
		return &usageError{text: fmt.Sprintf("--capacity %s and --past-capacity %s say the same thing", o.capacity, o.past), hint: "give one of them; a bound on the forecast is --cap"}
	default:
		r.Past = l
	}
	return nil
}

// sources open what a request of the demand names.
func (e *env) sources() demand.Sources {
	return demand.Sources{
		Open: func(name string) (trace.Input, io.Closer, error) { return openInput(e, name) },
		IsFolder: func(name string) bool {
			info, err := e.disk.stat(name)
			return err == nil && info.IsDir()
		},
		Web: e.web, Now: capcli.TimeOf(e.now()),
		Progress: func(unit string) (at, end func(n int64)) {
			p := newProgress(e, unit)
			return func(n int64) { p.at(n, 0) }, p.end
		},
	}
}

// load reads all histories of a call, what lies beside them, and what adds up to what.
func (o *historyOptions) load(ctx context.Context, e *env, args []string) (*demand.Histories, error) {
	o.ask.Inputs = args
	return demand.Read(ctx, o.ask, e.sources())
}

// loadFile reads the histories of one file, which is no folder.
func (o *historyOptions) loadFile(ctx context.Context, e *env, name string) (*demand.Histories, error) {
	return o.load(ctx, e, []string{name})
}

// loadInput reads the histories of a file that is open.
func (o *historyOptions) loadInput(ctx context.Context, e *env, in trace.Input) (*demand.Histories, error) {
	return demand.ReadInput(ctx, o.ask, e.sources(), in)
}
