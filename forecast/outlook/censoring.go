package outlook

import (
	"fmt"
	"math"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/unconstrain"
)

// Censoring describes how much of a history was limited by capacity.
type Censoring struct {
	Flag       string         `json:"flag"` // source of the estimate of demand: one of the flags
	Steps      int            `json:"steps"`
	AtCapacity *int           `json:"at_capacity"` // steps with usage at the capacity; null where no capacity is known
	Cut        int            `json:"held_down"`
	Share      capcli.Figure  `json:"share"`
	Queue      int            `json:"told_by_queue"`
	Guessed    int            `json:"told_by_regression"`
	Unknown    int            `json:"not_known"`
	Step       string         `json:"step"`
	Usage      capcli.Figure  `json:"usage_mean"`
	Demand     capcli.Figure  `json:"demand_mean"`
	Excess     capcli.Figure  `json:"demand_over_usage"`
	Sigma      *capcli.Figure `json:"sigma"`
	AR         *capcli.Figure `json:"ar"`
}

// The flags name the source from which demand was estimated.
const (
	flagQueue    = "queue"
	flagCapacity = "capacity"
	flagBoth     = "queue+capacity"
	flagParts    = "parts" // the demand of a sum is the sum of its parts' demand
	flagNone     = "none"
)

// Thresholds of the notes about demand that was estimated from usage.
const (
	muchGuessed = 0.9  // share of steps at the capacity above which a note says that demand cannot be estimated
	muchWaiting = 0.25 // excess of demand over usage from which a note says that waiting work counts in every step
	oftenAtCap  = 0.05 // share of steps at a cap from which a note says so
)

// censoring returns how much of v was limited; nil where the values are taken for demand.
func (q *question) censoring(v *view, t *latentDemand) *Censoring {
	switch {
	case t == nil:
		return nil
	case v.usage.summed != nil:
		return q.censoringOfSum(v, t)
	}
	p := v.usage
	c := &Censoring{Queue: t.info.Queue, Guessed: t.info.Guessed, Share: capcli.Figure(t.info.Share), Step: q.stepText()}
	if p.Into != nil {
		c.Step = p.Fine.Grid.Step.String()
	}
	queue, limit, at, rooms := 0, 0, 0, 0
	for k, usage := range p.Fine.Values[:len(t.info.Cut)] {
		if math.IsNaN(usage) {
			continue
		}
		c.Steps++
		switch {
		case p.QueueKnown(k):
			queue++
		case p.LimitKnown(k):
			limit++
		default:
			c.Unknown++
		}
		if p.LimitKnown(k) {
			if rooms++; usage > 0 && usage >= unconstrain.NearLimit*p.Limit[k] {
				at++
			}
		}
	}
	switch {
	case queue > 0 && limit > 0:
		c.Flag = flagBoth
	case queue > 0:
		c.Flag = flagQueue
	case limit > 0:
		c.Flag = flagCapacity
	default:
		c.Flag = flagNone
	}
	if rooms > 0 {
		c.AtCapacity = &at
	}
	c.Cut = c.Queue + c.Guessed
	if t.info.Sigma > 0 {
		sigma, ar := capcli.Figure(t.info.Sigma), capcli.Figure(t.info.AR)
		c.Sigma, c.AR = &sigma, &ar
	}
	return c.withMeans(v, t)
}

// censoringOfSum returns how much of a sum was limited in its parts.
func (q *question) censoringOfSum(v *view, t *latentDemand) *Censoring {
	c := &Censoring{Flag: flagParts, Queue: t.info.Queue, Guessed: t.info.Guessed, Share: capcli.Figure(t.info.Share), Step: q.stepText()}
	for i, usage := range v.Values {
		if math.IsNaN(usage) {
			continue
		}
		c.Steps++
		if t.hidden[i] {
			c.Cut++
		}
	}
	return c.withMeans(v, t)
}

func (c *Censoring) withMeans(v *view, t *latentDemand) *Censoring {
	c.Usage, c.Demand = capcli.Figure(meanKnown(v.Values)), capcli.Figure(meanKnown(t.demand))
	c.Excess = c.Demand/c.Usage - 1
	return c
}

// demandBehind returns the estimated demand behind the usage of v and its description; nil where
// the values are taken for demand. It also returns notes for the user.
func (q *question) demandBehind(v *view, opts forecast.Options) (*latentDemand, *Censoring, []string, error) {
	if v.usage == nil {
		return nil, nil, v.atCap(), nil
	}
	t := v.usage.latent(v.Values, opts)
	if t.err != nil {
		return nil, nil, nil, t.err
	}
	notes := append([]string(nil), t.info.Notes...)
	c := q.censoring(v, t)
	if c.Queue > c.Guessed && c.Excess > muchWaiting {
		notes = append(notes, fmt.Sprintf("%.0f%% more than usage: a queued job counts in each step that it waits, so this is the demand at one time, not the work submitted", 100*c.Excess))
	}
	if guessed := float64(c.Guessed) / float64(c.Steps); guessed > muchGuessed {
		notes = append(notes, fmt.Sprintf("usage is at the capacity in %.0f%% of the steps, too many to estimate the demand behind it; give the queue (--pending, --pending-col)", math.Floor(100*guessed)))
	}
	return t, c, notes, nil
}

// atCap returns a note where the capacity ahead may have limited the past too.
func (v *view) atCap() []string {
	steps, at, most := 0, 0, math.Inf(1)
	for i, x := range v.Values {
		if i >= len(v.room) || math.IsNaN(x) {
			continue
		}
		steps++
		if x > 0 && x >= unconstrain.NearLimit*v.room[i] {
			at, most = at+1, min(most, v.room[i])
		}
	}
	if at == 0 || float64(at) < oftenAtCap*float64(steps) {
		return nil
	}
	return []string{fmt.Sprintf("usage is at or above %.6g, the capacity, in %d of %d steps: if it was the capacity then too, --past-capacity %.6g forecasts the demand behind it", most, at, steps, most)}
}
