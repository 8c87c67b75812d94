package inference

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/profile/logs/series"
	"capcli/profile/logs/trace"
	"capcli/profile/web"
)

// Request says where the traffic of servers is told.
type Request struct {
	Server  string   // a name of Servers
	Address string   // of a Prometheus server; "" is none
	Files   []string // or saved answers of query_range
	Match   string   // further conditions on labels, for Address: model_name="llama"
	Token   string   // file with the bearer token for the server; "" is none

	From, To string         // dates or times
	Step     capcli.Seconds // 0 is five minutes of a server, and the gap between values of files
}

// Sources open what a request names.
type Sources struct {
	Open trace.Opener
	Web  http.RoundTripper // nil is http.DefaultTransport
	Now  capcli.Time       // end where Request.To is ""
}

// Quantiles sum up times or lengths that a histogram counts. Unknown figures are null.
type Quantiles struct {
	Mean capcli.Figure `json:"mean"`
	P50  capcli.Figure `json:"p50"`
	P90  capcli.Figure `json:"p90"`
	P95  capcli.Figure `json:"p95"`
	P99  capcli.Figure `json:"p99"`
}

// Level sums up a gauge.
type Level struct {
	Mean capcli.Figure `json:"mean"`
	Most capcli.Figure `json:"most"` // of a step's mean
}

// Usage is the traffic of servers.
type Usage struct {
	Schema string         `json:"schema"`
	Answer string         `json:"answer"`
	Source string         `json:"source"` // address or files
	Server string         `json:"server"` // kind of server
	From   capcli.Time    `json:"from"`
	To     capcli.Time    `json:"to"`
	StepS  capcli.Seconds `json:"step_s"`

	Requests capcli.Figure `json:"requests"` // that ended well
	Failed   capcli.Figure `json:"failed"`
	PerS     capcli.Figure `json:"requests_per_s"` // mean over the steps with data
	PeakPerS capcli.Figure `json:"peak_requests_per_s"`
	PeakAt   capcli.Time   `json:"peak_at"` // start of the step with most requests

	MeanIn      capcli.Figure `json:"tokens_in_mean"` // of a request, by the counters
	MeanOut     capcli.Figure `json:"tokens_out_mean"`
	CachedShare capcli.Figure `json:"cached_share"` // of the tokens in

	In    Quantiles `json:"tokens_in"` // by the histograms
	Out   Quantiles `json:"tokens_out"`
	TTFT  Quantiles `json:"ttft_s"`
	TPOT  Quantiles `json:"tpot_s"`
	E2E   Quantiles `json:"e2e_s"`
	Queue Quantiles `json:"queue_s"`

	Running  Level `json:"running"`
	Waiting  Level `json:"waiting"`
	CacheUse Level `json:"cache_use"`

	Missing []string `json:"missing"` // figures that the server does not tell, or that had no series
	Notes   []string `json:"notes"`
	Service string   `json:"service_requests"` // the field requests: of a service with this traffic; "" where too little is known
	Steps   []Step   `json:"steps"`
}

// Step is one step of the traffic. Unknown figures are null.
type Step struct {
	At       capcli.Time   `json:"at"` // its start
	PerS     capcli.Figure `json:"requests_per_s"`
	InPerS   capcli.Figure `json:"tokens_in_per_s"`
	OutPerS  capcli.Figure `json:"tokens_out_per_s"`
	Running  capcli.Figure `json:"running"`
	Waiting  capcli.Figure `json:"waiting"`
	CacheUse capcli.Figure `json:"cache_use"`
	TTFTP99  capcli.Figure `json:"ttft_p99_s"`
	TPOTP99  capcli.Figure `json:"tpot_p99_s"`
	E2EP99   capcli.Figure `json:"e2e_p99_s"`
}

const (
	maxUsageSteps = 200_000
	usualStep     = 5 * capcli.Minute
)

