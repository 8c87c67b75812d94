package profile

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"capcli/profile/gang"
	"capcli/profile/timeline"
)

// RankUse is what a job did on one of its devices.
type RankUse struct {
	Host             string
	Device           *Device
	Held             int64   // microseconds
	MemoryBytes      float64 // the most that was in use
	Util, SM, Tensor Average // %
	hours            timeline.Timeline[rankHour, *rankHour]
}

// rankHour is what a rank did in some hours in which it held its device alone.
type rankHour struct {
	held, hot, capped     int64
	util, sm, clock, link Average
	waits                 Waits
}

// Merge adds what o did.
func (h *rankHour) Merge(o *rankHour) {
	h.held, h.hot, h.capped = h.held+o.held, h.hot+o.hot, h.capped+o.capped
	h.util.Merge(&o.util)
	h.sm.Merge(&o.sm)
	h.clock.Merge(&o.clock)
	h.link.Merge(&o.link)
	h.waits.Merge(&o.waits)
}

func (d *Distribution) average() Average { return Average{d.Micros, d.Sum} }

// add counts the part of a span that is the job's.
func (r *RankUse) add(hour Instant, u *Use, alone bool) {
	r.Held += u.Held
	r.MemoryBytes = max(r.MemoryBytes, u.MemoryBytes)
	util, sm, tensor := u.Util.average(), u.SM.average(), u.Tensor.average()
	r.Util.Merge(&util)
	r.SM.Merge(&sm)
	r.Tensor.Merge(&tensor)
	if alone {
		r.hours.At(int64(hour / hourMicros)).Merge(&rankHour{u.Held, u.Hot, u.Capped, util, sm, u.Clock, u.Link, u.Waits})
	}
}

// rank returns what the job did on a device.
func (j *JobUse) rank(host string, d *Device) *RankUse {
	for _, r := range j.ranks {
		if r.Device.key() == d.key() && r.Host == host {
			return r
		}
	}
	r := &RankUse{Host: host, Device: d}
	j.ranks = append(j.ranks, r)
	return r
}

// Ranks are what the job did on each of its devices, by host and number of the device.
func (j *JobUse) Ranks() []*RankUse {
	slices.SortFunc(j.ranks, func(a, b *RankUse) int {
		return cmp.Or(strings.Compare(a.Host, b.Host), cmp.Compare(a.Device.Index, b.Device.Index), strings.Compare(a.Device.UUID, b.Device.UUID))
	})
	return j.ranks
}

// WaitShare is the mean of the time in kernels less the share of SMs active, in percent; NaN where it is not known.
func (r *RankUse) WaitShare() float64 {
	w := Waits{}
	r.hours.All(func(_ int64, h *rankHour) { w.Merge(&h.waits) })
	return float64(w.Sum) / 100 / float64(w.Minutes)
}

// Straggler returns the rank of Ranks that the others wait for.
func (j *JobUse) Straggler() gang.Straggler {
	var ranks []gang.Rank
	var coarse timeline.Timeline[rankHour, *rankHour] // cells of the length that all ranks have in common
	for _, r := range j.Ranks() {
		r.hours.All(func(hour int64, _ *rankHour) { coarse.At(hour) })
	}
	for _, r := range j.Ranks() {
		r.hours.Coarsen(coarse.Hours())
		var of gang.Rank
		r.hours.All(func(hour int64, h *rankHour) { of.Hours = append(of.Hours, h.figures(hour)) })
		ranks = append(ranks, of)
	}
	return gang.Judge(ranks)
}

func (h *rankHour) figures(hour int64) gang.Hour {
	n := float64(h.waits.Minutes)
	mean := float64(h.waits.Sum) / 100 / n
	return gang.Hour{
		Hour: hour, Seconds: float64(h.held) / 1e6, Minutes: h.waits.Minutes,
		Wait: mean, SD: math.Sqrt(max(0, float64(h.waits.Squares)/1e4/n-mean*mean)),
		Util: h.util.Mean(), SM: h.sm.Mean(), Clock: h.clock.Mean(), Link: h.link.Mean(),
		Hot: float64(h.hot) / float64(h.held), Capped: float64(h.capped) / float64(h.held),
	}
}
