package profile_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"capcli/profile"
)

// simClock is a clock that a test moves: waiting takes no time.
type simClock struct {
	wall   profile.Instant
	steady time.Duration
	end    time.Duration
	wait   func(c *simClock, until time.Duration) // what happens while waiting
	late   chan time.Time                         // sends when patience is at its end
}

func (c *simClock) After(time.Duration) <-chan time.Time { return c.late }

func (c *simClock) Now() (profile.Instant, time.Duration) { return c.wall, c.steady }

func (c *simClock) pass(d time.Duration) { c.wall, c.steady = c.wall.Add(d), c.steady+d }

func (c *simClock) Wait(_ context.Context, until time.Duration) error {
	if until > c.end {
		return context.Canceled
	}
	if until > c.steady {
		c.pass(until - c.steady)
	}
	if c.wait != nil {
		c.wait(c, until)
	}
	return nil
}

// memory is a sink that counts and keeps events.
type memory struct {
	ticks   int
	samples int
	at      []time.Duration
	keep    bool
	events  []profile.Event
	fail    error
}

func (m *memory) Write(t *profile.Tick) error {
	if m.fail != nil {
		return m.fail
	}
	if len(t.Samples) > 0 {
		m.ticks++
		if m.keep {
			m.at = append(m.at, t.Elapsed)
		}
	}
	m.samples += len(t.Samples)
	m.events = append(m.events, t.Events...)
	return nil
}

func (m *memory) Close() error { return nil }

func (m *memory) kinds() []profile.EventKind {
	var out []profile.EventKind
	for _, e := range m.events {
		out = append(out, e.Kind)
	}
	return out
}

const noon = profile.Instant(1_790_000_000_000_000)

// A day at 1 Hz over eight GPUs: each tick is there, and memory stays flat.
func TestDay(t *testing.T) {
	clock := &simClock{wall: noon, end: 24*time.Hour - time.Second}
	sink := &memory{}
	var first, last runtime.MemStats
	ticks := 0
	s := profile.Sampler{
		Source: profile.NewFake(profile.SourceOptions{Every: time.Second, Processes: 5 * time.Second, Seed: 1}), Sink: sink, Clock: clock, Every: time.Second,
		Observe: func(*profile.Tick) {
			if ticks++; ticks == 3600 {
				runtime.GC()
				runtime.ReadMemStats(&first)
			}
		},
	}
	got, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got.Ticks != 86_400 || got.Missed != 0 || got.Samples != 8*86_400 || sink.samples != 8*86_400 {
		t.Errorf("got %d ticks, %d missed, %d samples, want 86400, 0 and 691200", got.Ticks, got.Missed, got.Samples)
	}
	if want := []profile.EventKind{profile.Began, profile.Ended}; !slices.Equal(sink.kinds(), want) {
		t.Errorf("got events %v, want %v", sink.kinds(), want)
	}
	runtime.GC()
	runtime.ReadMemStats(&last)
	if grown := int64(last.HeapAlloc) - int64(first.HeapAlloc); grown > 256<<10 {
		t.Errorf("the heap grew by %d bytes in 23 hours", grown)
	}
	if per := float64(last.Mallocs-first.Mallocs) / 82_800; per > 8 {
		t.Errorf("%.1f allocations a tick", per)
	}
}

// What the wall clock does moves no tick; a jump is told once, with its size.
func TestClockJump(t *testing.T) {
	jumps := map[time.Duration]time.Duration{5 * time.Second: time.Hour, 8 * time.Second: -30 * time.Minute, 12 * time.Second: 5 * time.Millisecond}
	clock := &simClock{wall: noon, end: 20 * time.Second}
	clock.wait = func(c *simClock, until time.Duration) { c.wall = c.wall.Add(jumps[until]) }
	sink := &memory{keep: true}
	s := profile.Sampler{Source: profile.NewFake(profile.SourceOptions{Every: time.Second}), Sink: sink, Clock: clock, Every: time.Second}
	if _, err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	var got []int64
	for _, e := range sink.events {
		if e.Kind == profile.ClockJump {
			got = append(got, e.Value)
		}
	}
	if want := []int64{time.Hour.Microseconds(), -(30 * time.Minute).Microseconds()}; !slices.Equal(got, want) {
		t.Errorf("got jumps of %v microseconds, want %v", got, want)
	}
	for i, at := range sink.at {
		if want := time.Duration(i) * time.Second; at != want {
			t.Errorf("tick %d at %v, want %v", i, at, want)
		}
	}
}

