package plan

import (
	"cmp"
	"fmt"
	"slices"

	"capcli"
)

// Serve returns what of the demand is left when held GPUs serve what they can, and how
// much they serve.
func (c *Curve) Serve(held []Held) (*Curve, capcli.GPUTime, error) {
	if err := c.Check(); err != nil {
		return nil, 0, err
	}
	changes, err := changesOf(held, c.Len())
	if err != nil {
		return nil, 0, err
	}
	var cuts []capcli.Seconds
	for _, x := range changes {
		cuts = append(cuts, x.at)
	}
	out := &Curve{Start: c.Start, Step: c.Step, Work: make([]capcli.GPUTime, len(c.Work))}
	var served capcli.GPUTime
	var level int64
	k := 0
	for p := range c.Pieces(cuts) {
		for ; k < len(changes) && changes[k].at <= p.From; k++ {
			level += changes[k].milli
		}
		used := min(p.Work, capcli.GPUTime(level*int64(p.To-p.From)))
		out.Work[p.Step] += p.Work - used
		served += used
	}
	return out, served, nil
}

// heldChange is where what is held changes.
type heldChange struct {
	at    capcli.Seconds
	milli int64
}

// changesOf are the changes within a curve in order of time.
func changesOf(held []Held, end capcli.Seconds) ([]heldChange, error) {
	var out []heldChange
	var sum int64
	for _, h := range held {
		if h.Milli < 0 || h.From >= h.To || h.Milli > maxGPUs*1000 {
			return nil, fmt.Errorf("held: expected GPUs from an instant to a later one, found %d thousandths from %d s to %d s", h.Milli, h.From, h.To)
		}
		if sum += h.Milli; sum > maxGPUs*1000 {
			return nil, fmt.Errorf("held: over %.0f GPUs", float64(maxGPUs))
		}
		if h.To <= 0 || h.From >= end {
			continue
		}
		out = append(out, heldChange{max(0, h.From), h.Milli}, heldChange{h.To, -h.Milli})
	}
	slices.SortFunc(out, func(a, b heldChange) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.milli, b.milli)) })
	return out, nil
}
