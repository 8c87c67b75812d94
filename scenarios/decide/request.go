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
	"slices"
	"strings"

	"capcli"
	"capcli/forecast/history"
	"capcli/profile/logs/trace"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/inputs"
	"capcli/scenarios/kinds"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/outcome"
)

// Request is a question about a job log.
type Request struct {
	Trace    string        // the job log, or another input: see package inputs
	More     []string      // further inputs, which are joined with Trace
	Joined   string        // inputs.Apart or inputs.Same, where the inputs do not say it; "" asks
	Read     trace.Request // how to read it
	GPU      string        // the GPU model to plan for
	Horizon  string        // how far ahead: 1y, 26w, or a date
	Max      []string      // upper limits, wait_p95=30m; without one on waits, WaitDefault is the limit
	Min      []string      // lower limits, availability=95%
	Budget   string        // most that the horizon may cost, 4M; "" is no limit
	Prices   string        // a price file that goes before the catalogue; "" is none
	Seller   string        // the provider to buy from; "" is the usual one of the model
	Held     []string      // GPUs committed already, 64@2026-01-01..2027-01-01; they serve first
	Events   []string      // files of planned events for the forecast, such as one of each team
	AsIf     string        // which part of the log counts, a name of history.Ways; "" follows the level since the last change, and asks where the end fell away
	Futures  int           // number of futures
	Risk     string        // what of the cost to make least: mean, q80, cvar95
	WaitCost string        // dollars that an hour of one job's waiting counts, in the choice of places
	Hold     string        // share of the futures in which all limits must hold together
	Tiers    string        // plan a reserved base, GPUs on demand and spot GPUs by kind of work: a file of kinds, or kinds.RulesAlone; "" does not
	Origins  int           // earlier dates of the log on which the question is tried; 0 is none
	Seed     capcli.Seed
}

// Files returns where the request names files and folders.
func (q *Request) Files() []*string {
	out := []*string{&q.Trace, &q.Prices}
	if q.Tiers != kinds.RulesAlone {
		out = append(out, &q.Tiers)
	}
	for i := range q.Events {
		out = append(out, &q.Events[i])
	}
	for i := range q.More {
		out = append(out, &q.More[i])
	}
	return out
}

// WaitDefault is the limit on the p95 wait where the request has none: without a limit the cheapest
// plan makes everybody wait.
const WaitDefault = "30m"

// Defaults of a request.
const (
	futuresDefault = 100
	futuresMost    = 500
	originsDefault = 6
	originsMost    = 100
)

// NewRequest returns a request for a year ahead.
func NewRequest(log, gpu string) *Request {
	return &Request{Trace: log, GPU: gpu, Horizon: "1y", Futures: futuresDefault, Risk: "mean", Hold: "95%", WaitCost: mix.WaitCostDefault, Origins: originsDefault, Seed: 1}
}

// WayNames returns the values of Request.AsIf, each with what it says after a tab, for completion.
func WayNames() []string {
	return capcli.Map(history.Ways, func(w history.Choice) string { return w.Name + "\t" + w.Text })
}

// settled is a checked request.
type settled struct {
	*Request
	hold   float64
	limits []string // of Max, with those of the default and the budget
	checks []outcome.Check
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
		return nil, &capcli.RequestError{Field: "trace", Text: "is missing: the job log or recording to decide for", Hint: "trace=sacct.psv.gz gpu=H100"}
	case q.Trace == "-":
		return nil, &capcli.RequestError{Field: "trace", Text: "is read several times and cannot be stdin", Hint: "capcli import slurm - --out jobs.parquet, then --trace jobs.parquet"}
	case q.GPU == "":
		return nil, &capcli.RequestError{Field: "gpu", Text: "is missing: the GPU model to plan for", Hint: "--gpu H100; capcli prices list has the models"}
	case q.Horizon == "" || strings.Contains(q.Horizon, ","):
		return nil, &capcli.RequestError{Field: "horizon", Text: fmt.Sprintf("wants one length of time or date, found %q", q.Horizon), Hint: "horizon=1y"}
	case q.Futures < 2 || q.Futures > futuresMost:
		return nil, &capcli.RequestError{Field: "paths", Text: fmt.Sprintf("wants 2 to %d futures, found %d", futuresMost, q.Futures), Hint: fmt.Sprintf("paths=%d", futuresDefault)}
	}
	if q.Origins < 0 || q.Origins > originsMost {
		return nil, &capcli.RequestError{Field: "backtest", Text: fmt.Sprintf("wants 0 to %d earlier dates, found %d", originsMost, q.Origins), Hint: fmt.Sprintf("backtest=%d", originsDefault)}
	}
	if err := inputs.CheckJoined(q.Joined); err != nil {
		return nil, err
	}
	if q.AsIf != "" {
		if err := history.CheckChoice(q.AsIf); err != nil {
			return nil, err
		}
	}
	if _, err := q.Read.Parse(); err != nil {
		return nil, err
	}
	if _, err := futures.ParseRisk(q.Risk); err != nil {
		return nil, err
	}
	s := &settled{Request: q, limits: append([]string(nil), q.Max...), wait: -1}
	var err error
	if _, err = mix.ParseWaitCost(q.WaitCost); err != nil {
		return nil, err
	}
	if s.hold, err = mix.ParseShare("hold", q.Hold); err != nil {
		return nil, err
	}
	if s.hold == 0 {
		return nil, &capcli.RequestError{Field: "hold", Text: "wants a share over 0", Hint: "hold=95%"}
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
			c, err := parseLimit(list.field, list.op, text)
			if err != nil {
				return err
			}
			s.checks = append(s.checks, c)
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
		c, err := outcome.ParseCheck("wait_p95<=" + WaitDefault)
		if err != nil {
			return err
		}
		s.checks = append(s.checks, c)
	}
	if s.Budget == "" {
		return nil
	}
	c, err := outcome.ParseCheck("cost<=" + s.Budget)
	if err != nil {
		return &capcli.RequestError{Field: "budget", Text: ": " + err.Error(), Hint: "budget=4M"}
	}
	s.limits, s.checks = append(s.limits, "cost="+s.Budget), append(s.checks, c)
	return nil
}