// Read reads the traffic of servers. It fails where no metric of requests is there.
func Read(ctx context.Context, q Request, s Sources) (*Usage, error) {
	metrics, err := Servers.Get(q.Server)
	if err != nil {
		return nil, err
	}
	src, g, err := open(&q, s)
	if err != nil {
		return nil, err
	}
	u := &usage{
		ctx: ctx, src: src, grid: *g, metrics: metrics,
		Usage: Usage{
			Schema: "capcli/service_usage/v1", Server: q.Server, From: g.from, To: g.from + capcli.Time(g.n)*capcli.Time(g.step), StepS: g.step, PeakAt: capcli.NoTime,
			Source: shownSource(&q), Missing: []string{}, Notes: []string{}, Steps: make([]Step, g.n),
		},
	}
	if err := u.read(); err != nil {
		return nil, err
	}
	if f, ok := src.(*saved); ok && len(f.resets) > 0 {
		n := int64(len(f.resets))
		u.Notes = append(u.Notes, fmt.Sprintf("%s %s began anew: what came between the last value before and the restart is not seen", capcli.Grouped(n), capcli.Plural(n, "counter")))
	}
	return &u.Usage, nil
}

func shownSource(q *Request) string {
	if q.Address != "" {
		_, shown := web.ParseAddress(q.Address)
		return shown
	}
	return strings.Join(q.Files, ", ")
}

func open(q *Request, s Sources) (source, *grid, error) {
	if q.Step < 0 {
		return nil, nil, &capcli.RequestError{Field: "step", Text: fmt.Sprintf("wants a length of time, found %s", q.Step)}
	}
	if q.Address == "" {
		if len(q.Files) == 0 {
			return nil, nil, &capcli.RequestError{Text: "no traffic is named", Hint: "name a Prometheus server, --prom http://localhost:9090, or saved answers"}
		}
		if q.Match != "" || q.From != "" || q.To != "" {
			return nil, nil, &capcli.RequestError{Field: "prom", Text: ": match, from and to are for a server, and this reads files"}
		}
		f, err := readSaved(q.Files, func(name string) (io.Reader, io.Closer, error) {
			in, done, err := s.Open(name)
			if err != nil {
				return nil, nil, err
			}
			r, err := trace.Unpack(in)
			return r, done, err
		}, q.Step)
		if err != nil {
			return nil, nil, err
		}
		return f, &f.grid, nil
	}
	address, shown := web.ParseAddress(q.Address)
	if address == nil {
		return nil, nil, &capcli.RequestError{Field: "prom", Text: "wants the address of a server, http://host:9090", Hint: "a token goes into a file: --prom token=FILE"}
	}
	g, err := q.steps(s.Now)
	if err != nil {
		return nil, nil, err
	}
	p := &server{grid: *g, match: q.Match, prom: &web.Prometheus{Address: address, Shown: shown, Transport: s.Web}}
	if q.Token != "" {
		in, done, err := s.Open(q.Token)
		if err != nil {
			return nil, nil, err
		}
		defer done.Close() //nolint:errcheck // it was only read
		if p.prom.Token, err = web.ReadToken(q.Token, in.R); err != nil {
			return nil, nil, err
		}
	}
	return p, g, nil
}

// steps returns the steps of a request to a server: whole ones from From on.
func (q *Request) steps(now capcli.Time) (*grid, error) {
	g := &grid{step: q.Step}
	g.step = cmp.Or(g.step, usualStep)
	if q.From == "" {
		return nil, &capcli.RequestError{Field: "from", Text: "is missing: when the traffic begins", Hint: "--prom from=2027-01-01, and to= where it ends before now"}
	}
	var err error
	if g.from, err = capcli.ParseTime(q.From, nil, false); err != nil {
		return nil, &capcli.RequestError{Field: "from", Text: err.Error()}
	}
	to := now
	if q.To != "" {
		if to, err = capcli.ParseTime(q.To, nil, false); err != nil {
			return nil, &capcli.RequestError{Field: "to", Text: err.Error()}
		}
	}
	g.n = int(int64(to-g.from) / int64(g.step))
	switch {
	case to <= g.from || g.n < 1:
		return nil, &capcli.RequestError{Field: "from", Text: fmt.Sprintf(": from %s to %s is not one whole step of %s", g.from, to, g.step)}
	case g.n > maxUsageSteps:
		return nil, &capcli.RequestError{Field: "step", Text: fmt.Sprintf(": from %s to %s is %s steps of %s, over %s", g.from, to, capcli.Grouped(int64(g.n)), g.step, capcli.Grouped(maxUsageSteps)), Hint: "take a longer step"}
	}
	return g, nil
}

// usage reads a Usage.
type usage struct {
	Usage
	ctx     context.Context //nolint:containedctx // it lives as long as one call of Read
	src     source
	grid    grid
	metrics []Metric
}

