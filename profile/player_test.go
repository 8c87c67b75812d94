package profile_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"capcli/profile"
)

// breaking is a source that fails from one time to another.
type breaking struct {
	*profile.Fake
	clock    *simClock
	from, to time.Duration
	asked    []time.Duration
}

func (b *breaking) Read(ctx context.Context, t *profile.Tick) error {
	if b.clock.steady >= b.from && b.clock.steady < b.to {
		b.asked = append(b.asked, b.clock.steady)
		return errors.New("connection refused")
	}
	return b.Fake.Read(ctx, t)
}

// A source that is down for an hour is asked less and less, and never given up.
func TestSourceComesBack(t *testing.T) {
	for _, c := range []struct {
		name string
		to   time.Duration
	}{
		{"comes back", 3600 * time.Second},
		{"stays away", 3 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := &simClock{wall: noon, end: 3650 * time.Second}
			src := &breaking{profile.NewFake(profile.SourceOptions{Every: time.Second}), clock, 2 * time.Second, c.to, nil}
			sink := &memory{}
			s := profile.Sampler{Source: src, Sink: sink, Clock: clock, Every: time.Second}
			got, err := s.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if n := len(src.asked); n > 140 || n < 100 {
				t.Errorf("it was asked %d times in an hour, want about once in 30 s", n)
			}
			if got.Ticks+got.Missed != 3651 {
				t.Errorf("%d ticks and %d missed, want 3651 together", got.Ticks, got.Missed)
			}
			want := []profile.EventKind{profile.Began, profile.Stalled, profile.Gap, profile.Ended}
			if !slices.Equal(sink.kinds(), want) {
				t.Fatalf("got events %v, want %v", sink.kinds(), want)
			}
			if gap := sink.events[2].Value; gap != got.Missed*1e6 && gap != (got.Missed-1)*1e6 {
				t.Errorf("the gap is %d µs, %d ticks were missed", gap, got.Missed)
			}
		})
	}
}

// tape is a recording of times.
type tape struct {
	at   []profile.Instant
	fail error
	next int
}

func (s *tape) Recorded() bool { return true }
func (s *tape) Host() string   { return "box" }
func (s *tape) Close() error   { return nil }
func (s *tape) Read(_ context.Context, t *profile.Tick) error {
	if s.next == len(s.at) {
		if s.fail != nil {
			return s.fail
		}
		return io.EOF
	}
	t.At = s.at[s.next]
	s.next++
	return nil
}

func TestPlay(t *testing.T) {
	at := []profile.Instant{noon, noon.Add(time.Second), noon.Add(time.Hour), noon.Add(30 * time.Minute), noon.Add(2 * time.Hour)}
	broken := errors.New("broken")
	for _, c := range []struct {
		name   string
		speed  float64
		length time.Duration
		fail   error
		want   []time.Duration // when it was handed on
		err    error
	}{
		{"as it was", 1, 0, nil, []time.Duration{0, time.Second, time.Hour, time.Hour, 2 * time.Hour}, nil},
		{"faster", 60, 0, nil, []time.Duration{0, time.Second / 60, time.Minute, time.Minute, 2 * time.Minute}, nil},
		{"at once", 0, 0, nil, []time.Duration{0, 0, 0, 0, 0}, nil},
		{"a part", 0, time.Hour, nil, []time.Duration{0, 0}, nil},
		{"cut short", 0, 0, broken, []time.Duration{0, 0, 0, 0, 0}, broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := &simClock{wall: noon, end: 24 * time.Hour}
			var when []time.Duration
			p := profile.Player{Source: &tape{at: at, fail: c.fail}, Clock: clock, Speed: c.speed, Length: c.length, Write: func(host string, tick *profile.Tick) error {
				if host != "box" || tick.At != at[len(when)] {
					t.Errorf("got %v of %s, want %v of box", tick.At, host, at[len(when)])
				}
				when = append(when, clock.steady)
				return nil
			}}
			got, err := p.Play(context.Background())
			if !errors.Is(err, c.err) {
				t.Errorf("got %v, want %v", err, c.err)
			}
			if !slices.Equal(when, c.want) || got.Ticks != int64(len(c.want)) {
				t.Errorf("handed on %d at %v, want %v", got.Ticks, when, c.want)
			}
		})
	}
}
