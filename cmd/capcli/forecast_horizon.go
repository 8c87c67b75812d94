package main

import (
	"fmt"
	"strconv"

	"capcli"
)

// ahead is how many steps to forecast.
func (o *forecastOptions) ahead(h *history) (int, error) {
	n := 0
	var err error
	switch {
	case o.until != "":
		if n, err = h.end(o.until); err != nil {
			return 0, err
		}
	case len(o.periods) > 0:
		for _, p := range o.periods {
			steps, err := p.reach(h)
			if err != nil {
				return 0, err
			}
			n = max(n, steps)
		}
	case o.horizon != "":
		if n, err = o.stepsOf(h); err != nil {
			return 0, err
		}
	default:
		n = usualHorizon(h.hs.Step)
	}
	if o.kept(h.hs, n)*n*len(h.hs.list) > maxCells {
		return 0, &usageError{text: fmt.Sprintf("%d futures of %d steps and %d series are over %d figures", o.kept(h.hs, n), n, len(h.hs.list), maxCells), hint: "take fewer --paths, a longer --step or fewer series"}
	}
	return n, nil
}

// stepsOf reads --horizon: a number of steps, or a length of time.
func (o *forecastOptions) stepsOf(h *history) (int, error) {
	bad := &usageError{text: fmt.Sprintf("--horizon wants 1 to %d steps, or a length of time such as 2w, found %q", maxHorizon, o.horizon)}
	n, whole := 0, true
	for _, c := range o.horizon {
		if whole = whole && c >= '0' && c <= '9'; whole && n <= maxHorizon {
			n = n*10 + int(c-'0')
		}
	}
	if !whole {
		length, err := capcli.ParseStep(o.horizon)
		if err != nil {
			return 0, bad
		}
		if !h.hs.Clock {
			return 0, &usageError{text: fmt.Sprintf("--horizon %s is a length of time, but the stamps are whole numbers", o.horizon), hint: "give a number of steps"}
		}
		n = int((length.Length() + h.hs.Step.Length()/2) / h.hs.Step.Length())
	}
	if n < 1 || n > maxHorizon {
		return 0, bad
	}
	return n, nil
}

// usualHorizon is how far to forecast where nobody says: two days of hours, four
// weeks of days, half a year of weeks, a year of months.
func usualHorizon(s capcli.Step) int {
	switch {
	case s.Months > 0:
		return max(1, 12/s.Months)
	case s.Days >= 7:
		return 26
	case s.Days > 0:
		return 28
	case s.Seconds > 0 && s.Seconds <= capcli.Hour:
		return int(min(2*capcli.Day/s.Seconds, 288))
	}
	return 12
}

// end is how many steps of h reach until, which may be a date, a time or, where
// stamps are numbers, a number.
func (h *history) end(until string) (int, error) {
	var last int64
	if !h.hs.Clock {
		n, err := strconv.ParseInt(until, 10, 64)
		if err != nil {
			return 0, &usageError{text: fmt.Sprintf("--until wants a whole number, as the stamps are, found %q", until)}
		}
		last = n
	} else {
		at, err := capcli.ParseTime(until, h.hs.Zone, true)
		if err != nil {
			return 0, &usageError{text: "--until " + err.Error()}
		}
		last = int64(at)
	}
	n := len(h.Values)
	if h.Stamp(n) > last {
		return 0, &usageError{text: fmt.Sprintf("--until %s is not after the end of the history of %s, %s", until, h.Name, h.StampText(n-1))}
	}
	steps := 0
	for h.Stamp(n+steps) <= last {
		if steps++; steps > maxHorizon {
			return 0, &usageError{text: fmt.Sprintf("--until %s is more than %d steps ahead", until, maxHorizon), hint: "take a longer --step"}
		}
	}
	return steps, nil
}
