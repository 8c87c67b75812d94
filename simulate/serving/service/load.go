package service

import (
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/profile/logs/requests"
	"capcli/scenarios/strict"
	"capcli/simulate/serving/traffic"
)

// Load says which requests come: those of a trace, or of a curve with a distribution of lengths.
type Load struct {
	From     string    // file of requests, relative to the scenario; "" is none
	Format   string    // of From; "" is found out
	Requests *Requests // nil is none
}

// Requests are the fields of requests:.
type Requests struct {
	From   string // trace of requests
	Read   requests.Options
	Only   string  // model of the trace
	Speed  float64 // of the trace's time
	Spread capcli.Seconds
	Curve  string // file of rates
	Within string // what a value of Curve counts: "per_second" or "per_step"; "" tells it from its column

	Scale  float64
	Repeat capcli.Seconds // 0 is once; traffic.RepeatOwn is after the length of the file
	Start  Begin

	Demand          traffic.Demand
	InFrom, OutFrom string  // traces whose lengths are drawn
	Cached          float64 // share of each prompt; below 0 is as the trace has it

	fields *strict.Object // as they were read; nil for the name of a file
}

// Begin says when the first request of a file comes.
type Begin struct {
	Own   bool           // at its own date
	At    capcli.Time    // at a date; NoTime is none
	After capcli.Seconds // or so long after the start of the run
}

func (s *Spec) loadFields() []strict.Field {
	return []strict.Field{
		{"requests", "which requests come: a file of a trace, {from: FILE, …} or a curve {rate: 1000/s, tokens_in: 512, tokens_out: 200, …}", s.readRequests},
	}
}

// readRequests reads requests: the name of a file, or its fields.
func (s *Spec) readRequests(d *strict.Decoder, n *yaml.Node) {
	q := newRequests()
	if n.Kind == yaml.ScalarNode {
		strict.Text(&q.From, maxFile)(d, n)
	} else {
		requestsSection.Read(d, n, q)
	}
	s.Requests, s.From, s.Format = q, q.From, q.Read.Format
}

// maxFile is the longest name of a file.
const maxFile = 4096

func newRequests() *Requests {
	return &Requests{Start: Begin{At: capcli.NoTime}, Cached: -1, Demand: traffic.Demand{Curve: traffic.Curve{Start: capcli.NoTime}}}
}

var requestsSection = strict.Section[Requests]{Name: "requests", Fields: requestsFields, Check: checkRequests}

func requestsFields(q *Requests) []strict.Field {
	c := &q.Demand.Curve
	return append([]strict.Field{
		{"from", "file of a trace of requests, relative to this file", strict.Text(&q.From, maxFile)},
		{"format", "its format; default: found out: " + strings.Join(requests.Formats.Names(), ", "), strict.Choice(&q.Read.Format, "format", requests.Formats.Names()...)},
		{"times", "what its times count where they are numbers: s, ms, us or ns", readUnit(&q.Read.Unit)},
		{"only_model", "only its requests to this model", strict.Name(&q.Only)},
		{"speed", "its time runs so many times as fast", strict.Number(&q.Speed, 1e-6, 1e6)},
		{"spread", "each request comes later by a random part of this: 1s for a trace in whole seconds", strict.Duration(&q.Spread, 1)},

		{"rate", "requests a second, mean over whole weeks: 1000/s, 60/min, 5M/day", readRate(&c.Rate)},
		{"peak_rate", "or the highest rate of a weekday", readRate(&c.Rate)},
		{"day_swing", "highest rate of a day over the lowest", strict.Number(&c.DaySwing, 1, 1e6)},
		{"peak", "when the rate is at its highest: 16:00-18:00", q.readPeak},
		{"peak_hour", "or the hour of the highest rate, 0 to 24", q.readPeakHour},
		{"weekend", "Saturday and Sunday against a weekday: 0.5", strict.Number(&c.Weekend, 0, 1000)},
		{"growth", "compound growth of the rate: 2%/month, 30%/year", readGrowth(&c.Growth)},
		{"curve", "file of rates by time, such as capcli forecast writes", strict.Text(&q.Curve, maxFile)},
		{"curve_values", "what its values count: per_second or per_step; default: per_second, or per_step in a column requests, count or load", strict.Choice(&q.Within, "unit", "per_second", "per_step")},

		{"tz", "zone of the hours, and of times of files that state none: Europe/Berlin", ReadZone(&c.Zone)},
		{"scale", "so many times as many requests as the file has", strict.Number(&q.Scale, 1e-6, 1e6)},
		{"repeat", "true begins the file anew at its end; or after how long: 24h", readRepeat(&q.Repeat)},
		{"start", "when its first request comes: own (its own dates), a date, or how long after the start of the run; default: at the start", readBegin(&q.Start)},
	}, lengthFields(q)...)
}

