package main

import (
	"fmt"
	"math"
	"slices"

	"capcli/cmd/report"
	"capcli/forecast"
)

// muchGuessed is the share of steps at the capacity from which demand cannot be
// told any more.
const muchGuessed = 0.9

// tell takes the history for usage and tells the demand behind it, where it is
// known what held it down.
func (f *forecasted) tell(opts forecast.Options) error {
	if f.seen = f.h.Values; f.h.past == nil {
		f.atCap()
		return nil
	}
	t := f.h.past.behind(f.h.Values, opts)
	if t.err != nil {
		return t.err
	}
	f.told, f.seen = t, t.demand
	f.warnings = append(f.warnings, t.info.Notes...)
	c := f.censoring()
	if c.Queue > c.Guessed && c.More > muchWaiting {
		f.warnings = append(f.warnings, fmt.Sprintf("%.0f%% more than usage: what waits is counted in each step that it waits, which is what was asked for at one time, not the work that came", 100*c.More))
	}
	if guessed := float64(c.Guessed) / float64(c.Steps); guessed > muchGuessed {
		f.warnings = append(f.warnings, fmt.Sprintf("usage stands at the capacity in %.0f%% of the steps: what more was wanted cannot be told from so little; give the queue (--pending, --pending-col)", math.Floor(100*guessed)))
	}
	return nil
}

// often is the share of steps at a cap from which that is worth a word.
const often = 0.05

// atCap says where a cap on the forecast may have been the limit of the past too.
func (f *forecasted) atCap() {
	steps, at, most := 0, 0, math.Inf(1)
	for i, v := range f.seen {
		if i >= len(f.h.most) || math.IsNaN(v) {
			continue
		}
		steps++
		if v > 0 && v >= forecast.NearLimit*f.h.most[i] {
			at, most = at+1, min(most, f.h.most[i])
		}
	}
	if at > 0 && float64(at) >= often*float64(steps) {
		f.warnings = append(f.warnings, fmt.Sprintf("usage stands at %.6g, the cap, or over it in %d of %d steps: if there was no more, --past-capacity %.6g forecasts the demand behind it", most, at, steps, most))
	}
}

// pastName is what the line of the past shows in a chart.
func (f *forecasted) pastName() string {
	if f.told != nil {
		return "demand so far"
	}
	return "known"
}

// censoringJSON says how much of a history was held down by capacity.
type censoringJSON struct {
	Flag    string  `json:"flag"` // what tells: queue, capacity, queue+capacity or none
	Steps   int     `json:"steps"`
	At      *int    `json:"at_capacity"` // null where no capacity is known
	Cut     int     `json:"held_down"`
	Share   figure  `json:"share"`
	Queue   int     `json:"told_by_queue"`
	Guessed int     `json:"told_by_regression"`
	Unknown int     `json:"not_known"`
	Step    string  `json:"step"`
	Usage   figure  `json:"usage_mean"`
	Demand  figure  `json:"demand_mean"`
	More    figure  `json:"demand_over_usage"`
	Sigma   *figure `json:"sigma"`
	AR      *figure `json:"ar"`
}

// The flags.
const (
	flagQueue    = "queue"
	flagCapacity = "capacity"
	flagBoth     = "queue+capacity"
	flagNone     = "none"
)

// censoring counts what was told; nil where the values are taken for demand.
func (f *forecasted) censoring() *censoringJSON {
	if f.told == nil {
		return nil
	}
	return f.h.past.count(f.h, f.told)
}

