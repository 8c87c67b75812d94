package main

import (
	"fmt"

	"capcli"
)

// undone is the work that a plan leaves undone, in the mean of its runs.
type undone struct {
	share, hours         float64
	waiting, unplaceable float64 // jobs
}

func undoneOf(runs []*outcome) undone {
	var u undone
	n := float64(len(runs))
	for _, r := range runs {
		s := &r.result.Served
		u.share += s.UnservedShare() / n
		u.hours += s.Unserved().Hours() / n
		u.waiting += float64(s.Waiting) / n
		u.unplaceable += float64(s.Unplaceable) / n
	}
	return u
}

// more tells whether u is more than o, beyond what floats round away: less work
// is done, or jobs of no length can never run.
func (u *undone) more(o *undone) bool {
	const nothing = 1e-12
	return u.share > o.share+nothing || u.share > o.share-nothing && u.unplaceable > o.unplaceable
}

// servedMargin is the share of the work by which one plan may do less than
// another and still pass for doing it.
const servedMargin = 0.005

// servesLess tells whether a plan that leaves u undone does markedly less than one that
// leaves o: it is then no better, whatever else it gains.
func (u *undone) servesLess(o *undone) bool {
	return u.share > o.share+servedMargin || u.unplaceable > o.unplaceable
}

// text says it: "38.2% of the work (1,204 GPU-hours; 446 jobs wait at the end, 3
// can never run)".
func (u *undone) text() string {
	if u.hours == 0 && u.waiting+u.unplaceable == 0 {
		return "none of the work"
	}
	text := fmt.Sprintf("%s of the work (%s GPU-hours", smallShare(u.share), briefly(u.hours))
	switch {
	case u.waiting == 1:
		text += "; 1 job waits at the end"
	case u.waiting > 0:
		text += fmt.Sprintf("; %s wait at the end", countText(u.waiting))
	}
	if u.unplaceable > 0 {
		text += fmt.Sprintf("; %s can never run", countText(u.unplaceable))
	}
	return text + ")"
}

// countText is a mean number of jobs.
func countText(v float64) string {
	if v == float64(int64(v)) || v >= 100 {
		return jobCount(int64(v + 0.5))
	}
	return fmt.Sprintf("%.1f jobs", v)
}

// against says that a plan does less of the work than another; "" where it does
// not, or that is not known.
func against(a, than *ranked) string {
	if a.undone == nil || than.undone == nil || !a.undone.more(than.undone) {
		return ""
	}
	return fmt.Sprintf(", but leaves %s undone where %s leaves %s", a.undone.text(), than.name, than.undone.text())
}

// beside says how much of the work each of two plans leaves undone, where that is
// not the same.
func beside(a, b *ranked) string {
	if a.undone != nil && b.undone != nil && b.undone.more(a.undone) {
		return fmt.Sprintf(", and leaves %s undone where %s leaves %s", a.undone.text(), b.name, b.undone.text())
	}
	return against(a, b)
}

// ranked is what a plan is ranked by, in the mean of its runs; nil is not known.
type ranked struct {
	name     string
	length   capcli.Seconds // of a run; 0 is not known
	cost     *float64       // dollars
	wait     *found         // 95th percentile, seconds
	queued   *float64       // mean time in queues, seconds
	jct      float64        // seconds
	preempts bool
	undone   *undone
}

// leadOfRanks names the cheapest plan and the one whose jobs wait least, and
// whether these leave more of the work undone than another.
func leadOfRanks(all []ranked) string {
	cheap, quick, best := 0, 0, 0
	low, high, priced := 0.0, 0.0, true
	for i := range all {
		r := &all[i]
		if r.undone != nil && all[best].undone != nil && all[best].undone.more(r.undone) {
			best = i
		}
		if r.queued != nil && (all[quick].queued == nil || *r.queued < *all[quick].queued) {
			quick = i
		}
		if r.cost == nil {
			priced = false
			continue
		}
		if i == 0 {
			low, high = *r.cost, *r.cost
		}
		low, high = min(low, *r.cost), max(high, *r.cost)
		if all[cheap].cost != nil && *r.cost < *all[cheap].cost {
			cheap = i
		}
	}
	least := ""
	if r := &all[quick]; r.queued != nil {
		least = fmt.Sprintf("least waiting: %s, mean %s", r.name, capcli.Seconds(*r.queued+0.5))
		if r.preempts {
			least += fmt.Sprintf(" with the waits after preemptions, and jobs end %s after they come", capcli.Seconds(r.jct+0.5))
		}
		least += against(r, &all[best])
	}
	amount := func(v float64, length capcli.Seconds) string { return usdText(v) + inLength(length, v) }
	var text string
	switch c := &all[cheap]; {
	case !priced:
		text = fmt.Sprintf("%d plans, not all with prices", len(all))
	case low == high:
		text = fmt.Sprintf("All %d plans cost %s", len(all), amount(low, all[0].length))
	default:
		text = fmt.Sprintf("Cheapest of %d plans: %s, %s%s", len(all), c.name, amount(*c.cost, c.length), against(c, &all[best]))
	}
	if least != "" {
		text += "; " + least
	}
	return text + "."
}
