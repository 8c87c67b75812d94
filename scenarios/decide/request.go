// Package decide answers one question about a job log: how many GPUs to commit to, for how long and
// at what risk.
//
// It is a chain of steps: import the log, describe it, forecast its demand with possible futures,
// write a scenario, plan purchases for the futures, and plan the mix for the jobs of every future.
// Each step is a command of the program, which can be run alone and writes the same documents. The
// two plans meet in one Result: the plan for futures buys for a demand that nobody may keep waiting,
// the plan of the mix plays the jobs of the same futures, and the Result says what each assumption
// is worth.
package decide

import (
	"fmt"
	"strings"

	"capcli"
	"capcli/profile/trace"
	"capcli/scenarios"
	"capcli/scenarios/prices"
	"capcli/simulate/outcome"
	"capcli/simulate/plan/futures"
	"capcli/simulate/plan/mix"
)

// Request is a question about a job log.
type Request struct {
	Trace   string        // the job log
	Read    trace.Request // how to read it
	GPU     string        // the GPU model to plan for
	Horizon string        // how far ahead: 1y, 26w, or a date
	Max     []string      // upper limits, wait_p95=30m; without one on waits, WaitDefault is the limit
	Min     []string      // lower limits, availability=95%
	Budget  string        // most that the horizon may cost, 4M; "" is no limit
	Prices  string        // a price file that goes before the catalogue; "" is none
	Events  string        // a file of planned events for the forecast; "" is none
	Futures int           // number of futures
	Risk    string        // what of the cost to make least: mean, q80, cvar95
	Hold    string        // share of the futures in which all limits must hold together
	Seed    capcli.Seed
}

// WaitDefault is the limit on the p95 wait where the request has none: without a limit the cheapest
// plan makes everybody wait.
const WaitDefault = "30m"

// Defaults of a request.
const (
	futuresDefault = 12
	futuresMost    = 500
)

// NewRequest returns a request for a year ahead.
func NewRequest(log, gpu string) *Request {
	return &Request{Trace: log, GPU: gpu, Horizon: "1y", Futures: futuresDefault, Risk: "mean", Hold: "95%", Seed: 1}
}

// settled is a checked request.
type settled struct {
	*Request
	hold   float64
	limits []string       // of --max, with those of the default and the budget
	wait   capcli.Seconds // the limit on the p95 wait; below 0 there is none
	notes  []string
}

// Check returns an error where the request is wrong whatever the log is: a *capcli.RequestError or a
// *capcli.UnknownError.
func (q *Request) Check() error {
	_, err := q.settle()
	return err
}

func (q *Request) settle() (*settled, error) {
	switch {
	case q.Trace == "":
		return nil, &capcli.RequestError{Field: "trace", Text: "is missing: the job log to decide for", Hint: "--trace sacct.psv.gz --gpu H100"}
	case q.Trace == "-":
		return nil, &capcli.RequestError{Field: "trace", Text: "is read several times and cannot be stdin", Hint: "capcli import slurm - --out jobs.parquet, then --trace jobs.parquet"}
	case q.GPU == "":
		return nil, &capcli.RequestError{Field: "gpu", Text: "is missing: the GPU model to plan for", Hint: "--gpu H100; capcli prices list has the models"}
	case q.Horizon == "" || strings.Contains(q.Horizon, ","):
		return nil, &capcli.RequestError{Field: "horizon", Text: fmt.Sprintf("wants one length of time or date, found %q", q.Horizon), Hint: "--horizon 1y"}
	case q.Futures < 2 || q.Futures > futuresMost:
		return nil, &capcli.RequestError{Field: "paths", Text: fmt.Sprintf("wants 2 to %d futures, found %d", futuresMost, q.Futures), Hint: fmt.Sprintf("--paths %d", futuresDefault)}
	}
	if _, err := q.Read.Parse(); err != nil {
		return nil, err
	}
	if _, err := futures.ParseRisk(q.Risk); err != nil {
		return nil, err
	}
	s := &settled{Request: q, limits: append([]string(nil), q.Max...), wait: -1}
	var err error
	if s.hold, err = mix.ParseShare("hold", q.Hold); err != nil {
		return nil, err
	}
	if s.hold == 0 {
		return nil, &capcli.RequestError{Field: "hold", Text: "wants a share over 0", Hint: "--hold 95%"}
	}
	return s, s.settleLimits()
}

// settleLimits parses the limits, and adds the default limit on waits and the budget.
func (s *settled) settleLimits() error {
	waits := false
	for _, list := range []struct {
		field, op string
		texts     []string
	}{{"max", "<=", s.Max}, {"min", ">=", s.Min}} {
		for _, text := range list.texts {
			name, value, ok := strings.Cut(text, "=")
			name = strings.TrimRight(strings.TrimSpace(name), "<>")
			c, err := outcome.ParseCheck(name + list.op + strings.TrimSpace(value))
			if !ok || err != nil {
				why := "want METRIC=VALUE"
				if ok {
					why = err.Error()
				}
				return &capcli.RequestError{Field: list.field, Text: fmt.Sprintf("%q: %s", text, why), Hint: "--max wait_p95=30m"}
			}
			waits = waits || strings.HasPrefix(c.Metric.Name, "wait_") || c.Metric.Name == "availability"
			if list.field == "max" && c.Metric.Name == "wait_p95" {
				s.wait = capcli.Seconds(c.Value)
			}
			if c.Metric.Name == "cost" && s.Budget != "" {
				return &capcli.RequestError{Field: "budget", Text: "and --max cost both limit the cost", Hint: "give one of them"}
			}
		}
	}
	if !waits {
		s.limits = append(s.limits, "wait_p95="+WaitDefault)
		s.wait = 30 * capcli.Minute
		s.notes = append(s.notes, "no limit on waits was given: the p95 wait may be "+WaitDefault+" at most (--max wait_p95=1h)")
	}
	if s.Budget == "" {
		return nil
	}
	if _, err := outcome.ParseCheck("cost<=" + s.Budget); err != nil {
		return &capcli.RequestError{Field: "budget", Text: ": " + err.Error(), Hint: "--budget 4M"}
	}
	s.limits = append(s.limits, "cost="+s.Budget)
	return nil
}

// checkPrice returns an error where the GPU model has no price on demand, or no commitment has one.
func checkPrice(own *prices.List, model string) (*prices.Offer, error) {
	offer, ok := prices.OfferFor(own, model)
	if !ok {
		return nil, scenarios.NoPriceError(own, model)
	}
	if len(offer.Committed) == 0 {
		return nil, &capcli.RequestError{
			Field: "gpu", Text: fmt.Sprintf("%s has an on-demand price (%s) and none for a commitment: there is nothing to decide", model, offer.OnDemand.Key()),
			Hint: "give your own prices: --prices FILE with a row of term 1y (capcli prices --help)",
		}
	}
	return offer, nil
}
