package profile

import (
	"context"
	"errors"
	"io"
	"time"
)

// Recorded tells whether a source gives what was seen in the past: its ticks then
// have their own times and events, and a Player is to be used on it, no Sampler.
// Host is that of the tick that was read last.
func Recorded(s Source) bool {
	r, ok := s.(interface{ Recorded() bool })
	return ok && r.Recorded()
}

// Player hands on the ticks of a recording, as they are.
type Player struct {
	Source Source
	Clock  Clock
	Speed  float64       // times as fast as it was recorded; 0 is at once
	Length time.Duration // of the recording that is played, from its first tick; 0 is all
	// Write is given each tick and the box that it is of. It must not keep it.
	Write func(host string, t *Tick) error
}

// Played says what was played.
type Played struct {
	Ticks      int64
	Samples    int64 // of single devices
	First, End Instant
}

// Play plays until the recording or ctx ends, which is no error. The ticks come
// as far apart as they were recorded, divided by Speed; steps back in time are
// not waited for. What cannot be read or written is an error.
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
