// Package inference reads what servers of models tell of their traffic — requests, tokens, times, what
// waits — from Prometheus, or from saved answers of Prometheus: so that a fleet's own traffic becomes the
// requests of a service, and a series to forecast.
//
// To add a server, write a file whose init adds its metrics to Servers.
package inference

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"capcli"
)

// Kind is the kind of a metric.
type Kind uint8

// The kinds. A Total is a counter of time that all requests took together, of which only means can be told.
const (
	Counter Kind = iota
	Gauge
	Histogram
	Total
)

// Metric is where a server tells a figure.
type Metric struct {
	Figure string   // one of the figures below
	Kind   Kind     // of the metrics
	Names  []string // in Prometheus, without _bucket, _sum and _count; the first that has series counts
	Unit   float64  // seconds, tokens or requests of 1 in the metric; 0 is 1
}

// The figures.
const (
	Requests  = "requests"   // that ended well
	Failed    = "failed"     // that did not
	TokensIn  = "tokens_in"  // of prompts
	TokensOut = "tokens_out" // of answers
	Cached    = "cached"     // tokens of prompts that a prefix cache had
	Queried   = "queried"    // tokens of prompts that were looked for there
	Running   = "running"    // requests in batches
	Waiting   = "waiting"    // requests that wait
	CacheUse  = "cache_use"  // share of the KV cache
	TTFT      = "ttft"       // seconds to the first token
	TPOT      = "tpot"       // seconds for each further token
	E2E       = "e2e"        // seconds to the end
	Queue     = "queue"      // seconds of waiting
	InLength  = "in_length"  // tokens of a prompt
	OutLength = "out_length" // tokens of an answer
)

// Servers are the kinds of servers whose metrics are known.
var Servers = capcli.Catalog[[]Metric]{Kind: "server"}

// metric returns the metric of a figure; ok is false where the server has none.
func metricOf(server []Metric, figure string) (Metric, bool) {
	i := slices.IndexFunc(server, func(m Metric) bool { return m.Figure == figure })
	if i < 0 {
		return Metric{}, false
	}
	m := server[i]
	m.Unit = cmp.Or(m.Unit, 1)
	return m, true
}

// Measures are what PromQL can ask of a server as one series.
var Measures = []string{"requests", "tokens-in", "tokens-out", "running", "waiting", "ttft-p99", "tpot-p99", "e2e-p99"}

// PromQL returns the query of a measure in steps: a rate a second for requests and tokens, a mean for
// what runs and waits, the 99th percentile in seconds for times. match are further conditions on labels:
// model_name="llama". It fails for an unknown server, and for what the server does not tell.
func PromQL(server, measure, match string, step capcli.Seconds) (string, error) {
	metrics, err := Servers.Get(server)
	if err != nil {
		return "", err
	}
	if err := capcli.CheckChoice("measure", measure, Measures); err != nil {
		return "", err
	}
	figure, quantile := strings.CutSuffix(measure, "-p99")
	m, ok := metricOf(metrics, strings.ReplaceAll(figure, "-", "_"))
	if !ok || quantile && m.Kind != Histogram {
		return "", &capcli.RequestError{Field: "measure", Text: fmt.Sprintf("%s is not told by %s", measure, server), Hint: "it tells " + strings.Join(toldBy(metrics), ", ")}
	}
	var all []string
	for _, name := range m.Names {
		query := ""
		switch {
		case quantile:
			query = fmt.Sprintf("histogram_quantile(0.99, sum by (le) (rate(%s[%ds])))", selector(name+"_bucket", match), step)
		case m.Kind == Gauge:
			query = fmt.Sprintf("sum(avg_over_time(%s[%ds]))", selector(name, match), step)
		default:
			query = fmt.Sprintf("sum(rate(%s[%ds]))", selector(counterName(m, name), match), step)
		}
		if m.Unit != 1 {
			query = fmt.Sprintf("%s * %g", query, m.Unit)
		}
		all = append(all, query)
	}
	return strings.Join(all, " or "), nil
}

// toldBy returns the measures that a server tells.
func toldBy(metrics []Metric) []string {
	var out []string
	for _, name := range Measures {
		figure, quantile := strings.CutSuffix(name, "-p99")
		if m, ok := metricOf(metrics, strings.ReplaceAll(figure, "-", "_")); ok && (!quantile || m.Kind == Histogram) {
			out = append(out, name)
		}
	}
	return out
}

// counterName returns the name of the counter of a figure: a histogram counts what it has seen.
func counterName(m Metric, name string) string {
	if m.Kind == Histogram {
		return name + "_count"
	}
	return name
}

// selector returns a metric with conditions on its labels.
func selector(name, match string) string {
	if match == "" {
		return name
	}
	return name + "{" + match + "}"
}
