package profile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"capcli"
)

func init() {
	Sources.Add("prometheus", "the past of dcgm-exporters and of capcli's own metrics, asked of a Prometheus server", func(o SourceOptions) (Source, error) {
		return newPrometheus(o)
	})
}

// Sizes of requests. The first request is small, because the number of series is unknown. Later
// ones return at most promValues values, and never more points than a server allows.
const (
	promFirst  = 30        // points of a series in the first request
	promMost   = 11_000    // points of a series that Prometheus returns in one answer
	promValues = 4_000_000 // values of all series in one request
	promBlank  = 1e8       // a mean over a DCGM blank and real values is above this; of metrics only bytes per second are
)

// promSource makes ticks from the history of dcgm-exporters and of capcli's own metrics on a Prometheus
// server. It requests the time range in parts, and in each part returns the ticks of one box after the
// other. A box that has both is read from capcli's own metrics.
type promSource struct {
	o        SourceOptions
	step     capcli.Seconds
	next, to capcli.Time // time range that is not requested yet
	size     int64       // points of a series in the next request
	boxes    map[string]*promBox
	names    []string // names of the DCGM fields and of capcli's own metrics
	found    bool     // some answer had a series
	isFound  bool     // find was called
	places   promPlaces
	gpus     []string // UUIDs of the box in the options; none where they are not known

	queue          []*promBox  // boxes of this part with ticks that were not read
	from, at, last capcli.Time // start of this part, time of the next tick, end of this part
	host           string      // box of the tick read last
}

// promBox is one box.
type promBox struct {
	host  string
	dcgm  *dcgmSource
	own   *ownBox
	parts []*promSeries // series of this part of the time range
	named bool          // it is the box in the options
	last  capcli.Time   // of its last tick; 0 is none
}

// promSeries is one field of one GPU over a part of the time range.
type promSeries struct {
	own    bool       // of capcli's own metrics
	point  point      // name and labels
	labels dcgmLabels // but of capcli's own metrics
	text   string     // name and labels as text, for sorting
	of     Range
	done   int // points used
}

func newPrometheus(o SourceOptions) (*promSource, error) {
	step := capcli.Seconds(o.Every.Seconds())
	switch {
	case o.Where == "" || o.Range == nil:
		return nil, errors.New("the source prometheus wants the address of a server, such as http://prometheus:9090")
	case o.From == 0 || o.To <= o.From:
		return nil, errors.New("the source prometheus wants a time in the past")
	case step < 1:
		return nil, errors.New("the source prometheus wants steps of whole seconds")
	}
	s := &promSource{
		o: o, step: step, next: o.From.Second() + capcli.Time(step), to: o.To.Second(), size: promFirst,
		boxes: map[string]*promBox{}, names: slices.Collect(maps.Keys(dcgmFields)),
	}
	s.names = append(s.names, dcgmFree, dcgmXid, dcgmXidNew)
	s.names = slices.AppendSeq(s.names, maps.Keys(ownFields))
	s.names = slices.AppendSeq(s.names, maps.Keys(dcgmParts))
	slices.Sort(s.names)
	return s, nil
}

// Recorded returns true: the ticks have their own times.
func (s *promSource) Recorded() bool { return true }

// Host returns the box of the tick read last.
func (s *promSource) Host() string { return s.host }

// Close does nothing, because each answer is closed when it is read.
func (s *promSource) Close() error { return nil }

// Read reads the next tick: the means over the step that ends at its time, or the last value in
// the step for counters and states.
func (s *promSource) Read(ctx context.Context, t *Tick) error {
	for {
		for len(s.queue) > 0 {
			b := s.queue[0]
			for s.at <= s.last {
				at := s.at
				s.at += capcli.Time(s.step)
				if told, err := s.tick(b, at, t); told || err != nil {
					return err
				}
			}
			s.queue, s.at = s.queue[1:], s.from
		}
		if err := s.part(ctx); err != nil {
			return err
		}
	}
}

