package simulate

import (
	"fmt"

	"capcli"
)

// Hourly is the use of a run by clock hour (UTC), for commitments that are settled hour
// by hour. A run keeps it when Config.Hourly is set.
type Hourly struct {
	First capcli.Time    // start of the clock hour in which the run began
	Use   [][]HourlyUse  // by pool, then tenant; short where later tenants used nothing
	shift capcli.Seconds // from First to the run's start
	Hours int            // clock hours in which something was billed, counted from First
}

// HourlyUse is the use of one pool by one tenant, hour by hour from the first. A slice
// ends with its last hour of use.
type HourlyUse struct {
	Used []capcli.GPUTime
	// Rest is what minimum billing times add. It counts in the hour in which the stay
	// ended.
	Rest []capcli.GPUTime
}

const anHour = int64(capcli.Hour)

// newHourly returns an account that begins with the clock hour of start.
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

// stay adds milli thousandths of GPUs over [from, to), hour by hour.
func (h *Hourly) stay(p, t int, milli int64, from, to capcli.Seconds) {
	u := h.useOf(p, t)
	for a, end := int64(from+h.shift), int64(to+h.shift); a < end; {
		i := a / anHour
		b := min(end, (i+1)*anHour)
		h.put(&u.Used, int(i), capcli.GPUTime(milli*(b-a)))
		a = b
	}
}

// rest adds the rest of a minimum billing time in the hour in which the stay ended.
func (h *Hourly) rest(p, t int, at capcli.Seconds, time capcli.GPUTime) {
	h.put(&h.useOf(p, t).Rest, int(int64(at+h.shift)/anHour), time)
}

func (h *Hourly) put(to *[]capcli.GPUTime, i int, time capcli.GPUTime) {
	for len(*to) <= i {
		*to = append(*to, 0)
	}
	(*to)[i] += time
	h.Hours = max(h.Hours, i+1)
}

// check compares the use by hour with the use by month: both must have the same sums.
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
		var hours, rest capcli.GPUTime
		if p < len(h.Use) {
			for _, u := range h.Use[p] {
				for _, t := range u.Used {
					hours += t
				}
				for _, t := range u.Rest {
					rest += t
				}
			}
		}
		if hours != used || hours+rest != billed {
			return &AccountError{fmt.Sprintf("pool %s: by hour %d was held and %d added, by month %d was held and %d billed (thousandths of GPU-seconds)",
				r.Pools[p].Name, hours, rest, used, billed)}
		}
	}
	return nil
}
