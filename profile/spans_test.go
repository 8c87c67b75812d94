package profile

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"capcli"
	"capcli/profile/judge"
	"capcli/profile/rhythm"
)

const testStart = Instant(1_795_564_200_000_000) // 2026-11-24T23:50:00Z

// drawSample draws what one device does in a second.
func drawSample(r *rapid.T, s *Sample, energy *float64) {
	if rapid.IntRange(0, 9).Draw(r, "untold") > 0 {
		active := rapid.SampledFrom([]float64{0, 0, 0.5, 37.125, 99}).Draw(r, "sm")
		s.Set(SMActive, active)
		s.Set(UtilGPU, min(100, 2*active))
		s.Set(TensorActive, active/2)
	}
	s.Set(Power, rapid.SampledFrom([]float64{71.125, 300, 699.875}).Draw(r, "power"))
	if *energy += rapid.SampledFrom([]float64{0, 71, 700, -9000}).Draw(r, "energy"); *energy >= 0 {
		s.Set(Energy, *energy)
	} else {
		*energy = 0
	}
	s.Set(MemUsed, rapid.SampledFrom([]float64{0, 1 << 30, 77e9}).Draw(r, "memory"))
	s.Set(MemTotal, 80<<30)
	s.Set(NVLinkTx, rapid.SampledFrom([]float64{0, 123_456}).Draw(r, "link"))
}

// drawTicks draws the recording of one box with two GPUs: steps of any length, holes, a clock that is
// set back, looks at processes now and then, and jobs that come and go.
func drawTicks(r *rapid.T, host string) []Tick {
	h100 := "NVIDIA H100 80GB HBM3"
	devices := []*Device{
		{Index: 0, UUID: host + "-a", Model: h100, GI: -1},
		{Index: 1, UUID: host + "-b", Model: h100, GI: -1},
		{Index: 1, UUID: host + "-m", Model: h100, Parent: host + "-b", Profile: "1g.10gb", GI: 9},
		{Index: 1, UUID: host + "-n", Model: h100, Parent: host + "-b", Profile: "3g.40gb", GI: 2},
	}
	devices = devices[:rapid.SampledFrom([]int{2, 2, 3, 4}).Draw(r, "devices")]
	energy := make([]float64, len(devices))
	at := testStart
	told := rapid.Bool().Draw(r, "told")
	var out []Tick
	for range rapid.IntRange(1, 60).Draw(r, "ticks") {
		at += Instant(rapid.SampledFrom([]int64{1_000_000, 1_000_003, 700_000, 29_999_999, 61_000_000, 3_600_000_000, -5_000_000}).Draw(r, "step"))
		t := Tick{At: at, Every: 10 * time.Second, LookedAtProcesses: told && rapid.IntRange(0, 2).Draw(r, "look") == 0}
		for i, d := range devices {
			if rapid.IntRange(0, 7).Draw(r, "lost") == 0 {
				continue
			}
			drawSample(r, t.NextSample(d), &energy[i])
			if !t.LookedAtProcesses {
				continue
			}
			for _, id := range rapid.SampledFrom([][]string{nil, {"1"}, {"1"}, {"2"}, {"2", "1"}, {"3", "2", "1"}}).Draw(r, "jobs") {
				t.Processes = append(t.Processes, Process{Device: d, Job: id, User: "u" + id, Command: rapid.SampledFrom([]string{"a", "b"}).Draw(r, "command")})
			}
		}
		out = append(out, t)
	}
	return out
}

