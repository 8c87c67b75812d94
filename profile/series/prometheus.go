package series

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
)

// ErrNoSeries says that an answer of Prometheus holds no series.
var ErrNoSeries = errors.New("no series")

// isProm tells whether head begins an answer of the Prometheus HTTP API.
func isProm(head []byte) bool {
	head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	if len(head) == 0 || head[0] != '{' {
		return false
	}
	begin := head[:min(len(head), 512)]
	return bytes.Contains(begin, []byte(`"status"`)) && (bytes.Contains(begin, []byte(`"resultType"`)) || bytes.Contains(begin, []byte(`"errorType"`)))
}

// answer is what query_range gives
// (https://prometheus.io/docs/prometheus/latest/querying/api/#range-queries).
type answer struct {
	Status    string   `json:"status"`
	ErrorType string   `json:"errorType"`
	Error     string   `json:"error"`
	Warnings  []string `json:"warnings"`
	Data      struct {
		ResultType string `json:"resultType"`
		Result     []struct {
			Metric map[string]string `json:"metric"`
			Values []sample          `json:"values"`
		} `json:"result"`
	} `json:"data"`
}

// sample is [unix seconds, "value"].
type sample struct {
	at    float64
	value string
}

// UnmarshalJSON reads the pair.
func (s *sample) UnmarshalJSON(b []byte) error {
	pair := []any{&s.at, &s.value}
	return json.Unmarshal(b, &pair)
}

// maxAnswer bounds one answer: 11,000 points of a thousand series.
const maxAnswer = 1 << 30

// ReadPrometheus reads an answer of query_range. An answer that holds no series
// is an error, for it is what an unknown metric gives. NaN, infinite values and
// the values that DCGM writes for "blank" are missing.
func ReadPrometheus(r io.Reader, o Options) (*Table, error) {
	t := newTable(o, Instant)
	t.value, t.Dates = "value", false
	a, err := t.answer(r)
	if err != nil {
		return nil, err
	}
	blank, infinite := 0, 0
	for _, s := range a.Data.Result {
		name := []byte(metricName(s.Metric))
		for _, p := range s.Values {
			v, err := parseFloat(p.value)
			switch {
			case math.IsInf(v, 0):
				v, infinite = math.NaN(), infinite+1
			case err != nil:
				return nil, t.fault(0, string(name), "expected a number as text, found "+quote(p.value), "")
			case isBlank(v):
				v, blank = math.NaN(), blank+1
			case math.Abs(v) > maxFigure:
				return nil, t.fault(0, string(name), "expected a number under 1e100, found "+quote(p.value), "")
			}
			if math.Abs(p.at) > 1e12 {
				return nil, t.fault(0, string(name), "a sample's time is out of range", "")
			}
			if err := t.add(name, Row{int64(math.Round(p.at)), v, 0}); err != nil {
				return nil, err
			}
		}
	}
	if len(t.Series) == 0 {
		e := t.fault(0, "", "the query gave no series: the metric is unknown, or has no sample in this time", "check the name and the time range; DCGM 4.6 renamed its fields (DCGM_FI_DEV_GPU_UTIL_RATIO)")
		e.Err = ErrNoSeries
		return nil, e
	}
	if blank > 0 {
		t.Notes = append(t.Notes, group(blank)+" "+plural(blank, "value")+" that DCGM marks as blank: taken as missing")
	}
	if infinite > 0 {
		t.Notes = append(t.Notes, group(infinite)+" infinite "+plural(infinite, "value")+": taken as missing")
	}
	for _, w := range a.Warnings {
		t.Notes = append(t.Notes, "Prometheus says: "+w)
	}
	return t, nil
}

