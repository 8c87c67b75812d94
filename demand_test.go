package capcli

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func mustZone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Skip("no time zones here: ", err)
	}
	return z
}

func TestParseStep(t *testing.T) {
	tests := []struct {
		text, want string
		length     Seconds
	}{
		{"1h", "1h", Hour},
		{"90m", "90m", 90 * Minute},
		{"3600", "1h", Hour},
		{"1d", "1d", Day},
		{"7d", "1w", 7 * Day},
		{"2w", "2w", 14 * Day},
		{"1mo", "1mo", 365 * Day / 12},
		{"3mo", "1q", 365 * Day / 4},
		{"1y", "1y", 365 * Day},
		{"1d12h", "36h", 36 * Hour},
		{"86400s", "1d", Day},
	}
	for _, tt := range tests {
		got, err := ParseStep(tt.text)
		if err != nil || got.String() != tt.want || got.Length() != tt.length {
			t.Errorf("ParseStep(%q) = %v of %d, %v; want %s of %d", tt.text, got, got.Length(), err, tt.want, tt.length)
		}
	}
	for _, text := range []string{"", "0", "0d", "-1h", "h", "1.5h", "101y", "99999999999999d", "1 mo x"} {
		if got, err := ParseStep(text); err == nil {
			t.Errorf("ParseStep(%q) = %v, want an error", text, got)
		}
	}
}

func TestGridFollowsTheCalendar(t *testing.T) {
	berlin := mustZone(t, "Europe/Berlin")
	at := func(text string) Time {
		v, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return TimeOf(v)
	}
	tests := []struct {
		name, step string
		zone       *time.Location
		first      string
		want       []string
	}{
		{"days over the spring change", "1d", berlin, "2026-03-28T12:00:00+01:00", []string{"2026-03-27T23:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"}},
		{"days over the autumn change", "1d", berlin, "2026-10-25T12:00:00+01:00", []string{"2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"}},
		{"weeks begin on Monday", "1w", nil, "2026-11-19T10:00:00Z", []string{"2026-11-16T00:00:00Z", "2026-11-23T00:00:00Z"}},
		{"months", "1mo", nil, "2026-01-31T10:00:00Z", []string{"2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"}},
		{"quarters", "1q", nil, "2026-05-31T10:00:00Z", []string{"2026-04-01T00:00:00Z", "2026-07-01T00:00:00Z"}},
		{"six hours", "6h", berlin, "2026-11-19T10:00:00Z", []string{"2026-11-19T05:00:00Z", "2026-11-19T11:00:00Z"}},
		{"before 1970", "1d", nil, "1969-12-31T10:00:00Z", []string{"1969-12-31T00:00:00Z", "1970-01-01T00:00:00Z"}},
	}
	for _, tt := range tests {
		step, err := ParseStep(tt.step)
		if err != nil {
			t.Fatal(err)
		}
		g := step.Grid(at(tt.first), tt.zone)
		for i, want := range tt.want {
			if got := g.At(i).String(); got != want {
				t.Errorf("%s: step %d begins %s, want %s", tt.name, i, got, want)
			}
		}
		if got := g.Index(at(tt.first)); got != 0 {
			t.Errorf("%s: the first instant is in step %d, want 0", tt.name, got)
		}
	}
	ends := Grid{Origin: at("2026-01-31T00:00:00Z"), Step: Step{Months: 1}, MonthEnd: true}
	if got := ends.At(1).String(); got != "2026-02-28T00:00:00Z" {
		t.Errorf("the month's end after January is %s, want 2026-02-28T00:00:00Z", got)
	}
}

