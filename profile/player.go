package profile

import (
	"context"
	"errors"
	"io"
	"time"
)

// Recorded reports whether a source is a recording. Its ticks then have their own times and
// events, its Host is that of the tick read last, and it needs a Player instead of a Sampler.
func Recorded(s Source) bool {
	r, ok := s.(interface{ Recorded() bool })
	return ok && r.Recorded()
}

// Player passes on the ticks of a recording unchanged.
type Player struct {
	Source Source
	Clock  Clock
	Speed  float64       // multiple of the recorded speed; 0 plays without waiting
	Length time.Duration // length to play, from the first tick; 0 is the whole recording
	// Write receives each tick and the name of its box. It must not keep the tick.
	Write func(host string, t *Tick) error
}

// Played sums up a call of Play.
type Played struct {
	Ticks      int64
	Samples    int64   // samples of single devices
	First, End Instant // time of the first tick, and latest time of a tick
}

// Play plays until the recording or ctx ends, which is not an error. The time between ticks is
// the recorded time divided by Speed; Play does not wait for steps back in time. It fails where
// the source or Write fails.
func (p *Player) Play(ctx context.Context) (Played, error) {
	var got Played
	var t Tick
	_, begun := p.Clock.Now()
	for ctx.Err() == nil {
		t.Reset()
		err := p.Source.Read(ctx, &t)
		if errors.Is(err, io.EOF) || err != nil && ctx.Err() != nil {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		if got.Ticks == 0 {
			got.First, got.End = t.At, t.At
		}
		length := t.At.Sub(got.First)
		if p.Length > 0 && length >= p.Length {
			return got, nil
		}
		if p.Speed > 0 {
			if p.Clock.Wait(ctx, begun+time.Duration(float64(length)/p.Speed)) != nil {
				return got, nil
			}
		}
		if err := p.Write(p.Source.Host(), &t); err != nil {
			return got, err
		}
		got.Ticks++
		got.Samples += int64(len(t.Samples))
		got.End = max(got.End, t.At)
	}
	return got, nil
}
