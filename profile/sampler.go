package profile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Sampler reads a Source at regular times and writes what it saw to a Sink.
type Sampler struct {
	Source Source
	Sink   Sink
	Clock  Clock
	Every  time.Duration // between ticks
	// Most is how long one read may take before the tick is given up; 0 is the
	// longer of Every and 2 s.
	Most time.Duration
	// Observe, where it is not nil, is shown each tick after it was written, also
	// those of events alone. It must not keep the tick.
	Observe func(*Tick)
}

// Sampled says how a run went.
type Sampled struct {
	Ticks   int64         // written with samples
	Missed  int64         // times at which nothing was read
	Samples int64         // of single devices
	Took    time.Duration // all reads together
	Slowest time.Duration // read
	Every   time.Duration // at the end: longer than asked for where reads took too long
}

// How a sampler judges what it sees.
const (
	leastMost  = 2 * time.Second
	jump       = 200 * time.Millisecond // between two ticks, of the wall clock against the steady one
	slowShare  = 4                      // a read may take this part of the interval: a quarter
	slowTicks  = 10                     // after so many slow ones in a row the interval is doubled
	longestGap = 10 * time.Second       // to which the interval is stretched
	longestNap = 30 * time.Second       // between tries of a source that fails
	mostNotes  = 100                    // events kept for the next tick while it does
)

// Run samples until ctx ends or the source is at its end, which is no error. What
// the source fails with before it has told anything ends the run; once it has, it
// is asked again, each time after twice as long, and a Stalled event tells why: an
// exporter that is down for an hour must not end the recording of a month. A
// read that is late misses its ticks; they are never caught up in a burst, and
// a Gap tells of them. A read that does not come back keeps its tick: the rest
// of the run goes on without samples, which a Stalled event tells, until it does.
// Jumps of the wall clock are events; the intervals go by the steady clock. What
// the sink cannot write ends the run with its error.
func (s *Sampler) Run(ctx context.Context) (Sampled, error) {
	r := &run{Sampler: s, every: s.Every, most: s.Most, ask: make(chan *Tick), answer: make(chan error, 1)}
	if r.most == 0 {
		r.most = max(s.Every, leastMost)
	}
	defer close(r.ask)
	go r.reader(context.WithoutCancel(ctx)) // a read under way is finished
	err := r.loop(ctx)
	r.stats.Every = r.every
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err == nil {
		_, now := s.Clock.Now()
		r.noteUp(now, "the source did not answer again")
		err = r.event(Ended, 0, "")
	}
	return r.stats, err
}

// run is one Run of a Sampler.
type run struct {
	*Sampler
	stats       Sampled
	every, most time.Duration
	ask         chan *Tick
	answer      chan error
	tick        Tick // read into by the reader while busy
	note        Tick // of events alone
	busy        bool
	told        bool          // that the read is stalled
	asked       time.Duration // when
	offset      Instant       // of the wall clock against the steady one
	slow        int           // reads in a row
	down        bool          // the last read failed
	since       time.Duration // when it first did
	nap, retry  time.Duration // how long it is let alone, and until when
	pending     []Event       // for the next tick that is written
}

// reader does the reads, so that one that hangs does not hang the run.
func (r *run) reader(ctx context.Context) {
	for t := range r.ask {
		one, cancel := context.WithTimeout(ctx, r.most)
		err := r.Source.Read(one, t)
		cancel()
		r.answer <- err
	}
}

func (r *run) loop(ctx context.Context) error {
	wall, now := r.Clock.Now()
	r.offset = wall - Instant(now.Microseconds())
	if err := r.event(Began, 0, r.Source.Host()); err != nil {
		return err
	}
	next := now
	for {
		if err := r.Clock.Wait(ctx, next); err != nil {
			return r.awaitLastRead()
		}
		wall, now = r.Clock.Now()
		r.watchClock(wall, now)
		if late := (now - next) / r.every; late > 0 {
			r.missed(wall, int64(late))
			next += late * r.every
		}
		if err := r.look(wall, now); err != nil {
			return err
		}
		next += r.every
	}
}

// watchClock notes a jump of the wall clock.
func (r *run) watchClock(wall Instant, now time.Duration) {
	offset := wall - Instant(now.Microseconds())
	if d := offset.Sub(r.offset); d > jump || d < -jump {
		r.pending = append(r.pending, Event{At: wall, Kind: ClockJump, Value: d.Microseconds(), Text: fmt.Sprintf("the wall clock went %v", d.Round(time.Millisecond))})
	}
	r.offset = offset // slewing adds up unseen, a jump does not
}

