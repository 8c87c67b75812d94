package sizing

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/simulate/serving"
)

// whole is a share of 1, in millionths.
const whole = 1_000_000

// quantity is what a promise limits.
type quantity uint8

// The quantities of promises. The first three are times of each request.
const (
	ttft quantity = iota
	tpot
	e2e
	sloShare      // requests within the SLO of the service
	rejectedShare // requests that were rejected
	replicaCount
	gpuCount
)

// Promise is a limit that a size of the service must keep.
type Promise struct {
	Metric string  `json:"metric"`
	Op     string  `json:"op"` // <= or >=
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`  // s, share or count
	Text   string  `json:"limit"` // for people

	of    quantity
	ppm   int64 // share of the requests that must be within limit; 0 is the mean of all
	limit int64 // microseconds, millionths, or a count
}

// promiseNames are examples of what can be promised, for messages.
const promiseNames = "ttft_p99, tpot_p99, e2e_p95 (any percentile, mean or max), slo_share, rejected_share, gpus, replicas"

// ParsePromises parses limits such as "ttft_p99=200ms" from above and "slo_share=99%" from below. The
// error is a *capcli.RequestError.
func ParsePromises(most, least []string) ([]Promise, error) {
	var out []Promise
	for _, side := range []struct {
		field, op string
		list      []string
	}{{"max", "<=", most}, {"min", ">=", least}} {
		for _, text := range side.list {
			p, err := parsePromise(side.op, text)
			if err != nil {
				return nil, &capcli.RequestError{Field: side.field, Text: ": " + err.Error(), Hint: "--max ttft_p99=200ms --max tpot_p99=50ms --min slo_share=99%"}
			}
			if slices.ContainsFunc(out, func(q Promise) bool { return q.Metric == p.Metric && q.Op == p.Op }) {
				return nil, &capcli.RequestError{Field: side.field, Text: fmt.Sprintf(": %s has two limits", p.Metric)}
			}
			out = append(out, p)
		}
	}
	return out, nil
}

func parsePromise(op, text string) (Promise, error) {
	name, value, ok := strings.Cut(text, "=")
	name, value = strings.TrimRight(strings.TrimSpace(name), "<> "), strings.TrimSpace(value)
	if !ok {
		return Promise{}, fmt.Errorf("%s: want METRIC=VALUE", capcli.Quoted(text))
	}
	p := Promise{Metric: strings.TrimSuffix(name, "_s"), Op: op, Text: strings.TrimSuffix(name, "_s") + " " + op + " " + value}
	var err error
	if p.of, p.ppm, err = parseMetric(p.Metric); err != nil {
		return p, err
	}
	if (p.of == sloShare) != (op == ">=") {
		return p, fmt.Errorf("%s is limited from the other side: %s", name, map[bool]string{true: "--min", false: "--max"}[p.of == sloShare])
	}
	p.Unit = p.of.unit()
	p.limit, p.Value, err = p.parseLimit(name, value)
	return p, err
}

// unit returns the unit of a quantity as documents name it.
func (q quantity) unit() string {
	switch q {
	case sloShare, rejectedShare:
		return "share"
	case replicaCount, gpuCount:
		return "count"
	case ttft, tpot, e2e:
	}
	return "s"
}

// parseMetric parses the name of a metric, and the share of the requests that a percentile covers.
func parseMetric(name string) (quantity, int64, error) {
	for i, word := range []string{"slo_share", "rejected_share", "replicas", "gpus"} {
		if name == word {
			return sloShare + quantity(i), 0, nil
		}
	}
	kind, part, _ := strings.Cut(name, "_")
	i := slices.Index([]string{"ttft", "tpot", "e2e"}, kind)
	if i < 0 {
		return 0, 0, fmt.Errorf("unknown metric %s: have %s", capcli.Quoted(name), promiseNames)
	}
	switch part {
	case "mean":
		return quantity(i), 0, nil
	case "max":
		return quantity(i), whole, nil
	}
	digits, ok := strings.CutPrefix(part, "p")
	ppm, err := parseParts(digits, 100)
	if !ok || err != nil || ppm == 0 || ppm > whole {
		return 0, 0, fmt.Errorf("unknown metric %s: write %s_mean, %s_p95, %s_p99.9 or %s_max", capcli.Quoted(name), kind, kind, kind, kind)
	}
	return quantity(i), ppm, nil
}

// parseParts parses a decimal number of parts of the given number, exactly: 99.9 of 100 is 999,000
// millionths.
func parseParts(text string, of int64) (int64, error) {
	u, err := capcli.ParseUSD(text) // an amount too has six places
	if err != nil || u < 0 || strings.HasPrefix(text, "$") || int64(u)%of != 0 {
		return 0, fmt.Errorf("%s is no number of at most four places", capcli.Quoted(text))
	}
	return int64(u) / of, nil
}

// ParseShare parses a share such as 99% or 0.99 into millionths. It fails with *capcli.RequestError.
func ParseShare(field, text string) (int64, error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	of := int64(1)
	if percent {
		of = 100
	}
	ppm, err := parseParts(strings.TrimSpace(digits), of)
	if err != nil || ppm > whole {
		return 0, &capcli.RequestError{Field: field, Text: fmt.Sprintf("%s is no share", capcli.Quoted(text)), Hint: "--" + field + " 99%"}
	}
	return ppm, nil
}

// parseLimit parses the value of a promise; v is the value in the unit of documents.
func (p *Promise) parseLimit(name, text string) (limit int64, v float64, err error) {
	switch p.of {
	case sloShare, rejectedShare:
		ppm, err := ParseShare("", text)
		if err != nil {
			return 0, 0, fmt.Errorf("%s: %s is no share; write 99%% or 0.99", name, capcli.Quoted(text))
		}
		return ppm, float64(ppm) / whole, nil
	case replicaCount, gpuCount:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 1 {
			return 0, 0, fmt.Errorf("%s: %s is no number from 1", name, capcli.Quoted(text))
		}
		return n, float64(n), nil
	case ttft, tpot, e2e:
	}
	if strings.HasSuffix(name, "_s") && strings.Trim(text, "0123456789.") == "" {
		text += "s"
	}
	us, err := parseMicros(text)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", name, err)
	}
	return us, float64(us) / 1e6, nil
}

// parseMicros parses a length of time with its unit into microseconds: 200ms, 1.5s, 2m.
func parseMicros(text string) (int64, error) {
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzµ")
	unit, ok := map[string]float64{"us": 1, "µs": 1, "ms": 1e3, "s": 1e6, "m": 6e7, "min": 6e7, "h": 3.6e9}[text[len(digits):]]
	v, err := strconv.ParseFloat(digits, 64)
	if us := v * unit; err == nil && ok && us >= 1 && us < 1e15 && !math.IsNaN(us) {
		return int64(math.Round(us)), nil
	}
	if err == nil && v > 0 && text == digits {
		return 0, fmt.Errorf("%s has no unit; write %sms for milliseconds or %ss for seconds", capcli.Quoted(text), text, text)
	}
	return 0, fmt.Errorf("%s is no length of time; write 200ms, 1.5s or 2m", capcli.Quoted(text))
}

// sloPromise is the promise that a share of all requests is within the SLO.
func sloPromise(ppm int64, slo *serving.SLO) Promise {
	share := strconv.FormatFloat(float64(ppm)/1e4, 'f', -1, 64) + "%" + sloText(slo)
	return Promise{Metric: "slo_share", Op: ">=", Value: float64(ppm) / whole, Unit: sloShare.unit(), Text: "slo_share >= " + share, of: sloShare, limit: ppm}
}

// sloText names the limits of an SLO: " of requests within ttft 200 ms, tpot 50 ms".
func sloText(slo *serving.SLO) string {
	var parts []string
	for _, l := range []struct {
		name string
		us   int64
	}{{"ttft", slo.TTFT}, {"tpot", slo.TPOT}, {"e2e", slo.E2E}} {
		if l.us > 0 {
			parts = append(parts, l.name+" "+capcli.MicrosText(float64(l.us)))
		}
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// overRequests reports whether the promise is one on requests, rather than on the size.
func (p *Promise) overRequests() bool { return p.of < replicaCount }

// latency reports whether the promise limits a time of requests.
func (p *Promise) latency() bool { return p.of <= e2e }

// never is the time of a request that was not served.
const never = math.MaxInt64

// timeOf returns a time of a request in microseconds; TPOT is rounded up, so that it is within a limit
// of whole microseconds exactly where the fraction is. It returns false where a request has no TPOT.
func timeOf(of quantity, s *serving.Served) (int64, bool) {
	if of == tpot && s.Out < 2 {
		return 0, false
	}
	if s.Status != serving.OK {
		return never, true
	}
	switch of {
	case ttft:
		return s.FirstToken - s.Arrival, true
	case tpot:
		return (s.Finish - s.FirstToken + s.Out - 2) / (s.Out - 1), true
	case e2e, sloShare, rejectedShare, replicaCount, gpuCount:
	}
	return s.Finish - s.Arrival, true
}

// Kept is what a size makes of a promise.
type Kept struct {
	Metric string   `json:"metric"`
	Value  *float64 `json:"value"` // seconds, a share or a count; null where the percentile falls on a request that is never served
	Holds  bool     `json:"holds"`
	Over   int64    `json:"requests_over,omitempty"` // requests beyond the limit, of a percentile

	micros int64 // of a time; never
}

// judge works out a promise over requests. served must not be empty.
func (p *Promise) judge(slo *serving.SLO, served []serving.Served) Kept {
	k := Kept{Metric: p.Metric}
	if !p.latency() {
		n := int64(0)
		for i := range served {
			if p.of == sloShare && slo.Keeps(&served[i]) || p.of == rejectedShare && served[i].Status == serving.Rejected {
				n++
			}
		}
		of := int64(len(served))
		v := float64(n) / float64(of)
		k.Value, k.Holds = &v, n*whole >= p.limit*of
		if p.of == rejectedShare {
			k.Holds = n*whole <= p.limit*of
		}
		return k
	}
	times := make([]int64, 0, len(served))
	for i := range served {
		if t, ok := timeOf(p.of, &served[i]); ok {
			times = append(times, t)
			if t > p.limit {
				k.Over++
			}
		}
	}
	k.micros = p.figure(times)
	k.Holds = k.micros <= p.limit
	if k.micros != never {
		v := float64(k.micros) / 1e6
		k.Value = &v
	}
	return k
}

// figure returns the percentile of times that p is about, or their mean, rounded up; 0 of no times.
func (p *Promise) figure(times []int64) int64 {
	n := int64(len(times))
	if n == 0 {
		return 0
	}
	if p.ppm == 0 {
		sum := int64(0)
		for _, t := range times {
			if t == never {
				return never
			}
			sum += t
		}
		return (sum + n - 1) / n
	}
	slices.Sort(times)
	return times[(p.ppm*n+whole-1)/whole-1]
}

// thin says that a percentile rests on too few requests; "" where it does not. Fewer than ten requests
// beyond a percentile make it a matter of chance.
func (p *Promise) thin(n int64) string {
	if p.of == sloShare {
		n *= whole - p.limit
	} else {
		n *= whole - p.ppm
	}
	const enough = 10
	if p.of > sloShare || p.of != sloShare && (p.ppm == 0 || p.ppm == whole) || n >= enough*whole {
		return ""
	}
	of := p.ppm
	if p.of == sloShare {
		of = p.limit
	}
	if of == whole {
		return ""
	}
	need := (enough*whole + whole - of - 1) / (whole - of)
	return fmt.Sprintf("%s is judged on too few requests: only %.3g of them lie beyond it, so one more slow request can change the answer; give at least %s requests",
		p.Metric, float64(n)/whole, capcli.Grouped(need))
}