// answer reads an answer and checks that it is one.
func (t *Table) answer(r io.Reader) (*answer, error) {
	limited := &io.LimitedReader{R: r, N: maxAnswer + 1}
	var a answer
	if err := json.NewDecoder(limited).Decode(&a); err != nil {
		if limited.N <= 0 {
			return nil, t.fault(0, "", "the answer is over 1 GiB", "ask for fewer series or a longer step")
		}
		return nil, t.fault(0, "", "expected an answer of Prometheus query_range: "+err.Error(), "check the address: it ends before /api/v1")
	}
	if a.Status != "success" {
		return nil, t.fault(0, a.ErrorType, "Prometheus refused the query: "+a.Error, "try it in the Prometheus expression browser")
	}
	if a.Data.ResultType != "matrix" {
		return nil, t.fault(0, "resultType", "expected a matrix, found "+quote(a.Data.ResultType), "use query_range with start, end and step")
	}
	return &a, nil
}

// Labelled is a series of an answer of Prometheus with its labels.
type Labelled struct {
	Labels map[string]string
	Points []Point
}

// Point is a value at a time.
type Point struct {
	At    float64 // Unix seconds
	Value float64 // may be NaN, infinite, or a blank of DCGM
}

// ReadLabelled reads an answer of query_range as it is: no series is no error.
func ReadLabelled(r io.Reader, o Options) ([]Labelled, error) {
	t := newTable(o, Instant)
	a, err := t.answer(r)
	if err != nil {
		return nil, err
	}
	var out []Labelled
	for _, s := range a.Data.Result {
		one := Labelled{Labels: s.Metric, Points: make([]Point, 0, len(s.Values))}
		for _, p := range s.Values {
			v, err := parseFloat(p.value)
			if err != nil && !math.IsInf(v, 0) {
				return nil, t.fault(0, metricName(s.Metric), "expected a number as text, found "+quote(p.value), "")
			}
			if math.Abs(p.at) > 1e12 {
				return nil, t.fault(0, metricName(s.Metric), "a sample's time is out of range", "")
			}
			one.Points = append(one.Points, Point{p.at, v})
		}
		out = append(out, one)
	}
	return out, nil
}

// isBlank tells the values that DCGM gives for what it does not know
// (dcgm_structs.h: DCGM_INT64_BLANK and the three after it, DCGM_INT32_BLANK,
// DCGM_FP64_BLANK). As floats the 64-bit ones are all 2^63.
func isBlank(v float64) bool {
	return v == 1<<63 || v >= 0x7ffffff0 && v <= 0x7ffffff3 && v == math.Trunc(v) || v >= 140737488355328.0 && v <= 140737488355328.3
}

// metricName is the series as Prometheus writes it: name{label="value"}, labels
// in order. The exporter's label Hostname became hostname in May 2026; both are
// written in the new way, so that a history over the change is one series.
func metricName(labels map[string]string) string {
	var names []string
	for l := range labels {
		if l != "__name__" {
			names = append(names, l)
		}
	}
	slices.Sort(names)
	var parts []string
	for _, l := range names {
		shown := l
		if l == "Hostname" {
			if _, both := labels["hostname"]; both {
				continue
			}
			shown = "hostname"
		}
		parts = append(parts, shown+"="+labels[l])
	}
	slices.Sort(parts)
	metric := labels["__name__"]
	switch {
	case len(parts) == 0 && metric == "":
		return "query"
	case len(parts) == 0:
		return metric
	case metric == "":
		return strings.Join(parts, ",")
	}
	return metric + "{" + strings.Join(parts, ",") + "}"
}

// Append puts the rows of later after those of t: parts of one range.
func (t *Table) Append(later *Table) error {
	for _, s := range later.Series {
		for _, row := range s.Rows {
			if i, known := t.byID[s.Name]; known {
				if have := t.Series[i].Rows; len(have) > 0 && row.At <= have[len(have)-1].At {
					continue // the end of one part is the start of the next
				}
			}
			if err := t.add([]byte(s.Name), row); err != nil {
				return err
			}
		}
	}
	for _, n := range later.Notes {
		if !slices.Contains(t.Notes, n) {
			t.Notes = append(t.Notes, n)
		}
	}
	return nil
}