func documentOf(t interface{ Fatal(...any) }, s *Summary) string {
	price := capcli.USD(2_000_000)
	b, err := json.Marshal(s.Result([]string{"x"}, &price, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// clone copies a span as one that was kept.
func clone(s *Span) *Span {
	copyOf := func(u *Use) *Use { c := NewUse(); c.Append(u); return c }
	out := *s
	out.Use, out.Parts = copyOf(s.Use), nil
	for _, p := range s.Parts {
		out.Parts = append(out.Parts, Part{p.Holder, copyOf(p.Use)})
	}
	return &out
}

// TestSpansSumToTheSamples: a summary of spans, cut between any two minutes, is that of the samples, to
// the last byte.
func TestSpansSumToTheSamples(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		whole, fromSpans := NewSummarizer(nil), NewSummarizer(nil)
		var kept []*Span
		p := Spanner{Span: func(s *Span) { kept = append(kept, clone(s)) }}
		for _, host := range []string{"box-1", "box-2"} {
			ticks := drawTicks(r, host)
			for i, tick := range ticks {
				if rapid.IntRange(0, 3).Draw(r, "cut") == 0 && betweenMinutes(ticks, i) {
					p.Flush()
				}
				whole.Add(host, &tick)
				p.Add(host, &tick)
				if len(tick.Samples) > 0 {
					fromSpans.AddTicks(1)
				}
			}
		}
		p.Flush()
		for _, s := range kept {
			if s.Last < s.First || s.First < s.Hour || s.Last >= s.Hour+hourMicros || s.Hour%hourMicros != 0 || s.Use.Seen == 0 {
				r.Fatalf("a span from %v to %v of the hour %v", s.First, s.Last, s.Hour)
			}
			fromSpans.AddSpan(s)
		}
		want, got := documentOf(t, whole.Summary()), documentOf(t, fromSpans.Summary())
		if got != want {
			r.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

// betweenMinutes tells whether all ticks from i on are in later minutes than all before.
func betweenMinutes(ticks []Tick, i int) bool {
	for _, a := range ticks[:i] {
		for _, b := range ticks[i:] {
			if a.At/minuteMicros >= b.At/minuteMicros {
				return false
			}
		}
	}
	return true
}

// naive is what work and pauses count as, read off the list of all stretches.
func naive(all []Stretch) *Use {
	u := NewUse()
	for i, s := range all {
		last := i == len(all)-1
		switch {
		case s.Active && !last:
			u.Bursts[burstBin(s.Micros)]++
		case !s.Active:
			u.Longest = max(u.Longest, s.Micros)
			if i > 0 && !last && s.Micros >= starvedAfter && s.Micros < idleAfter {
				u.Starved += s.Micros
				u.Pauses++
			}
		}
	}
	return u
}

// TestEdges: stretches that are cut anywhere and joined again, in any grouping, count as those that
// were never cut.
func TestEdges(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var stretches []Stretch
		parts := []*Use{NewUse()}
		for range rapid.IntRange(0, 40).Draw(r, "steps") {
			active := rapid.Bool().Draw(r, "active")
			micros := rapid.SampledFrom([]int64{1, 1_999_999, 2_000_000, 25_000_000, 599_999_999, 600_000_000}).Draw(r, "micros")
			if n := len(stretches); n > 0 && stretches[n-1].Active == active {
				stretches[n-1].Micros += micros
			} else {
				stretches = append(stretches, Stretch{active, micros})
			}
			last := parts[len(parts)-1]
			last.Edges.step(last, active, micros)
			if rapid.Bool().Draw(r, "cut") {
				parts = append(parts, NewUse())
			}
		}
		for len(parts) > 1 { // neighbours join in any order
			i := rapid.IntRange(0, len(parts)-2).Draw(r, "join")
			parts[i].Append(parts[i+1])
			parts = append(parts[:i+1], parts[i+2:]...)
		}
		got, want := NewUse(), naive(stretches)
		got.Merge(parts[0])
		parts[0].Close()
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(parts[0], want) {
			r.Fatalf("of %v\ngot  %+v\nor   %+v\nwant %+v", stretches, got, parts[0], want)
		}
	})
}

// TestUseMergesInAnyOrder: what devices did sums to the same in whatever order they come.
func TestUseMergesInAnyOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var all []*Use
		energy := 0.0
		for range rapid.IntRange(1, 8).Draw(r, "uses") {
			u := NewUse()
			for range rapid.IntRange(1, 5).Draw(r, "samples") {
				s := Sample{Device: &Device{GI: -1}}
				s.Clear(NotAsked)
				drawSample(r, &s, &energy)
				micros := rapid.Int64Range(1, 180_000_000).Draw(r, "micros")
				u.add(&s, micros, spent{eighths(energy), false})
				u.hold(&s, micros, false)
			}
			all = append(all, u)
		}
		sum := func(order []*Use) *Use {
			out := NewUse()
			for _, u := range order {
				out.Merge(u)
			}
			return out
		}
		want := sum(all)
		if got := sum(rapid.Permutation(all).Draw(r, "order")); !reflect.DeepEqual(got, want) {
			r.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

// TestMinutes: the minutes of a device are whole ones of UTC, or cut where its span ends, and sum to
// what was seen.
func TestMinutes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		minutes, spans := NewUse(), NewUse()
		p := Spanner{Span: func(s *Span) {
			if !s.Divided { // the rest of a divided GPU has no minutes
				spans.Merge(s.Use)
			}
		}}
		p.Minute = func(s *Span, m *Minute) {
			if m.Start%minuteMicros != 0 || m.Start < s.Hour || m.Start >= s.Hour+hourMicros || m.Samples == 0 || m.Switches >= m.Samples {
				r.Fatalf("minute %+v of the hour %v", m, s.Hour)
			}
			f := m.Feature(UtilGPU)
			minutes.Seen += m.Seen
			minutes.Util.Micros += f.Micros
			minutes.Util.Sum.Add(f.Sum)
		}
		for _, tick := range drawTicks(r, "box") {
			p.Add("box", &tick)
		}
		p.Flush()
		if minutes.Seen != spans.Seen || minutes.Util.Micros != spans.Util.Micros || minutes.Util.Sum != spans.Util.Sum {
			r.Fatalf("minutes %+v, spans %+v", minutes, spans)
		}
	})
}

// TestUseSumsEveryField: no field of a Use is left out of a sum, or of a reset.
func TestUseSumsEveryField(t *testing.T) {
	full := &Use{}
	fill(reflect.ValueOf(full).Elem())
	full.Edges = Edges{}
	full.Steps.Bins = full.Steps.Bins[:1] // they are in order, each once
	full.Signs = slices.Repeat(judge.Tally{1}, judge.TallySize)
	for name, u := range map[string]*Use{"Merge": {}, "Append": {}} {
		if name == "Merge" {
			u.Merge(full)
		} else {
			u.Append(full)
		}
		u.Parts = 1
		for _, d := range u.distributions() {
			d.Top = 1 // a range is set, never summed
		}
		if !reflect.DeepEqual(u, full) {
			t.Errorf("%s into nothing:\ngot  %+v\nwant %+v", name, u, full)
		}
	}
	full.Edges = Edges{Head: Stretch{true, 1}, Tail: Stretch{true, 1}}
	full.Reset()
	empty := &Use{Parts: 1, Signs: make(judge.Tally, judge.TallySize)}
	empty.Steps.Bins = []rhythm.Bin{}
	for _, d := range empty.distributions() {
		d.Top, d.Bins = 1, make([]int64, distributionBins)
	}
	if !reflect.DeepEqual(full, empty) {
		t.Errorf("after a reset: %+v", full)
	}
}

// TestEveryTimeIsGPUTimeOrNot: a new time of Use is scaled by the share of an instance, or listed here.
func TestEveryTimeIsGPUTimeOrNot(t *testing.T) {
	notScaled := map[string]string{
		"Watched": "of the device itself", "Longest": "a length", "Pauses": "a number", "Parts": "a unit",
	}
	var u Use
	for _, x := range u.gpuTimes() {
		*x = 1
	}
	v := reflect.ValueOf(u)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if v.Field(i).Kind() == reflect.Int64 && v.Field(i).Int() == 0 && notScaled[name] == "" {
			t.Errorf("%s is no time in gpuTimes, and not listed as what an instance has whole", name)
		}
	}
}

// fill sets every field to 1.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), distributionBins, distributionBins))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Uint64:
		v.SetUint(1)
	default:
		v.SetInt(1)
	}
}

// TestMostAtOnce: a job that moves from one device to another never held two.
func TestMostAtOnce(t *testing.T) {
	for _, c := range []struct {
		times []timeHeld
		want  int
		parts int64
	}{
		{nil, 0, 0},
		{[]timeHeld{{1, 5, 168}, {5, 9, 168}}, 1, 168},
		{[]timeHeld{{5, 9, 24}, {1, 6, 24}, {2, 3, 84}, {8, 10, 24}}, 2, 108},
		{[]timeHeld{{5, 9, 24}, {1, 6, 24}, {2, 3, 24}, {20, 21, 168}}, 2, 168},
	} {
		if got, parts := mostAtOnce(c.times); got != c.want || parts != c.parts {
			t.Errorf("%v: got %d and %d parts, want %d and %d", c.times, got, parts, c.want, c.parts)
		}
	}
}
