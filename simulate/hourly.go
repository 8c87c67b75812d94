package simulate

import (
	"fmt"

	"capcli"
)

// Hourly is the use of a run by clock hour (UTC), for commitments settled hour by hour. A run
// records it if Config.Hourly is set.
type Hourly struct {
	First capcli.Time    // start of the clock hour in which the run began
	Use   [][]HourlyUse  // by pool, then tenant; lists end at the last tenant with use
	shift capcli.Seconds // from First to the run's start
	Hours int            // clock hours up to the last one with use, counted from First
}

// HourlyUse is the use of one pool by one tenant in each clock hour from Hourly.First. A slice ends
// at its last hour with use.
type HourlyUse struct {
	Used []capcli.GPUTime
	// Rest is the billed time that minimum billing times add, in the hour in which the stay ended.
	Rest []capcli.GPUTime
	// Spare is the billed time that rounding up to whole machines adds, to what was held and to Rest.
	Spare []capcli.GPUTime
}

const anHour = int64(capcli.Hour)

// newHourly returns an account that starts with the clock hour of start.
func newHourly(start capcli.Time) *Hourly {
	past := int64(start) % anHour
	if past < 0 {
		past += anHour
	}
	return &Hourly{First: start - capcli.Time(past), shift: capcli.Seconds(past)}
}

// useOf returns the use of a pool by a tenant.
func (h *Hourly) useOf(p, t int) *HourlyUse {
	for len(h.Use) <= p {
		h.Use = append(h.Use, nil)
	}
	for len(h.Use[p]) <= t {
		h.Use[p] = append(h.Use[p], HourlyUse{})
	}
	return &h.Use[p][t]
}

// stay adds milli thousandths of GPUs over [from, to), hour by hour, and spare thousandths that are billed
// beside them.
func (h *Hourly) stay(p, t int, milli, spare int64, from, to capcli.Seconds) {
	u := h.useOf(p, t)
	for a, end := int64(from+h.shift), int64(to+h.shift); a < end; {
		i := a / anHour
		b := min(end, (i+1)*anHour)
		h.put(&u.Used, int(i), capcli.GPUTime(milli*(b-a)))
		if spare > 0 {
			h.put(&u.Spare, int(i), capcli.GPUTime(spare*(b-a)))
		}
		a = b
	}
}

// rest adds the rest of a minimum billing time to the hour in which the stay ended, and what whole machines
// add to it.
func (h *Hourly) rest(p, t int, at capcli.Seconds, time, spare capcli.GPUTime) {
	u, i := h.useOf(p, t), int(int64(at+h.shift)/anHour)
	h.put(&u.Rest, i, time)
	if spare > 0 {
		h.put(&u.Spare, i, spare)
	}
}

func (h *Hourly) put(to *[]capcli.GPUTime, i int, time capcli.GPUTime) {
	for len(*to) <= i {
		*to = append(*to, 0)
	}
	(*to)[i] += time
	h.Hours = max(h.Hours, i+1)
}

// sums returns the GPU time that pool p was held for by hour, and what was billed beside it.
func (h *Hourly) sums(p int) (held, rest capcli.GPUTime) {
	if p >= len(h.Use) {
		return 0, 0
	}
	for _, u := range h.Use[p] {
		for _, t := range u.Used {
			held += t
		}
		for _, list := range [][]capcli.GPUTime{u.Rest, u.Spare} {
			for _, t := range list {
				rest += t
			}
		}
	}
	return held, rest
}

// check fails unless the use by hour and the use by month have the same sums.
func (h *Hourly) check(r *Record) error {
	if h == nil {
		return nil
	}
	for p := range r.Pools {
		var used, billed capcli.GPUTime
		for m := range r.Months {
			for _, u := range r.Months[m].Use[p] {
				used += u.Used
				billed += u.Billed
			}
		}
		hours, rest := h.sums(p)
		if err := h.checkBought(r, p); err != nil {
			return err
		}
		if hours != used || hours+rest != billed {
			return &AccountError{fmt.Sprintf("pool %s: by hour %d was held and %d added, by month %d was held and %d billed (thousandths of GPU-seconds)",
				r.Pools[p].Name, hours, rest, used, billed)}
		}
	}
	return nil
}