// A read that comes late misses its ticks; none is caught up in a burst.
func TestLateTicksAreMissed(t *testing.T) {
	clock := &simClock{wall: noon, end: 20 * time.Second}
	clock.wait = func(c *simClock, until time.Duration) {
		if until == 7*time.Second {
			c.pass(4500 * time.Millisecond) // the box was suspended
		}
	}
	sink := &memory{keep: true}
	s := profile.Sampler{Source: profile.NewFake(profile.SourceOptions{Every: time.Second}), Sink: sink, Clock: clock, Every: time.Second}
	got, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got.Missed != 4 || got.Ticks != 17 {
		t.Errorf("got %d missed and %d ticks, want 4 and 17", got.Missed, got.Ticks)
	}
	i := slices.IndexFunc(sink.events, func(e profile.Event) bool { return e.Kind == profile.Gap })
	if i < 0 || sink.events[i].Value != (4500*time.Millisecond).Microseconds() {
		t.Errorf("got events %+v, want one gap of 4.5 s", sink.events)
	}
	for i := 1; i < len(sink.at); i++ {
		if sink.at[i] == sink.at[i-1] {
			t.Errorf("two ticks at %v", sink.at[i])
		}
	}
}

// stuck is a source whose read number 3 hangs until it is let go.
type stuck struct {
	*profile.Fake
	reads int
	hangs chan time.Time
	free  chan struct{}
}

func (s *stuck) Read(ctx context.Context, t *profile.Tick) error {
	if s.reads++; s.reads == 3 {
		s.hangs <- time.Time{}
		<-s.free // does not heed ctx, as a driver call does not
	}
	return s.Fake.Read(ctx, t)
}

func TestReadThatHangs(t *testing.T) { synctest.Test(t, readThatHangs) }

// readThatHangs runs where time passes only when all goroutines wait.
func readThatHangs(t *testing.T) {
	src := &stuck{Fake: profile.NewFake(profile.SourceOptions{Every: time.Second}), free: make(chan struct{}), hangs: make(chan time.Time)}
	clock := &simClock{wall: noon, end: 60 * time.Second, late: src.hangs}
	clock.wait = func(_ *simClock, until time.Duration) {
		switch until {
		case 10 * time.Second:
			close(src.free)
		case 40 * time.Second:
			time.Sleep(time.Second) // by then the answer is there
		default:
		}
	}
	sink := &memory{}
	s := profile.Sampler{Source: src, Sink: sink, Clock: clock, Every: time.Second}
	got, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got.Missed < 8 || got.Missed > 38 || got.Missed+got.Ticks != 61 {
		t.Errorf("got %d missed and %d ticks, want at least 8 (2 s to 9 s), and 61 together", got.Missed, got.Ticks)
	}
	if want := []profile.EventKind{profile.Began, profile.Stalled, profile.Gap, profile.Ended}; !slices.Equal(sink.kinds(), want) {
		t.Errorf("got events %v, want %v", sink.kinds(), want)
	}
}

// slow is a source whose reads take a while.
type slow struct {
	*profile.Fake
	clock *simClock
	took  time.Duration
}

func (s *slow) Read(ctx context.Context, t *profile.Tick) error {
	s.clock.pass(s.took)
	return s.Fake.Read(ctx, t)
}

func TestSlowSourceIsAskedLess(t *testing.T) {
	clock := &simClock{wall: noon, end: time.Minute}
	sink := &memory{}
	s := profile.Sampler{
		Source: &slow{profile.NewFake(profile.SourceOptions{Every: time.Second}), clock, 300 * time.Millisecond},
		Sink:   sink, Clock: clock, Every: time.Second,
	}
	got, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got.Every != 2*time.Second || got.Slowest != 300*time.Millisecond {
		t.Errorf("got an interval of %v after reads of up to %v, want 2s and 300ms", got.Every, got.Slowest)
	}
}

