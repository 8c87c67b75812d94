package scenarios

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
)

// workload reads the recipe for jobs that the generator follows.
func workload(dst **Workload) reader {
	return func(d *decoder, n *yaml.Node) {
		w := &Workload{Start: capcli.NoTime}
		*dst = w
		o := d.object(n, "jobs.generate", workloadFields(w))
		if o != nil && len(w.Classes) == 0 && w.Mix == "" && o.clean("classes", "mix") {
			o.missing("classes", "give classes, at least one kind of work, or a mix")
		}
	}
}

// date reads a day or an instant.
func date(dst *capcli.Time) reader {
	return func(d *decoder, n *yaml.Node) {
		if s, ok := d.scalar(n, "a date such as 2027-01-31"); ok {
			if t, _, ok := instant(d, n, 0, s); ok {
				*dst = t
			}
		}
	}
}

func workClasses(dst *[]WorkClass) reader {
	return func(d *decoder, n *yaml.Node) {
		taken := map[string]bool{}
		d.list(n, maxList, "classes", func(_ int, n *yaml.Node) {
			c := WorkClass{Kind: RandomWork}
			o := d.object(n, "jobs.generate.classes", c.fields())
			if o != nil {
				o.need("name")
				if c.Name != "" && taken[c.Name] {
					o.on("name", "class %s is there twice", show(c.Name))
				}
				taken[c.Name] = true
				c.check(o)
			}
			*dst = append(*dst, c)
		})
	}
}

func (c *WorkClass) fields() []field {
	return append([]field{
		{"name", "the jobs' class and the stem of their ids", name(&c.Name)},
		{"kind", "random, steady or service", workKind(&c.Kind)},
		{"tenants", "who pays, drawn job by job: [{name: research, weight: 2}]", workTenants(&c.Tenants)},
		{"gpu_model", "model wanted; any where left out", name(&c.GPUModel)},
		{"partition", "where they are sent", name(&c.Partition)},
		{"priority", "larger is more urgent", whole(&c.Priority, -1_000_000, 1_000_000)},
		{"from", "the class begins so long after the start", duration(&c.From, 0)},
		{"until", "and ends so long after the start", duration(&c.Until, 1)},
		{"day_swing", "busiest over quietest instant of the day", number(&c.DaySwing, 1, 1000)},
		{"peak_hour", "hour (UTC) when it is busiest", number(&c.PeakHour, 0, 24)},
		{"weekend", "Saturday and Sunday against a weekday", number(&c.Weekend, 0, 1000)},
		{"cpus_per_gpu", "CPUs that each GPU comes with", number(&c.CPUsPerGPU, 0, 1e4)},
		{"mem_gb_per_gpu", "memory in GiB that each GPU comes with", number(&c.MemPerGPU, 0, 1e5)},
	}, append(c.randomFields(), c.steadyFields()...)...)
}

func (c *WorkClass) randomFields() []field {
	return []field{
		{"jobs_per_day", "random: jobs a day, on average over whole weeks", number(&c.JobsPerDay, 1e-6, 1e8)},
		{"mean_gpus", "random: or as many as keep so many GPUs busy", number(&c.MeanGPUs, 1e-6, 1e6)},
		{"burst", "random: mean of the jobs that come together", number(&c.Burst, 1, 1e4)},
		{"sizes", "random: GPUs of a job and how often: [{gpus: 8, weight: 0.3}]", workSizes(&c.Sizes)},
		{"run_median", "random: median of the log-normal run times", duration(&c.RunMedian, 1)},
		{"run_p95", "random: and their 95th percentile", duration(&c.RunP95, 1)},
		{"run_mean", "random: or their mean", duration(&c.RunMean, 1)},
		{"run_min", "random: none shorter", duration(&c.RunMin, 1)},
		{"run_max", "random: none longer", duration(&c.RunMax, 1)},
		{"limit_over", "random: the limit is the run time times 1 to this, evenly", number(&c.LimitOver, 1, 1e6)},
		{"limit_modal", "random: limits are rounded up to lengths that people name", boolean(&c.LimitModal)},
		{"slack", "random: the deadline is submission plus this times the run time", number(&c.Slack, 1e-6, 1e6)},
	}
}

func (c *WorkClass) steadyFields() []field {
	return []field{
		{"gpus", "steady: GPUs held at once", whole(&c.GPUs, 1, maxGPUs)},
		{"busy_share", "steady: share of each cycle that they are held", number(&c.BusyShare, 1e-9, 1)},
		{"job_gpus", "steady, service: GPUs of a job or replica", whole(&c.JobGPUs, 1, maxGPUs)},
		{"every", "steady, service: length of a cycle or step", duration(&c.Every, 1)},
		{"replicas", "service: replicas at the peak hour", whole(&c.Replicas, 1, maxGPUs)},
	}
}

func workKind(dst *WorkKind) reader {
	return func(d *decoder, n *yaml.Node) {
		var s string
		choice(&s, "kind of work", string(RandomWork), string(SteadyWork), string(ServiceWork))(d, n)
		if s != "" {
			*dst = WorkKind(s)
		}
	}
}