func (p *past) count(h *history, t *told) *censoringJSON {
	if p.together != nil {
		return p.together.count(h, t)
	}
	c := &censoringJSON{Queue: t.info.Queue, Guessed: t.info.Guessed, Share: figure(t.info.Share), Step: h.hs.stepJSON()}
	if p.Into != nil {
		c.Step = p.Fine.Grid.Step.String()
	}
	queue, limit, at, rooms := 0, 0, 0, 0
	for k, v := range p.Fine.Values[:len(t.info.Cut)] {
		if math.IsNaN(v) {
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
			if rooms++; v > 0 && v >= forecast.NearLimit*p.Limit[k] {
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
		c.At = &at
	}
	c.Cut = c.Queue + c.Guessed
	c.Usage, c.Demand = figure(meanKnown(h.Values)), figure(meanKnown(t.demand))
	c.More = c.Demand/c.Usage - 1
	if t.info.Tobit.Sigma > 0 {
		sigma, ar := figure(t.info.Tobit.Sigma), figure(t.info.AR)
		c.Sigma, c.AR = &sigma, &ar
	}
	return c
}

// bothFlags is what tells the demand of two series.
func bothFlags(a, b string) string {
	switch {
	case a == b || b == flagNone:
		return a
	case a == flagNone:
		return b
	}
	return flagBoth
}

func meanKnown(v []float64) float64 {
	sum, n := 0.0, 0
	for _, x := range v {
		if !math.IsNaN(x) {
			sum, n = sum+x, n+1
		}
	}
	return sum / float64(n)
}

// json gives a bound as it was given: a number, the name of a file, or null.
func (l *levelSource) json() any {
	switch {
	case !l.given():
		return nil
	case l.file != "":
		return l.file
	case l.measured:
		return measured
	}
	return l.one
}

// flagWords name what told demand from usage.
var flagWords = map[string]string{
	flagQueue: "the queue", flagCapacity: "the capacity", flagBoth: "the queue, and the capacity where no queue is known", flagNone: "nothing",
}

// told tells whether the demand of a series is told from its usage.
func (hs *histories) told() bool {
	for _, h := range hs.list {
		if h.past != nil {
			return true
		}
	}
	return false
}

// isSum tells whether h is the sum of other series of the call.
func (hs *histories) isSum(h *history) bool {
	return hs.tree != nil && slices.Contains(hs.tree.sums, h)
}

// muchWaiting is how much more than usage a demand told by the queue is before
// it is said that this counts what waits in every step that it waits.
const muchWaiting = 0.25

// censoredTable has one row for each series whose demand was told from usage.
func (r *forecastResult) censoredTable() (report.Table, bool) {
	t := report.Table{Name: "censoring", Title: "demand told from usage", Most: shownSeries, Columns: []report.Column{
		{Name: "unique_id", Head: "series"},
		{Name: "flag", Head: "told by", Align: report.Left},
		{Name: "held_down", Head: "held down"},
		{Name: "at_capacity", Head: "at capacity", Priority: 1},
		{Name: "usage_mean", Head: "usage, mean"},
		{Name: "demand_mean", Head: "demand, mean"},
		{Name: "demand_over_usage", Head: "more"},
	}}
	for _, f := range r.list {
		c := f.censoring()
		if c == nil {
			continue
		}
		at := any(nil)
		if c.At != nil {
			at = knownPercent(float64(*c.At) / float64(c.Steps))
		}
		t.Rows = append(t.Rows, []any{
			f.h.Name, c.Flag, knownPercent(float64(c.Share)), at,
			figureCell(c.Usage), figureCell(c.Demand), knownPercent(float64(c.More)),
		})
	}
	return t, len(t.Rows) > 0
}

// censoredNotes are those of a forecast.
func (r *forecastResult) censoredNotes() []string {
	var each []*censoringJSON
	var trials []*trial
	for _, f := range r.list {
		if !r.hs.isSum(f.h) { // its parts say it
			each, trials = append(each, f.censoring()), append(trials, f.test)
		}
	}
	return r.hs.censoredNotes(each, trials)
}

// censoredNotes say in words how much was held down, and in which steps a trial
// on the past could be scored.
func (hs *histories) censoredNotes(each []*censoringJSON, trials []*trial) []string {
	flag, steps, cut, usage, demand, n := flagNone, 0, 0, 0.0, 0.0, 0
	for _, c := range each {
		if c == nil {
			continue
		}
		n++
		flag = bothFlags(flag, c.Flag)
		steps, cut = steps+c.Steps, cut+c.Cut
		if v := float64(c.Usage); !math.IsNaN(v) {
			usage, demand = usage+v, demand+float64(c.Demand)
		}
	}
	if n == 0 {
		return nil
	}
	if flag == flagNone {
		return []string{"usage is taken for demand: neither a queue nor a capacity is known in any step"}
	}
	total := ""
	if n > 1 {
		total = ", all series together"
	}
	out := []string{fmt.Sprintf("this is demand, not usage: usage was held down in %s of the steps, told by %s; usage is %.5g on average%s, demand %.5g (%+.1f%%)",
		percentText(cut, steps), flagWords[flag], usage, total, demand, 100*(demand/usage-1))}
	scored, hidden, queue := 0, 0, false
	for _, t := range trials {
		if t != nil {
			scored, hidden = scored+t.scored, hidden+t.hidden
		}
	}
	for _, c := range each {
		queue = queue || c != nil && c.Queue > 0
	}
	switch {
	case hidden > 0:
		out = append(out, fmt.Sprintf("tried on the past in the %s of the steps in which demand is known; in the others usage stood at the capacity, and nobody knows what more was wanted", percentText(scored, scored+hidden)))
	case queue && scored > 0:
		out = append(out, "tried on the past against usage and queue together; each trial told demand from what came before it alone")
	}
	return out
}

func percentText(n, of int) string {
	if of == 0 {
		return "0%"
	}
	share := 100 * float64(n) / float64(of)
	if share > 0 && share < 1 || share > 99 && share < 100 {
		return fmt.Sprintf("%.1f%%", share)
	}
	return fmt.Sprintf("%.0f%%", share)
}
