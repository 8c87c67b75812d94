package validate

import (
	"math"
	"slices"

	"capcli"
)

// Waits are the waits of the measured jobs.
type Waits struct {
	P50  capcli.Seconds `json:"p50_s"`
	P75  capcli.Seconds `json:"p75_s"`
	P90  capcli.Seconds `json:"p90_s"`
	P95  capcli.Seconds `json:"p95_s"`
	P99  capcli.Seconds `json:"p99_s"`
	Mean float64        `json:"mean_s"`
}

// Fidelity says how far simulated waits are from recorded ones. Differences on a
// logarithmic scale are of log10(wait + 60 s), so that seconds count for little
// and a factor counts alike at every length.
type Fidelity struct {
	Jobs        int     `json:"measured_jobs"` // those after the warm-up
	Recorded    Waits   `json:"recorded"`
	Simulated   Waits   `json:"simulated"`
	Distance    float64 `json:"qdist"`           // mean difference of the five quantiles, on the logarithmic scale
	KS          float64 `json:"ks"`              // Kolmogorov's distance of the two distributions
	KS60        float64 `json:"ks60"`            // the same of waits that count as a minute at least
	Error       float64 `json:"mae_log10"`       // mean absolute difference by job, on the logarithmic scale
	GuessError  float64 `json:"mae_log10_guess"` // the same of always guessing the recorded median
	Bias        float64 `json:"bias_log10"`      // mean difference by job, simulated less recorded
	Within2     float64 `json:"within2"`         // share of jobs within a factor of two
	Brier       float64 `json:"brier_1h"`        // share of jobs for which "waits over an hour" is wrong
	Base        float64 `json:"base_1h"`         // Brier score of always saying the recorded share
	OverHour    float64 `json:"over_1h"`         // share of jobs that waited over an hour, recorded
	SimOver     float64 `json:"simulated_over_1h"`
	Wasserstein float64 `json:"w1_s"`    // mean difference of the sorted waits, s
	MeanError   float64 `json:"mae_s"`   // mean absolute difference by job, s
	UseError    float64 `json:"use_mae"` // mean absolute difference of the hourly mean use, as a share of the capacity
}

// logWait puts a wait on the logarithmic scale.
func logWait(wait capcli.Seconds) float64 { return math.Log10(float64(wait + 60)) }

// Measure compares these simulated starts with the recorded ones. Jobs queued before from are not
// measured.
func (l *Log) Measure(starts []capcli.Time, from capcli.Time) Fidelity {
	return l.compare(l.starts(), starts, from, capcli.Time(math.MaxInt64))
}

// compare compares two starts of each job queued at or after from and before until.
func (l *Log) compare(recorded, simulated []capcli.Time, from, until capcli.Time) Fidelity {
	f := compareWaits(l.waitsFrom(recorded, simulated, from, until))
	f.UseError = l.useError(recorded, simulated, from, until)
	return f
}

// waitsFrom returns the two waits of each job queued at or after from and before until.
func (l *Log) waitsFrom(recorded, simulated []capcli.Time, from, until capcli.Time) (a, b []capcli.Seconds) {
	for i := range l.Jobs {
		if q := l.Jobs[i].Queued; q >= from && q < until {
			a = append(a, capcli.Seconds(recorded[i]-q))
			b = append(b, capcli.Seconds(simulated[i]-q))
		}
	}
	return a, b
}