func (u *usage) read() error {
	requests, err := u.counter(Requests)
	if err != nil {
		return err
	}
	if requests == nil {
		m, _ := metricOf(u.metrics, Requests)
		e := &capcli.InputError{
			File: u.Source, Field: "metrics", Text: fmt.Sprintf("there is no series of %s from %s to %s", strings.Join(counterNames(m), " or "), u.From, u.To),
			Hint: "check the kind of server: " + strings.Join(Servers.Names(), ", ") + "; and the time and the conditions on labels", Err: series.ErrNoSeries,
		}
		return e
	}
	perS := func(v float64) capcli.Figure { return capcli.Figure(v / float64(u.StepS)) }
	gaps, known, peak := 0, 0, math.Inf(-1)
	for i, n := range requests {
		s := &u.Steps[i]
		s.At, s.PerS, s.InPerS, s.OutPerS = u.From+capcli.Time(i)*capcli.Time(u.StepS), perS(n), unknown, unknown
		s.Running, s.Waiting, s.CacheUse, s.TTFTP99, s.TPOTP99, s.E2EP99 = unknown, unknown, unknown, unknown, unknown, unknown
		if math.IsNaN(n) {
			gaps++
			continue
		}
		known++
		if n > peak {
			peak, u.PeakAt = n, s.At
		}
	}
	u.Requests, u.PeakPerS = capcli.Figure(sum(requests)), perS(peak)
	u.PerS = capcli.Figure(sum(requests) / float64(known) / float64(u.StepS))
	if gaps > 0 {
		u.Notes = append(u.Notes, fmt.Sprintf("%d of %d steps have no data: means are over the others, and a curve has straight lines there", gaps, len(requests)))
	}
	if sum(requests) == 0 {
		return &capcli.InputError{File: u.Source, Field: "metrics", Text: fmt.Sprintf("there was no request from %s to %s", u.From, u.To), Hint: "take another time, or other conditions on labels"}
	}
	for _, part := range []func() error{u.readTokens, u.readLevels, u.readTimes} {
		if err := part(); err != nil {
			return err
		}
	}
	u.Service = u.serviceRequests()
	u.Answer = u.answer()
	return nil
}

// answer says in one sentence what the traffic is.
func (u *Usage) answer() string {
	text := fmt.Sprintf("%s requests from %s to %s: %s a second, %s in the busiest %s (%.1f times the mean)",
		capcli.Grouped(int64(u.Requests+0.5)), u.From, u.To, capcli.BriefNumber(float64(u.PerS)), capcli.BriefNumber(float64(u.PeakPerS)), u.StepS, float64(u.PeakPerS/u.PerS))
	if u.MeanIn.IsKnown() && u.MeanOut.IsKnown() {
		text += fmt.Sprintf("; %s tokens in and %s out on average", capcli.Grouped(int64(u.MeanIn+0.5)), capcli.Grouped(int64(u.MeanOut+0.5)))
	}
	if u.TTFT.P99.IsKnown() {
		text += fmt.Sprintf("; p99 of the time to the first token %.0f ms", float64(u.TTFT.P99)*1000)
	}
	return text + "."
}

// Times returns the quantiles of the times that are known, by name.
func (u *Usage) Times() []NamedQuantiles {
	return named([]NamedQuantiles{{"time to first token", u.TTFT}, {"time per output token", u.TPOT}, {"end to end", u.E2E}, {"queue", u.Queue}})
}

// Lengths returns the quantiles of the lengths that are known, by name.
func (u *Usage) Lengths() []NamedQuantiles {
	return named([]NamedQuantiles{{"tokens in", u.In}, {"tokens out", u.Out}})
}

// NamedQuantiles are quantiles of something.
type NamedQuantiles struct {
	What string `json:"what"`
	Quantiles
}

// named returns those of list that have a figure.
func named(list []NamedQuantiles) []NamedQuantiles {
	return slices.DeleteFunc(list, func(q NamedQuantiles) bool { return !q.P50.IsKnown() && !q.Mean.IsKnown() })
}

// unknown is a figure that is not known.
var unknown = capcli.Figure(math.NaN())

// sum adds up the known values.
func sum(values []float64) float64 {
	s := 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			s += v
		}
	}
	return s
}

