package demand

import (
	"context"
	"fmt"
	"slices"

	"capcli"
	"capcli/profile/inference"
	"capcli/profile/logs/requests"
	"capcli/profile/logs/series"
	"capcli/profile/logs/trace"
)

// TrafficMeasures are the measures of traces of requests and of the metrics of servers.
var TrafficMeasures = inference.Measures

// ofTrace are the measures of traces of requests: rates a second.
var ofTrace = []string{"requests", "tokens-in", "tokens-out"}

func readsTraffic(measure string) bool { return slices.Contains(TrafficMeasures, measure) }

// trafficQuery sets the query of a measure of servers, where Metrics names them.
func (r *reader) trafficQuery() error {
	if r.Metrics == "" {
		return nil
	}
	if r.Query != "" {
		return &capcli.RequestError{Field: "metrics", Text: "and query both say what to ask", Hint: "leave one out"}
	}
	if !readsTraffic(r.Measure) {
		r.Measure = "requests"
	}
	step := capcli.Hour
	if r.Step.Seconds > 0 {
		step = r.Step.Length()
	}
	var err error
	r.Query, err = inference.PromQL(r.Metrics, r.Measure, r.Match, step)
	return err
}

// nameOfServers returns histories, named after their measure where they are of servers; nil stays nil.
func (r *reader) nameOfServers(hs *Histories) *Histories {
	if hs != nil && r.Metrics != "" {
		hs.nameTraffic(r.Measure)
	}
	return hs
}

// nameTraffic says what the histories of a measure of traffic are.
func (hs *Histories) nameTraffic(measure string) {
	hs.Measure, hs.Unit = measure, "requests/s"
	switch measure {
	case "tokens-in", "tokens-out":
		hs.Unit = "tokens/s"
	case "running", "waiting":
		hs.Unit = "requests"
	case "ttft-p99", "tpot-p99", "e2e-p99":
		hs.Unit = "s"
	}
	for _, h := range hs.List {
		h.Unit, h.Name = hs.Unit, measure
	}
}

// readRequests reads a trace of requests as a rate a second: of requests, or of tokens.
func (r *reader) readRequests(ctx context.Context, in trace.Input) (*Histories, error) {
	switch {
	case r.Curve:
		return nil, &capcli.InputError{File: in.Name, Text: "this is a trace of requests to a model, which says nothing of GPUs", Hint: "how many GPUs they need is the question of a service: capcli plan service, docs/services.md"}
	case len(r.By) > 0:
		return nil, &capcli.RequestError{Text: in.Name + " is a trace of requests, which --by cannot divide", Hint: "leave --by out"}
	case r.Peak && !r.PeakPeriods:
		return nil, &capcli.RequestError{Text: in.Name + " is a trace of requests; --peak alone is of job logs", Hint: "take a short --step, and --agg max with a longer one"}
	case r.censored():
		return nil, &capcli.RequestError{Text: in.Name + " is a trace of requests, which tells all that came; a past capacity limits usage", Hint: "leave the capacity out"}
	case r.Measure != "demand" && !slices.Contains(ofTrace, r.Measure):
		return nil, &capcli.RequestError{Field: "measure", Text: fmt.Sprintf("%s is not told by a trace of requests", r.Measure), Hint: "requests, tokens-in or tokens-out"}
	}
	measure := r.Measure
	if measure == "demand" {
		measure = ofTrace[0]
	}
	step := capcli.Hour
	if r.Step.Seconds > 0 {
		step = r.Step.Length()
	}
	at, end := r.src.progress("requests")
	log, err := requests.Open(in, requests.Options{TZ: r.Trace.TZ, Progress: at})
	if err != nil {
		return nil, err
	}
	rates, err := requests.ReadRates(ctx, log, step)
	if err != nil {
		return nil, err
	}
	end(rates.Report.Kept)
	table, err := rateTable(in.Name, rates, measure)
	if err != nil {
		return nil, err
	}
	steps := r.Step
	if r.Combine == "" && steps.Days+steps.Months == 0 {
		steps = capcli.Step{} // the rates have this step already
	}
	hs, err := r.fromTable(table, steps)
	if err != nil {
		return nil, err
	}
	hs.Notes = append(hs.Notes, rates.Report.Remarks()...)
	if !log.Dated() {
		hs.Notes = append(hs.Notes, "the times of "+in.Name+" are no dates: they count from the start of 1970")
	}
	hs.nameTraffic(measure)
	return hs, nil
}

// rateTable returns rates a second as a table. The first and the last step, which the trace does not fill,
// are left out.
func rateTable(name string, rates *requests.Rates, measure string) (*series.Table, error) {
	values := map[string][]float64{"requests": rates.Requests, "tokens-in": rates.In, "tokens-out": rates.Out}[measure]
	from, to := 1, len(values)-1
	if to-from < 2 {
		return nil, &capcli.InputError{File: name, Text: fmt.Sprintf("expected at least two whole steps of %s, found %d", rates.Step, max(0, to-from)), Hint: "take a shorter --step"}
	}
	header := []string{"ds", "y"}
	columns, err := series.Find(header, series.Options{Name: name})
	if err != nil {
		return nil, err
	}
	b := series.NewBuilder(series.Options{Name: name}, header, columns)
	for i := from; i < to; i++ {
		at := rates.Start + capcli.Time(i)*capcli.Time(rates.Step)
		if err := b.Instant(i+1, nil, int64(at), values[i]/float64(rates.Step)); err != nil {
			return nil, err
		}
	}
	return b.Table()
}
