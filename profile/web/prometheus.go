package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"capcli"
	"capcli/profile"
	"capcli/profile/logs/series"
)

// Limits on requests to a Prometheus server.
const (
	// MaxSteps is the most steps of a query.
	MaxSteps = maxPoints * maxParts
	// QueryWait is the time for one answer.
	QueryWait = 2 * time.Minute

	maxPoints = 11_000    // points of a series in one answer; Prometheus refuses more
	maxParts  = 1_000     // requests for one query
	maxRows   = 3_000_000 // values held of one answer: under 256 MiB of memory in all
)

// Prometheus is a Prometheus server.
type Prometheus struct {
	Address   *url.URL
	Shown     string            // address without secret parts, for messages
	Token     string            // bearer token; "" is none
	Transport http.RoundTripper // nil is http.DefaultTransport
}

// Query is a range query: a value at each step from From to To, both included.
type Query struct {
	PromQL   string
	From, To capcli.Time
	Step     capcli.Seconds
}

// Table returns all series of q as a table. It splits a long time range into several requests.
// It fails with a *capcli.InputError where the server has no series.
func (p *Prometheus) Table(ctx context.Context, q Query) (*series.Table, error) {
	var all *series.Table
	size := capcli.Time(q.Step) * (maxPoints - 1)
	for from := q.From; from <= q.To; from += size + capcli.Time(q.Step) {
		part, err := p.part(ctx, q, from, min(from+size, q.To))
		for errors.Is(err, series.ErrTooMuch) && size > capcli.Time(q.Step) {
			size = size / capcli.Time(2*q.Step) * capcli.Time(q.Step)
			part, err = p.part(ctx, q, from, min(from+size, q.To))
		}
		if err != nil {
			return nil, err
		}
		switch {
		case part == nil: // no series in this part of the time range
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
			File: p.Shown, Field: "query", Err: series.ErrNoSeries, Text: fmt.Sprintf("%s gave no series from %s to %s: the metric is unknown, or has no sample in this time", q.PromQL, q.From, q.To),
			Hint: "check the name and the time; DCGM 4.6 renamed its fields (DCGM_FI_DEV_GPU_UTIL_RATIO)",
		}
	}
	return all, nil
}

// part returns the series of q from one time to another, or nil where there are none.
func (p *Prometheus) part(ctx context.Context, q Query, from, to capcli.Time) (t *series.Table, err error) {
	q.From, q.To = from, to
	err = p.ask(ctx, q, func(body io.Reader) error {
		t, err = series.ReadPrometheus(body, series.Options{Name: p.Shown, MaxRows: maxRows})
		if errors.Is(err, series.ErrNoSeries) {
			t, err = nil, nil // a part of the time range may be empty
		}
		return err
	})
	return t, err
}

// Ranges returns the series of q with their labels, without NaN values. It sends one request.
func (p *Prometheus) Ranges(ctx context.Context, q Query) (out []profile.Range, err error) {
	err = p.ask(ctx, q, func(body io.Reader) error {
		all, err := series.ReadLabelled(body, series.Options{Name: p.Shown, MaxRows: maxRows})
		for _, s := range all {
			r := profile.Range{Labels: s.Labels}
			for _, p := range s.Points {
				if !math.IsNaN(p.Value) {
					r.At, r.Values = append(r.At, capcli.Time(math.Round(p.At))), append(r.Values, p.Value)
				}
			}
			out = append(out, r)
		}
		return err
	})
	return out, err
}

// ask sends q in one request and calls read with the body of the answer. It fails where the
// server refuses the request or answers with something else than JSON.
func (p *Prometheus) ask(ctx context.Context, q Query, read func(io.Reader) error) error {
	form := url.Values{
		"query": {q.PromQL}, "start": {strconv.FormatInt(int64(q.From), 10)}, "end": {strconv.FormatInt(int64(q.To), 10)},
		"step": {strconv.FormatInt(int64(q.Step), 10)},
	}
	ctx, cancel := context.WithTimeoutCause(ctx, QueryWait, errLate(QueryWait))
	defer cancel()
	res, err := p.send(ctx, http.MethodPost, form)
	if err != nil {
		return err
	}
	if res.StatusCode == http.StatusMethodNotAllowed || res.StatusCode == http.StatusNotImplemented { // old servers, and proxies that let only GET through
		res.Body.Close() //nolint:errcheck,gosec // it was not read
		if res, err = p.send(ctx, http.MethodGet, form); err != nil {
			return err
		}
	}
	defer res.Body.Close() //nolint:errcheck // it was only read
	switch {
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
		return fmt.Errorf("asking %s: the server refuses the token or wants one (%s): --prom-token-file", p.Shown, res.Status)
	case res.StatusCode != http.StatusOK && !strings.Contains(res.Header.Get("Content-Type"), "json"):
		return fmt.Errorf("asking %s: expected an answer of Prometheus, found %s", p.Shown, res.Status)
	}
	if err := read(res.Body); err != nil && ctx.Err() != nil {
		return failed(ctx, p.Shown, err)
	} else if err != nil {
		return err
	}
	return nil
}

// send sends a query by POST, which has no limit on the length of a query, or by GET.
func (p *Prometheus) send(ctx context.Context, method string, form url.Values) (*http.Response, error) {
	u, body := p.Address.JoinPath("api/v1/query_range"), strings.NewReader("")
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
		return nil, failed(ctx, p.Shown, err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if p.Token != "" {
		req.Header.Set("Authorization", "Bearer "+p.Token)
	}
	client := http.Client{Transport: p.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // a token goes to no other place
	res, err := client.Do(req)
	if err != nil {
		return nil, failed(ctx, p.Shown, err)
	}
	return res, nil
}