func counterNames(m Metric) []string {
	return capcli.Map(m.Names, func(name string) string { return counterName(m, name) })
}

// counter returns the increases of a figure by step; nil where there are none.
func (u *usage) counter(figure string) ([]float64, error) {
	m, ok := metricOf(u.metrics, figure)
	if !ok {
		u.Missing = append(u.Missing, figure)
		return nil, nil
	}
	for _, name := range counterNames(m) {
		values, err := u.src.increases(u.ctx, name, "")
		if err != nil {
			return nil, err
		}
		if values != nil {
			out := values[""]
			for i := range out {
				out[i] *= m.Unit
			}
			return out, nil
		}
	}
	u.Missing = append(u.Missing, figure)
	return nil, nil
}

func (u *usage) readTokens() error {
	all := map[string]float64{Requests: float64(u.Requests)}
	for _, f := range []struct {
		figure string
		to     func(s *Step) *capcli.Figure
	}{
		{Failed, nil},
		{Cached, nil},
		{Queried, nil},
		{TokensIn, func(s *Step) *capcli.Figure { return &s.InPerS }},
		{TokensOut, func(s *Step) *capcli.Figure { return &s.OutPerS }},
	} {
		values, err := u.counter(f.figure)
		if err != nil {
			return err
		}
		all[f.figure] = math.NaN()
		if values != nil {
			all[f.figure] = sum(values)
		}
		for i, v := range values {
			if f.to != nil {
				*f.to(&u.Steps[i]) = capcli.Figure(v / float64(u.StepS))
			}
		}
	}
	u.Failed = capcli.Figure(all[Failed])
	u.MeanIn, u.MeanOut = capcli.Figure(all[TokensIn]/all[Requests]), capcli.Figure(all[TokensOut]/all[Requests])
	u.CachedShare = capcli.Figure(all[Cached] / all[Queried])
	if math.IsNaN(all[Queried]) {
		u.CachedShare = capcli.Figure(all[Cached] / all[TokensIn])
	}
	return nil
}

func (u *usage) readLevels() error {
	for _, f := range []struct {
		figure string
		all    *Level
		to     func(s *Step) *capcli.Figure
	}{
		{Running, &u.Running, func(s *Step) *capcli.Figure { return &s.Running }},
		{Waiting, &u.Waiting, func(s *Step) *capcli.Figure { return &s.Waiting }},
		{CacheUse, &u.CacheUse, func(s *Step) *capcli.Figure { return &s.CacheUse }},
	} {
		*f.all = Level{unknown, unknown}
		m, ok := metricOf(u.metrics, f.figure)
		var values []float64
		for _, name := range m.Names {
			var err error
			if values, err = u.src.levels(u.ctx, name, f.figure == CacheUse); err != nil {
				return err
			}
			if values != nil {
				break
			}
		}
		if !ok || values == nil {
			u.Missing = append(u.Missing, f.figure)
			continue
		}
		n, most := 0, math.NaN()
		for i, v := range values {
			*f.to(&u.Steps[i]) = capcli.Figure(v)
			if !math.IsNaN(v) {
				n++
				most = math.Max(v, orElse(most, v))
			}
		}
		if n > 0 {
			*f.all = Level{capcli.Figure(sum(values) / float64(n)), capcli.Figure(most)}
		}
	}
	return nil
}

// orElse returns v, or other where v is not known.
func orElse(v, other float64) float64 {
	if math.IsNaN(v) {
		return other
	}
	return v
}

