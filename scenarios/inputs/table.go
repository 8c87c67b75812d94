package inputs

import (
	"context"
	"fmt"
	"math"

	"capcli"
	"capcli/forecast/demand"
)

// readTables reads tables of GPUs by time, such as an answer of Prometheus that was stored. Each series becomes jobs
// of a tenant of its name.
func (r *reading) readTables(ctx context.Context) error {
	for _, p := range r.partsOf(Table) {
		if err := r.readTable(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (r *reading) readTable(ctx context.Context, p *part) error {
	var err error
	if p.SHA256, err = r.hash(p.File); err != nil {
		return err
	}
	opts, err := r.Read.Parse()
	if err != nil {
		return err
	}
	opts.Format = ""
	hs, err := demand.Read(ctx, demand.Request{Inputs: []string{p.File}, Trace: opts, Curve: true}, r.Sources)
	if err != nil {
		return err
	}
	if !hs.Clock {
		return &capcli.InputError{File: p.File, Text: "expected GPUs by date, found steps without dates", Hint: "give a table with the columns unique_id, ds, y"}
	}
	for _, h := range hs.List {
		l := levels{at: h.Grid.At, unit: 1, like: capcli.Job{Tenant: h.Name}}
		for i, v := range h.Values {
			if math.IsNaN(v) || v < 0 || v > 1e7 {
				return &capcli.InputError{File: p.File, Text: fmt.Sprintf("series %s, %s: expected GPUs in use, found %v", capcli.Quoted(h.Name), h.StampText(i), v)}
			}
			l.milli = append(l.milli, int64(math.Round(v*1000)))
		}
		jobs, err := l.jobs()
		if err != nil {
			return &capcli.InputError{File: p.File, Text: err.Error(), Hint: "give longer steps"}
		}
		p.jobs = append(p.jobs, jobs...)
		p.Days = max(p.Days, daysOf(capcli.Seconds(h.Grid.At(len(h.Values))-h.Grid.At(0))))
	}
	r.note(p.File, fmt.Sprintf("its %s taken for GPUs in use, of a tenant each; it says nothing of jobs or models", seriesText(len(hs.List))))
	return nil
}

func seriesText(n int) string {
	if n == 1 {
		return "series is"
	}
	return fmt.Sprintf("%d series are", n)
}
