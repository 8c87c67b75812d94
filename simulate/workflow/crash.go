package workflow

import (
	"cmp"

	"capcli"
)

// Option is one way to run a job of a stage.
type Option struct {
	GPUs int
	Run  capcli.Seconds
	Cost capcli.USD // of the job
}

// Step is a stage whose jobs can be run in several ways, for Faster.
type Step struct {
	Name    string
	Jobs    []int    // indices in the list
	Options []Option // the first is the one in use
}

// Crash is one change that makes a workflow end earlier: one stage, or two on parallel paths, run wider.
type Crash struct {
	Stage   string         `json:"stage"`
	Also    string         `json:"also,omitempty"` // a second stage that must change with it
	From    int            `json:"gpus"`
	To      int            `json:"gpus_wider"`
	AlsoTo  int            `json:"also_gpus_wider,omitzero"`
	Earlier capcli.Seconds `json:"earlier_s"`
	Extra   capcli.USD     `json:"extra_usd"`
	PerHour capcli.USD     `json:"usd_per_hour_earlier"`
	Span    capcli.Seconds `json:"length_s"` // of the workflow after this and all changes before
}

// Faster returns the changes that make the workflow end earlier, one after another, the cheapest hour
// first: project crashing (Kelley and Walker, "Critical-Path Planning and Scheduling", 1959) by steps. Each
// step takes the change of one stage, or of two for critical paths that run in parallel, that costs least for
// each second gained; changes of two are left out where there are many. It ends when no such change
// makes the workflow shorter. The trade-off between time and cost is hard to solve in discrete steps (De et
// al., "Complexity of the discrete time-cost tradeoff problem", Operations Research 1997), so a cheaper plan
// with several changes at once may exist. Waits for GPUs are not part of it.
func (g *Graph) Faster(run RunTime, steps []Step) (out []Crash) {
	c := crash{g: g, steps: steps, runs: make([]capcli.Seconds, g.Len()), at: make([]int, len(steps))}
	for i := range c.runs {
		c.runs[i] = run(i)
	}
	for k := range steps {
		c.set(k, 0)
	}
	for span := c.span(); ; {
		best, found := c.bestOne(span)
		if two, also := c.bestTwo(span); also && (!found || cheaper(&two, &best)) {
			best, found = two, true
		}
		if !found {
			return out
		}
		for _, m := range best.moves {
			c.at[m.step] = m.option
			c.set(m.step, m.option)
		}
		span = best.Span
		out = append(out, best.Crash)
	}
}

type crash struct {
	g     *Graph
	steps []Step
	runs  []capcli.Seconds
	at    []int
}

type move struct{ step, option int }

type change struct {
	Crash
	moves []move
}

func (c *crash) set(step, option int) {
	for _, i := range c.steps[step].Jobs {
		c.runs[i] = c.steps[step].Options[option].Run
	}
}

func (c *crash) span() capcli.Seconds {
	t := c.g.Times(func(i int) capcli.Seconds { return c.runs[i] }, nil)
	return t.Span
}

// shorter yields the moves that make a step shorter.
func (c *crash) shorter(yield func(move) bool) {
	for k := range c.steps {
		now := c.steps[k].Options[c.at[k]]
		for o := range c.steps[k].Options {
			if c.steps[k].Options[o].Run < now.Run && !yield(move{k, o}) {
				return
			}
		}
	}
}

// price returns what moves cost and gain.
func (c *crash) price(span capcli.Seconds, moves ...move) (change, bool) {
	var extra capcli.USD
	for _, m := range moves {
		s := &c.steps[m.step]
		extra += (s.Options[m.option].Cost - s.Options[c.at[m.step]].Cost) * capcli.USD(len(s.Jobs))
		c.set(m.step, m.option)
	}
	after := c.span()
	for _, m := range moves {
		c.set(m.step, c.at[m.step])
	}
	if after >= span {
		return change{}, false
	}
	first := &c.steps[moves[0].step]
	x := change{Crash{
		Stage: first.Name, From: first.Options[c.at[moves[0].step]].GPUs, To: first.Options[moves[0].option].GPUs,
		Earlier: span - after, Extra: extra, Span: after, PerHour: capcli.USDOf(extra.Float() * 3600 / float64(span-after)),
	}, moves}
	if len(moves) > 1 {
		x.Also, x.AlsoTo = c.steps[moves[1].step].Name, c.steps[moves[1].step].Options[moves[1].option].GPUs
	}
	return x, true
}

// cheaper reports whether a costs less than b for each second gained; of equals the one that gains more.
func cheaper(a, b *change) bool {
	ratio := cmp.Compare(a.Extra.Float()*float64(b.Earlier), b.Extra.Float()*float64(a.Earlier))
	return ratio < 0 || ratio == 0 && a.Earlier > b.Earlier
}

func (c *crash) bestOne(span capcli.Seconds) (best change, found bool) {
	for m := range c.shorter {
		if x, ok := c.price(span, m); ok && (!found || cheaper(&x, &best)) {
			best, found = x, true
		}
	}
	return best, found
}

// mostPairs is the most moves of which pairs are tried.
const mostPairs = 100

func (c *crash) bestTwo(span capcli.Seconds) (best change, found bool) {
	n := 0
	for range c.shorter {
		n++
	}
	if n > mostPairs {
		return best, false
	}
	for m := range c.shorter {
		for n := range c.shorter {
			if n.step <= m.step {
				continue
			}
			if x, ok := c.price(span, m, n); ok && (!found || cheaper(&x, &best)) {
				best, found = x, true
			}
		}
	}
	return best, found
}
