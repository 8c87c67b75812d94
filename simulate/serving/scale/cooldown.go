package scale

import (
	"capcli"
	"capcli/simulate"
)

// cooldown holds changes back: no rise within up of the last rise, no fall within down of any change.
type cooldown struct {
	up, down capcli.Seconds

	rose, changed bool
	rise, change  capcli.Seconds // times of the last ones
}

func (c *cooldown) bound(s *simulate.ScaleState, want int) int {
	current := s.Ready + s.Loading
	switch {
	case want > current && c.rose && s.Now-c.rise < c.up, want < current && c.changed && s.Now-c.change < c.down:
		return current
	case want > current:
		c.rose, c.rise = true, s.Now
		c.changed, c.change = true, s.Now
	case want < current:
		c.changed, c.change = true, s.Now
	}
	return want
}
