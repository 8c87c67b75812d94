package sizing

import (
	"fmt"
	"strings"

	"capcli"
	"capcli/scenarios/money/billing"
)

// monthsAYear is how many months an amount a year is divided into.
const monthsAYear = 12

// Cost is what a number of GPUs costs on one term.
type Cost struct {
	Term        string      `json:"term"` // "on demand", or the name of a term
	Rate        capcli.Rate `json:"usd_per_gpu_hour"`
	PerHour     capcli.USD  `json:"usd_per_hour"`
	PerMonth    capcli.USD  `json:"usd_per_month"`
	PerYear     capcli.USD  `json:"usd_per_year"`
	PerMillion  *capcli.USD `json:"usd_per_million_tokens"`     // in and out, at this rate of requests; null where the rate is not known
	PerAnswered *capcli.USD `json:"usd_per_million_tokens_out"` // the same amount over the tokens out
	PerThousand *capcli.USD `json:"usd_per_1000_requests"`
}

// Traffic is the load, as requests and tokens over its time.
type Traffic struct {
	Requests    int     `json:"requests"`
	Span        float64 `json:"span_s"` // from the first arrival to the last
	Rate        float64 `json:"requests_per_s"`
	In          int64   `json:"tokens_in"`
	Out         int64   `json:"tokens_out"`
	Peak        float64 `json:"peak_requests_per_s"` // of the busiest minute, or of the span where it is shorter
	PerMonth    float64 `json:"requests_per_month"`  // at this rate all month
	TokensMonth float64 `json:"tokens_per_month"`
}

// month is the seconds of a month of costs.
const month = float64(billing.Year) / monthsAYear

// traffic returns the load. Requests to a service with batch_time have no tokens.
func (q *plan) traffic() Traffic {
	t := q.measureTraffic()
	if len(q.Choices[0].Config.Time.Batch) > 0 {
		t.In, t.Out, t.TokensMonth = 0, 0, 0
	}
	return t
}

func (q *plan) measureTraffic() Traffic {
	if q.Whole != nil {
		return *q.Whole
	}
	n := len(q.Load)
	t := Traffic{Requests: n, Span: float64(q.Load[n-1].Arrival-q.Load[0].Arrival) / 1e6}
	for i := range q.Load {
		t.In, t.Out = t.In+q.Load[i].In, t.Out+q.Load[i].Out
	}
	if t.Span <= 0 || n < 2 {
		return t
	}
	t.Rate = float64(n-1) / t.Span
	t.PerMonth = t.Rate * month
	t.TokensMonth = t.PerMonth * float64(t.In+t.Out) / float64(n)
	const minute = 60_000_000
	first, most := 0, 0
	for i := range q.Load {
		for q.Load[i].Arrival-q.Load[first].Arrival >= minute {
			first++
		}
		most = max(most, i-first+1)
	}
	t.Peak = max(t.Rate, float64(most)/min(t.Span, 60))
	return t
}

func costOf(term string, rate capcli.Rate, gpus int64, t *Traffic) Cost {
	hour := capcli.Cost(rate, capcli.GPUTime(gpus)*capcli.GPUSecond*3600)
	year, _ := billing.PerYear(hour, capcli.Hour)
	c := Cost{Term: term, Rate: rate, PerHour: hour, PerYear: year, PerMonth: year / monthsAYear}
	if t.Rate > 0 {
		perRequest := hour.Float() / (t.Rate * 3600)
		n := float64(t.Requests)
		c.PerThousand = amount(1000 * perRequest)
		if t.In+t.Out == 0 {
			return c
		}
		c.PerMillion = amount(1e6 * perRequest * n / float64(t.In+t.Out))
		c.PerAnswered = amount(1e6 * perRequest * n / float64(t.Out))
	}
	return c
}

// smallText formats an amount that may be small: with four places below a dollar.
func smallText(u capcli.USD) string {
	if u >= capcli.Dollar || u < capcli.Dollar/10_000 {
		return u.String()
	}
	return fmt.Sprintf("$%.4f", u.Float())
}

func amount(dollars float64) *capcli.USD {
	u := capcli.USDOf(dollars)
	return &u
}

// API is a price per token of somebody else's service.
type API struct {
	In  capcli.USD `json:"usd_per_million_tokens_in"`
	Out capcli.USD `json:"usd_per_million_tokens_out"`
}

