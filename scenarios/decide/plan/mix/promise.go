package mix

import (
	"fmt"
	"slices"

	"capcli"
	"capcli/simulate"
)

// promised is the windows in which the rules of a run make each job start, and what the bounds need
// besides.
type promised struct {
	windows []window
	until   capcli.Seconds // end of the period; 0 where there is none
	arrived capcli.Seconds // earliest start of the last job, in seconds since the start of the run
	ended   capcli.Seconds // no run under these rules can end before
	longest capcli.Seconds // longest wait of any job
	peak    int64          // most GPUs that jobs can hold at once where no job is ever interrupted
	all     int64          // GPUs of all jobs together
	models  []string       // GPU models that jobs want
	why     string         // why some job has no window; "" where every job has one
}

// promises computes the windows of the jobs under cfg's patience. A job whose patience has ended
// goes on to on-demand capacity in that same second, and starts there a lead time later. This holds
// where some elastic pool can take every job at any time: fits checks that.
//
// A job that is interrupted after that continues at once where nothing has a lead time. So it holds
// GPUs without a gap from the end of its window for at least its run time; work that is done again
// only adds. Where there is a lead time, each pool that ends can cost the job one, which the
// windows allow for.
//
// A job with several ways holds GPUs in one of them. v weighs the GPUs of different models: see worths.
func promises(cfg *simulate.Config, jobs []capcli.Job, v worths) *promised {
	p := &promised{until: cfg.Until}
	chooses := choosingOf(cfg)
	if cfg.Delayer != nil {
		p.why = cfg.Delays()
		return p
	}
	start := startOf(cfg, jobs)
	shares := slices.ContainsFunc(cfg.Pools, func(p simulate.Pool) bool { return len(p.Shared) > 0 })
	var work float64
	late := lateness(cfg)
	for i := range jobs {
		j := &jobs[i]
		run, believed := runTimes(cfg, j)
		if j.GPUs == 0 || run <= 0 {
			continue
		}
		wait := cfg.Overflow.PatienceOf(j, believed)
		if p.why = whyLonger(j, wait, shares); p.why != "" {
			return p
		}
		w := window{Earliest: capcli.Seconds(j.Submit - start), Run: run, Milli: j.Milli()}
		wait += late
		w.Latest = w.Earliest + wait
		model, gpus := j.GPUModel, int64(j.GPUs)
		if v != nil || j.Shape != nil || j.Stage != nil || j.Data != nil || j.GPUMemMiB > 0 {
			f := formOf(cfg, j, chooses, v)
			if p.why = f.why; p.why != "" {
				return p
			}
			if !f.some {
				continue // no mix serves it
			}
			if model = f.model; v != nil || hasWays(j) || isQuicker(j) {
				w, gpus = f.window(w.Earliest, w.Latest), max(gpus, f.wide/1000)
			}
		}
		p.arrived = max(p.arrived, w.Earliest)
		p.ended = max(p.ended, w.Earliest+w.Run)
		p.longest = max(p.longest, wait)
		p.windows = append(p.windows, w)
		p.all += gpus
		if model != "" && !slices.Contains(p.models, model) {
			p.models = append(p.models, model)
		}
		work += max(float64(w.Milli)*float64(max(w.Run, w.Slow)), float64(w.Area))
	}
	if work > 1<<62 {
		p.why = "the work of the jobs is more than can be counted"
		return p
	}
	p.peak = peakOf(p.windows)
	return p
}

// whyLonger says why the time of j in a run is not known beforehand, "" if it is. shares says whether pools state
// what their jobs share.
func whyLonger(j *capcli.Job, wait capcli.Seconds, shares bool) string {
	switch {
	case shares && j.Uses != nil:
		return "jobs that share storage, CPUs or a network may run longer"
	case wait < 0:
		return "some jobs wait for ever for committed capacity"
	}
	return ""
}

// startOf returns time 0 of the run.
func startOf(cfg *simulate.Config, jobs []capcli.Job) capcli.Time {
	if !cfg.Start.IsKnown() && len(jobs) > 0 {
		return jobs[0].Submit
	}
	return cfg.Start
}

