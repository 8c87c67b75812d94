package requests

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"capcli"
	"capcli/profile/logs/trace"
)

// Description says what is in a trace of requests.
type Description struct {
	Schema string `json:"schema"`
	Answer string `json:"answer"`
	Input  string `json:"input"`
	Read   Report `json:"read"`
	Summary
}

// answer says in one sentence what the trace is.
func (d *Description) answer() string {
	text := fmt.Sprintf("%s requests in %s: %s a second", capcli.Grouped(d.Requests), capcli.Seconds(d.SpanS+0.5), capcli.BriefNumber(d.PerS))
	if len(d.Busiest) > 0 {
		b := d.Busiest[0]
		text += fmt.Sprintf(", %s in the busiest %s (%.1f times the mean)", capcli.BriefNumber(b.PerS), b.Window, b.OverMean)
	}
	text += fmt.Sprintf("; %s tokens in and %s out on average", capcli.Grouped(int64(d.In.Mean+0.5)), capcli.Grouped(int64(d.Out.Mean+0.5)))
	if d.CachedShare > 0 {
		text += fmt.Sprintf(", %.0f %% of those in cached", d.CachedShare*100)
	}
	return text + "."
}

// Summary sums up requests.
type Summary struct {
	Requests int64       `json:"requests"`
	First    capcli.Time `json:"first"` // arrivals, to the second; null where the times are no dates
	Last     capcli.Time `json:"last"`
	SpanS    float64     `json:"span_s"`
	PerS     float64     `json:"requests_per_s"` // mean over the span

	// Busiest are the busiest hour, minute and second: those of the clock for a trace with dates, else
	// those since its time 0. A window that is longer than half of the span is left out.
	Busiest []Busiest `json:"busiest"`

	// GapCV is the coefficient of variation of the gaps between requests, 1 for a Poisson process. GapCVMinute
	// is that of the gaps within minutes, weighted by them: without what the rate does over the day.
	GapCV       capcli.Figure `json:"gap_cv"`
	GapCVMinute capcli.Figure `json:"gap_cv_within_minutes"`

	In          Quantiles `json:"tokens_in"`
	Out         Quantiles `json:"tokens_out"`
	TotalIn     int64     `json:"tokens_in_total"`
	TotalOut    int64     `json:"tokens_out_total"`
	TotalCached int64     `json:"tokens_cached_total"`
	CachedShare float64   `json:"cached_share"` // of the tokens in

	Users    int64   `json:"users"`          // 0 where they are not known
	TopUsers float64 `json:"top_user_share"` // share of the requests that the tenth of the users with most requests make

	Models []ModelShare `json:"models"` // most requests first; none where they are not known
	Hours  []HourShare  `json:"hours"`  // by hour of the day; none where the times are no dates
	Zone   string       `json:"zone"`
}

// Busiest is the busiest window of a length.
type Busiest struct {
	Window   string      `json:"window"` // hour, minute or second
	PerS     float64     `json:"requests_per_s"`
	OverMean float64     `json:"over_mean"`
	At       capcli.Time `json:"at"` // its start
}

// Quantiles are exact quantiles, by nearest rank.
type Quantiles struct {
	Mean float64 `json:"mean"`
	P50  int64   `json:"p50"`
	P90  int64   `json:"p90"`
	P95  int64   `json:"p95"`
	P99  int64   `json:"p99"`
	Max  int64   `json:"max"`
}

// ModelShare is the requests to one model.
type ModelShare struct {
	Model    string  `json:"model"` // "" where a request does not name one
	Requests int64   `json:"requests"`
	Share    float64 `json:"share"`
	TokensIn int64   `json:"tokens_in"`
	Out      int64   `json:"tokens_out"`
}

// HourShare is the requests of one hour of the day, over all days.
type HourShare struct {
	Hour     int     `json:"hour"`
	Requests int64   `json:"requests"`
	Share    float64 `json:"share"`
}