// parseAPI parses in=0.5,out=1.5 or one price for both.
func parseAPI(text string) (*API, error) {
	const hint = "api-price=in=0.50,out=1.50, dollars for a million tokens"
	var a API
	for i, part := range strings.Split(text, ",") {
		key, value, named := strings.Cut(part, "=")
		if !named {
			key, value = "", part
		}
		u, err := capcli.ParseUSD(strings.TrimSpace(value))
		if err != nil || u < 0 {
			return nil, &capcli.RequestError{Field: "api-price", Text: fmt.Sprintf("wants dollars for a million tokens, found %s", capcli.Quoted(part)), Hint: hint}
		}
		switch strings.TrimSpace(key) {
		case "in":
			a.In = u
		case "out":
			a.Out = u
		case "":
			if a.In, a.Out = u, u; i == 0 {
				continue
			}
			fallthrough
		default:
			return nil, &capcli.RequestError{Field: "api-price", Text: fmt.Sprintf("has in and out, found %s", capcli.Quoted(part)), Hint: hint}
		}
	}
	if a.In+a.Out == 0 {
		return nil, &capcli.RequestError{Field: "api-price", Text: "of 0 has no break-even", Hint: hint}
	}
	return &a, nil
}

// BreakEven compares the replicas with a price per token.
type BreakEven struct {
	API
	PerMonth capcli.USD `json:"api_usd_per_month"` // this traffic, all month
	Own      capcli.USD `json:"own_usd_per_month"`
	Cheaper  string     `json:"cheaper"`                       // own or api, at this traffic
	Requests *float64   `json:"break_even_requests_per_month"` // from which on own replicas cost less; null where they do nowhere within reach
	Tokens   *float64   `json:"break_even_tokens_per_month"`
	Load     *float64   `json:"break_even_load"`     // as a multiple of this traffic
	Replicas *int       `json:"break_even_replicas"` // that keep the promises then
	Says     string     `json:"says"`
}

// farthestLoad is the highest multiple of the traffic at which a break-even is looked for, and
// mostReplicasTried how many sizes are played for it.
const (
	farthestLoad      = 4
	mostReplicasTried = 64
)

// breakEven finds the load from which on own replicas cost less than the price per token. n replicas
// cost what the API costs at one load; where they keep the promises at that load, it is the break-even.
// More load on the same replicas is cheaper still.
func (q *plan) breakEven(z *sizer, c *Cost, s *Size, t *Traffic) (*BreakEven, error) {
	if q.api == nil || t.Rate <= 0 || s.Replicas == nil {
		return nil, nil //nolint:nilnil // not asked for, or nothing to compare
	}
	perRequest := (q.api.In.Float()*float64(t.In) + q.api.Out.Float()*float64(t.Out)) / 1e6 / float64(t.Requests)
	b := &BreakEven{API: *q.api, PerMonth: capcli.USDOf(perRequest * t.PerMonth), Own: c.PerMonth, Cheaper: "own"}
	if b.PerMonth < b.Own {
		b.Cheaper = "api"
	}
	one := c.PerMonth.Float() / float64(*s.Replicas)
	for n := 1; n <= mostReplicasTried; n++ {
		load := one * float64(n) / (perRequest * t.PerMonth)
		if load > farthestLoad {
			break
		}
		at := *z
		at.load = grown(z.load, max(1000, int64(load*whole)))
		holds, err := at.holds(n)
		if err != nil {
			return nil, err
		}
		if holds {
			requests := load * t.PerMonth
			tokens := load * t.TokensMonth
			b.Requests, b.Tokens, b.Load, b.Replicas = &requests, &tokens, &load, &n
			break
		}
	}
	b.Says = b.sentence(c)
	return b, nil
}

func (b *BreakEven) sentence(c *Cost) string {
	text := fmt.Sprintf("At this traffic all month own replicas cost %s a month (%s) and the price per token %s: ", b.Own, c.Term, b.PerMonth)
	if b.Cheaper == "own" {
		text += "own replicas are cheaper. "
	} else {
		text += "the price per token is cheaper. "
	}
	if b.Requests == nil {
		return text + fmt.Sprintf("Own replicas that keep the promises do not come to cost less up to %d times this traffic.", farthestLoad)
	}
	return text + fmt.Sprintf("From %s requests (%s tokens) a month on own replicas cost less, with this traffic's shape: %.3g times this traffic on %d %s.",
		capcli.Grouped(int64(*b.Requests+0.5)), capcli.Grouped(int64(*b.Tokens+0.5)), *b.Load, *b.Replicas, capcli.Plural(int64(*b.Replicas), "replica"))
}
