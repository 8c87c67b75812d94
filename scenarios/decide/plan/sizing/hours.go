package sizing

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"capcli"
	capacity "capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/money/billing"
	"capcli/simulate/serving"
)

// Hour is the size that one hour of the load needs by itself.
type Hour struct {
	Start    capcli.Seconds `json:"start_s"` // since midnight UTC of the first day, or since time 0 of requests without dates
	Requests int            `json:"requests"`
	Played   int            `json:"requests_played"` // of them: all, or those of the busiest part of the hour
	Rate     float64        `json:"requests_per_s"`
	Replicas *int           `json:"replicas"` // null where no number keeps the promises; 0 where no request came
	GPUs     *int64         `json:"gpus"`
	Why      string         `json:"why,omitempty"`
}

// Name returns the hour for people: 16:00, or day 3 16:00 where the load has several days.
func (h *Hour) Name() string {
	hour := fmt.Sprintf("%02d:00", h.Start/capcli.Hour%24)
	if day := h.Start / capcli.Day; day > 0 {
		return fmt.Sprintf("day %d %s", day+1, hour)
	}
	return hour
}

const (
	hourMicros = 3_600_000_000
	mostHours  = 24 * 366
)

// hours sizes each hour of the load by itself. It begins with idle replicas: what is in flight then is
// finished by those of the hour before, which drain.
func (q *plan) hours(ctx context.Context, s *Size) ([]Hour, error) {
	if q.Windows != nil {
		return q.windowHours(ctx, s)
	}
	clock := q.Start % (24 * hourMicros) // time of day of arrival 0
	origin := (q.Load[0].Arrival+clock)/hourMicros*hourMicros - clock
	n := (q.Load[len(q.Load)-1].Arrival-origin)/hourMicros + 1
	if n > mostHours {
		return nil, &capcli.RequestError{Field: "hourly", Text: fmt.Sprintf("sizes at most %d hours, and the requests cover %d", mostHours, n)}
	}
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	how := max(q.search, bound) // fewer than the bound are proven not to hold
	return capcli.MapParallel(ctx, list, nil, func(ctx context.Context, i int) (Hour, error) {
		from := origin + int64(i)*hourMicros
		at := func(us int64) int {
			k, _ := slices.BinarySearchFunc(q.Load, us, func(r serving.Request, us int64) int { return cmp.Compare(r.Arrival, us) })
			return k
		}
		first, last := at(from), at(from+hourMicros)
		h := Hour{Start: capcli.Seconds((from + clock) / 1_000_000), Requests: last - first, Rate: float64(last-first) / 3600}
		if first == last {
			h.Replicas, h.GPUs = new(int), new(int64)
			return h, nil
		}
		return h, q.sizeHour(ctx, &h, s, q.Load[first:last], how)
	})
}

func (q *plan) sizeHour(ctx context.Context, h *Hour, s *Size, load []serving.Request, how Search) error {
	z := q.sizer(ctx, &s.Config, load)
	f, err := z.search(how)
	if err != nil {
		return err
	}
	size := Size{Choice: s.Choice}
	size.fill(z, f, &Traffic{})
	h.Played, h.Replicas, h.GPUs, h.Why = len(load), size.Replicas, size.GPUs, size.Why
	return nil
}

// Split divides the need by the hour into what is committed and what scales.
type Split struct {
	Base        float64           `json:"reserved_gpus"`
	Peak        int64             `json:"peak_gpus"`
	Mean        float64           `json:"mean_gpus"`
	Purchases   []market.Purchase `json:"purchases"`
	Terms       []market.Term     `json:"terms"` // with their break-even use
	PerYear     capcli.USD        `json:"usd_per_year"`
	Scaled      capcli.USD        `json:"on_demand_usd_per_year"`
	AllOnDemand capcli.USD        `json:"all_on_demand_usd_per_year"`
	PeakAlways  capcli.USD        `json:"peak_on_demand_usd_per_year"` // the peak, held all the time
	PerMillion  *capcli.USD       `json:"usd_per_million_tokens"`
	Says        string            `json:"says"`
}