// Describe sums up the requests that r reads. Hours are in zone; nil is UTC. Memory grows with the minutes,
// users and different lengths, not with the requests.
func Describe(ctx context.Context, r *Reader, zone *time.Location) (*Description, error) {
	zone = cmp.Or(zone, time.UTC)
	d := describer{zone: zone, in: map[int64]int64{}, out: map[int64]int64{}, minutes: map[int64]int64{}, users: map[int32]int64{}, models: map[int32]*ModelShare{}, lo: math.MaxInt64, hi: math.MinInt64}
	err := r.EachRow(ctx, func(row *Row) error {
		d.add(row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := &Description{Schema: "capcli/service_describe/v1", Input: r.in.Name, Read: r.Report(), Summary: d.summary(r)}
	out.Answer = out.answer()
	if out.Read.Unordered > 0 {
		out.Read.Notes = append(out.Read.Notes, "requests are not in order of arrival: the variation of gaps and the busiest second are not known")
		out.GapCV, out.GapCVMinute = capcli.Figure(math.NaN()), capcli.Figure(math.NaN())
		out.Busiest = slices.DeleteFunc(out.Busiest, func(b Busiest) bool { return b.Window == "second" })
	}
	return out, nil
}

// describer adds up a Summary.
type describer struct {
	zone            *time.Location
	n               int64
	lo, hi, last    int64
	totals          [3]int64
	in, out         map[int64]int64 // requests by tokens
	minutes         map[int64]int64 // requests by minute
	hours           [24]int64
	users           map[int32]int64
	models          map[int32]*ModelShare
	second          window
	gaps, inMinutes moments
	minute          moments // gaps of the present minute
}

// window counts the requests of the present window of a length, and remembers the busiest.
type window struct {
	present, n   int64
	busiest, top int64
}

func (w *window) add(at int64) {
	if at != w.present {
		w.present, w.n = at, 0
	}
	if w.n++; w.n > w.top {
		w.busiest, w.top = at, w.n
	}
}

// moments add up numbers and their squares.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(v float64) { m.n, m.sum, m.squares = m.n+1, m.sum+v, m.squares+v*v }

// variation returns the coefficient of variation; NaN for fewer than two numbers.
func (m *moments) variation() float64 {
	if m.n < 2 || m.sum == 0 {
		return math.NaN()
	}
	mean := m.sum / m.n
	return math.Sqrt(max(0, m.squares/m.n-mean*mean)) / mean
}

func (d *describer) add(r *Row) {
	at := floorDiv(r.Arrival, 60*Second)
	if d.n > 0 {
		gap := float64(r.Arrival-d.last) / float64(Second)
		d.gaps.add(gap)
		if floorDiv(d.last, 60*Second) == at {
			d.minute.add(gap)
		} else {
			d.endMinute()
		}
	}
	d.n++
	d.last = r.Arrival
	d.lo, d.hi = min(d.lo, r.Arrival), max(d.hi, r.Arrival)
	d.in[r.In]++
	d.out[r.Out]++
	d.minutes[at]++
	d.totals[0], d.totals[1], d.totals[2] = d.totals[0]+r.In, d.totals[1]+r.Out, d.totals[2]+r.Cached
	d.second.add(floorDiv(r.Arrival, Second))
	if r.User != 0 {
		d.users[r.User]++
	}
	m := d.models[r.Model]
	if m == nil {
		m = &ModelShare{}
		d.models[r.Model] = m
	}
	m.Requests, m.TokensIn, m.Out = m.Requests+1, m.TokensIn+r.In, m.Out+r.Out
}

// endMinute adds the gaps of a minute, each over their mean: a rate that differs between minutes then does
// not count. A minute with fewer than ten gaps says too little.
func (d *describer) endMinute() {
	if d.minute.n >= 10 && d.minute.sum > 0 {
		mean := d.minute.sum / d.minute.n
		d.inMinutes.n += d.minute.n
		d.inMinutes.sum += d.minute.n
		d.inMinutes.squares += d.minute.squares / (mean * mean)
	}
	d.minute = moments{}
}

func (d *describer) summary(r *Reader) Summary {
	d.endMinute()
	s := Summary{
		Requests: d.n, First: capcli.NoTime, Last: capcli.NoTime, SpanS: float64(d.hi-d.lo) / float64(Second),
		GapCV: capcli.Figure(d.gaps.variation()), GapCVMinute: capcli.Figure(d.inMinutes.variation()),
		In: quantiles(d.in, d.n), Out: quantiles(d.out, d.n), TotalIn: d.totals[0], TotalOut: d.totals[1], TotalCached: d.totals[2],
		Users: int64(len(d.users)), TopUsers: d.topUsers(), Models: d.modelShares(r.Models()), Hours: []HourShare{}, Zone: d.zone.String(), Busiest: []Busiest{},
	}
	s.CachedShare = float64(d.totals[2]) / float64(d.totals[0])
	if s.SpanS > 0 {
		s.PerS = float64(d.n) / s.SpanS
		s.Busiest = d.busiest(s.SpanS, s.PerS, r.Dated())
	}
	if !r.Dated() {
		return s
	}
	s.First, s.Last = capcli.Time(floorDiv(d.lo, Second)), capcli.Time(floorDiv(d.hi, Second))
	for m, n := range d.minutes {
		d.hours[time.Unix(m*60, 0).In(d.zone).Hour()] += n
	}
	for h, n := range d.hours {
		s.Hours = append(s.Hours, HourShare{h, n, float64(n) / float64(d.n)})
	}
	return s
}

// busiest returns the busiest windows that are at most half as long as the span.
func (d *describer) busiest(span, mean float64, dated bool) []Busiest {
	out := []Busiest{}
	at := func(t int64) capcli.Time {
		if !dated {
			return capcli.NoTime
		}
		return capcli.Time(t)
	}
	add := func(name string, length, begin, n int64) {
		if float64(2*length) <= span {
			perS := float64(n) / float64(length)
			out = append(out, Busiest{name, perS, perS / mean, at(begin)})
		}
	}
	hours := map[int64]int64{}
	for m, n := range d.minutes {
		hours[floorDiv(m, 60)] += n
	}
	begin, n := largestOf(hours)
	add("hour", 3600, begin*3600, n)
	begin, n = largestOf(d.minutes)
	add("minute", 60, begin*60, n)
	add("second", 1, d.second.busiest, d.second.top)
	return out
}

// largestOf returns the key with the largest count, the first of equals.
func largestOf(counts map[int64]int64) (key, n int64) {
	key = math.MaxInt64
	for k, v := range counts {
		if v > n || v == n && k < key {
			key, n = k, v
		}
	}
	return key, n
}

// quantiles returns the quantiles of values by how often they occur, n in all.
func quantiles(counts map[int64]int64, n int64) Quantiles {
	values := slices.Sorted(maps.Keys(counts))
	sum := 0.0
	for _, v := range values {
		sum += float64(v) * float64(counts[v])
	}
	at := func(percent int64) int64 {
		left := (percent*n + 99) / 100
		for _, v := range values {
			if left -= counts[v]; left <= 0 {
				return v
			}
		}
		return values[len(values)-1]
	}
	return Quantiles{sum / float64(n), at(50), at(90), at(95), at(99), at(100)}
}

// topUsers returns the share of the requests that come from the tenth of the users with most of them.
func (d *describer) topUsers() float64 {
	if len(d.users) == 0 {
		return 0
	}
	counts := slices.Sorted(maps.Values(d.users))
	slices.Reverse(counts)
	sum, top := int64(0), int64(0)
	for i, n := range counts {
		if sum += n; i < (len(counts)+9)/10 {
			top += n
		}
	}
	return float64(top) / float64(sum)
}

func (d *describer) modelShares(names []string) []ModelShare {
	out := []ModelShare{}
	if len(d.models) == 1 && d.models[0] != nil {
		return out
	}
	for i, m := range d.models {
		m.Model, m.Share = names[i], float64(m.Requests)/float64(d.n)
		out = append(out, *m)
	}
	slices.SortFunc(out, func(a, b ModelShare) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Model, b.Model))
	})
	return out
}

// NamedQuantiles are quantiles of something.
type NamedQuantiles struct {
	What string `json:"what"`
	Quantiles
}

// Lengths returns the quantiles of tokens, by name.
func (s *Summary) Lengths() []NamedQuantiles {
	return []NamedQuantiles{{"in", s.In}, {"out", s.Out}}
}

// DescribeFile opens a file and describes it, with hours in the zone of o.
func DescribeFile(ctx context.Context, open trace.Opener, name string, o Options) (d *Description, err error) {
	err = withReader(open, name, o, func(r *Reader) error {
		d, err = Describe(ctx, r, o.TZ)
		return err
	})
	return d, err
}

func withReader(open trace.Opener, name string, o Options, do func(r *Reader) error) error {
	in, done, err := open(name)
	if err != nil {
		return err
	}
	defer done.Close() //nolint:errcheck // it was only read
	r, err := Open(in, o)
	if err != nil {
		return err
	}
	return do(r)
}