// tick makes the tick of a box at a time. It reports false where the box has no value then.
func (s *promSource) tick(b *promBox, at capcli.Time, t *Tick) (bool, error) {
	b.dcgm.round++
	b.own.begin()
	any := false
	for _, p := range b.parts {
		for p.done < len(p.of.At) && p.of.At[p.done] < at {
			p.done++
		}
		if p.done < len(p.of.At) && p.of.At[p.done] == at {
			if err := b.enter(p, p.of.Values[p.done]); err != nil {
				return false, err
			}
			any = true
		}
	}
	if !any {
		return false, nil
	}
	t.At, t.Every, s.host = InstantOf(at.Std()), s.o.Every, b.host
	// A sample stands for some steps where the server scrapes less often than it is asked.
	if gap := at - b.last - capcli.Time(s.step); b.last > 0 && gap >= mostSpan*capcli.Time(s.step) {
		t.Events = append(t.Events, Event{At: InstantOf(b.last.Std()), Kind: Gap, Value: int64(gap) * 1e6, Text: "the server has no samples of the box"})
	}
	b.last = at
	if !b.own.tell(t) {
		b.dcgm.tell(t)
	}
	return true, nil
}

func (b *promBox) enter(p *promSeries, v float64) error {
	if p.own {
		return b.own.enter(&p.point, v)
	}
	return b.dcgm.enter(&p.point, &p.labels, v)
}

// part requests the next part of the time range. It returns io.EOF at the end, or an error where
// no part had a series.
func (s *promSource) part(ctx context.Context) error {
	if s.next > s.to {
		if !s.found {
			return &capcli.InputError{
				File: s.o.Where, Text: fmt.Sprintf("expected metrics of a dcgm-exporter (DCGM_FI_…) or of capcli (capcli_gpu_…) from %s to %s, found none", s.o.From.Second(), s.to),
				Hint: "check the time, and --host against the labels Hostname, hostname, node, instance and host",
			}
		}
		return io.EOF
	}
	from := s.next
	to := min(from+capcli.Time((s.size-1)*int64(s.step)), s.to)
	if !s.isFound {
		if err := s.find(ctx); err != nil {
			return err
		}
	}
	for _, b := range s.boxes {
		b.parts = b.parts[:0] // whose order is of no account here
	}
	var series []*promSeries
	for _, name := range s.names {
		all, err := s.o.Range(ctx, s.query(name), from, to, s.step)
		if err != nil {
			return err
		}
		for i := range all {
			if p := newPromSeries(name, &all[i]); p != nil {
				series = append(series, p)
			}
		}
	}
	if err := s.place(ctx, series, from, to); err != nil {
		return err
	}
	s.size = min(max(promValues/max(int64(len(series)), 1), promFirst), promMost)
	s.queue = s.queue[:0]
	for _, host := range slices.Sorted(maps.Keys(s.boxes)) {
		if b := s.boxes[host]; s.o.Host == "" || b.named {
			s.found = s.found || len(b.parts) > 0
			s.queue = append(s.queue, b)
		}
	}
	s.from, s.at, s.last, s.next = from, from, to, to+capcli.Time(s.step)
	return nil
}

// query returns the PromQL query for one field, of the box in the options or of all boxes.
func (s *promSource) query(name string) string {
	if f, own := ownFields[name]; own {
		return f.query(name, s.o.Host, s.step)
	}
	over := "avg_over_time"
	if !isAveraged(name) {
		over = "last_over_time"
	}
	if s.o.Host == "" {
		return fmt.Sprintf("%s(%s[%ds])", over, name, s.step)
	}
	any := capcli.Map(s.selectors(), func(sel string) string { return fmt.Sprintf("%s(%s{%s}[%ds])", over, name, sel, s.step) })
	return strings.Join(any, " or ")
}

// isAveraged reports whether the mean of a field is meaningful. It is not for a counter, a state or
// bits, nor for a ratio whose whole numbers tell percents from shares.
func isAveraged(name string) bool {
	f, known := dcgmFields[name]
	if !known {
		return name == dcgmFree
	}
	switch f.metric {
	case Throttle, PState, MemTotal, RowsPending:
		return false
	default:
		return f.scale != 0 && !Metrics[f.metric].Counter
	}
}

func labelsOf(labels map[string]string) (out []label) {
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, label{name, labels[name]})
	}
	return out
}

// newPromSeries returns a series, and nil where it is not a GPU's or a box's.
func newPromSeries(name string, r *Range) *promSeries {
	p := &promSeries{of: *r}
	p.point.name, p.point.labels = name, labelsOf(r.Labels)
	for _, l := range p.point.labels {
		p.text += l.name + "=" + l.value + ","
	}
	p.text = name + "{" + p.text
	if _, p.own = ownFields[name]; p.own {
		return p
	}
	if p.labels.read(&p.point); p.labels.uuid == "" {
		return nil
	}
	if isAveraged(name) && !strings.HasSuffix(name, "_BYTES") {
		for i, v := range r.Values {
			if v >= promBlank {
				p.of.Values[i] = -1 // which no field can be
			}
		}
	}
	return p
}
