package inference

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/profile/logs/series"
	"capcli/profile/web"
)

// source gives metrics by step. A metric that is not there gives nil. NaN is a step without data.
type source interface {
	// increases returns by how much a counter rose in each step, over all its series, by the value of
	// a label; "" adds all up.
	increases(ctx context.Context, name, label string) (map[string][]float64, error)
	// levels returns the mean of a gauge in each step: the sum over its series, or their mean.
	levels(ctx context.Context, name string, mean bool) ([]float64, error)
}

// grid are the steps of an answer.
type grid struct {
	from capcli.Time
	step capcli.Seconds
	n    int
}

func (g *grid) nothing() []float64 {
	out := make([]float64, g.n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

// server asks a Prometheus server.
type server struct {
	grid
	prom  *web.Prometheus
	match string
}

func (s *server) increases(ctx context.Context, name, label string) (map[string][]float64, error) {
	by := ""
	if label != "" {
		by = " by (" + label + ")"
	}
	t, err := s.ask(ctx, fmt.Sprintf("sum%s (increase(%s[%ds]))", by, selector(name, s.match), s.step))
	if t == nil || err != nil {
		return nil, err
	}
	out := map[string][]float64{}
	for _, one := range t.Series {
		key := ""
		if label != "" {
			key = strings.TrimPrefix(one.Name, label+"=")
		}
		out[key] = s.values(one.Rows)
	}
	return out, nil
}

func (s *server) levels(ctx context.Context, name string, mean bool) ([]float64, error) {
	how := "sum"
	if mean {
		how = "avg"
	}
	t, err := s.ask(ctx, fmt.Sprintf("%s(avg_over_time(%s[%ds]))", how, selector(name, s.match), s.step))
	if t == nil || err != nil {
		return nil, err
	}
	return s.values(t.Series[0].Rows), nil
}

// ask asks for the value at the end of each step; nil is no series.
func (s *server) ask(ctx context.Context, query string) (*series.Table, error) {
	end := func(i int) capcli.Time { return s.from + capcli.Time(i+1)*capcli.Time(s.step) }
	t, err := s.prom.Table(ctx, web.Query{PromQL: query, From: end(0), To: end(s.n - 1), Step: s.step})
	if errors.Is(err, series.ErrNoSeries) {
		return nil, nil //nolint:nilnil // a metric that is not there is no error
	}
	return t, err
}

// values puts rows at the ends of steps on the grid.
func (s *server) values(rows []series.Row) []float64 {
	out := s.nothing()
	for _, r := range rows {
		i := (r.At-int64(s.from))/int64(s.step) - 1
		if i >= 0 && i < int64(s.n) && (r.At-int64(s.from))%int64(s.step) == 0 {
			out[i] = r.Value
		}
	}
	return out
}

// saved has answers of Prometheus that were saved: raw counters and gauges with their labels.
type saved struct {
	grid
	byName map[string][]series.Labelled
	resets map[string]bool // series, by name and number, that began anew
}

// maxSaved is the most values of saved answers.
const maxSaved = 20_000_000

// readSaved reads answers of query_range. A step of 0 takes the usual gap between values.
func readSaved(names []string, open func(name string) (io.Reader, io.Closer, error), step capcli.Seconds) (*saved, error) {
	s := &saved{byName: map[string][]series.Labelled{}, resets: map[string]bool{}}
	t := span{lo: math.Inf(1), hi: math.Inf(-1), gaps: map[int64]int{}}
	for _, file := range names {
		in, done, err := open(file)
		if err != nil {
			return nil, err
		}
		list, err := series.ReadLabelled(in, series.Options{Name: file, MaxRows: maxSaved - t.values})
		_ = done.Close() // it was only read
		if err != nil {
			return nil, capcli.NameFile(err, file)
		}
		for _, one := range list {
			name := one.Labels["__name__"]
			if name == "" {
				return nil, &capcli.InputError{File: file, Field: "metric", Text: "a series has no name: expected the metrics as the server tells them, without rate or sum", Hint: `ask for {__name__=~"vllm:.*"}`}
			}
			slices.SortFunc(one.Points, func(a, b series.Point) int { return cmp.Compare(a.At, b.At) })
			t.add(one.Points)
			s.byName[name] = append(s.byName[name], one)
		}
	}
	if len(t.gaps) == 0 {
		return nil, &capcli.InputError{File: strings.Join(names, ", "), Text: "expected series of at least two values", Hint: "ask query_range for a longer time"}
	}
	s.from, s.step = capcli.Time(math.Floor(max(-1e15, min(t.lo, 1e15)))), step
	if step == 0 {
		s.step = capcli.Seconds(max(1, series.Mode(t.gaps)))
	}
	steps := math.Ceil((t.hi - float64(s.from)) / float64(s.step))
	if !(steps >= 1 && steps <= maxUsageSteps) {
		return nil, &capcli.RequestError{Field: "step", Text: fmt.Sprintf("%s makes %.0f steps; want 1 to %s", s.step, steps, capcli.Grouped(maxUsageSteps))}
	}
	s.n = int(steps)
	return s, nil
}

// span is the time that values cover, and the gaps between them.
type span struct {
	lo, hi float64
	gaps   map[int64]int
	values int
}

// add adds the points of a series, in order of time.
func (t *span) add(points []series.Point) {
	for i, p := range points {
		t.lo, t.hi, t.values = min(t.lo, p.At), max(t.hi, p.At), t.values+1
		if i > 0 {
			t.gaps[int64(math.Round(p.At-points[i-1].At))]++
		}
	}
}

// increases implements source. A value below the one before is a reset: the counter began anew at 0. A
// rise between two values is spread over the steps between them; a rise before the first value is not
// seen.
func (s *saved) increases(_ context.Context, name, label string) (map[string][]float64, error) {
	list := s.byName[name]
	if list == nil {
		return nil, nil //nolint:nilnil // a metric that is not there is no error
	}
	out := map[string][]float64{}
	for k, one := range list {
		key := ""
		if label != "" {
			key = one.Labels[label]
		}
		if out[key] == nil {
			out[key] = s.nothing()
		}
		for i := 1; i < len(one.Points); i++ {
			a, b := one.Points[i-1], one.Points[i]
			rise := b.Value - a.Value
			if b.Value < a.Value {
				rise = b.Value
				s.resets[fmt.Sprint(name, k)] = true
			}
			if !math.IsNaN(rise) && !math.IsInf(rise, 0) {
				s.spread(out[key], a.At, b.At, rise)
			}
		}
	}
	return out, nil
}

// spread adds a rise between two times to the steps between them, in proportion.
func (s *saved) spread(to []float64, from, until, rise float64) {
	at := func(t float64) float64 { return (t - float64(s.from)) / float64(s.step) }
	lo, hi := at(from), at(until)
	if hi <= lo {
		return
	}
	for i := max(0, int(math.Floor(lo))); i < s.n && float64(i) < hi; i++ {
		part := (min(hi, float64(i+1)) - max(lo, float64(i))) / (hi - lo)
		if part <= 0 {
			continue
		}
		if math.IsNaN(to[i]) {
			to[i] = 0
		}
		to[i] += rise * part
	}
}

func (s *saved) levels(_ context.Context, name string, mean bool) ([]float64, error) {
	list := s.byName[name]
	if list == nil {
		return nil, nil
	}
	out := s.nothing()
	for _, one := range list {
		sums, counts := make([]float64, s.n), make([]float64, s.n)
		for _, p := range one.Points {
			i := int(math.Ceil((p.At-float64(s.from))/float64(s.step))) - 1
			if i = max(0, i); i < s.n && !math.IsNaN(p.Value) && !math.IsInf(p.Value, 0) {
				sums[i], counts[i] = sums[i]+p.Value, counts[i]+1
			}
		}
		for i := range out {
			if counts[i] == 0 {
				continue
			}
			if math.IsNaN(out[i]) {
				out[i] = 0
			}
			v := sums[i] / counts[i]
			if mean {
				v /= float64(len(list))
			}
			out[i] += v
		}
	}
	return out, nil
}