func TestGridIndexIsTheInverseOfAt(t *testing.T) {
	zones := []*time.Location{nil, mustZone(t, "Europe/Berlin"), mustZone(t, "America/New_York"), mustZone(t, "Asia/Kolkata")}
	steps := []Step{{Seconds: 900}, {Seconds: 3600}, {Seconds: 7000}, {Days: 1}, {Days: 7}, {Days: 3}, {Months: 1}, {Months: 3}, {Months: 12}}
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.SampledFrom(steps).Draw(t, "step")
		g := step.Grid(Time(rapid.Int64Range(-1e9, 4e9).Draw(t, "first")), rapid.SampledFrom(zones).Draw(t, "zone"))
		at := Time(rapid.Int64Range(-1e9, 4e9).Draw(t, "at"))
		i := g.Index(at)
		if g.At(i) > at || g.At(i+1) <= at {
			t.Fatalf("step %d is %s to %s, which does not hold %s", i, g.At(i), g.At(i+1), at)
		}
	})
}

// drawJobs makes jobs with every mix of known and unknown times.
func drawJobs(t *rapid.T, sorted bool) []Job {
	var jobs []Job
	at := int64(1_700_000_000)
	for range rapid.IntRange(1, 30).Draw(t, "jobs") {
		if sorted {
			at += rapid.Int64Range(0, 40000).Draw(t, "gap")
		} else {
			at = 1_700_000_000 + rapid.Int64Range(-400000, 400000).Draw(t, "submit")
		}
		j := Job{Submit: Time(at), Start: NoTime, End: NoTime, GPUs: rapid.IntRange(0, 9).Draw(t, "gpus"), Run: Seconds(rapid.Int64Range(0, 200000).Draw(t, "run"))}
		if j.GPUs == 1 && rapid.Bool().Draw(t, "shares") {
			j.GPUMilli = rapid.IntRange(1, 999).Draw(t, "milli")
		}
		if rapid.Bool().Draw(t, "started") {
			j.Start = j.Submit + Time(rapid.Int64Range(0, 100000).Draw(t, "wait"))
			j.End = j.Start + Time(j.Run)
		}
		j.Tenant = rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "tenant")
		jobs = append(jobs, j)
	}
	return jobs
}

// The independent answer: second sums by interval intersection, job by job.
func overlap(a, b, c, d Time) int64 { return max(0, int64(min(b, d)-max(a, c))) }

func TestDemandIsExact(t *testing.T) {
	berlin := mustZone(t, "Europe/Berlin")
	rapid.Check(t, func(t *rapid.T) {
		measure := rapid.SampledFrom([]Measure{LatentDemand, Usage, Queue, ArrivalHours, Arrivals}).Draw(t, "measure")
		d := &Demand{Measure: measure, Step: rapid.SampledFrom([]Step{{Seconds: 3600}, {Seconds: 7000}, {Days: 1}, {Days: 7}}).Draw(t, "step"), Zone: berlin}
		jobs := drawJobs(t, false)
		var want GPUTime
		for i := range jobs {
			j := &jobs[i]
			if err := d.Add(j, "total", j.Tenant); err != nil {
				t.Fatal(err)
			}
			if j.GPUs == 0 {
				continue
			}
			switch from, to, ok := d.span(j); {
			case measure == Arrivals:
				want++
			case measure == ArrivalHours:
				want += j.Work()
			case ok:
				want += GPUTime(j.Milli() * int64(to-from))
			}
		}
		steps, sum := d.Work("total")
		if sum != want {
			t.Fatalf("the steps sum to %d, want %d", sum, want)
		}
		var parts GPUTime
		for _, name := range d.Names() {
			if name != "total" {
				_, s := d.Work(name)
				parts += s
			}
		}
		if parts != want {
			t.Fatalf("the groups sum to %d, want %d", parts, want)
		}
		g := d.Grid()
		for i, got := range steps {
			var in int64
			for k := range jobs {
				from, to, ok := d.span(&jobs[k])
				if jobs[k].GPUs > 0 && ok && measure <= Queue {
					in += jobs[k].Milli() * overlap(from, to, g.At(i), g.At(i+1))
				}
			}
			if measure <= Queue && int64(got) != in {
				t.Fatalf("step %d from %s holds %d, want %d", i, g.At(i), got, in)
			}
		}
	})
}

