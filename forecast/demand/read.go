package demand

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"capcli"
	"capcli/profile/logs/parquet"
	"capcli/profile/logs/requests"
	"capcli/profile/logs/series"
	"capcli/profile/logs/trace"
)

// reader reads the histories of one request.
type reader struct {
	Request
	src     Sources
	past    levels        // past capacity
	cap     levels        // upper bound on forecasts
	waiting *series.Table // GPUs that waited; nil if unknown
}

func newReader(r Request, s Sources) (*reader, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	r.Measure = cmp.Or(r.Measure, "demand")
	return &reader{Request: r, src: s, past: levels{Level: r.Past}, cap: levels{Level: r.Cap}}, nil
}

// Read reads all histories of a request, with their capacities and queues, and builds their
// hierarchy. It fails with a *capcli.RequestError where the request does not fit its inputs, and
// with a *capcli.InputError where an input is not valid.
func Read(ctx context.Context, req Request, s Sources) (*Histories, error) {
	r, err := newReader(req, s)
	if err != nil {
		return nil, err
	}
	if err := r.readBeside(); err != nil {
		return nil, err
	}
	hs, err := r.readHistories(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.settle(hs); err != nil {
		return nil, err
	}
	return hs, r.arrange(hs)
}

// ReadInput reads one open input as Read does, but without the other tables of the request and
// without a hierarchy of a table.
func ReadInput(ctx context.Context, req Request, s Sources, in trace.Input) (*Histories, error) {
	r, err := newReader(req, s)
	if err != nil {
		return nil, err
	}
	return r.readInput(ctx, in)
}

// FromTable returns the histories of a table.
func FromTable(req Request, table *series.Table) (*Histories, error) {
	r, err := newReader(req, Sources{})
	if err != nil {
		return nil, err
	}
	return r.fromTable(table, r.Step)
}

// readHistories reads the series from the server, the folders or the files of the request.
func (r *reader) readHistories(ctx context.Context) (*Histories, error) {
	if r.Prometheus != "" {
		if len(r.Inputs) > 0 {
			return nil, &capcli.RequestError{Text: fmt.Sprintf("--prom takes the history from Prometheus, found also %q", r.Inputs[0])}
		}
		return r.askPrometheus(ctx)
	}
	if len(r.Inputs) == 0 {
		return nil, &capcli.RequestError{Text: "no history is named", Hint: "name a file, a folder of GPU samples or a Prometheus server"}
	}
	dirs := r.folders()
	if err := r.checkServerless(len(dirs) > 0); err != nil {
		return nil, err
	}
	if len(dirs) == len(r.Inputs) {
		return r.readSamples(ctx, dirs)
	} else if len(dirs) > 0 {
		return nil, &capcli.RequestError{Text: dirs[0] + " is a folder of GPU samples, and there are files beside it", Hint: "forecast them in two calls"}
	}
	if r.Past.Measured {
		return nil, &capcli.RequestError{Text: "--past-capacity measured is for a folder that capcli profile wrote", Hint: "give a number or a file: --past-capacity 64"}
	}
	var all *Histories
	for _, name := range r.Inputs {
		hs, err := r.readFile(ctx, name)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = hs
			continue
		}
		if err := all.join(hs); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// folders returns the inputs that are folders of GPU samples.
func (r *reader) folders() []string {
	var out []string
	for _, name := range r.Inputs {
		if r.src.IsFolder != nil && !r.Curve && r.src.IsFolder(name) {
			out = append(out, name)
		}
	}
	return out
}

// checkServerless returns an error for a setting that needs a server. From and To are allowed
// where samples says that the inputs are folders of samples.
func (r *reader) checkServerless(samples bool) error {
	for _, f := range []struct{ name, value string }{{"query", r.Query}, {"metrics", r.Metrics}, {"match", r.Match}, {"from", r.From}, {"to", r.To}, {"prom-token-file", r.TokenFile}} {
		if span := f.name == "from" || f.name == "to"; f.value != "" && (!samples || !span) {
			return &capcli.RequestError{Field: f.name, Text: "goes with --prom", Hint: "name the server: --prom http://localhost:9090"}
		}
	}
	if r.CapacityQuery != "" || r.PendingQuery != "" {
		return &capcli.RequestError{Text: "--capacity-query and --pending-query go with --prom", Hint: "name the server: --prom http://localhost:9090"}
	}
	return nil
}

// join adds the series of more, which come from one file, to hs. It fails where the steps differ
// and where both have a series of the same name.
func (hs *Histories) join(more *Histories) error {
	file := more.Inputs[0]
	if hs.Step != more.Step || hs.Clock != more.Clock || hs.Measure != more.Measure {
		return &capcli.InputError{File: file, Text: fmt.Sprintf("expected steps of %s as in %s, found %s", stepName(hs), hs.Inputs[0], stepName(more)), Hint: "give both the same --step"}
	}
	have := map[string]bool{}
	for _, h := range hs.List {
		have[h.Name] = true
	}
	for _, h := range more.List {
		if have[h.Name] {
			return &capcli.InputError{File: file, Text: fmt.Sprintf("the series %q is in %s too", h.Name, strings.Join(hs.Inputs, ", ")), Hint: "put the files into one, or give the series names of their own"}
		}
		h.Set = hs
		hs.List = append(hs.List, h)
	}
	hs.Inputs = append(hs.Inputs, file)
	hs.Notes = append(hs.Notes, more.Notes...)
	if hs.Tree != nil || more.Tree != nil {
		hs.Tree = nil
		hs.Notes = append(hs.Notes, "series of several job logs: sums of each log alone, not reconciled")
	}
	hs.Partial = cmp.Or(hs.Partial, more.Partial)
	return nil
}

func stepName(hs *Histories) string {
	if !hs.Clock {
		return "whole numbers"
	}
	return hs.Step.String()
}

func (r *reader) readFile(ctx context.Context, name string) (*Histories, error) {
	in, closer, err := r.src.Open(name)
	if err != nil {
		return nil, err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	return r.readInput(ctx, in)
}

// readInput reads one file: a job log or a table, as text or Parquet.
func (r *reader) readInput(ctx context.Context, in trace.Input) (*Histories, error) {
	head := trace.Peek(&in)
	opts := series.Options{Name: in.Name, ID: r.ID, Time: r.Time, Value: r.Value, Zone: r.Trace.TZ, DSTLater: r.Trace.DSTLater, Dates: r.Trace.Dates, More: r.columnsBeside()}
	if r.Curve {
		opts.Usual = []string{"y", "mean"} // columns that capcli forecast writes
	}
	if r.Trace.Format == "" {
		named := r.Time != "" || r.Value != "" || r.ID != ""
		if parquet.IsParquet(trace.PlainHead(in.Name, head)) {
			table, ok, err := r.parquetTable(&in, parquet.IsParquet(head), opts)
			if err != nil {
				return nil, err
			}
			if !ok {
				return r.readJobs(ctx, in)
			}
			if err := r.checkTable(table.File); err != nil {
				return nil, err
			}
			return r.fromTable(table, r.Step)
		}
		if !named && requests.Sniff(trace.PlainHead(in.Name, head)) != "" {
			return r.readRequests(ctx, in)
		}
		if named || series.Sniff(trace.PlainHead(in.Name, head), opts) {
			return r.readTable(in, opts)
		}
	}
	return r.readJobs(ctx, in)
}
