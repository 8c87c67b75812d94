package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/profile/demand"
	"capcli/profile/web"
)

// promOptions say what to ask a Prometheus server.
type promOptions struct {
	address, query, from, to string
	tokenFile                string
}

func (o *promOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.address, "prom", "", "take the history from the Prometheus server at this `URL`")
	f.StringVar(&o.query, "query", "", "`PROMQL` to ask it")
	f.StringVar(&o.from, "from", "", "begin of the time asked for, a date or a time: `WHEN`")
	f.StringVar(&o.to, "to", "", "end of the time asked for: `WHEN`")
	f.StringVar(&o.tokenFile, "prom-token-file", "", "`FILE` with the bearer token for the server")
}

// unused refuses flags that mean nothing without --prom, or without samples.
func (o *promOptions) unused(samples bool) error {
	for _, f := range []struct{ name, value string }{{"query", o.query}, {"from", o.from}, {"to", o.to}, {"prom-token-file", o.tokenFile}} {
		if span := f.name == "from" || f.name == "to"; f.value != "" && (!samples || !span) {
			return &usageError{text: fmt.Sprintf("--%s goes with --prom", f.name), hint: "name the server: --prom http://localhost:9090"}
		}
	}
	return nil
}

// promQuery is one checked question.
type promQuery struct {
	web.Query
	server *web.Prometheus
}

// fromPrometheus asks the server for the history.
func (o *historyOptions) fromPrometheus(ctx context.Context, e *env) (*demand.Histories, error) {
	if len(o.by) > 0 || o.peak && o.peakBy == "" && !o.periods || o.measure != "demand" {
		return nil, &usageError{text: "--by, --measure and --peak are for job logs, not for --prom", hint: "put it into the query: sum by (pool) (…)"}
	}
	if len(o.censor.more()) > 0 {
		return nil, &usageError{text: "--capacity-col and --pending-col are for tables, not for --prom", hint: "ask for them: --capacity-query, --pending-query"}
	}
	q, err := o.promQuery(e)
	if err != nil {
		return nil, err
	}
	all, err := q.server.Table(ctx, q.Query)
	if err != nil {
		return nil, err
	}
	if err := o.askBeside(ctx, q); err != nil {
		return nil, err
	}
	asked := o.steps
	if o.agg == "" && asked.Days+asked.Months == 0 {
		o.steps = capcli.Step{} // the answer is on this step already
	}
	hs, err := o.fromSeries(all)
	o.steps = asked
	return hs, err
}

// askBeside asks for what lies beside the history.
func (o *historyOptions) askBeside(ctx context.Context, q *promQuery) error {
	c := &o.censor
	if c.pendingQuery != "" {
		other := q.Query
		other.PromQL = c.pendingQuery
		t, err := q.server.Table(ctx, other)
		if err != nil {
			return err
		}
		c.waiting = t
		if err := notNegative(t, o); err != nil {
			return err
		}
	}
	if c.capacityQuery == "" {
		return nil
	}
	other := q.Query
	other.PromQL = c.capacityQuery
	t, err := q.server.Table(ctx, other)
	if err != nil {
		return err
	}
	c.limit = levelSource{flag: "capacity-query", file: t.File}
	c.limit.levels, err = t.Levels(o.zone)
	return err
}

// promQuery checks the flags and reads the token.
func (o *historyOptions) promQuery(e *env) (*promQuery, error) {
	p := &o.prom
	server, shown := web.ParseAddress(p.address)
	if server == nil {
		return nil, noServer("prom")
	}
	q := &promQuery{web.Query{PromQL: p.query, Step: capcli.Hour}, &web.Prometheus{Address: server, Shown: shown, Transport: e.web}}
	var err error
	if p.query == "" || p.from == "" {
		return nil, &usageError{text: "--prom wants --query and --from", hint: "--query 'sum(gpus)' --from 2026-10-01 --to 2026-11-01 --step 1h"}
	}
	if q.From, err = capcli.ParseTime(p.from, o.zone, false); err != nil {
		return nil, &usageError{text: "--from " + err.Error()}
	}
	q.To = capcli.TimeOf(e.now())
	if p.to != "" {
		if q.To, err = capcli.ParseTime(p.to, o.zone, false); err != nil {
			return nil, &usageError{text: "--to " + err.Error()}
		}
	}
	if q.To <= q.From {
		return nil, &usageError{text: fmt.Sprintf("--to %s is not after --from %s", q.To, q.From)}
	}
	if o.step != "" {
		if q.Step = o.steps.Length(); o.steps.Seconds == 0 { // days and months are put together here, from hours
			q.Step = capcli.Hour
		}
	}
	if n := int64(q.To-q.From) / int64(q.Step); n > web.MaxSteps {
		return nil, &usageError{text: fmt.Sprintf("--from %s --to %s is %s steps of %s, over the limit of %s", q.From, q.To, grouped(n), q.Step, grouped(web.MaxSteps)), hint: "take a longer --step"}
	}
	if p.tokenFile != "" {
		if q.server.Token, err = readToken(e, p.tokenFile); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// noServer refuses an address that is none, which a flag gives.
func noServer(flag string) error {
	return &usageError{text: "--" + flag + " wants the address of a server, http://host:9090", hint: "a token goes into a file: --prom-token-file"}
}

// readToken reads a secret, which appears in no message.
func readToken(e *env, name string) (string, error) {
	in, closer, err := openInput(e, name)
	if err != nil {
		return "", err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	return web.ReadToken(name, in.R)
}
