package main

import (
	"math"

	"capcli/forecast"
	"capcli/profile/demand"
)

// together is the past of a sum whose parts tell their demand from usage each: the
// demand behind the sum is the sum of theirs. Parts and sum end together.
type together struct {
	sum   *history
	parts []*history
	opts  func(h *history) forecast.Options
}

// pasts gives the sums of parts that tell their demand from usage a past.
func (t *tree) pasts(opts func(h *history) forecast.Options) {
	for i, h := range t.sums {
		of := &together{sum: h, opts: opts}
		told := false
		for _, j := range t.of[i] {
			of.parts = append(of.parts, t.parts[j])
			told = told || t.parts[j].past != nil
		}
		if told && h.past == nil {
			h.past = &past{Censoring: &demand.Censoring{Fine: h.Regular}, together: of}
		}
	}
}

// behind is the demand behind the first n steps, cut where that of a part is and
// no queue says by how much.
func (s *together) behind(n int) *told {
	t := &told{demand: make([]float64, n), hidden: make([]bool, n)}
	draw, drawn := make([]float64, n), false
	cut := 0
	for _, h := range s.parts {
		late := len(s.sum.Values) - len(h.Values) // it began so much later
		if n <= late {
			continue
		}
		demand, one := h.Values[:n-late], h.Values[:n-late]
		if h.past != nil {
			own := h.past.behind(demand, s.opts(h))
			if own.err != nil {
				t.err = own.err
				return t
			}
			if demand, one = own.demand, own.demand; own.draw != nil {
				one, drawn = own.draw, true
			}
			t.unsure = t.unsure.Plus(own.unsure)
			t.info.Queue, t.info.Guessed = t.info.Queue+own.info.Queue, t.info.Guessed+own.info.Guessed
			for i, hidden := range own.hidden {
				t.hidden[late+i] = t.hidden[late+i] || hidden
			}
		}
		for i, v := range demand {
			t.demand[late+i] += v
			draw[late+i] += one[i]
		}
	}
	if drawn {
		t.draw = draw
	}
	known := 0
	for i, c := range t.hidden {
		if !math.IsNaN(s.sum.Values[i]) {
			known++
			if c {
				cut++
			}
		}
	}
	t.info.Share = float64(cut) / float64(max(1, known))
	t.info.Usage, t.info.Latent = meanKnown(s.sum.Values[:n]), meanKnown(t.demand)
	return t
}

// flagParts says that the demand of a sum is told from that of its parts.
const flagParts = "parts"

// count says how much of the sum was held down.
func (s *together) count(h *history, t *told) *censoringJSON {
	c := &censoringJSON{Flag: flagParts, Queue: t.info.Queue, Guessed: t.info.Guessed, Share: figure(t.info.Share), Step: h.hs.stepJSON()}
	for i, v := range h.Values {
		if math.IsNaN(v) {
			continue
		}
		c.Steps++
		if t.hidden[i] {
			c.Cut++
		}
	}
	c.Usage, c.Demand = figure(meanKnown(h.Values)), figure(meanKnown(t.demand))
	c.More = c.Demand/c.Usage - 1
	return c
}