// compareWaits compares two waits of each job. UseError is left at 0.
func compareWaits(recorded, simulated []capcli.Seconds) Fidelity {
	n := len(recorded)
	f := Fidelity{Jobs: n}
	if n == 0 {
		return f
	}
	var within, wrong, over, simOver int
	for i, r := range recorded {
		s := simulated[i]
		d := logWait(s) - logWait(r)
		f.Error += math.Abs(d)
		f.Bias += d
		f.MeanError += math.Abs(float64(s - r))
		within += capcli.Bit(max(s, r)+60 <= 2*(min(s, r)+60))
		wrong += capcli.Bit((s > hour) != (r > hour))
		over += capcli.Bit(r > hour)
		simOver += capcli.Bit(s > hour)
	}
	all := float64(n)
	f.Error, f.Bias, f.MeanError = f.Error/all, f.Bias/all, f.MeanError/all
	f.Within2, f.Brier = float64(within)/all, float64(wrong)/all
	f.OverHour, f.SimOver = float64(over)/all, float64(simOver)/all
	f.Base = f.OverHour * (1 - f.OverHour)

	r, s := slices.Sorted(slices.Values(recorded)), slices.Sorted(slices.Values(simulated))
	f.Recorded, f.Simulated = waitsOf(r), waitsOf(s)
	for _, wait := range r {
		f.GuessError += math.Abs(logWait(wait)-logWait(f.Recorded.P50)) / all
	}
	for i := range r {
		f.Wasserstein += math.Abs(float64(r[i]-s[i])) / all
	}
	f.KS, f.KS60 = kolmogorov(r, s, 0), kolmogorov(r, s, 60)
	a, b := f.Recorded.quantiles(), f.Simulated.quantiles()
	for i := range a {
		f.Distance += math.Abs(logWait(b[i])-logWait(a[i])) / float64(len(a))
	}
	return f
}

func waitsOf(sorted []capcli.Seconds) Waits {
	at := func(percent int) capcli.Seconds { return sorted[capcli.NearestRank(percent, len(sorted))-1] }
	var sum float64
	for _, w := range sorted {
		sum += float64(w)
	}
	return Waits{P50: at(50), P75: at(75), P90: at(90), P95: at(95), P99: at(99), Mean: sum / float64(len(sorted))}
}

// quantiles are the five quantiles whose distance is the headline.
func (w Waits) quantiles() [5]capcli.Seconds {
	return [...]capcli.Seconds{w.P50, w.P75, w.P90, w.P95, w.P99}
}

// kolmogorov returns the largest difference of the two cumulative distributions
// of sorted values, where a value below floor counts as floor.
func kolmogorov(a, b []capcli.Seconds, floor capcli.Seconds) float64 {
	var most float64
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		v := max(floor, min(a[i], b[j]))
		for i < len(a) && a[i] <= v {
			i++
		}
		for j < len(b) && b[j] <= v {
			j++
		}
		most = max(most, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	return most
}

// useError is the mean over the whole hours from an instant of the difference of the mean use,
// recorded and simulated, as a share of the capacity.
func (l *Log) useError(recorded, simulated []capcli.Time, from, until capcli.Time) float64 {
	if len(l.Jobs) == 0 {
		return 0
	}
	n := int64(capcli.Seconds(min(until, l.Jobs[len(l.Jobs)-1].Queued)-from) / hour)
	if n <= 0 || l.Capacity == 0 {
		return 0
	}
	a, b := l.hourlyUse(recorded, from, n), l.hourlyUse(simulated, from, n)
	var sum float64
	for i := range a {
		sum += math.Abs(float64(b[i] - a[i]))
	}
	return sum / float64(n) / float64(hour) / float64(l.Capacity)
}

// hourlyUse returns the unit-seconds held in each of n hours from an instant, when the jobs start at
// these instants.
func (l *Log) hourlyUse(starts []capcli.Time, from capcli.Time, n int64) []int64 {
	use, level := make([]int64, n+1), make([]int64, n+1) // level: change of the units held in whole hours
	end := capcli.Seconds(n) * hour
	for i, start := range starts {
		a := max(0, capcli.Seconds(start-from))
		b := min(end, capcli.Seconds(start-from)+l.Jobs[i].Run())
		if a >= b {
			continue
		}
		units, first, last := l.Jobs[i].Units, int64(a/hour), int64(b/hour)
		if first == last {
			use[first] += units * int64(b-a)
			continue
		}
		use[first] += units * (int64(hour)*(first+1) - int64(a))
		use[last] += units * (int64(b) - int64(hour)*last)
		level[first+1] += units
		level[last] -= units
	}
	var held int64
	for k := range use {
		held += level[k]
		use[k] += held * int64(hour)
	}
	return use[:n]
}