// parseLimit parses a limit on one of limitedMetrics, METRIC=VALUE.
func parseLimit(field, op, text string) (c outcome.Check, err error) {
	name, value, ok := strings.Cut(text, "=")
	name = strings.TrimRight(strings.TrimSpace(name), "<>")
	why := "want METRIC=VALUE"
	if ok {
		if c, err = outcome.ParseCheck(name + op + strings.TrimSpace(value)); err != nil {
			why = err.Error()
		}
	}
	if !ok || err != nil {
		return c, &capcli.RequestError{Field: field, Text: fmt.Sprintf("%q: %s", text, why), Hint: "max=wait_p95=30m"}
	}
	if !slices.Contains(limitedMetrics, c.Metric.Name) {
		return c, &capcli.RequestError{
			Field: field, Text: fmt.Sprintf("%s: a decision has limits on %s, found %s", text, strings.Join(limitedMetrics, ", "), c.Metric.Name),
			Hint: "capcli plan mix has limits on every metric",
		}
	}
	return c, nil
}

// limitedMetrics are the metrics that limits of a decision may be on: those that are known of a bill as of
// a place.
var limitedMetrics = []string{
	"cost", "total", "cost_per_year", "stranded", "stranded_usd", "availability", "unserved_share", "unserved_gpu_hours",
	"wait_mean", "wait_p50", "wait_p95", "wait_p99", "wait_max",
}

// offer returns what the decision is priced at: the machine of the model at the seller that is asked for,
// else at the usual one. It fails with *capcli.RequestError where there is no price on demand, or none for
// a commitment.
func (s *settled) offerOf(own *prices.List) (*prices.Offer, error) {
	offer, ok := prices.OfferFor(own, s.GPU)
	if s.Seller != "" {
		ok = false
		for _, o := range prices.OffersFor(own, s.GPU, s.Seller) {
			if !ok || len(offer.Committed) == 0 && len(o.Committed) > 0 {
				offer, ok = &o, true
			}
		}
		if !ok {
			return nil, s.noSeller(own)
		}
	}
	if !ok {
		return nil, scenarios.NoPriceError(own, s.GPU)
	}
	if len(offer.Committed) == 0 {
		return nil, &capcli.RequestError{
			Field: "gpu", Text: fmt.Sprintf("%s has an on-demand price (%s) and none for a commitment: there is nothing to decide", s.GPU, offer.OnDemand.Key()),
			Hint: "give your own prices: --prices FILE with a row of term 1y (capcli prices --help)",
		}
	}
	return offer, nil
}

// noSeller says which sellers have the model.
func (s *settled) noSeller(own *prices.List) error {
	names := capcli.Catalog[string]{Kind: "provider of " + s.GPU}
	for _, o := range prices.OffersFor(own, s.GPU, "") {
		if p := strings.ToLower(o.OnDemand.Provider); !slices.Contains(names.Names(), p) {
			names.Add(p, "", p)
		}
	}
	_, err := names.Get(strings.ToLower(s.Seller))
	if err == nil {
		return nil
	}
	return &capcli.RequestError{Field: "provider", Text: ": " + err.Error(), Hint: "capcli prices list --gpu " + capcli.ShellWord(s.GPU)}
}
