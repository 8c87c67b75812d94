package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/profile/demand"
	"capcli/profile/series"
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

// Bounds on what is asked of a server.
const (
	promPoints = 11_000 // Prometheus refuses more points of a series in one answer
	promParts  = 1_000
	promRows   = 3_000_000       // values held of one answer: under 256 MiB with all that goes with them
	promWait   = 2 * time.Minute // for one answer
	maxToken   = 64 << 10
)

// promQuery is one checked question.
type promQuery struct {
	base     *url.URL
	shown    string // the address without what is secret in it
	query    string
	from, to capcli.Time
	step     capcli.Seconds
	token    string
	web      http.RoundTripper // nil is the usual one
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
	all, err := q.all(ctx)
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
		other := *q
		other.query = c.pendingQuery
		t, err := other.all(ctx)
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
	other := *q
	other.query = c.capacityQuery
	t, err := other.all(ctx)
	if err != nil {
		return err
	}
	c.limit = levelSource{flag: "capacity-query", file: t.File}
	c.limit.levels, err = t.Levels(o.zone)
	return err
}

// all asks for the whole time, part by part.
func (q *promQuery) all(ctx context.Context) (*series.Table, error) {
	var all *series.Table
	size := capcli.Time(q.step) * (promPoints - 1)
	for from := q.from; from <= q.to; from += size + capcli.Time(q.step) {
		part, err := q.ask(ctx, from, min(from+size, q.to))
		for errors.Is(err, series.ErrTooMuch) && size > capcli.Time(q.step) {
			size = size / capcli.Time(2*q.step) * capcli.Time(q.step)
			part, err = q.ask(ctx, from, min(from+size, q.to))
		}
		if err != nil {
			return nil, err
		}
		switch {
		case part == nil: // nothing in this part of the time
		case all == nil:
			all = part
		default:
			if err := all.Append(part); err != nil {
				return nil, err
			}
		}
	}
	if all == nil {
		return nil, &capcli.InputError{
			File: q.shown, Field: "query", Text: fmt.Sprintf("%s gave no series from %s to %s: the metric is unknown, or has no sample in this time", q.query, q.from, q.to),
			Hint: "check the name and the time; DCGM 4.6 renamed its fields (DCGM_FI_DEV_GPU_UTIL_RATIO)",
		}
	}
	return all, nil
}

