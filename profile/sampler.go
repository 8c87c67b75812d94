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
	Health  *Health // where it is not nil, told how the run goes
	Machine string  // MachineID of the box; "" is not known
}

// Sampled says how a run went.
type Sampled struct {
	Ticks   int64         // written in which a GPU answered
	Missed  int64         // times at which none did
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
// exporter that is down for an hour must not end the recording of a month. Only a
// *GoneError ends the run then, with a GaveUp event. A
// read that is late misses its ticks; they are never caught up in a burst. A read
// that does not come back keeps its tick: the rest
// of the run goes on without samples, which a Stalled event tells, until it does.
// A tick in which no GPU has any value counts as missed, too. The next tick that
// saw a GPU has one Gap for all that was missed before it, whatever the causes: the
// time between the two ticks less the interval that the later one stands for. So
// the gaps and what the ticks stand for add up to the time that passed.
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
		r.endGap(now, 0)
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
	nap, retry  time.Duration // how long it is let alone, and until when
	pending     []Event       // for the next tick that is written
	seen        time.Duration // when a tick last saw a GPU
	hole        int64         // ticks missed since then
	why         string        // the first of them was
	day         Instant       // whose first tick told the machine
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
	r.seen = now - r.every // so that the first tick stands for an interval, too
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
			r.miss(int64(late), "the time of the tick had passed")
			next += late * r.every
		}
		if err := r.look(wall, now); err != nil {
			return err
		}
		next += r.every
	}
}

func (r *run) watchClock(wall Instant, now time.Duration) {
	offset := wall - Instant(now.Microseconds())
	if d := offset.Sub(r.offset); d > jump || d < -jump {
		r.pending = append(r.pending, Event{At: wall, Kind: ClockJump, Value: d.Microseconds(), Text: fmt.Sprintf("the wall clock went %v", d.Round(time.Millisecond))})
	}
	r.offset = offset // slewing adds up unseen, a jump does not
}

// miss counts n ticks in which nothing was seen.
func (r *run) miss(n int64, why string) {
	r.stats.Missed += n
	r.Health.miss(n)
	if r.hole == 0 {
		r.why = why
	}
	r.hole += n
}

// endGap records the gap between the last tick that saw a GPU and the time until, where ticks were
// missed in between. It is shorter by what a tick at until stands for.
func (r *run) endGap(until, stands time.Duration) {
	long := until - r.seen - stands
	if r.hole > 0 && long > 0 {
		wall, now := r.Clock.Now()
		r.pending = append(r.pending, Event{
			At: wall.Add(r.seen - now), Kind: Gap, Value: long.Microseconds(), Text: fmt.Sprintf("%d ticks missed: %s", r.hole, r.why),
		})
	}
	r.seen, r.hole = until, 0
}

// look reads once, or finds that the last read has not returned.
func (r *run) look(wall Instant, now time.Duration) error {
	if !r.busy && r.down && now < r.retry {
		r.miss(1, "")
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
		r.miss(1, "the source did not answer")
		if r.told {
			return nil
		}
		r.told = true
		r.Health.sourceError()
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
	if len(r.pending) < mostNotes { // what befell is told, if not by this tick
		r.pending = append(r.pending, r.tick.Events...)
	}
	r.miss(1, fmt.Sprintf("the source failed: %.200v", err))
	r.Health.sourceError()
	if gone, ok := errors.AsType[*GoneError](err); ok {
		r.endGap(now, 0)
		return errors.Join(r.event(GaveUp, 0, gone.Text), err)
	}
	r.nap = min(max(2*r.nap, r.every), max(longestNap, r.every))
	r.retry, r.told = now+r.nap, false
	if r.down {
		return nil
	}
	r.down = true
	return r.event(Stalled, 0, fmt.Sprintf("the source failed, trying again: %.200v", err))
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
	r.down, r.nap = false, 0
	if r.told { // of what was seen between the question and the answer, most is as it is now
		r.told, t.At, t.Elapsed = false, wall, now
	}
	saw := t.hasAnswer()
	if saw {
		r.endGap(t.Elapsed, t.Every)
	} else {
		r.miss(1, "no GPU answered")
	}
	r.stats.Took += t.Took
	r.stats.Slowest = max(r.stats.Slowest, t.Took)
	r.stretch(wall, t.Took)
	r.tellMachine(t.At)
	t.Events = append(t.Events, r.pending...)
	r.pending = r.pending[:0]
	if err := r.Sink.Write(t); err != nil {
		return err
	}
	if saw {
		r.stats.Ticks++
		r.Health.tick(t.Every)
	}
	r.stats.Samples += int64(len(t.Samples))
	if r.Observe != nil {
		r.Observe(t)
	}
	return nil
}

// tellMachine adds the event of the machine to the first tick of each day, so that each day's files
// have it.
func (r *run) tellMachine(at Instant) {
	const day = 24 * hourMicros
	if today := at - positive(at, day); r.Machine != "" && today != r.day {
		r.day = today
		r.pending = append(r.pending, Event{At: at, Kind: Machine, Text: r.Machine})
	}
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
	late := r.told
	if err, back := r.wait(); back && err == nil {
		if late { // its tick was counted as missed, and is seen after all
			r.stats.Missed--
		}
		return r.write()
	}
	return nil
}

// event writes a tick of one event alone, and those that wait.
func (r *run) event(kind EventKind, value int64, text string) error {
	wall, now := r.Clock.Now()
	r.tellMachine(wall)
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