func (r *run) missed(at Instant, n int64) {
	r.stats.Missed += n
	r.pending = append(r.pending, Event{At: at, Kind: Gap, Value: n * r.every.Microseconds(), Text: fmt.Sprintf("%d ticks missed", n)})
}

// look reads once, or finds that the last read has not returned.
func (r *run) look(wall Instant, now time.Duration) error {
	if !r.busy && r.down && now < r.retry {
		r.stats.Missed++
		return nil
	}
	if !r.busy {
		r.tick.Reset()
		r.tick.At, r.tick.Elapsed, r.tick.Every = wall, now, r.every
		r.busy, r.asked = true, now
		r.ask <- &r.tick
	}
	err, back := r.wait()
	if !back {
		r.stats.Missed++
		if r.told {
			return nil
		}
		r.told = true
		return r.event(Stalled, (now - r.asked).Microseconds(), "the source does not answer")
	}
	r.busy = false
	if err != nil {
		return r.failed(now, err)
	}
	return r.write()
}

// failed decides what a read's error means.
func (r *run) failed(now time.Duration, err error) error {
	if errors.Is(err, io.EOF) || r.stats.Ticks == 0 {
		return err
	}
	r.stats.Missed++
	if len(r.pending) < mostNotes { // what befell is told, if not by this tick
		r.pending = append(r.pending, r.tick.Events...)
	}
	r.nap = min(max(2*r.nap, r.every), max(longestNap, r.every))
	r.retry, r.told = now+r.nap, false
	if r.down {
		return nil
	}
	r.down, r.since = true, r.asked
	return r.event(Stalled, 0, fmt.Sprintf("the source failed, trying again: %.200v", err))
}

// noteUp records that the source answers again after a failure.
func (r *run) noteUp(now time.Duration, text string) {
	if !r.down {
		return
	}
	wall, _ := r.Clock.Now()
	r.pending = append(r.pending, Event{At: wall, Kind: Gap, Value: (now - r.since).Microseconds(), Text: text})
	r.down, r.nap = false, 0
}

// wait gives the answer to a read that comes in time. One that is known to be
// stuck is not waited for.
func (r *run) wait() (err error, back bool) {
	if r.told {
		select {
		case err = <-r.answer:
			return err, true
		default:
			return nil, false
		}
	}
	select {
	case err = <-r.answer:
		return err, true
	case <-r.Clock.After(r.most + r.most/4): // the source keeps to its deadline by itself, if it can
		return nil, false
	}
}

// write finishes the tick that was read and hands it on.
func (r *run) write() error {
	wall, now := r.Clock.Now()
	t := &r.tick
	t.Took = now - r.asked
	r.noteUp(r.asked, "the source answers again")
	if r.told {
		r.told = false
		r.pending = append(r.pending, Event{At: wall, Kind: Gap, Value: t.Took.Microseconds(), Text: "the source answers again"})
	}
	r.stats.Took += t.Took
	r.stats.Slowest = max(r.stats.Slowest, t.Took)
	r.stretch(wall, t.Took)
	t.Events = append(t.Events, r.pending...)
	r.pending = r.pending[:0]
	if err := r.Sink.Write(t); err != nil {
		return err
	}
	r.stats.Ticks++
	r.stats.Samples += int64(len(t.Samples))
	if r.Observe != nil {
		r.Observe(t)
	}
	return nil
}

// stretch doubles the interval of a source that cannot keep up: a profiler must
// not be what the box is busy with.
func (r *run) stretch(at Instant, took time.Duration) {
	if took*slowShare <= r.every {
		r.slow = 0
		return
	}
	if r.slow++; r.slow < slowTicks || r.every*2 > longestGap {
		return
	}
	r.slow = 0
	r.every *= 2
	r.pending = append(r.pending, Event{At: at, Kind: Slow, Value: took.Microseconds(), Text: fmt.Sprintf("reads take over a quarter of the interval, so the interval is now %v", r.every)})
}

// awaitLastRead waits briefly for a read that is under way and writes its result.
func (r *run) awaitLastRead() error {
	if !r.busy {
		return nil
	}
	if err, back := r.wait(); back && err == nil {
		return r.write()
	}
	return nil
}

// event writes a tick of one event alone, and those that wait.
func (r *run) event(kind EventKind, value int64, text string) error {
	wall, now := r.Clock.Now()
	t := &r.note
	t.Reset()
	t.At, t.Elapsed, t.Every = wall, now, r.every
	t.Events = append(append(t.Events, r.pending...), Event{At: wall, Kind: kind, Value: value, Text: text})
	r.pending = r.pending[:0]
	if err := r.Sink.Write(t); err != nil {
		return err
	}
	if r.Observe != nil {
		r.Observe(t)
	}
	return nil
}
