package main

import (
	"fmt"
	"slices"

	"capcli"
	"capcli/profile/demand"
)

// checkJobs refuses what a job log needs nobody to tell.
func (o *historyOptions) checkJobs(file string) error {
	c := &o.censor
	switch {
	case slices.Contains([]string{"held", "busy", "sm", "power"}, o.measure):
		return &usageError{text: fmt.Sprintf("%s is a job log, which does not know --measure %s; it is for folders that capcli profile wrote", file, o.measure), hint: "--measure usage"}
	case slices.Contains(o.by, "host"):
		return &usageError{text: file + " is a job log, which does not know --by host; it is for folders that capcli profile wrote", hint: "--by pool"}
	case !c.asked():
		return nil
	case c.pending != "" || len(c.more()) > 0:
		return &usageError{text: file + " is a job log, which says itself what waited; --pending, --pending-col and --capacity-col are for tables", hint: "--measure usage --past-capacity 64"}
	case o.measure != "usage" && o.measure != "demand":
		return &usageError{text: "a past capacity says what held usage down, and --measure is " + o.measure, hint: "--measure usage, or leave the capacity out"}
	case o.measure == "usage" && o.peak:
		return &usageError{text: "demand is not told from peaks of usage", hint: "leave --measure usage out: what was wanted has peaks too"}
	}
	return nil
}

// queue sums what waited beside the usage that d sums; nil where that is not asked for.
func (o *historyOptions) queue(d *capcli.Demand) *capcli.Demand {
	if !o.censor.asked() || o.measure != "usage" {
		return nil
	}
	return &capcli.Demand{Measure: capcli.Queue, Step: d.Step, Zone: d.Zone}
}

// attachJobs gives the histories of a job log the queue that it recorded.
func attachJobs(hs *demand.Histories, queue *capcli.Demand) {
	if queue == nil {
		hs.Notes = append(hs.Notes, fmt.Sprintf("the past capacity was not needed: %s says what was wanted had nobody waited (--measure usage tells it from usage)", hs.Inputs[0]))
		return
	}
	hs.Notes = append(hs.Notes, "usage and queue together count work that waits anew in each step; --measure demand, the default, counts it once")
	for _, h := range hs.List {
		s := queue.Series(h.Group)
		skip := 0
		for capcli.Time(h.Stamp(0)) > queue.Grid().At(skip) {
			skip++ // both begin at the first submit; the history leaves out a first part of a step
		}
		p := &demand.Censoring{Fine: h.Regular, Pending: make([]float64, len(h.Values))}
		copy(p.Pending, s.Values[min(skip, len(s.Values)):])
		h.Censoring = p
	}
}