// promQuery checks the flags and reads the token.
func (o *historyOptions) promQuery(e *env) (*promQuery, error) {
	p := &o.prom
	server, shown := webAddress(p.address)
	q, err := e.newPromQuery("prom", server, shown)
	if err != nil {
		return nil, err
	}
	q.query = p.query
	if p.query == "" || p.from == "" {
		return nil, &usageError{text: "--prom wants --query and --from", hint: "--query 'sum(gpus)' --from 2026-10-01 --to 2026-11-01 --step 1h"}
	}
	if q.from, err = capcli.ParseTime(p.from, o.zone, false); err != nil {
		return nil, &usageError{text: "--from " + err.Error()}
	}
	q.to = capcli.TimeOf(e.now())
	if p.to != "" {
		if q.to, err = capcli.ParseTime(p.to, o.zone, false); err != nil {
			return nil, &usageError{text: "--to " + err.Error()}
		}
	}
	if q.to <= q.from {
		return nil, &usageError{text: fmt.Sprintf("--to %s is not after --from %s", q.to, q.from)}
	}
	if o.step != "" {
		if q.step = o.steps.Length(); o.steps.Seconds == 0 { // days and months are put together here, from hours
			q.step = capcli.Hour
		}
	}
	if n := int64(q.to-q.from) / int64(q.step); n > promPoints*promParts {
		return nil, &usageError{text: fmt.Sprintf("--from %s --to %s is %s steps of %s, over the limit of %s", q.from, q.to, grouped(n), q.step, grouped(promPoints*promParts)), hint: "take a longer --step"}
	}
	if p.tokenFile != "" {
		if q.token, err = readToken(e, p.tokenFile); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// newPromQuery is a question to the server that a flag names, which messages call
// shown.
func (e *env) newPromQuery(flag string, server *url.URL, shown string) (*promQuery, error) {
	if server == nil {
		return nil, &usageError{text: "--" + flag + " wants the address of a server, http://host:9090", hint: "a token goes into a file: --prom-token-file"}
	}
	return &promQuery{base: server, shown: shown, step: capcli.Hour, web: e.web}, nil
}

// readToken reads a secret, which appears in no message.
func readToken(e *env, name string) (string, error) {
	in, closer, err := openInput(e, name)
	if err != nil {
		return "", err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	b, err := io.ReadAll(io.LimitReader(in.R, maxToken+1))
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", name, err)
	}
	token := string(bytes.TrimSpace(b))
	if token == "" || len(b) > maxToken || strings.ContainsAny(token, "\r\n\x00") {
		return "", &capcli.InputError{File: name, Text: "expected a token in one line", Hint: "write only the token into it"}
	}
	return token, nil
}

// ask gets one part of the time; nil is a part without a series.
func (q *promQuery) ask(ctx context.Context, from, to capcli.Time) (t *series.Table, err error) {
	err = q.post(ctx, from, to, func(body io.Reader) error {
		t, err = series.ReadPrometheus(body, series.Options{Name: q.shown, MaxRows: promRows})
		if errors.Is(err, series.ErrNoSeries) {
			t, err = nil, nil // a part of the time may be empty
		}
		return err
	})
	return t, err
}

// post asks for one part of the time and has the answer read.
func (q *promQuery) post(ctx context.Context, from, to capcli.Time, read func(io.Reader) error) error {
	form := url.Values{
		"query": {q.query}, "start": {strconv.FormatInt(int64(from), 10)}, "end": {strconv.FormatInt(int64(to), 10)},
		"step": {strconv.FormatInt(int64(q.step), 10)},
	}
	ctx, cancel := context.WithTimeoutCause(ctx, promWait, lateError(promWait))
	defer cancel()
	res, err := q.send(ctx, http.MethodPost, form)
	if err != nil {
		return err
	}
	if res.StatusCode == http.StatusMethodNotAllowed || res.StatusCode == http.StatusNotImplemented { // old servers, and proxies that let only GET through
		res.Body.Close() //nolint:errcheck,gosec // it was not read
		if res, err = q.send(ctx, http.MethodGet, form); err != nil {
			return err
		}
	}
	defer res.Body.Close() //nolint:errcheck // it was only read
	switch {
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
		return fmt.Errorf("asking %s: the server refuses the token or wants one (%s): --prom-token-file", q.shown, res.Status)
	case res.StatusCode != http.StatusOK && !strings.Contains(res.Header.Get("Content-Type"), "json"):
		return fmt.Errorf("asking %s: expected an answer of Prometheus, found %s", q.shown, res.Status)
	}
	if err := read(res.Body); err != nil && ctx.Err() != nil {
		return fmt.Errorf("asking %s: %w", q.shown, whyNot(ctx, err))
	} else if err != nil {
		return err
	}
	return nil
}

// send asks by POST, which has room for a long query, or by GET.
func (q *promQuery) send(ctx context.Context, method string, form url.Values) (*http.Response, error) {
	u, body := q.base.JoinPath("api/v1/query_range"), strings.NewReader("")
	if method == http.MethodPost {
		body = strings.NewReader(form.Encode())
	} else {
		all := u.Query()
		for name := range form {
			all.Set(name, form.Get(name))
		}
		u.RawQuery = all.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", q.shown, whyNot(ctx, err))
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if q.token != "" {
		req.Header.Set("Authorization", "Bearer "+q.token)
	}
	client := http.Client{Transport: q.web, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // a token goes to no other place
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", q.shown, whyNot(ctx, err))
	}
	return res, nil
}
