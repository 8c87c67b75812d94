package spot

import (
	"math/big"

	"capcli"
)

// Job is work with a deadline and the capacity that it may use. All times are positive but Delay,
// which may be 0.
type Job struct {
	Available []bool         // by tick: whether spot can be had for the whole job
	Gap       capcli.Seconds // length of a tick
	Work      capcli.Seconds
	Deadline  capcli.Seconds // from the start of tick 0
	Delay     capcli.Seconds // without progress, at each start and change over
	Nodes     int
	Spot      capcli.Rate // price of a node for an hour
	OnDemand  capcli.Rate
}

// Choice is what a job does in a tick.
type Choice byte

// The choices.
const (
	Idle     Choice = '.'
	OnSpot   Choice = 's'
	OnDemand Choice = 'o'
)

// Stay is how a policy ran a job.
type Stay struct {
	Choices     []Choice       // by tick
	Finished    bool           // the work was done before the recording ended
	Late        bool           // it ended after the deadline
	End         capcli.Seconds // 0 if it did not finish
	SpotTicks   int64
	DemandTicks int64
	SpotWork    capcli.Seconds // progress on spot
	DemandWork  capcli.Seconds
	Changeovers int64
	Cost        capcli.USD // of the ticks held, whole
	CostToEnd   capcli.USD // the same, the last tick only to the end
}

// state is a job in the middle of its run.
type state struct {
	*Job
	tick  int64
	last  Choice         // of the tick before; Idle at first
	now   Choice         // last, or Idle if spot has gone since
	rem   capcli.Seconds // delay still to serve
	done  capcli.Seconds
	has   bool // spot can be had in this tick
	slack []int64
}

// Play runs the job under the policy. At the start of a tick the progress of the tick before counts,
// in full even if spot is gone now; then the policy chooses, and the safety net may overrule it.
func (j *Job) Play(p *Policy) Stay {
	s := state{Job: j, last: Idle}
	if p.Oracle {
		s.slack = j.runs()
	}
	var out Stay
	for {
		if s.tick > 0 && s.last != Idle {
			served := min(s.rem, j.Gap)
			gain := min(j.Gap-served, j.Work-s.done)
			s.rem -= served
			s.done += gain
			if s.last == OnSpot {
				out.SpotWork += gain
			} else {
				out.DemandWork += gain
			}
			if s.done >= j.Work {
				out.Finished = true
				out.End = capcli.Seconds(s.tick-1)*j.Gap + served + gain
				break
			}
		}
		if s.tick >= int64(len(j.Available)) {
			break
		}
		s.has = j.Available[s.tick]
		s.now = s.last
		if s.last == OnSpot && !s.has {
			s.now = Idle
		}
		want := p.choose(&s)
		if want != Idle && want != s.now {
			s.rem = j.Delay
			out.Changeovers++
		}
		switch want {
		case OnSpot:
			out.SpotTicks++
		case OnDemand:
			out.DemandTicks++
		case Idle:
		}
		out.Choices = append(out.Choices, want)
		s.last = want
		s.tick++
	}
	j.price(&out, s.tick, s.last)
	return out
}

// price adds the cost of a stay that ended after so many ticks with the last choice.
func (j *Job) price(out *Stay, ticks int64, last Choice) {
	held := func(spot, demand capcli.Seconds) capcli.USD {
		return sumCost(j.Nodes, j.Spot, spot, j.OnDemand, demand)
	}
	spot, demand := capcli.Seconds(out.SpotTicks)*j.Gap, capcli.Seconds(out.DemandTicks)*j.Gap
	out.Cost = held(spot, demand)
	if !out.Finished {
		return
	}
	out.Late = out.End > j.Deadline
	unused := capcli.Seconds(ticks)*j.Gap - out.End
	if last == OnSpot {
		spot -= unused
	} else {
		demand -= unused
	}
	out.CostToEnd = held(spot, demand)
}

// runs returns, by tick, how many ticks in a row from it have spot.
func (j *Job) runs() []int64 {
	out := make([]int64, len(j.Available)+1)
	for k := len(j.Available) - 1; k >= 0; k-- {
		if j.Available[k] {
			out[k] = out[k+1] + 1
		}
	}
	return out
}

// secondsOfHour is the unit of the prices.
const secondsOfHour = 3600

// sumCost returns the cost of so many nodes for some time on spot and some on demand, rounded to the
// millionth of a dollar once, at the end, halves up.
func sumCost(nodes int, spot capcli.Rate, onSpot capcli.Seconds, demand capcli.Rate, onDemand capcli.Seconds) capcli.USD {
	part := func(r capcli.Rate, t capcli.Seconds) *big.Int {
		return new(big.Int).Mul(big.NewInt(int64(r)), big.NewInt(int64(t)))
	}
	sum := new(big.Int).Add(part(spot, onSpot), part(demand, onDemand))
	sum.Mul(sum, big.NewInt(int64(nodes)))
	sum.Add(sum, big.NewInt(secondsOfHour/2))
	return capcli.USD(sum.Div(sum, big.NewInt(secondsOfHour)).Int64())
}
