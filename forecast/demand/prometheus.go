package demand

import (
	"context"
	"fmt"

	"capcli"
	"capcli/profile/logs/series"
	"capcli/profile/web"
)

// askPrometheus requests the history from the server, and the queue and the past capacity where
// the request has queries for them.
func (r *reader) askPrometheus(ctx context.Context) (*Histories, error) {
	if err := r.trafficQuery(); err != nil {
		return nil, err
	}
	if len(r.By) > 0 || r.Peak && !r.PeakPeriods || r.Measure != "demand" && r.Metrics == "" {
		return nil, &capcli.RequestError{Text: "--by, --measure and --peak are for job logs, not for --prom", Hint: "put it into the query: sum by (pool) (…)"}
	}
	if len(r.columnsBeside()) > 0 {
		return nil, &capcli.RequestError{Text: "--capacity-col and --pending-col are for tables, not for --prom", Hint: "ask for them: --capacity-query, --pending-query"}
	}
	address, shown := web.ParseAddress(r.Prometheus)
	if address == nil {
		return nil, &capcli.RequestError{Field: "prom", Text: "wants the address of a server, http://host:9090", Hint: "a token goes into a file: --prom-token-file"}
	}
	q, err := r.promQuery()
	if err != nil {
		return nil, err
	}
	server := &web.Prometheus{Address: address, Shown: shown, Transport: r.src.Web}
	if server.Token, err = r.readToken(); err != nil {
		return nil, err
	}
	all, err := server.Table(ctx, q)
	if err != nil {
		return nil, err
	}
	if r.PendingQuery != "" {
		if r.waiting, err = askFor(ctx, server, q, r.PendingQuery); err != nil {
			return nil, err
		}
		if err := checkNotNegative(r.waiting, r.Trace.TZ); err != nil {
			return nil, err
		}
	}
	if r.CapacityQuery != "" {
		t, err := askFor(ctx, server, q, r.CapacityQuery)
		if err != nil {
			return nil, err
		}
		r.past = levels{Level: Level{File: t.File}}
		if r.past.table, err = t.Levels(r.Trace.TZ); err != nil {
			return nil, err
		}
	}
	steps := r.Step
	if r.Combine == "" && steps.Days+steps.Months == 0 {
		steps = capcli.Step{} // the answer has this step already
	}
	hs, err := r.fromTable(all, steps)
	return r.nameOfServers(hs), err
}

// askFor sends another query with the times and the step of q.
func askFor(ctx context.Context, p *web.Prometheus, q web.Query, query string) (*series.Table, error) {
	q.PromQL = query
	return p.Table(ctx, q)
}

// promQuery returns the query for the history. It fails where the request lacks a query or a
// time, and for too many steps.
func (r *reader) promQuery() (q web.Query, err error) {
	q = web.Query{PromQL: r.Query, To: r.src.Now, Step: capcli.Hour}
	if r.Query == "" || r.From == "" {
		return q, &capcli.RequestError{Text: "--prom wants --query and --from", Hint: "--query 'sum(gpus)' --from 2026-10-01 --to 2026-11-01 --step 1h"}
	}
	if q.From, err = capcli.ParseTime(r.From, r.Trace.TZ, false); err != nil {
		return q, &capcli.RequestError{Field: "from", Text: err.Error()}
	}
	if r.To != "" {
		if q.To, err = capcli.ParseTime(r.To, r.Trace.TZ, false); err != nil {
			return q, &capcli.RequestError{Field: "to", Text: err.Error()}
		}
	}
	if q.To <= q.From {
		return q, &capcli.RequestError{Text: fmt.Sprintf("--to %s is not after --from %s", q.To, q.From)}
	}
	if r.stepped() {
		if q.Step = r.Step.Length(); r.Step.Seconds == 0 { // fromTable combines hours to days and months
			q.Step = capcli.Hour
		}
	}
	if n := int64(q.To-q.From) / int64(q.Step); n > web.MaxSteps {
		return q, &capcli.RequestError{Text: fmt.Sprintf("--from %s --to %s is %s steps of %s, over the limit of %s", q.From, q.To, capcli.Grouped(n), q.Step, capcli.Grouped(web.MaxSteps)), Hint: "take a longer --step"}
	}
	return q, nil
}

// readToken returns the token for the server, or "" where the request names no file.
func (r *reader) readToken() (string, error) {
	if r.TokenFile == "" {
		return "", nil
	}
	in, closer, err := r.src.Open(r.TokenFile)
	if err != nil {
		return "", err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	return web.ReadToken(r.TokenFile, in.R)
}