// runTimes returns how long a job holds its GPUs if it is never interrupted, and how long the run believes
// that it does.
func runTimes(cfg *simulate.Config, j *capcli.Job) (run, believed capcli.Seconds) {
	if run = runTime(j, cfg.KillAtLimit); cfg.Settings.Perfect {
		return run, run
	}
	return run, j.Estimate()
}

// runTime returns how long a job holds its GPUs if it is never interrupted.
func runTime(j *capcli.Job, killAtLimit bool) capcli.Seconds {
	if killAtLimit && j.Limit > 0 {
		return min(j.Run, j.Limit)
	}
	return j.Run
}

// lateness returns the longest time that a job can be without GPUs after its patience has ended:
// the lead time and the interval at which the policy looks, once and again for each pool that ends
// under it.
func lateness(cfg *simulate.Config) capcli.Seconds {
	var lead capcli.Seconds
	turns := capcli.Seconds(1)
	for i := range cfg.Pools {
		p := &cfg.Pools[i]
		if !p.Terms.Committed() {
			lead = max(lead, p.Lead)
		}
		if p.Until > 0 {
			turns++
		}
	}
	return turns * (lead + cfg.Settings.Round)
}

// interrupts reports whether jobs may ever lose their GPUs, or hold them for longer than they work, and whether
// they may lose them at any time (by
// preemption or by capacity that comes and goes) rather than only at the end of a pool.
func interrupts(cfg *simulate.Config) (ever, often bool) {
	ever, often = cfg.Restarts.Lengthens(), cfg.Policy.Preempts(cfg.Settings)
	for i := range cfg.Services {
		often = often || cfg.Services[i].Displaces
	}
	for i := range cfg.Pools {
		often = often || cfg.Pools[i].Supply != nil
		ever = ever || cfg.Pools[i].Until > 0
	}
	return ever || often, often
}

// end returns the end of the time in which the work counts.
func (p *promised) end() capcli.Seconds {
	if p.until > 0 {
		return p.until
	}
	var end capcli.Seconds
	for i := range p.windows {
		end = max(end, p.windows[i].latestEnd())
	}
	return end
}

// peakOf returns the most GPUs that jobs can hold at once, wherever in their windows they start:
// each counts from its earliest start to its latest end.
func peakOf(windows []window) int64 {
	var held capcli.Steps[capcli.Seconds]
	for i := range windows {
		w := &windows[i]
		held.Add(w.Earliest, w.latestEnd(), w.Milli)
	}
	most, _ := held.Peak()
	return (most + 999) / 1000
}

// fits returns why no elastic pool takes every job at any time; "" where one does.
func (p *promised) fits(cfg *simulate.Config) string {
	if p.why != "" {
		return p.why
	}
	ever, often := interrupts(cfg)
	if often && lateness(cfg) > 0 {
		return "jobs that are interrupted wait for on-demand capacity each time"
	}
	room := p.peak
	if ever {
		room = p.all
	}
	if why := cfg.Delays(); why != "" {
		return why
	}
	for i := range cfg.Services {
		room += int64(cfg.Services[i].Most) * int64(max(1, cfg.Services[i].GPUs))
	}
	why := "there is no on-demand capacity"
	for i := range cfg.Pools {
		q := &cfg.Pools[i]
		if q.Terms.Committed() {
			continue
		}
		switch gone := q.Delays(p.until); {
		case gone != "":
			why = gone
		case q.Partition != "" || !p.serves(q.GPUModel):
			why = fmt.Sprintf("%s does not serve every job", q.Name)
		case int64(q.Capacity()) < room:
			why = fmt.Sprintf("%s may be full: jobs can come to want %d GPUs at once, it has %d", q.Name, room, q.Capacity())
		default:
			return ""
		}
	}
	return why
}

// serves reports whether a pool of this GPU model serves all jobs.
func (p *promised) serves(model string) bool {
	return model == "" || !slices.ContainsFunc(p.models, func(want string) bool { return !modelServes(model, want) })
}