// term is a price of a GPU-hour.
type term struct {
	Term string
	Rate capcli.Rate
}

// terms returns the prices that the answer can be had at: on demand, and the terms.
func (q *plan) terms(rate capcli.Rate) ([]term, error) {
	out := []term{{onDemand, rate}}
	if q.sketch == nil {
		return out, nil
	}
	c, err := capacity.NewCurve(capcli.NoTime, capcli.Step{Seconds: capcli.Hour}, []float64{1})
	if err != nil {
		return nil, err
	}
	f, err := q.sketch.Frame(c)
	if err != nil {
		return nil, err
	}
	for _, t := range f.Document().Terms {
		out = append(out, term{t.Name, t.Rate})
	}
	return out, nil
}

// split finds what to commit to for the need by the hour, repeated for as long as the longest term: the
// exact optimum of plan curve. It returns nil where no terms are named or an hour has no size.
func (q *plan) split(ctx context.Context, s *Size, hours []Hour) (*Split, error) {
	if q.sketch == nil || slices.ContainsFunc(hours, func(h Hour) bool { return h.GPUs == nil }) {
		return nil, nil //nolint:nilnil // there is nothing to divide
	}
	ask := q.Market
	ask.OnDemand = s.Rate.Decimal()
	if s.Rate == 0 {
		ask.OnDemand = "free"
	}
	question, err := (&curve.Request{Market: ask}).Parse()
	if err != nil {
		return nil, err
	}
	length, err := q.longest()
	if err != nil {
		return nil, err
	}
	values := make([]float64, length/capcli.Hour)
	out := &Split{}
	for i := range values {
		g := *hours[i%len(hours)].GPUs
		values[i] = float64(g)
		out.Peak = max(out.Peak, g)
	}
	c, err := capacity.NewCurve(capcli.NoTime, capcli.Step{Seconds: capcli.Hour}, values)
	if err != nil {
		return nil, err
	}
	r, err := question.Plan(ctx, &curve.Demand{Input: q.Input, Curve: c})
	if err != nil {
		return nil, err
	}
	year := func(u capcli.USD) capcli.USD {
		v, _ := billing.PerYear(u, length)
		return v
	}
	o := &r.Optimum
	out.Mean = r.Demand.Mean
	out.Purchases, out.Terms = o.Purchases, r.Market.Terms
	out.PerYear, out.Scaled, out.AllOnDemand = year(o.Cost), year(o.OnDemand), year(o.AllOnDemand)
	out.PeakAlways = year(capcli.Cost(s.Rate, capcli.GPUTime(out.Peak)*capcli.GPUSecond*capcli.GPUTime(length)))
	if len(r.Periods) > 0 {
		out.Base = r.Periods[0].GPUs
	}
	if t := q.traffic(); t.Rate > 0 {
		out.PerMillion = amount(out.PerYear.Float() / float64(monthsAYear) / t.TokensMonth * 1e6)
	}
	out.Says = out.sentence()
	return out, nil
}

// longest returns the length of the longest term, at least a year.
func (q *plan) longest() (capcli.Seconds, error) {
	c, err := capacity.NewCurve(capcli.NoTime, capcli.Step{Seconds: capcli.Hour}, []float64{1})
	if err != nil {
		return 0, err
	}
	f, err := q.sketch.Frame(c)
	if err != nil {
		return 0, err
	}
	length := c.AddSteps(0, capcli.Step{Months: 12}, 1)
	for _, t := range f.Market.Terms {
		length = max(length, c.AddSteps(0, t.Length, 1))
	}
	return length, nil
}

func (s *Split) sentence() string {
	if s.Base == 0 {
		return fmt.Sprintf("Reserve nothing: the need of up to %d GPUs scales on demand for %s a year; no term pays at this use.", s.Peak, s.PerYear)
	}
	return fmt.Sprintf("Reserve %g %s and let up to %g scale on demand: %s a year, against %s all on demand by the hour and %s for the peak held all the time.",
		s.Base, gpuWord(int64(s.Base)), max(0, float64(s.Peak)-s.Base), s.PerYear, s.AllOnDemand, s.PeakAlways)
}
