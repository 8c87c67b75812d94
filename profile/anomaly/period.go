package anomaly

import (
	"math"
	"time"

	"capcli/profile"
)

// Bounds of a period.
const (
	shortestPeriod = 4 // windows: an hour
	periodsBefore  = 3 // that it must have been there
	strong         = 0.5
	weak           = 0.15
	swing          = 8.0 // percentage points of the spread over a period
)

// period reports that activity which came and went with a period does so no more, and whether that is so. It
// knows since when to half a period.
func (b *box) period(name string, shares []share, l line) bool {
	values, ok := regular(l)
	if !ok {
		return false
	}
	lag, at := lostPeriod(values)
	if lag == 0 {
		return false
	}
	since := l.at[0] + profile.Instant(at)*windowMicros
	length := time.Duration(lag) * Window
	b.report(periodLost, deviceOf(shares), name, since, 0, length.Hours(), "hours", confidenceOf(float64(len(values)-at)/float64(2*lag)),
		"a period of %v until then, none in the %v since", length, time.Duration(len(values)-at)*Window)
	return true
}

// regular returns the values of a line at every window; a few that are missing are those before them. ok is
// false where more than a tenth are missing.
func regular(l line) (values []float64, ok bool) {
	missing := 0
	for i, at := range l.at {
		if i > 0 {
			for t := l.at[i-1] + windowMicros; t < at; t += windowMicros {
				if missing++; missing > len(l.at)/10 {
					return nil, false
				}
				values = append(values, l.values[i-1])
			}
		}
		values = append(values, l.values[i])
	}
	return values, len(values) > 0
}

// lostPeriod returns the period of values, in windows, and where it was lost; 0 where there was none, or where
// it goes on. A period counts where the autocorrelation at it is strong over three periods, and it is lost
// where it is weak, or nothing swings any more, in all that follows, for at least two periods.
func lostPeriod(values []float64) (lag, at int) {
	n := len(values)
	for _, share := range []int{2, 3} { // the first half, or the first third, has the period
		head := values[:n/share]
		if share == 2 && n/2 < periodsBefore*shortestPeriod {
			return 0, 0
		}
		lag = strongest(head)
		if lag == 0 {
			continue
		}
		if at = lastPeriod(values, lag); at > 0 {
			return lag, at
		}
	}
	return 0, 0
}

// strongest returns the lag at which head repeats itself most, 0 where it does not.
func strongest(head []float64) int {
	best, most := 0, strong
	if spreadOf(head, median(head)) == 0 && !swings(head) {
		return 0
	}
	for lag := shortestPeriod; lag*periodsBefore <= len(head); lag++ {
		r := correlation(head, lag)
		// A multiple of the period is as strong as the period itself: take the first unless it is clearly weaker.
		if r > most+0.05 && r > correlation(head, lag-1) && r >= correlation(head, lag+1) && correlation(head, lag/2) < r-0.2 {
			best, most = lag, r
		}
	}
	return best
}

// correlation returns the autocorrelation of values at a lag, from -1 to 1; 0 where nothing varies.
func correlation(values []float64, lag int) float64 {
	n := len(values) - lag
	if n < shortestPeriod {
		return 0
	}
	x, y := values[:n], values[lag:]
	mx, my := mean(x), mean(y)
	xy, xx, yy := 0.0, 0.0, 0.0
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xy, xx, yy = xy+dx*dy, xx+dx*dx, yy+dy*dy
	}
	if xx < 1e-9 || yy < 1e-9 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}

// swings reports whether values vary by enough to have a period.
func swings(values []float64) bool {
	m := mean(values)
	sum := 0.0
	for _, v := range values {
		sum += (v - m) * (v - m)
	}
	return 2*math.Sqrt(sum/float64(len(values))) >= swing
}

// lastPeriod returns where the period of lag is lost for good: the begin of the first stretch of a period which
// does not go on as the one before it, with all after it alike. It is 0 where that never comes.
func lastPeriod(values []float64, lag int) int {
	n := len(values)
	last := 0 // end of the last period that repeats the one before it
	for end := 2 * lag; end <= n; end++ {
		window := values[end-2*lag : end]
		if swings(window[lag:]) && correlation(window, lag) >= strong {
			last = end
		}
	}
	rest := values[last:]
	if last == 0 || len(rest) < 2*lag || swings(rest) && correlation(rest, lag) > weak {
		return 0
	}
	return last - lag/2 // in the middle of the last period, which is alike by more than half
}
