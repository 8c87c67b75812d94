package generate

import (
	"errors"
	"fmt"

	"capcli"
)

// Limits on a workload.
const (
	maxBurst    = 1_000_000
	maxRun      = float64(10 * 366 * capcli.Day)
	maxSpan     = 50 * 366 * capcli.Day
	maxExpected = 1e9
)

// Validate returns all faults of the workload, each with its class; nil if Jobs will work.
func (w Workload) Validate() error {
	classes, err := w.classes()
	if err != nil {
		return err
	}
	var faults []error
	note := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if !w.Start.IsKnown() || w.Span <= 0 || w.Span > maxSpan {
		note("a workload needs a start and a span of at most 50 years, found a span of %s", w.Span)
	}
	if !(w.Scale >= 0 && w.Scale <= 1e9) {
		note("scale is %v; want 0 to 1e9", w.Scale)
	}
	if len(classes) == 0 {
		note("a workload needs a class of work")
	}
	names := map[string]bool{}
	jobs := 0.0
	for i := range classes {
		c := &classes[i]
		if names[c.Name] || c.Name == "" {
			note("class %q: every class needs a name of its own", c.Name)
		}
		names[c.Name] = true
		found := len(faults)
		c.validate(func(format string, args ...any) { note("class %s: "+format, append([]any{c.Name}, args...)...) })
		if len(faults) == found && (c.Kind == Random || c.Kind == "") {
			jobs += c.perDay() * w.scale() * float64(w.Span) / float64(capcli.Day)
		}
	}
	if jobs > maxExpected {
		note("%.2g jobs are to come; at most %.0g are allowed: lower scale, jobs_per_day or span", jobs, maxExpected)
	}
	return errors.Join(faults...)
}

// inRange reports whether x is in [lo, hi]; false for NaN.
func inRange(x, lo, hi float64) bool { return x >= lo && x <= hi }

func (c *Class) validate(note func(format string, args ...any)) {
	for _, f := range []struct {
		name   string
		value  float64
		lo, hi float64
	}{
		{"day_swing", c.DaySwing, 0, 1e6},
		{"peak_hour", c.PeakHour, 0, 24},
		{"weekend", c.Weekend, 0, 1e6},
		{"burst", c.Burst, 0, maxBurst},
		{"limit_over", c.LimitOver, 0, 1e6},
		{"slack", c.Slack, 0, 1e6},
		{"busy_share", c.BusyShare, 0, 1},
		{"cpus_per_gpu", c.CPUsPerGPU, 0, 1e6},
		{"mem_gb_per_gpu", c.MemPerGPU, 0, 1e6},
		{"gpu_mem_gb", c.GPUMem, 0, 1e5},
		{"from", float64(c.From), 0, float64(maxSpan)},
		{"until", float64(c.Until), 0, float64(maxSpan)},
		{"every", float64(c.Every), 0, float64(maxSpan)},
	} {
		if !inRange(f.value, f.lo, f.hi) {
			note("%s is %v; want %v to %v", f.name, f.value, f.lo, f.hi)
		}
	}
	if c.DaySwing > 0 && c.DaySwing < 1 {
		note("day_swing is %v; the busiest instant over the quietest is 1 or more", c.DaySwing)
	}
	for _, t := range c.Tenants {
		if t.Name == "" || !inRange(t.Weight, 0, 1e12) {
			note("tenant %q of weight %v: want a name and a weight of 0 to 1e12", t.Name, t.Weight)
		}
	}
	switch c.Kind {
	case Steady:
		if c.GPUs < 1 || c.GPUs%c.gang() != 0 {
			note("%d GPUs are no whole number of jobs of %d", c.GPUs, c.gang())
		}
	case Service:
		if c.Replicas < 1 {
			note("a service needs replicas")
		}
	case Random, "":
		c.validateRandom(note)
	default:
		note("kind is %q; want random, steady or service", c.Kind)
	}
}

func (c *Class) validateRandom(note func(format string, args ...any)) {
	if (c.JobsPerDay > 0) == (c.MeanGPUs > 0) || !inRange(c.JobsPerDay, 0, 1e9) || !inRange(c.MeanGPUs, 0, 1e9) {
		note("give jobs_per_day or mean_gpus, one of the two, over 0")
	}
	if len(c.Sizes) == 0 {
		note("sizes is missing: the GPUs of a job")
	}
	for _, s := range c.Sizes {
		if s.GPUs < 1 || !inRange(s.Weight, 0, 1e12) {
			note("a size of %d GPUs of weight %v: want 1 or more, and a weight of 0 to 1e12", s.GPUs, s.Weight)
		}
	}
	switch {
	case c.RunMedian < 1 || float64(c.RunMedian) > maxRun:
		note("run_median is %s; want a second to ten years", c.RunMedian)
	case c.RunP95 > 0 && c.RunMean > 0:
		note("run_p95 and run_mean both say how long the long jobs are; leave one out")
	case c.RunP95 > 0 && c.RunP95 < c.RunMedian, c.RunMean > 0 && c.RunMean < c.RunMedian:
		note("run_p95 and run_mean may not be under run_median")
	case c.RunMin < 0 || c.RunMin > c.RunMedian, c.RunMax != 0 && c.RunMax < c.RunMedian:
		note("run_min to run_max must hold run_median")
	}
	if c.LimitOver != 0 && c.LimitOver < 1 {
		note("limit_over is %v; want 1 or more", c.LimitOver)
	}
}
