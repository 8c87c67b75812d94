package profile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"capcli"
)

// scrapes is what a Prometheus server keeps of the pages that it scraped.
type scrapes struct {
	at     []capcli.Time
	values map[string][]float64         // by series, one for each scrape; NaN where it was not on the page
	labels map[string]map[string]string // by series
	names  map[string][]string          // series by the name of their samples
}

func (s *scrapes) scrape(t *testing.T, at capcli.Time, page []byte) {
	t.Helper()
	s.at = append(s.at, at)
	err := readExposition("page", bytes.NewReader(page), func(p *point) error {
		key := fmt.Sprint(p.name, p.labels)
		if s.labels[key] == nil {
			s.labels[key] = map[string]string{"instance": "127.0.0.1:9835", "job": "gpus"}
			for _, l := range p.labels {
				s.labels[key][l.name] = l.value
			}
			s.names[p.name] = append(s.names[p.name], key)
		}
		for len(s.values[key]) < len(s.at)-1 {
			s.values[key] = append(s.values[key], math.NaN())
		}
		v, err := strconv.ParseFloat(p.value, 64)
		s.values[key] = append(s.values[key], v)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

var ownQuery = regexp.MustCompile(`^(?:(avg|last)_over_time\()?(\w+)(?:\{host="([^"]*)"\})?(?:\[(\d+)s\]\))?$`)

// ask answers a query as query_range does.
func (s *scrapes) ask(_ context.Context, query string, from, to capcli.Time, step capcli.Seconds) ([]Range, error) {
	q := ownQuery.FindStringSubmatch(query)
	if q == nil {
		return nil, nil // a question about DCGM's fields
	}
	var out []Range
	for _, key := range s.names[q[2]] {
		if q[3] != "" && s.labels[key]["host"] != q[3] {
			continue
		}
		r := Range{Labels: s.labels[key]}
		for at := from; at <= to; at += capcli.Time(step) {
			if v, ok := s.value(key, q[1], at, capcli.Time(step)); ok {
				r.At, r.Values = append(r.At, at), append(r.Values, v)
			}
		}
		if len(r.At) > 0 {
			out = append(out, r)
		}
	}
	return out, nil
}

// value is the value of a series at a time, or over the step before it.
func (s *scrapes) value(key, over string, at, step capcli.Time) (float64, bool) {
	end, _ := slices.BinarySearch(s.at, at+1)
	sum, n, last := 0.0, 0, math.NaN()
	for i := end - 1; i >= 0 && s.at[i] > at-step; i-- {
		v := math.NaN()
		if i < len(s.values[key]) {
			v = s.values[key][i]
		}
		if over == "" {
			return v, !math.IsNaN(v) // a series that a scrape lacks is stale
		}
		if math.IsNaN(v) {
			continue
		}
		if n == 0 {
			last = v
		}
		sum, n = sum+v, n+1
	}
	if over == "last" {
		return last, n > 0
	}
	return sum / float64(n), n > 0
}

// withInstance adds an instance of the first GPU to a tick, and counters that grow.
func withInstance(t *Tick, mig *Device, n int) {
	s := t.NextSample(mig)
	s.Set(MemUsed, 4<<30)
	s.Set(MemTotal, 10<<30)
	s.Set(SMActive, 40)
	t.Samples[0].Set(RowsRemapped, float64(n/1000))
	if t.LookedAtProcesses {
		t.Processes = append(t.Processes, Process{Device: mig, PID: 7, User: "ida", Pod: "nb-7", Namespace: "lab", Container: "c7"})
	}
	if n == 5000 {
		t.Events = append(t.Events, Event{At: t.At, Kind: Xid, Device: t.Samples[1].Device.UUID, Value: 63})
	}
}

// What is recorded directly and what comes back of a Prometheus server that scraped the page every 15 s give
// the same summary: jobs, devices, counters and events exactly; times within two steps and a fiftieth; means
// of percents within 4 sigma of a mean over the scrapes, sigma being at most 50 points.
func TestRoundTripThroughPrometheus(t *testing.T) {
	const hours, scrape = 2, 15
	from := InstantOf(time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC))
	fake := NewFake(SourceOptions{Every: time.Second, Processes: 5 * time.Second, Seed: 3})
	mig := &Device{Index: 0, UUID: "MIG-1", Model: "NVIDIA H100 80GB HBM3", Bus: "00000000:19:00.0", Driver: "570.124.06", Parent: fake.devices[0].UUID, Profile: "1g.10gb", GI: 9, CI: 1}
	direct, x := NewSummarizer(nil), NewExporter("gpu-demo-01")
	server := &scrapes{values: map[string][]float64{}, labels: map[string]map[string]string{}, names: map[string][]string{}}
	var tick Tick
	for n := range hours * 3600 {
		tick.Reset()
		tick.At, tick.Every = from.Add(time.Duration(n+1)*time.Second), time.Second
		if err := fake.Read(t.Context(), &tick); err != nil {
			t.Fatal(err)
		}
		withInstance(&tick, mig, n)
		direct.Add("gpu-demo-01", &tick)
		x.Observe(&tick)
		if n%scrape == scrape-1 {
			server.scrape(t, tick.At.Second(), x.Page(false))
		}
	}
	last := slices.Clone(tick.Samples)
	want := direct.Summary()
	for _, step := range []int{scrape, 60} {
		src, err := newPrometheus(SourceOptions{
			Every: time.Duration(step) * time.Second, Processes: time.Minute, Where: "http://made-up", From: from, To: from.Add(hours * time.Hour), Range: server.ask,
		})
		if err != nil {
			t.Fatal(err)
		}
		back := NewSummarizer(nil)
		var ends []Sample
		for {
			tick.Reset()
			if err := src.Read(t.Context(), &tick); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			back.Add(src.Host(), &tick)
			ends = append(ends[:0], tick.Samples...)
		}
		sameSummary(t, step, want, back.Summary(), hours*3600/scrape)
		for i := range last {
			for _, m := range []Metric{RowsRemapped, ECCCorrected} {
				a, _ := last[i].Get(m)
				if b, _ := ends[i].Get(m); a != b {
					t.Errorf("%s of %s: %v came back as %v", m, last[i].Device.UUID, a, b)
				}
			}
		}
	}
}

func sameSummary(t *testing.T, step int, want, got *Summary, scrapes int) {
	t.Helper()
	if len(got.Devices) != len(want.Devices) {
		t.Fatalf("step %d s: %d devices, want %d", step, len(got.Devices), len(want.Devices))
	}
	near := func(what string, a, b, bound float64) {
		t.Helper()
		if !(math.Abs(a-b) <= bound) && !(math.IsNaN(a) && math.IsNaN(b)) {
			t.Errorf("step %d s, %s: %.3f, want %.3f within %.3f", step, what, a, b, bound)
		}
	}
	seconds, points := 2*float64(step), 4*50/math.Sqrt(float64(scrapes))
	same := func(name string, a, b *Use) {
		t.Helper()
		near(name+" seen s", float64(a.Seen)/1e6, float64(b.Seen)/1e6, seconds)
		near(name+" held s", float64(a.Held)/1e6, float64(b.Held)/1e6, seconds+float64(b.Held)/50e6)
		near(name+" util", a.Util.Mean(), b.Util.Mean(), points)
		near(name+" SM", a.SM.Mean(), b.SM.Mean(), points)
		near(name+" tensor", a.Tensor.Mean(), b.Tensor.Mean(), points)
		near(name+" memory", a.MemoryBytes, b.MemoryBytes, b.MemoryBytes/50)
		near(name+" kJ", a.Joules()/1e3, b.Joules()/1e3, 0.7*seconds+b.Joules()/50e3)
	}
	for i, d := range want.Devices {
		g := got.Devices[i]
		if x, y := *g.Device, *d.Device; x.UUID != y.UUID || x.Index != y.Index || x.Model != y.Model || x.Bus != y.Bus || x.Parent != y.Parent || x.Profile != y.Profile || x.GI != y.GI || x.CI != y.CI || g.Host != d.Host {
			t.Errorf("device %+v of %s came back as %+v of %s", y, d.Host, x, g.Host)
		}
		same(d.Device.UUID, g.Use, d.Use)
	}
	jobs := map[string]*JobUse{}
	for _, j := range got.Jobs {
		jobs[j.Kind+" "+j.ID] = j
	}
	for _, j := range want.Jobs {
		g := jobs[j.Kind+" "+j.ID]
		delete(jobs, j.Kind+" "+j.ID)
		switch {
		case g == nil && j.Use.Held > 2*int64(step)*1e6:
			t.Errorf("step %d s: job %s is lost", step, j.ID)
		case g == nil:
		case g.Tenant != j.Tenant || g.Devices != j.Devices:
			t.Errorf("step %d s: job %s of %s on %d came back as of %s on %d", step, j.ID, j.Tenant, j.Devices, g.Tenant, g.Devices)
		case j.Use.Held > 3600e6:
			same("job "+j.ID, g.Use, j.Use)
		}
	}
	if len(jobs) > 0 {
		t.Errorf("step %d s: jobs %v were made up", step, slices.Sorted(maps.Keys(jobs)))
	}
	if len(got.Events) != 1 || got.Events[0].Kind != Xid || got.Events[0].Value != 63 || got.Events[0].Device != want.Events[0].Device {
		t.Errorf("step %d s: events %+v, want %+v", step, got.Events, want.Events)
	}
}
