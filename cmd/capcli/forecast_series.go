package main

import (
	"fmt"
	"slices"

	"capcli/forecast"
	"capcli/profile/demand"
)

// histories are the series that are forecast in one call.
type histories struct {
	*demand.Histories
	list   []*history // in the order of List
	tree   *tree      // nil where nothing adds up
	errors int        // one-step errors of each series that are kept
	tried  []periodCalibration
	left   []string
}

// history is one series to forecast.
type history struct {
	demand.History
	hs      *histories
	most    []float64 // that may be forecast in each step; nil is no cap
	windows []window  // periods to be tried on the past
	past    *past     // nil where the values are taken for demand
}

// tree says which series of a call are sums of which others.
type tree struct {
	sums, parts []*history
	of          [][]int // of each sum, the places of its parts
	longest     int     // values in the longest series
	period      int     // its first season
}

// all gives the sums, then the parts.
func (t *tree) all() []*history { return append(slices.Clone(t.sums), t.parts...) }

// newHistories makes ready to forecast what was read.
func newHistories(read *demand.Histories) *histories {
	hs := &histories{Histories: read}
	for _, h := range read.List {
		one := &history{History: *h, hs: hs}
		if h.Censoring != nil {
			one.past = &past{Censoring: h.Censoring}
		}
		hs.list = append(hs.list, one)
	}
	if t := read.Tree; t != nil {
		n := len(t.Sums)
		hs.tree = &tree{sums: hs.list[:n:n], parts: hs.list[n:], of: t.PartsOf}
	}
	return hs
}

// maxFit is how many values a model is fitted to: more make the fit long and the
// forecast no better.
const maxFit = 20_000

// recent keeps the last values of a very long history, and says so.
func (hs *histories) recent() {
	for _, h := range hs.list {
		k := len(h.Values) - maxFit
		if k <= 0 {
			continue
		}
		h.Warnings = append(h.Warnings, fmt.Sprintf("%s values: the last %s are used", grouped(int64(len(h.Values))), grouped(maxFit)))
		h.Forget(k)
	}
}

// ready says from how many values the series of a tree are tried on their past.
func (o *forecastOptions) ready(hs *histories) {
	hs.recent()
	hs.errors = hs.errorsKept()
	if hs.tree == nil {
		return
	}
	known := 0
	for _, h := range hs.list {
		hs.tree.longest, known = max(hs.tree.longest, len(h.Values)), max(known, h.Known())
	}
	opts, _ := o.options(hs, known)
	hs.tree.period = opts.Period()
	hs.tree.pasts(func(h *history) forecast.Options {
		own, _ := o.options(hs, h.Known())
		return own
	})
}