func lengthFields(q *Requests) []strict.Field {
	t := &q.Demand.Tokens
	return []strict.Field{
		{"tokens_in", "tokens of a prompt: 512, {median: 512, p95: 2048}, {mean: 500} or {from: FILE}", readLength(&t.In, &q.InFrom)},
		{"tokens_out", "tokens of an answer, alike; from one trace the two are drawn together", readLength(&t.Out, &q.OutFrom)},
		{"cached", "share of each prompt that a prefix cache supplies: 30%; false is none; default: as the trace has it", q.readCached},
		{"arrivals", "gaps between requests: poisson, gamma or even", strict.Choice(&q.Demand.Arrivals, "law of arrivals", string(traffic.Poisson), string(traffic.Gamma), string(traffic.Even))},
		{"cv", "gamma: coefficient of variation of the gaps; 1 is poisson, more is burstier", strict.Number(&q.Demand.CV, 0.01, 50)},
		{"users", "so many users, for figures by user", strict.Integer(&q.Demand.Users, 0, 1_000_000_000)},
		{"prefixes", "prompts begin with one of so many prefixes, for routers that look at them", strict.Integer(&t.Prefixes, 0, 1_000_000_000)},
	}
}

// The fields that only some kinds of requests have.
var (
	ofTrace  = []string{"format", "times", "only_model", "speed", "spread"}
	ofFile   = []string{"scale", "repeat", "start"}
	ofRhythm = []string{"day_swing", "peak", "peak_hour", "weekend", "growth"}
	ofCurve  = []string{"arrivals", "cv", "users", "prefixes", "tokens_in", "tokens_out"}
)

// checkRequests checks fields together.
func checkRequests(o *strict.Object, q *Requests) {
	q.fields = o
	var given []string
	for _, name := range []string{"from", "rate", "peak_rate", "curve"} {
		if o.Has(name) {
			given = append(given, name)
		}
	}
	switch {
	case len(given) == 0:
		o.FaultMissing("rate", "give from, a trace of requests, or a curve: rate, peak_rate or curve")
		return
	case len(given) > 1:
		o.FaultName(given[1], "%s and %s both say how many requests come; leave one out", given[0], given[1])
		return
	}
	q.Demand.Curve.AtPeak = o.Has("peak_rate")
	kind := given[0]
	if kind != "from" {
		o.FaultEach(ofTrace, "%s is of a trace; these requests have a %s", kind)
	} else {
		o.FaultEach(ofCurve, "%s is of requests with a rate or a curve; these are those of a trace")
	}
	if kind == "from" || kind == "curve" {
		o.FaultEach(ofRhythm, "%s is of requests with a rate; these have a file")
	} else {
		o.FaultEach(ofFile, "%s is of a file; these requests have a rate")
	}
	if kind != "curve" {
		o.FaultEach([]string{"curve_values"}, "%s goes with curve")
	}
	checkShape(o, q)
}

// checkShape checks the rhythm and the law of arrivals.
func checkShape(o *strict.Object, q *Requests) {
	if o.Has("peak") && o.Has("peak_hour") {
		o.FaultName("peak_hour", "peak and peak_hour both say when the rate is highest; leave one out")
	}
	if (o.Has("peak") || o.Has("peak_hour")) && !o.Has("day_swing") {
		o.FaultMissing("day_swing", "a peak needs day_swing: how many times the lowest rate of a day the highest is")
	}
	if gamma := q.Demand.Arrivals == traffic.Gamma; gamma != o.Has("cv") && o.IsClean("arrivals", "cv") {
		if gamma {
			o.FaultMissing("cv", "gamma arrivals need cv, the coefficient of variation of the gaps")
		} else {
			o.FaultName("cv", "cv goes with arrivals: gamma")
		}
	}
}

