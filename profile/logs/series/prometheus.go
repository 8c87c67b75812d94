package series

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"capcli"
)

// ErrNoSeries means that an answer of Prometheus holds no series. ErrTooMuch means that it holds
// more values than Options.MaxRows allows.
var (
	ErrNoSeries = errors.New("no series")
	ErrTooMuch  = errors.New("too many values")
)

// isProm reports whether head is the start of an answer of the Prometheus HTTP API.
func isProm(head []byte) bool {
	head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	if len(head) == 0 || head[0] != '{' {
		return false
	}
	begin := head[:min(len(head), 512)]
	return bytes.Contains(begin, []byte(`"status"`)) && (bytes.Contains(begin, []byte(`"resultType"`)) || bytes.Contains(begin, []byte(`"errorType"`)))
}

// ReadPrometheus reads an answer of query_range. It fails with ErrNoSeries where the answer
// holds no series, which is the answer to an unknown metric. NaN, infinite values and the values
// that DCGM writes for "blank" become missing values. ReadPrometheus reads the answer as a
// stream and holds only the table in memory.
func ReadPrometheus(r io.Reader, o Options) (*Table, error) {
	t := newTable(o, Instant)
	t.value, t.Dates = "value", false
	blank, infinite := 0, 0
	a := newAnswer(r, t, func(labels map[string]string, points []Point) error {
		name := []byte(metricName(labels))
		for _, p := range points {
			switch {
			case math.IsInf(p.Value, 0):
				p.Value, infinite = math.NaN(), infinite+1
			case isBlank(p.Value):
				p.Value, blank = math.NaN(), blank+1
			case math.Abs(p.Value) > maxFigure:
				return t.fault(0, string(name), fmt.Sprintf("expected a number under 1e100, found %g", p.Value), "")
			}
			if err := t.add(name, Row{int64(math.Round(p.At)), p.Value, 0}); err != nil {
				return err
			}
		}
		return nil
	})
	if err := a.read(); err != nil {
		return nil, err
	}
	if len(t.Series) == 0 {
		e := t.fault(0, "", "the query gave no series: the metric is unknown, or has no sample in this time", "check the name and the time range; DCGM 4.6 renamed its fields (DCGM_FI_DEV_GPU_UTIL_RATIO)")
		e.Err = ErrNoSeries
		return nil, e
	}
	if blank > 0 {
		t.Notes = append(t.Notes, capcli.Grouped(int64(blank))+" "+capcli.Plural(int64(blank), "value")+" that DCGM marks as blank: taken as missing")
	}
	if infinite > 0 {
		t.Notes = append(t.Notes, capcli.Grouped(int64(infinite))+" infinite "+capcli.Plural(int64(infinite), "value")+": taken as missing")
	}
	for _, w := range a.warnings {
		t.Notes = append(t.Notes, "Prometheus says: "+w)
	}
	return t, nil
}

// Labelled is one series of an answer of Prometheus, with its labels.
type Labelled struct {
	Labels map[string]string
	Points []Point
}

// Point is a value at a time.
type Point struct {
	At    float64 // Unix seconds
	Value float64 // may be NaN, infinite, or a blank of DCGM
}

// ReadLabelled reads an answer of query_range and keeps labels and values unchanged. An answer
// without series is not an error.
func ReadLabelled(r io.Reader, o Options) ([]Labelled, error) {
	var out []Labelled
	a := newAnswer(r, newTable(o, Instant), func(labels map[string]string, points []Point) error {
		out = append(out, Labelled{labels, slices.Clone(points)})
		return nil
	})
	if err := a.read(); err != nil {
		return nil, err
	}
	return out, nil
}

// isBlank reports whether v is a value that DCGM writes for an unknown one (dcgm_structs.h:
// DCGM_INT64_BLANK, DCGM_INT32_BLANK, DCGM_FP64_BLANK, and the three values after each). As
// floats the 64-bit integers are all 2^63.
func isBlank(v float64) bool {
	return v == 1<<63 || v >= 0x7ffffff0 && v <= 0x7ffffff3 && v == math.Trunc(v) || v >= 140737488355328.0 && v <= 140737488355328.3
}

// metricName returns the name of a series as name{label=value,...}, with the labels in order. The
// exporter's label Hostname became hostname in May 2026; metricName writes hostname for both, so
// that a history across the change is one series.
func metricName(labels map[string]string) string {
	_, both := labels["hostname"]
	var parts []string
	for l, value := range labels {
		switch {
		case l == "__name__", l == "Hostname" && both:
			continue
		case l == "Hostname":
			l = "hostname"
		}
		parts = append(parts, l+"="+value)
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

// Append adds the rows of later, the next part of the same time range, to t. It drops rows of
// later that are not after the last row of their series in t. It fails where t gets too large.
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
