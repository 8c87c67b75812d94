package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/profile/bucket"
	"capcli/profile/demand"
	"capcli/profile/inference"
	"capcli/profile/trace"

	"capcli/cmd/bundle"
)

// historyOptions are the flags that say where the history is and how to read it.
type historyOptions struct {
	ask     demand.Request // filled by the flags; check completes it
	read    trace.Request
	step    string
	peakBy  string // the period of --peak; "" is one step
	periods bool   // whether --horizon may be of periods

	capacity, past, cap string // each a number or a file
}

func (o *historyOptions) addFlags(cmd *cobra.Command) {
	f, r := cmd.Flags(), &o.ask
	f.StringSliceVar(&r.By, "by", nil, "one series per `KEY`: pool (host for samples), gpu_model, tenant, class, a tag of the jobs such as project, total")
	f.StringVar(&r.Measure, "measure", "demand", "`WHAT` to forecast: demand, usage, queue, arrivals, arrival-hours; busy, sm…; requests, tokens-in, tokens-out, ttft-p99… of a service")
	f.Var(peakFlag{o}, "peak", "peaks: the highest level in each step of a job log, or in each `PERIOD`, day or week")
	f.Lookup("peak").NoOptDefVal = "step"
	f.StringVar(&o.step, "step", "", "`STEP` between values: 15m, 1h, 1d, 1w, 1mo (default: as in a table; 1h of jobs)")
	f.StringVar((*string)(&r.Combine), "agg", "", "`HOW` values in one step combine: mean (default with --step), sum or max")
	f.StringVar((*string)(&r.Gaps), "gaps", "", "steps without a value: `WHAT`, error, zero, linear, previous, missing (default)")
	f.StringVar(&r.ID, "id-col", "", "`NAME` of the column that identifies the series (unique_id); a,b joins two")
	f.StringVar(&r.Time, "time-col", "", "`NAME` of the column of times (ds)")
	f.StringVar(&r.Value, "value-col", "", "`NAME` of the column of values (y)")
	f.StringVar(&r.Prometheus, "prom", "", "take the history from the Prometheus server at this `URL`")
	f.StringVar(&r.Query, "query", "", "`PROMQL` query of the history")
	f.StringVar(&r.Metrics, "metrics", "", "traffic of this kind of `SERVER`, in place of a query")
	f.StringVar(&r.Match, "match", "", "only series with these `LABELS`, of --metrics")
	f.StringVar(&r.From, "from", "", "start of the history, a date or a time: `WHEN`")
	f.StringVar(&r.To, "to", "", "end of the history: `WHEN`")
	f.StringVar(&r.TokenFile, "prom-token-file", "", "`FILE` with the bearer token for the server")
	f.StringVar(&o.capacity, "capacity", "", "a number asks when demand passes it, a FILE is --past-capacity: `N|FILE`")
	f.StringVar(&o.past, "past-capacity", "", "past capacity in GPUs, `N|FILE`, or measured for samples: estimates demand from usage")
	f.StringVar(&o.cap, "cap", "", "upper bound of forecasts, ranges and futures: `N|FILE` (unique_id, ds, capacity)")
	f.StringVar(&r.Pending, "pending", "", "queued GPUs: `FILE`; demand is then usage + queue")
	f.StringVar(&r.CapacityColumn, "capacity-col", "", "`NAME` of the column of past capacity, in the history or in its file")
	f.StringVar(&r.PendingColumn, "pending-col", "", "`NAME` of the column of queued GPUs, in the history or in its file")
	f.StringVar(&r.CapacityQuery, "capacity-query", "", "`PROMQL` of the past capacity")
	f.StringVar(&r.PendingQuery, "pending-query", "", "`PROMQL` of the queued GPUs")
	f.BoolVar(&r.Total, "total", false, "add the sum of all series as a series of its own")
	f.StringVar(&r.Separator, "id-sep", "", "ids have levels separated by `SEP` (team/h100 is part of team): add the sums")
	addFormatFlag(cmd, &o.read)
	addReadFlag(cmd, &o.read, tableKeys...)
	bundle.Add(cmd, "prom", "take the history from the Prometheus server at this `URL`; then query=PROMQL or metrics=vllm, match=, capacity=, pending=, from=, to=, token=FILE, each a --prom", false,
		bundle.Key{"query", "query"}, bundle.Key{"metrics", "metrics"}, bundle.Key{"match", "match"}, bundle.Key{"capacity", "capacity-query"}, bundle.Key{"pending", "pending-query"}, bundle.Key{"from", "from"}, bundle.Key{"to", "to"}, bundle.Key{"token", "prom-token-file"})
	bundle.Add(cmd, "capacity", "a number asks when demand passes it, a FILE is --past-capacity: `N|FILE`; column=NAME has past capacity", true, bundle.Key{"column", "capacity-col"})
	bundle.Add(cmd, "pending", "queued GPUs, `FILE` or column=NAME; demand is then usage + queue", true, bundle.Key{"column", "pending-col"})
	completeList(cmd, "by", func() []string { return demand.Keys })
	complete(cmd, "gaps", func() []string { return demand.GapRules })
	complete(cmd, "agg", func() []string { return demand.CombineRules })
	complete(cmd, "metrics", func() []string { return entries(&inference.Servers) })
	complete(cmd, "measure", func() []string { return demand.Measures })
}

// tableKeys are the keys of --read for tables: their columns, and how values become a series.
var tableKeys = []bundle.Key{{"id", "id-col"}, {"time", "time-col"}, {"value", "value-col"}, {"agg", "agg"}, {"gaps", "gaps"}}

// check completes the request and refuses wrong flags.
func (o *historyOptions) check() error {
	r := &o.ask
	r.PeakPeriods = o.peakBy != "" || o.periods
	if err := r.SetLevels(o.capacity, o.past, o.cap); err != nil {
		return err
	}
	var err error
	if o.step != "" {
		if r.Step, err = capcli.ParseStep(o.step); err != nil {
			return &usageError{text: "--step: " + err.Error()}
		}
	}
	if r.Trace, err = o.read.Parse(); err != nil {
		return err
	}
	return r.Check()
}

// sources gives package demand access to files, folders, the web, the clock and the progress line.
func (e *env) sources() demand.Sources {
	return demand.Sources{
		Open: func(name string) (trace.Input, io.Closer, error) { return openInput(e, name) },
		IsFolder: func(name string) bool {
			info, err := e.disk.Stat(name)
			return err == nil && info.IsDir() || bucket.IsName(name)
		},
		Folder: e.profileFolder,
		Web:    e.web, Now: capcli.TimeOf(e.now()),
		Progress: func(unit string) (at, end func(n int64)) {
			p := newProgress(e, unit)
			return func(n int64) { p.report(n, 0) }, p.end
		},
	}
}

// readDemand reads the demand series of one file for a plan.
func (o *historyOptions) readDemand(ctx context.Context, e *env, file string) (*demand.Histories, error) {
	o.ask.Inputs, o.ask.Curve = []string{file}, true
	if err := o.check(); err != nil {
		return nil, err
	}
	return demand.Read(ctx, o.ask, e.sources())
}
