package profile_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"capcli/profile"
)

// scripted is a source whose reads go as a script says.
type scripted struct {
	clock *simClock
	gpu   profile.Device
	next  func() byte
	hangs chan time.Time
}

func (s *scripted) Host() string { return "box" }
func (s *scripted) Close() error { return nil }

func (s *scripted) Read(_ context.Context, t *profile.Tick) error {
	switch s.next() {
	case 'f': // fails
		return errors.New("down")
	case 'g': // gone for good
		return &profile.GoneError{Text: "the driver was replaced"}
	case 'b': // no GPU answers
		t.NextSample(&s.gpu).Clear(profile.Timeout)
		return nil
	case 's': // slow, and answers
		s.clock.pass(700 * time.Millisecond)
	case 'h': // hangs for some ticks
		s.hangs <- time.Time{}
		time.Sleep(time.Hour)
	default:
	}
	t.NextSample(&s.gpu).Set(profile.UtilGPU, 50)
	return nil
}

// Whatever befalls the source, the clock and the box: what the samples stand for and the gaps add up
// to the time that passed, and each tick is counted as seen or as missed, once.
func TestSeenAndGapsAreTheTimeThatPassed(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) { seenAndGaps(t, seed) })
	}
}

func seenAndGaps(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	kinds := []string{"aaaaaaaaaf", "aaab", "aaaaaaas", "aaaaaaah", "abfshaaaaa"}[seed%5]
	var story []byte
	clock := &simClock{wall: noon, end: 5 * time.Minute, late: make(chan time.Time)}
	clock.wait = func(c *simClock, _ time.Duration) {
		switch rng.IntN(40) {
		case 0:
			c.pass(time.Duration(rng.IntN(9_000)) * time.Millisecond) // the box was suspended
		case 1:
			time.Sleep(time.Hour) // a read that hangs returns
		default:
		}
	}
	src := &scripted{clock: clock, gpu: profile.Device{UUID: "GPU-a", GI: -1, CI: -1}, hangs: clock.late}
	src.next = func() byte {
		k := byte('a')
		if len(story) > 0 { // what fails at first ends the run
			k = kinds[rng.IntN(len(kinds))]
		}
		story = append(story, k)
		return k
	}
	sum := profile.NewSummarizer(time.UTC)
	sink := &memory{}
	s := profile.Sampler{Source: src, Sink: sink, Clock: clock, Every: time.Second, Observe: func(tick *profile.Tick) { sum.Add("box", tick) }}
	got, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Hour) // a read that still hangs returns
	out := sum.Summary()
	seen, gaps, passed := out.Devices[0].Use.Seen, out.Gaps, clock.steady.Microseconds()
	if off := passed + time.Second.Microseconds() - seen - gaps; off < 0 || off > got.Every.Microseconds() {
		t.Errorf("seed %d, %s: seen %v and gaps %v are not the %v that passed", seed, story, micros(seen), micros(gaps), micros(passed))
	}
	n := 0
	for _, e := range sink.events {
		if e.Kind == profile.Gap {
			n++
		}
	}
	if int64(n) > got.Missed || n == 0 && got.Missed > 0 {
		t.Errorf("seed %d, %s: %d gaps of %d ticks missed", seed, story, n, got.Missed)
	}
	if all := passed/got.Every.Microseconds() + 1; got.Every == time.Second && got.Ticks+got.Missed != all {
		t.Errorf("seed %d, %s: %d ticks and %d missed, %d together", seed, story, got.Ticks, got.Missed, all)
	}
}

func micros(n int64) string { return fmt.Sprint(time.Duration(n) * time.Microsecond) }

// What cannot answer any more ends the run, in order; what may answer again does not.
func TestSourceThatIsGone(t *testing.T) {
	for _, c := range []struct {
		story string
		ends  bool
		kinds string
	}{
		{"aaafffff", false, "began stalled gap ended"},
		{"aaabbbb", false, "began gap ended"},
		{"aaag", true, "began gap gave_up"},
		{"aaaffg", true, "began stalled gap gave_up"},
	} {
		clock := &simClock{wall: noon, end: time.Minute}
		src := &scripted{clock: clock, gpu: profile.Device{UUID: "GPU-a", GI: -1, CI: -1}}
		i := -1
		src.next = func() byte {
			if i++; i < len(c.story) {
				return c.story[i]
			}
			return 'a'
		}
		sink := &memory{}
		s := profile.Sampler{Source: src, Sink: sink, Clock: clock, Every: time.Second}
		_, err := s.Run(context.Background())
		gone, ok := errors.AsType[*profile.GoneError](err)
		if ok != c.ends || !c.ends && err != nil || ok && gone.Text == "" {
			t.Errorf("%s ended with %v", c.story, err)
		}
		text := ""
		for _, k := range sink.kinds() {
			text += " " + string(k)
		}
		if text != " "+c.kinds {
			t.Errorf("%s: events%s, want %s", c.story, text, c.kinds)
		}
	}
}