func workTenants(dst *[]WorkTenant) reader {
	return func(d *decoder, n *yaml.Node) {
		d.list(n, maxTenants, "tenants", func(_ int, n *yaml.Node) {
			t := WorkTenant{Weight: 1}
			o := d.object(n, "jobs.generate.classes.tenants", workTenantFields(&t))
			o.need("name")
			*dst = append(*dst, t)
		})
	}
}

func workSizes(dst *[]WorkSize) reader {
	return func(d *decoder, n *yaml.Node) {
		d.list(n, maxList, "sizes", func(_ int, n *yaml.Node) {
			s := WorkSize{Weight: 1}
			o := d.object(n, "jobs.generate.classes.sizes", workSizeFields(&s))
			o.need("gpus")
			*dst = append(*dst, s)
		})
	}
}

// ofKind are the fields that only one kind of work has.
var ofKind = []struct {
	kind WorkKind
	own  []string
	must []string
}{
	{RandomWork, []string{"jobs_per_day", "mean_gpus", "burst", "sizes", "run_median", "run_p95", "run_mean", "run_min", "run_max", "limit_over", "limit_modal", "slack"}, []string{"sizes", "run_median"}},
	{SteadyWork, []string{"gpus", "busy_share"}, []string{"gpus"}},
	{ServiceWork, []string{"replicas"}, []string{"replicas"}},
}

// check checks a class's fields against each other.
func (c *WorkClass) check(o *object) {
	for _, k := range ofKind {
		if k.kind == c.Kind {
			o.need(k.must...)
			continue
		}
		for _, name := range k.own {
			if o.has(name) {
				o.onKey(name, "%s is of %s work; this class is %s", name, k.kind, c.Kind)
			}
		}
	}
	if c.Kind == RandomWork {
		for _, name := range []string{"job_gpus", "every"} {
			if o.has(name) {
				o.onKey(name, "%s is of steady and service work; this class is random", name)
			}
		}
		switch {
		case o.has("jobs_per_day") == o.has("mean_gpus"):
			o.missing("jobs_per_day", "give jobs_per_day or mean_gpus, one of the two")
		case o.has("run_p95") && o.has("run_mean"):
			o.onKey("run_mean", "run_p95 and run_mean both say how long the long jobs are; leave one out")
		}
		o.order("run_median", c.RunMedian, "run_p95", c.RunP95)
		o.order("run_median", c.RunMedian, "run_mean", c.RunMean)
		o.order("run_min", c.RunMin, "run_median", c.RunMedian)
		o.order("run_median", c.RunMedian, "run_max", c.RunMax)
	}
	if o.has("until") && c.Until > 0 && c.Until <= c.From {
		o.on("until", "until is not after from")
	}
	if c.JobGPUs > 0 && c.GPUs > 0 && c.GPUs%c.JobGPUs != 0 {
		o.on("job_gpus", "%d GPUs are no whole number of jobs of %d", c.GPUs, c.JobGPUs)
	}
}

// order notes that the second of two times is shorter than the first.
func (o *object) order(low string, lo capcli.Seconds, high string, hi capcli.Seconds) {
	if o.has(low) && o.has(high) && lo > 0 && hi > 0 && hi < lo {
		o.on(high, "%s is %s, under %s of %s", high, hi, low, lo)
	}
}

// checkWorkload fills in the times of the generator from the period.
func (s *Scenario) checkWorkload(o *object) {
	w := s.Jobs.Generate
	if w == nil {
		return
	}
	if !w.Start.Known() {
		w.Start = s.Period.Start
	}
	if w.Span == 0 && s.Period.Known() {
		w.Span = capcli.Seconds(s.Period.End - w.Start)
	}
	at := child(child(o.node, "jobs"), "generate")
	if at == nil || o.d.count() > 0 {
		return
	}
	switch {
	case !w.Start.Known() || w.Span == 0:
		o.d.at(at, "generate needs start and span, or a period to take them from")
	case w.Span < 0 || s.Period.Known() && (w.Start < s.Period.Start || w.Start >= s.Period.End):
		o.d.at(at, "generate starts outside the period")
	default:
		if err := w.Validate(); err != nil {
			o.d.at(at, "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
}

func workloadFields(w *Workload) []field {
	return []field{
		{"start", "first day; that of the period where left out", date(&w.Start)},
		{"span", "for so long; the period's length where left out", duration(&w.Span, 1)},
		{"scale", "all random classes come so many times as often", number(&w.Scale, 1e-6, 1e6)},
		{"mix", "a mix of classes fitted to a real cluster: " + strings.Join(Mixes.Names(), ", "), catalogued(&w.Mix, "mix", Mixes.Names())},
		{"classes", "kinds of work that come side by side", workClasses(&w.Classes)},
	}
}

func workTenantFields(t *WorkTenant) []field {
	return []field{
		{"name", "who pays", name(&t.Name)},
		{"weight", "against the others'", number(&t.Weight, 1e-9, 1e9)},
	}
}

func workSizeFields(s *WorkSize) []field {
	return []field{
		{"gpus", "GPUs of a job", whole(&s.GPUs, 1, maxGPUs)},
		{"weight", "how often, against the others'", number(&s.Weight, 1e-9, 1e9)},
	}
}