// checkLoad checks that requests have lengths where the service counts tokens.
func (s *Spec) checkLoad(*strict.Object) {
	q := s.Requests
	switch {
	case q == nil || q.fields == nil:
	case s.HasBatchTime():
		q.fields.FaultEach([]string{"tokens_in", "tokens_out", "cached", "prefixes"}, "%s: requests of a service with batch_time have no tokens; leave it out")
		q.Demand.Tokens.In.Fixed, q.Demand.Tokens.Out.Fixed = 1, 1
	case !q.fields.Has("from"):
		q.fields.Require("tokens_in", "tokens_out")
	}
}

// readRate reads a rate, in requests a second.
func readRate(dst *float64) strict.Reader {
	const form = "a rate such as 1000/s, 60/min, 2M/h or 5M/day"
	return strict.Value(dst, form, form, func(text string) (float64, bool) {
		number, unit, found := strings.Cut(strings.ReplaceAll(text, " ", ""), "/")
		per := map[string]float64{"s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hour": 3600, "d": 86400, "day": 86400}[unit]
		if !found {
			per = 1
		}
		number, times := capcli.CutMagnitude(number)
		v, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
		v = v * float64(times) / per
		return v, err == nil && per > 0 && v > 0 && v <= 1e9
	})
}

func readGrowth(dst *float64) strict.Reader {
	const form = "a growth such as 2%/month or 30%/year"
	return strict.Value(dst, form, form, func(text string) (float64, bool) {
		number, unit, _ := strings.Cut(strings.ReplaceAll(text, " ", ""), "/")
		number, percent := strings.CutSuffix(number, "%")
		v, err := strconv.ParseFloat(number, 64)
		months, known := map[string]int{"month": 1, "mo": 1, "quarter": 3, "year": 12, "y": 12}[unit]
		v, ok := traffic.MonthlyGrowth(v/100, months)
		return v, err == nil && percent && known && ok
	})
}

// readPeak reads 16:00-18:00.
func (q *Requests) readPeak(d *strict.Decoder, n *yaml.Node) {
	const form = "hours of the day such as 16:00-18:00"
	var hours [2]float64
	strict.Value(&hours, form, form, func(text string) (out [2]float64, ok bool) {
		from, to, ok := strings.Cut(strings.ReplaceAll(text, " ", ""), "-")
		for i, clock := range []string{from, to} {
			h, fine := hourOf(clock)
			out[i], ok = h, ok && fine
		}
		return out, ok && out[0] != out[1]
	})(d, n)
	q.Demand.Curve.PeakFrom, q.Demand.Curve.PeakTo = hours[0], hours[1]
}

// hourOf returns the hour of a time of day: 16:30, 16 or 24:00.
func hourOf(text string) (float64, bool) {
	if text == "24:00" || text == "24" {
		return 24, true
	}
	for _, layout := range []string{"15:04", "15"} {
		if t, err := time.Parse(layout, text); err == nil {
			return float64(t.Hour()) + float64(t.Minute())/60, true
		}
	}
	return 0, false
}

func (q *Requests) readPeakHour(d *strict.Decoder, n *yaml.Node) {
	c := &q.Demand.Curve
	strict.Number(&c.PeakFrom, 0, 24)(d, n)
	c.PeakTo = c.PeakFrom
}

// readRepeat reads true, false or a length of time.
func readRepeat(dst *capcli.Seconds) strict.Reader {
	const form = "true, false or a length of time such as 24h"
	return strict.Value(dst, form, form, func(text string) (capcli.Seconds, bool) {
		switch text {
		case "true":
			return traffic.RepeatOwn, true
		case "false":
			return 0, true
		}
		v, err := capcli.ParseSeconds(text)
		return v, err == nil && v > 0 && v <= strict.Longest
	})
}

