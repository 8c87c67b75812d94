package shell

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/bundle"
	"capcli/forecast/demand"
	"capcli/forecast/outlook"
	"capcli/profile/bucket"
	"capcli/profile/inference"
	"capcli/profile/logs/trace"
)

// HistoryOptions are the flags that say where the history is and how to read it.
type HistoryOptions struct {
	Ask     demand.Request // filled by the flags; check completes it
	Read    trace.Request
	Step    string
	PeakBy  string // the period of --peak; "" is one step
	Periods bool   // whether --horizon may be of periods

	capacity, past, cap string // each a number or a file
}

// AddFlags gives cmd the flags of a history.
func (o *HistoryOptions) AddFlags(cmd *cobra.Command) {
	f, r := cmd.Flags(), &o.Ask
	f.StringSliceVar(&r.By, "by", nil, "one series per `KEY`: pool (host for samples), gpu_model, tenant, class, a tag of the jobs such as project, total")
	f.StringVar(&r.Measure, "measure", "demand", "`WHAT` to forecast: demand, usage, queue, arrivals, arrival-hours; busy, sm…; requests, tokens-in, tokens-out, ttft-p99… of a service")
	f.Var(peakFlag{o}, "peak", "peaks: the highest level in each step of a job log, or in each `PERIOD`, day or week")
	f.Lookup("peak").NoOptDefVal = "step"
	f.StringVar(&o.Step, "step", "", "`STEP` between values: 15m, 1h, 1d, 1w, 1mo (default: as in a table; 1h of jobs)")
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
	AddFormatFlag(cmd, &o.Read)
	AddReadFlag(cmd, &o.Read, TableKeys...)
	bundle.Add(cmd, "prom", "take the history from the Prometheus server at this `URL`; then query=PROMQL or metrics=vllm, match=, capacity=, pending=, from=, to=, token=FILE, each a --prom", false,
		bundle.Key{"query", "query"}, bundle.Key{"metrics", "metrics"}, bundle.Key{"match", "match"}, bundle.Key{"capacity", "capacity-query"}, bundle.Key{"pending", "pending-query"}, bundle.Key{"from", "from"}, bundle.Key{"to", "to"}, bundle.Key{"token", "prom-token-file"})
	bundle.Add(cmd, "capacity", "a number asks when demand passes it, a FILE is --past-capacity: `N|FILE`; column=NAME has past capacity", true, bundle.Key{"column", "capacity-col"})
	bundle.Add(cmd, "pending", "queued GPUs, `FILE` or column=NAME; demand is then usage + queue", true, bundle.Key{"column", "pending-col"})
	CompleteList(cmd, "by", func() []string { return demand.Keys })
	Complete(cmd, "gaps", func() []string { return demand.GapRules })
	Complete(cmd, "agg", func() []string { return demand.CombineRules })
	Complete(cmd, "metrics", func() []string { return Entries(&inference.Servers) })
	Complete(cmd, "measure", func() []string { return demand.Measures })
}

// TableKeys are the keys of --read for tables: their columns, and how values become a series.
var TableKeys = []bundle.Key{{"id", "id-col"}, {"time", "time-col"}, {"value", "value-col"}, {"agg", "agg"}, {"gaps", "gaps"}}

// Check completes the request and refuses wrong flags.
func (o *HistoryOptions) Check() error {
	r := &o.Ask
	r.PeakPeriods = o.PeakBy != "" || o.Periods
	if err := r.SetLevels(o.capacity, o.past, o.cap); err != nil {
		return err
	}
	var err error
	if o.Step != "" {
		if r.Step, err = capcli.ParseStep(o.Step); err != nil {
			return &UsageError{Text: "--step: " + err.Error()}
		}
	}
	if r.Trace, err = o.Read.Parse(); err != nil {
		return err
	}
	return r.Check()
}

// Sources gives package demand access to files, folders, the web, the clock and the progress line.
func (e *Env) Sources() demand.Sources {
	return demand.Sources{
		Open: func(name string) (trace.Input, io.Closer, error) { return OpenInput(e, name) },
		IsFolder: func(name string) bool {
			info, err := e.Disk.Stat(name)
			return err == nil && info.IsDir() || bucket.IsName(name)
		},
		Folder: e.ProfileFolder,
		Web:    e.Web, Now: capcli.TimeOf(e.Now()),
		Progress: func(unit string) (at, end func(n int64)) {
			p := NewProgress(e, unit)
			return func(n int64) { p.Report(n, 0) }, p.End
		},
	}
}

// ReadDemand reads the demand series of one file for a plan.
func (o *HistoryOptions) ReadDemand(ctx context.Context, e *Env, file string) (*demand.Histories, error) {
	o.Ask.Inputs, o.Ask.Curve = []string{file}, true
	if err := o.Check(); err != nil {
		return nil, err
	}
	return demand.Read(ctx, o.Ask, e.Sources())
}

// peakFlag is the value of --peak, which may name a period.
type peakFlag struct{ o *HistoryOptions }

func isPeriod(name string) bool { return outlook.PeriodUnit(name) != (capcli.Step{}) }

// Set sets the period; "step" and "true" are the flag without a value.
func (f peakFlag) Set(text string) error {
	switch {
	case text == "false":
		f.o.Ask.Peak, f.o.PeakBy = false, ""
	case text == "step" || text == "true":
		f.o.Ask.Peak, f.o.PeakBy = true, ""
	case isPeriod(text):
		f.o.Ask.Peak, f.o.PeakBy = true, text
	default:
		return fmt.Errorf("wants hour, day, week, month, quarter or year, or nothing, found %q", text)
	}
	return nil
}

func (f peakFlag) String() string {
	if f.o == nil || !f.o.Ask.Peak {
		return ""
	}
	if f.o.PeakBy == "" {
		return "step"
	}
	return f.o.PeakBy
}

// Type is the name of the value in the help.
func (f peakFlag) Type() string { return "PERIOD" }

// TakePeak takes the period of "--peak day" out of args: the flag may stand alone, so its value is
// parsed as an argument. A file of that name is given as ./day.
func (o *HistoryOptions) TakePeak(args []string) []string {
	if !o.Ask.Peak || o.PeakBy != "" {
		return args
	}
	if i := slices.IndexFunc(args, isPeriod); i >= 0 {
		o.PeakBy = args[i]
		return slices.Delete(slices.Clone(args), i, i+1)
	}
	return args
}
