package sizing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"capcli"
	"capcli/scenarios/decide/plan/market"
	"capcli/simulate/serving"
)

// Request asks how many replicas a service needs, and what they cost.
type Request struct {
	Service string
	// GPUModel is the model of the service's GPUs as it is described; "" is not said. Choices may have others.
	GPUModel string
	Input    string // name of the requests, for messages
	Load     []serving.Request
	Windows  []Window // of requests that are drawn: the busiest part of each hour, in place of Load
	Whole    *Traffic // of them, all hours; nil measures Load
	Start    int64    // microseconds since 1970 of arrival 0; 0 is not known
	Choices  []Choice // configurations to choose from, at least one

	Share    string   // of the requests that must be within the SLO of the service; "" is Usual where there is an SLO and no other promise
	Usual    int64    // millionths; 0 is 99%
	Max, Min []string // promises: ttft_p99=200ms, slo_share=99%
	Search   string   // a name of SearchNames; "" is the first

	Growth []string       // growth of the load to size for: 20%, 100%
	Hourly bool           // size each hour of the load by itself
	Market market.Request // terms, where the on-demand price is that of the choice
	API    string         // price per million tokens to compare with: in=0.5,out=1.5; "" is none

	Note     func(text string)
	Progress func(done, total int64) // replays; total is 0 while it is not known
}

// Choice is one way to run a replica.
type Choice struct {
	GPUModel string      `json:"gpu_model,omitempty"`
	Tensor   int         `json:"tensor_parallel,omitempty"`
	Weights  string      `json:"weights,omitempty"`
	Rate     capcli.Rate `json:"usd_per_gpu_hour"`
	Fault    string      `json:"cannot_run,omitempty"` // why it cannot run, such as weights that do not fit

	Config serving.Config `json:"-"`

	err error // of Fault
}

// Name returns the choice in words: "2 x H100, fp8".
func (c *Choice) Name() string {
	out := c.GPUModel
	if c.Tensor > 0 && out != "" {
		out = fmt.Sprintf("%d x %s", c.Tensor, c.GPUModel)
	} else if c.Tensor > 0 {
		out = fmt.Sprintf("tensor parallel %d", c.Tensor)
	}
	if c.Weights != "" {
		out = strings.TrimPrefix(out+", "+c.Weights, ", ")
	}
	return cmp.Or(out, "the service's own")
}

// plan is a request whose texts are parsed.
type plan struct {
	*Request
	promises []Promise
	search   Search
	growth   []int64 // millionths of the load
	api      *API
	sketch   *market.Sketch // nil where no terms are named
	replays  atomic.Int64
}

// parse checks the request. The error is a *capcli.RequestError, or a *capcli.InputError where no
// requests came.
func (r *Request) parse() (*plan, error) {
	q := &plan{Request: r}
	var err error
	if q.search, err = parseSearch(r.Search); err != nil {
		return nil, err
	}
	if q.promises, err = r.promised(); err != nil {
		return nil, err
	}
	for _, text := range r.Growth {
		ppm, err := parseGrowth(text)
		if err != nil {
			return nil, err
		}
		q.growth = append(q.growth, ppm)
	}
	if r.API != "" {
		if q.api, err = parseAPI(r.API); err != nil {
			return nil, err
		}
	}
	if len(r.Market.Terms) > 0 {
		m := r.Market
		m.OnDemand = cmp.Or(m.OnDemand, "1") // parsed for its terms; each choice has its own price
		if q.sketch, err = m.Parse(); err != nil {
			return nil, err
		}
	}
	return q, r.checkLoad()
}

// promised returns the promises: those of Max and Min, and that of the SLO.
func (r *Request) promised() ([]Promise, error) {
	out, err := ParsePromises(r.Max, r.Min)
	if err != nil {
		return nil, err
	}
	hasSLO := len(r.Choices) > 0 && r.Choices[0].Config.SLO != (serving.SLO{})
	onSLO := slices.ContainsFunc(out, func(p Promise) bool { return p.of == sloShare })
	over := slices.ContainsFunc(out, func(p Promise) bool { return p.overRequests() })
	switch {
	case r.Share != "" && onSLO:
		return nil, &capcli.RequestError{Field: "share", Text: "and --min slo_share say the same: give one of them"}
	case r.Share != "" || hasSLO && !over:
		ppm := cmp.Or(r.Usual, 990_000)
		if r.Share != "" {
			if ppm, err = ParseShare("share", r.Share); err != nil {
				return nil, err
			}
		}
		out, onSLO = append([]Promise{sloPromise(ppm, &r.Choices[0].Config.SLO)}, out...), true
	case !over:
		return nil, &capcli.RequestError{Field: "max", Text: ": the service has no slo and no promise is given: nothing says when there are enough replicas", Hint: "--max ttft_p99=200ms, or slo: {ttft: 200ms} in the service"}
	}
	if onSLO && !hasSLO {
		return nil, &capcli.RequestError{Field: "share", Text: "wants a service with slo limits, and this one has none", Hint: "slo: {ttft: 200ms, tpot: 50ms} in the service, or --max ttft_p99=200ms"}
	}
	return out, nil
}

// checkLoad returns an error where the requests cannot be sized for.
func (r *Request) checkLoad() error {
	if w := r.busiest(); w != nil {
		r.Load = w.Load
	}
	if len(r.Choices) == 0 {
		return &capcli.RequestError{Text: "plan service wants a service to size"}
	}
	if len(r.Load) == 0 {
		return &capcli.InputError{File: r.Input, Text: "expected requests to size for, found none", Hint: "a table with arrival, tokens in and tokens out: see docs/services.md"}
	}
	return nil
}

// parseGrowth parses a growth of the load into millionths of it: 20% and 1.2x are 1,200,000.
func parseGrowth(text string) (int64, error) {
	refuse := &capcli.RequestError{Field: "growth", Text: fmt.Sprintf("wants a growth of the load, found %s", capcli.Quoted(text)), Hint: "--growth 20%, or --growth 1.2x"}
	s, times := strings.CutSuffix(strings.TrimSpace(text), "x")
	s, percent := strings.CutSuffix(s, "%")
	if !times && !percent {
		return 0, refuse
	}
	of, sign := int64(1), int64(1)
	if percent {
		of = 100
		if rest, minus := strings.CutPrefix(s, "-"); minus {
			s, sign = rest, -1
		}
	}
	ppm, err := parseParts(strings.TrimPrefix(s, "+"), of)
	if percent {
		ppm = whole + sign*ppm
	}
	if err != nil || ppm < whole/1000 || ppm > 1000*whole {
		return 0, refuse
	}
	return ppm, nil
}

// sizer returns what sizes a configuration for a load.
func (q *plan) sizer(ctx context.Context, c *serving.Config, load []serving.Request) *sizer {
	return &sizer{ctx: ctx, config: *c, load: load, promises: q.promises, tried: func() {
		if n := q.replays.Add(1); q.Progress != nil {
			q.Progress(n, 0)
		}
	}}
}