func (u *usage) readTimes() error {
	estimated := false
	for _, f := range []struct {
		figure string
		all    *Quantiles
		to     func(s *Step) *capcli.Figure
	}{
		{TTFT, &u.TTFT, func(s *Step) *capcli.Figure { return &s.TTFTP99 }},
		{TPOT, &u.TPOT, func(s *Step) *capcli.Figure { return &s.TPOTP99 }},
		{E2E, &u.E2E, func(s *Step) *capcli.Figure { return &s.E2EP99 }},
		{Queue, &u.Queue, nil},
		{InLength, &u.In, nil},
		{OutLength, &u.Out, nil},
	} {
		*f.all = Quantiles{unknown, unknown, unknown, unknown, unknown}
		m, ok := metricOf(u.metrics, f.figure)
		switch {
		case !ok:
			u.Missing = append(u.Missing, f.figure)
			continue
		case m.Kind == Total:
			total, err := u.counter(f.figure)
			if err != nil {
				return err
			}
			if total != nil {
				f.all.Mean = capcli.Figure(sum(total) / float64(u.Requests))
			}
			continue
		}
		all, steps, err := u.histogram(m)
		if err != nil {
			return err
		}
		if all == nil {
			u.Missing = append(u.Missing, f.figure)
			continue
		}
		estimated = true
		*f.all = Quantiles{capcli.Figure(all.Sum / all.Total()), capcli.Figure(all.Quantile(0.5)), capcli.Figure(all.Quantile(0.9)), capcli.Figure(all.Quantile(0.95)), capcli.Figure(all.Quantile(0.99))}
		if all.isBeyond(0.99) {
			u.Notes = append(u.Notes, fmt.Sprintf("%s: over 1 %% lies beyond the last bucket, so the 99th percentile is more than it says", f.figure))
		}
		for i := range steps {
			if f.to != nil {
				*f.to(&u.Steps[i]) = capcli.Figure(steps[i].Quantile(0.99))
			}
		}
	}
	if estimated {
		u.Notes = append(u.Notes, "quantiles are estimates from the buckets of histograms, even within a bucket, as histogram_quantile makes them")
	}
	return nil
}

// histogram returns the buckets of all steps together, and of each.
func (u *usage) histogram(m Metric) (*Buckets, []Buckets, error) {
	for _, name := range m.Names {
		counts, err := u.src.increases(u.ctx, name+"_bucket", "le")
		if err != nil {
			return nil, nil, err
		}
		if counts == nil {
			continue
		}
		all := &Buckets{}
		steps := make([]Buckets, u.grid.n)
		total := map[string]float64{}
		for le, values := range counts {
			total[le] = sum(values)
		}
		*all = bucketsOf(total, m.Unit)
		for i := range steps {
			one := map[string]float64{}
			for le, values := range counts {
				one[le] = values[i]
			}
			steps[i] = bucketsOf(one, m.Unit)
		}
		sums, err := u.src.increases(u.ctx, name+"_sum", "")
		if err != nil {
			return nil, nil, err
		}
		if sums != nil {
			all.Sum = sum(sums[""]) * m.Unit
		}
		return all, steps, nil
	}
	return nil, nil, nil
}

// serviceRequests returns the field requests: of a service with this traffic. The curve is that of
// WriteCurve in curve.csv.
func (u *usage) serviceRequests() string {
	length := func(q Quantiles, mean capcli.Figure) string {
		switch {
		case q.P50.IsKnown() && q.P95.IsKnown() && q.P50 >= 1 && q.P95 > q.P50:
			return fmt.Sprintf("{median: %.0f, p95: %.0f}", float64(q.P50), float64(q.P95))
		case mean.IsKnown() && mean >= 1:
			return fmt.Sprintf("{mean: %.0f}", float64(mean))
		}
		return ""
	}
	in, out := length(u.In, u.MeanIn), length(u.Out, u.MeanOut)
	if in == "" || out == "" {
		return ""
	}
	text := "requests: {curve: curve.csv, repeat: true, tokens_in: " + in + ", tokens_out: " + out
	if u.CachedShare > 0 && u.CachedShare <= 1 {
		text += fmt.Sprintf(", cached: %.0f%%", float64(u.CachedShare)*100)
	}
	return text + "}"
}

// WriteCurve writes the rates of requests and tokens by step, which requests: {curve: FILE} reads. Steps
// without data get straight lines between their neighbours.
func (u *Usage) WriteCurve(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"time", "requests_per_second"})
	rates := make([]float64, len(u.Steps))
	for i := range u.Steps {
		rates[i] = float64(u.Steps[i].PerS)
	}
	first := slices.IndexFunc(rates, func(v float64) bool { return !math.IsNaN(v) })
	if first < 0 {
		return errors.New("no step has data")
	}
	last := len(rates) - 1
	for math.IsNaN(rates[last]) {
		last--
	}
	series.Interpolate(rates)
	for i := first; i <= last; i++ {
		_ = c.Write([]string{u.Steps[i].At.String(), strconv.FormatFloat(rates[i], 'g', -1, 64)})
	}
	c.Flush()
	return c.Error()
}