type failing struct {
	*profile.Fake
	err error
}

func (f *failing) Read(context.Context, *profile.Tick) error { return f.err }

func TestRunEnds(t *testing.T) {
	broken := errors.New("broken")
	full := errors.New("disk full")
	for _, c := range []struct {
		name      string
		src, sink error
		want      error
	}{
		{"end of a recording", io.EOF, nil, nil},
		{"source broken", broken, nil, broken},
		{"disk full", nil, full, full},
	} {
		t.Run(c.name, func(t *testing.T) {
			var src profile.Source = profile.NewFake(profile.SourceOptions{})
			if c.src != nil {
				src = &failing{profile.NewFake(profile.SourceOptions{}), c.src}
			}
			s := profile.Sampler{Source: src, Sink: &memory{fail: c.sink}, Clock: &simClock{wall: noon, end: time.Minute}, Every: time.Second}
			if _, err := s.Run(context.Background()); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// The same seed gives the same figures, and they are those of a box that could be:
// energy is the integral of power, memory is within the device, shares within 100.
func TestFake(t *testing.T) {
	read := func(seed int, n int, each func(*profile.Tick)) string {
		f := profile.NewFake(profile.SourceOptions{Every: time.Second, Processes: 5 * time.Second, Seed: 7})
		var tick profile.Tick
		sum := 0.0
		for i := range n {
			tick.Reset()
			tick.At = noon.Add(time.Duration(i) * time.Second)
			if err := f.Read(context.Background(), &tick); err != nil {
				t.Fatal(err)
			}
			for k := range tick.Samples {
				for m, v := range tick.Samples[k].Values {
					sum += v * float64(m+1) * float64(seed)
				}
			}
			if each != nil {
				each(&tick)
			}
		}
		return fmt.Sprint(sum)
	}
	if a, b := read(1, 500, nil), read(1, 500, nil); a != b {
		t.Errorf("the same seed gave %s and %s", a, b)
	}
	const n = 150_000
	var watts, first, last [8]float64
	kinds := map[string]bool{}
	i := 0
	read(1, n, func(tick *profile.Tick) {
		for k := range tick.Samples {
			s := &tick.Samples[k]
			for m := range profile.NumMetrics {
				v, ok := s.Get(m)
				if m == profile.Fan {
					if ok || s.Why[m] != profile.Unsupported {
						t.Fatalf("a board without a fan tells %v (%v)", v, s.Why[m])
					}
					continue
				}
				if !ok || profile.Metrics[m].Unit == "%" && v > 100 {
					t.Fatalf("%v is %v (%v)", m, v, s.Why[m])
				}
			}
			if s.Values[profile.MemUsed] > s.Values[profile.MemTotal] {
				t.Fatalf("more memory is used than there is")
			}
			if i > 0 {
				watts[k] += s.Values[profile.Power]
			} else {
				first[k] = s.Values[profile.Energy]
			}
			last[k] = s.Values[profile.Energy]
		}
		for _, p := range tick.Processes {
			kinds[p.Command] = true
		}
		i++
	})
	for k := range watts {
		if got, want := last[k]-first[k], watts[k]; got < 0.99*want-100 || got > 1.01*want+100 {
			t.Errorf("GPU %d: energy grew by %.0f J, power sums to %.0f J", k, got, want)
		}
	}
	if len(kinds) < 5 {
		t.Errorf("only %d kinds of process in %d s", len(kinds), n)
	}
}

func BenchmarkSampler(b *testing.B) {
	clock := &simClock{wall: noon, end: time.Duration(b.N) * time.Second}
	s := profile.Sampler{
		Source: profile.NewFake(profile.SourceOptions{Every: time.Second, Processes: 5 * time.Second}), Sink: &memory{}, Clock: clock, Every: time.Second,
	}
	b.ReportAllocs()
	if _, err := s.Run(context.Background()); err != nil {
		b.Fatal(err)
	}
}
