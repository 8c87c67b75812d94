package plan

import (
	"fmt"
	"slices"

	"capcli"
)

// Serve returns the demand that is left when held GPUs serve what they can, and the GPU time that
// they serve.
func (c *Curve) Serve(held []Held) (*Curve, capcli.GPUTime, error) {
	if err := c.Check(); err != nil {
		return nil, 0, err
	}
	levels, err := levelsOf(held)
	if err != nil {
		return nil, 0, err
	}
	cuts := capcli.Map(levels, func(l capcli.Level[capcli.Seconds]) capcli.Seconds { return l.At })
	left := *c
	out := &left
	out.Work = make([]capcli.GPUTime, len(c.Work))
	var served capcli.GPUTime
	var level int64
	for p := range c.Pieces(cuts) {
		for len(levels) > 0 && levels[0].At <= p.From {
			level, levels = levels[0].Level, levels[1:]
		}
		used := min(p.Work, capcli.GPUTime(level*int64(p.To-p.From)))
		out.Work[p.Step] += p.Work - used
		served += used
	}
	return out, served, nil
}

// AfterHeld returns m with purchases that may start when held GPUs end, beside its own times.
func (m *Market) AfterHeld(held []Held) *Market {
	if len(held) == 0 {
		return m
	}
	out := *m
	out.Also = slices.Clone(m.Also)
	for _, h := range held {
		out.Also = append(out.Also, h.To)
	}
	slices.Sort(out.Also)
	out.Also = slices.Compact(out.Also)
	return &out
}

// levelsOf returns the thousandths of GPUs that are held over time.
func levelsOf(held []Held) ([]capcli.Level[capcli.Seconds], error) {
	var out capcli.Steps[capcli.Seconds]
	var sum int64
	for _, h := range held {
		if h.Milli < 0 || h.From >= h.To || h.Milli > maxGPUs*1000 {
			return nil, fmt.Errorf("held: expected GPUs from an instant to a later one, found %d thousandths from %d s to %d s", h.Milli, h.From, h.To)
		}
		if sum += h.Milli; sum > maxGPUs*1000 {
			return nil, fmt.Errorf("held: over %.0f GPUs", float64(maxGPUs))
		}
		out.Add(h.From, h.To, h.Milli)
	}
	return out.Levels(), nil
}
