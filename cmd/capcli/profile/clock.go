package profile

import (
	"context"
	"time"

	"capcli/profile"
)

// realClock is the clock of this box.
type realClock struct {
	now   func() time.Time
	begun time.Time
}

func newRealClock(now func() time.Time) *realClock { return &realClock{now, now()} }

// Now implements profile.Clock. The second value comes from the monotonic reading of
// time.Time, which does not jump.
func (c *realClock) Now() (profile.Instant, time.Duration) {
	now := c.now()
	return profile.InstantOf(now), now.Sub(c.begun)
}

// Wait implements profile.Clock.
func (c *realClock) Wait(ctx context.Context, until time.Duration) error {
	_, now := c.Now()
	if now >= until {
		return context.Cause(ctx)
	}
	t := time.NewTimer(until - now)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// After implements profile.Clock.
func (c *realClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// madeClock is a simulated clock that runs at any speed. Only Wait moves it.
type madeClock struct {
	wall   profile.Instant
	steady time.Duration
	speed  float64 // multiple of real time; 0 never waits
	real   *realClock
}

// Now implements profile.Clock.
func (c *madeClock) Now() (profile.Instant, time.Duration) { return c.wall, c.steady }

// Wait implements profile.Clock.
func (c *madeClock) Wait(ctx context.Context, until time.Duration) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if until <= c.steady {
		return nil
	}
	d := until - c.steady
	if c.speed > 0 {
		_, now := c.real.Now()
		if err := c.real.Wait(ctx, now+time.Duration(float64(d)/c.speed)); err != nil {
			return err
		}
	}
	c.wall, c.steady = c.wall.Add(d), until
	return nil
}

// After implements profile.Clock. It waits in real time, for it bounds how long a source may hang.
func (c *madeClock) After(d time.Duration) <-chan time.Time { return c.real.After(d) }

// endingClock ends the run at time end.
type endingClock struct {
	profile.Clock
	end time.Duration
}

// Wait implements profile.Clock. It returns context.DeadlineExceeded where it would wait beyond the
// end.
func (c *endingClock) Wait(ctx context.Context, until time.Duration) error {
	if until < c.end {
		return c.Clock.Wait(ctx, until)
	}
	if err := c.Clock.Wait(ctx, c.end); err != nil {
		return err
	}
	return context.DeadlineExceeded
}
