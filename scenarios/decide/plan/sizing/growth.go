package sizing

import (
	"fmt"
	"strings"

	"capcli"
)

// Grown is the size for a load that has grown.
type Grown struct {
	Load     float64 `json:"load"`     // as a multiple of the requests given
	Replicas *int    `json:"replicas"` // null where no number keeps the promises
	GPUs     *int64  `json:"gpus"`
	Cost     *Cost   `json:"cost"`
	Holds    bool    `json:"holds_as_is"` // the size of today keeps the promises
	Why      string  `json:"why,omitempty"`
}

// Headroom is how far the load may grow before the size of today breaks a promise.
type Headroom struct {
	Holds  float64 `json:"holds_at"`  // the greatest load found at which all promises hold, as a multiple
	Breaks float64 `json:"breaks_at"` // the least load found at which one breaks; 0 where none does up to Holds
	Binds  string  `json:"binds"`     // the promises that break
	Says   string  `json:"says"`
}

// grow sizes the service for each growth: the same requests, closer together.
func (q *plan) grow(z *sizer, s *Size, t *Traffic) ([]Grown, error) {
	out := []Grown{}
	how := q.search
	if how == exact {
		how = bound // fewer than the bound are proven not to hold
	}
	for _, ppm := range q.growth {
		at := *z
		at.load = grown(z.load, ppm)
		g := Grown{Load: float64(ppm) / whole}
		f, err := at.search(how)
		if err != nil {
			return nil, err
		}
		var size Size
		size.Choice = s.Choice
		then := *t
		then.Rate *= g.Load
		size.fill(&at, f, &then)
		g.Replicas, g.GPUs, g.Cost, g.Why = size.Replicas, size.GPUs, size.Cost, size.Why
		if g.Holds, err = at.holds(*s.Replicas); err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, nil
}

// steps of the search for the load that breaks a promise, in millionths of the load.
const (
	coarse   = whole / 10
	fine     = whole / 100
	mostLoad = 10 * whole
)

// headroom raises the load by tenths until a promise breaks, and then halves the step to a hundredth.
func (q *plan) headroom(z *sizer, s *Size) (*Headroom, error) {
	low, high := int64(whole), int64(0)
	h := &Headroom{}
	for high == 0 || high-low > fine {
		ppm := (low + high) / 2 / fine * fine
		if high == 0 {
			ppm = low + max(coarse, low/4/coarse*coarse)
		}
		at := *z
		at.load = grown(z.load, ppm)
		t, err := at.try(*s.Replicas)
		if err != nil {
			return nil, err
		}
		if t.Holds {
			low = ppm
		} else {
			high = ppm
			h.Binds = strings.Join(z.broken(t.Promises), ", ")
		}
		if high == 0 && low >= mostLoad {
			break
		}
	}
	h.Holds, h.Breaks = float64(low)/whole, float64(high)/whole
	h.Says = h.sentence(*s.Replicas)
	return h, nil
}

// sentence says how far n replicas reach.
func (h *Headroom) sentence(n int) string {
	return fmt.Sprintf("%s %s %s%s.", capcli.Grouped(int64(n)), capcli.Plural(int64(n), "replica"), capcli.Agree(n, "keeps", "keep"), strings.TrimPrefix(h.Clause(), "today's size keeps"))
}

// Clause says the same of today's size, for a sentence.
func (h *Headroom) Clause() string {
	text := fmt.Sprintf("today's size keeps the promises up to %.3g times this load", h.Holds)
	if h.Breaks == 0 {
		return text + ", the most that was tried"
	}
	return text + fmt.Sprintf(", and at %.3g times %s breaks", h.Breaks, h.Binds)
}