func TestDemandPeaksAreTheHighestLevel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		measure := rapid.SampledFrom([]Measure{LatentDemand, Usage, Queue}).Draw(t, "measure")
		d := &Demand{Measure: measure, Step: rapid.SampledFrom([]Step{{Seconds: 3600}, {Days: 1}}).Draw(t, "step"), Peaks: true}
		jobs := drawJobs(t, true)
		for i := range jobs {
			if err := d.Add(&jobs[i], "total"); err != nil {
				t.Fatal(err)
			}
		}
		g := d.Grid()
		for i, got := range d.Series("total").Values {
			want := int64(0)
			for k := range jobs { // a level can only rise at the step's start or where a job begins
				for _, at := range []Time{g.At(i), max(jobs[k].Submit, g.At(i)), max(jobs[k].Start, g.At(i))} {
					level := int64(0)
					for m := range jobs {
						if from, to, ok := d.span(&jobs[m]); jobs[m].GPUs > 0 && ok && from <= at && at < to && at < g.At(i+1) {
							level += jobs[m].Milli()
						}
					}
					want = max(want, level)
				}
			}
			if got != float64(want)/1000 {
				t.Fatalf("step %d peaks at %v, want %v", i, got, float64(want)/1000)
			}
		}
	})
}

func TestDemandMeanByHand(t *testing.T) {
	d := &Demand{Step: Step{Seconds: 3600}}
	day := Time(1_700_006_400) // 2023-11-15 00:00 UTC
	for _, j := range []Job{
		{Submit: day, GPUs: 8, Run: 5400},         // 00:00 to 01:30
		{Submit: day + 1800, GPUs: 4, Run: 1800},  // 00:30 to 01:00
		{Submit: day + 10790, GPUs: 0, Run: 1000}, // a CPU job
		{Submit: day + 10799, GPUs: 1, Run: 1},    // the last second of the third hour
	} {
		if err := d.Add(&j, "total"); err != nil {
			t.Fatal(err)
		}
	}
	s := d.Series("total")
	if got, want := fmt.Sprint(s.Values), "[10 4 0.0002777777777777778]"; got != want {
		t.Errorf("hourly means %s, want %s", got, want)
	}
	if from, to := d.WholeSteps(); from != 0 || to != 3 {
		t.Errorf("whole steps %d to %d, want 0 to 3", from, to)
	}
	if s.Start != day || s.Unit != "GPUs" {
		t.Errorf("starts %s in %s, want %s in GPUs", s.Start, s.Unit, day)
	}
}

func TestDemandLimits(t *testing.T) {
	d := &Demand{Step: Step{Seconds: 60}, MaxCells: 1000}
	far := Job{Submit: 1_700_000_000, GPUs: 1, Run: 100 * 86400}
	if err := d.Add(&far, "a"); !errors.Is(err, errTooManyCells) {
		t.Errorf("a hundred days in minutes: %v, want errTooManyCells", err)
	}
	d = &Demand{Step: Step{Days: 1}}
	huge := Job{Submit: 1_700_000_000, GPUs: 1 << 40, Run: math.MaxInt32}
	if err := errors.Join(d.Add(&huge, "a"), d.Add(&huge, "a")); !errors.Is(err, ErrTooMuchTime) {
		t.Errorf("more GPU time than 2^63: %v, want ErrTooMuchTime", err)
	}
	d = &Demand{Step: Step{Days: 1}, Peaks: true}
	late, early := Job{Submit: 2000, GPUs: 1, Run: 5}, Job{Submit: 1000, GPUs: 1, Run: 5}
	if err := errors.Join(d.Add(&late, "a"), d.Add(&early, "a")); !errors.Is(err, ErrUnsorted) {
		t.Errorf("out of order: %v, want ErrUnsorted", err)
	}
}

func BenchmarkDemand(b *testing.B) {
	d := &Demand{Step: Step{Seconds: 3600}}
	at := Time(1_700_000_000)
	for b.Loop() {
		at += 7
		j := Job{Submit: at, GPUs: 8, Run: 7200}
		if err := d.Add(&j, "total"); err != nil {
			b.Fatal(err)
		}
	}
}