// readBegin reads own, a date or a length of time.
func readBegin(dst *Begin) strict.Reader {
	const form = "own, a date such as 2027-01-31T08:00, or a length of time such as 6h"
	return strict.Value(dst, form, form, func(text string) (Begin, bool) {
		if text == "own" {
			return Begin{Own: true, At: capcli.NoTime}, true
		}
		if v, err := capcli.ParseSeconds(text); err == nil {
			return Begin{At: capcli.NoTime, After: v}, v >= 0 && v <= strict.Longest
		}
		at, err := capcli.ParseTime(text, nil, false)
		return Begin{At: at}, err == nil
	})
}

// readUnit reads the unit of times that are numbers.
func readUnit(dst *int64) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		var name string
		strict.Choice(&name, "unit", "s", "ms", "us", "ns")(d, n)
		*dst = map[string]int64{"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[name]
	}
}

// readCached reads a share, true or false.
func (q *Requests) readCached(d *strict.Decoder, n *yaml.Node) {
	const form = "a share of each prompt such as 30% or 0.3, or true or false"
	strict.Value(&q.Cached, form, form, func(text string) (float64, bool) {
		switch text {
		case "true":
			return -1, true
		case "false":
			return 0, true
		}
		number, percent := strings.CutSuffix(text, "%")
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if percent {
			v /= 100
		}
		return v, err == nil && v >= 0 && v <= 1
	})(d, n)
}

// readLength reads a number of tokens, or the fields of a distribution.
func readLength(dst *traffic.Length, file *string) strict.Reader {
	const most = 1 << 30
	return func(d *strict.Decoder, n *yaml.Node) {
		if n.Kind == yaml.ScalarNode {
			strict.Integer(&dst.Fixed, 1, most)(d, n)
			return
		}
		quantiles := [3]float64{}
		o := d.ReadObject(n, "tokens", []strict.Field{
			{"fixed", "all alike", strict.Integer(&dst.Fixed, 1, most)},
			{"median", "median of a log-normal law", strict.Number(&dst.Median, 1, most)},
			{"p90", "its 90th percentile", strict.Number(&quantiles[0], 1, most)},
			{"p95", "or its 95th", strict.Number(&quantiles[1], 1, most)},
			{"p99", "or its 99th", strict.Number(&quantiles[2], 1, most)},
			{"mean", "or its mean; without a median the law is exponential", strict.Number(&dst.Mean, 1, most)},
			{"min", "none shorter", strict.Integer(&dst.Min, 1, most)},
			{"max", "none longer", strict.Integer(&dst.Max, 1, most)},
			{"from", "lengths of a trace of requests, or a file with the columns tokens_in and tokens_out", strict.Text(file, maxFile)},
		})
		if o == nil || d.IsDescribing(n) {
			return
		}
		for i, at := range []float64{0.9, 0.95, 0.99} {
			if quantiles[i] > 0 {
				dst.Quantile, dst.At = at, quantiles[i]
			}
		}
		checkLength(o, dst, *file)
	}
}

// checkLength checks the fields of a distribution together.
func checkLength(o *strict.Object, l *traffic.Length, file string) {
	laws := 0
	for _, name := range []string{"fixed", "median", "from"} {
		if o.Has(name) {
			laws++
		}
	}
	more := 0
	for _, name := range []string{"p90", "p95", "p99", "mean"} {
		if o.Has(name) {
			more++
		}
	}
	switch {
	case laws == 0 && more != 1 || laws == 0 && !o.Has("mean"):
		o.FaultMissing("median", "give fixed, median with p95, mean alone, or from")
		return
	case laws > 1 || more > 1 || more == 1 && (o.Has("fixed") || o.Has("from")):
		o.FaultMissing("median", "give one law: fixed, median with one of p90, p95, p99 and mean, mean alone, or from")
		return
	}
	if file != "" {
		o.FaultEach([]string{"min", "max"}, "%s is of a law; these lengths are those of a file")
		return
	}
	if err := l.Check("tokens"); err != nil {
		o.Fault("median", "%s", strings.TrimPrefix(err.Error(), "tokens "))
	}
}
