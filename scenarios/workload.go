package scenarios

import (
	"strings"

	"capcli"
	"capcli/scenarios/generate"
	"capcli/scenarios/strict"
)

// workloadSection is the section of the job generator.
var workloadSection = strict.Section[generate.Workload]{Name: "jobs.generate", Start: generate.Workload{Start: capcli.NoTime}, Fields: func(w *generate.Workload) []strict.Field {
	return []strict.Field{
		{"start", "first day; default: that of the period", instantOf(&w.Start)},
		{"span", "length; default: that of the period", strict.Duration(&w.Span, 1)},
		{"scale", "factor on the arrival rate of all random classes", strict.Number(&w.Scale, 1e-6, 1e6)},
		{"mix", "a mix of classes fitted to a real cluster: " + strings.Join(generate.Mixes.Names(), ", "), strict.Choice(&w.Mix, "mix", generate.Mixes.Names()...)},
		{"classes", "kinds of work that come side by side", workClasses(&w.Classes)},
	}
}, Check: func(o *strict.Object, w *generate.Workload) {
	if len(w.Classes) == 0 && w.Mix == "" && o.IsClean("classes", "mix") {
		o.FaultMissing("classes", "give classes, at least one kind of work, or a mix")
	}
}}

func workClasses(dst *[]generate.Class) strict.Reader {
	taken := map[string]bool{}
	section := classSection
	section.Check = func(o *strict.Object, c *generate.Class) {
		if c.Name != "" && taken[c.Name] {
			o.Fault("name", "class %s is there twice", capcli.Quoted(c.Name))
		}
		taken[c.Name] = true
		checkClass(c, o)
	}
	return section.List(dst, maxList, "classes")
}

var classSection = strict.Section[generate.Class]{Name: "jobs.generate.classes", Start: generate.Class{Kind: generate.Random}, Needs: []string{"name"}, Fields: func(c *generate.Class) []strict.Field {
	return append([]strict.Field{
		{"name", "the jobs' class and the stem of their ids", strict.Name(&c.Name)},
		{"kind", "random, steady or service", strict.Choice(&c.Kind, "kind of work", string(generate.Random), string(generate.Steady), string(generate.Service))},
		{"tenants", "who pays, drawn job by job: [{name: research, weight: 2}]", workTenantSection.List(&c.Tenants, maxTenants, "tenants")},
		{"gpu_model", "model wanted; default: any", strict.Name(&c.GPUModel)},
		{"partition", "where they are sent", strict.Name(&c.Partition)},
		{"shape", "name of one of shapes: how the jobs may run", strict.Name(&c.Shape)},
		{"priority", "larger is more urgent", strict.Integer(&c.Priority, -1_000_000, 1_000_000)},
		{"tags", "tags of the jobs: {project: search, env: prod}", strict.Tags(&c.Tags)},
		{"from", "the class begins this long after the start", strict.Duration(&c.From, 0)},
		{"until", "the class ends this long after the start", strict.Duration(&c.Until, 1)},
		{"day_swing", "busiest over quietest instant of the day", strict.Number(&c.DaySwing, 1, 1000)},
		{"peak_hour", "hour (UTC) when it is busiest", strict.Number(&c.PeakHour, 0, 24)},
		{"weekend", "Saturday and Sunday against a weekday", strict.Number(&c.Weekend, 0, 1000)},
		{"cpus_per_gpu", "CPUs that each GPU comes with", strict.Number(&c.CPUsPerGPU, 0, 1e4)},
		{"mem_gb_per_gpu", "memory in GiB that each GPU comes with", strict.Number(&c.MemPerGPU, 0, 1e5)},
		{"gpu_mem_gb", "memory of the GPU in GiB that a job takes on each of its GPUs", strict.Number(&c.GPUMem, 0, 1e5)},
	}, append(randomFields(c), steadyFields(c)...)...)
}}

func randomFields(c *generate.Class) []strict.Field {
	return []strict.Field{
		{"jobs_per_day", "random: jobs a day, mean over whole weeks", strict.Number(&c.JobsPerDay, 1e-6, 1e8)},
		{"mean_gpus", "random: or mean number of busy GPUs", strict.Number(&c.MeanGPUs, 1e-6, 1e6)},
		{"burst", "random: mean of the jobs that come together", strict.Number(&c.Burst, 1, 1e4)},
		{"sizes", "random: GPUs of a job and how often: [{gpus: 8, weight: 0.3}]", workSizeSection.List(&c.Sizes, maxList, "sizes")},
		{"run_median", "random: median of the log-normal run times", strict.Duration(&c.RunMedian, 1)},
		{"run_p95", "random: and their 95th percentile", strict.Duration(&c.RunP95, 1)},
		{"run_mean", "random: or their mean", strict.Duration(&c.RunMean, 1)},
		{"run_min", "random: none shorter", strict.Duration(&c.RunMin, 1)},
		{"run_max", "random: none longer", strict.Duration(&c.RunMax, 1)},
		{"limit_over", "random: the limit is the run time times 1 to this, evenly", strict.Number(&c.LimitOver, 1, 1e6)},
		{"limit_modal", "random: limits are rounded up to lengths that people name", strict.Bool(&c.LimitModal)},
		{"slack", "random: the deadline is submission plus this times the run time", strict.Number(&c.Slack, 1e-6, 1e6)},
	}
}

func steadyFields(c *generate.Class) []strict.Field {
	return []strict.Field{
		{"gpus", "steady: GPUs held at once", strict.Integer(&c.GPUs, 1, maxGPUs)},
		{"busy_share", "steady: share of each cycle that they are held", strict.Number(&c.BusyShare, 1e-9, 1)},
		{"job_gpus", "steady, service: GPUs of a job or replica", strict.Integer(&c.JobGPUs, 1, maxGPUs)},
		{"every", "steady, service: length of a cycle or step", strict.Duration(&c.Every, 1)},
		{"replicas", "service: replicas at the peak hour", strict.Integer(&c.Replicas, 1, maxGPUs)},
	}
}

var workTenantSection = strict.Section[generate.Tenant]{Name: "jobs.generate.classes.tenants", Start: generate.Tenant{Weight: 1}, Needs: []string{"name"}, Fields: func(t *generate.Tenant) []strict.Field {
	return []strict.Field{
		{"name", "who pays", strict.Name(&t.Name)},
		{"weight", "against the others'", strict.Number(&t.Weight, 1e-9, 1e9)},
		{"tags", "tags of its jobs, before those of the class: {project: search}", strict.Tags(&t.Tags)},
	}
}}

var workSizeSection = strict.Section[generate.Size]{Name: "jobs.generate.classes.sizes", Start: generate.Size{Weight: 1}, Needs: []string{"gpus"}, Fields: func(s *generate.Size) []strict.Field {
	return []strict.Field{
		{"gpus", "GPUs of a job", strict.Integer(&s.GPUs, 1, maxGPUs)},
		{"weight", "how often, against the others'", strict.Number(&s.Weight, 1e-9, 1e9)},
	}
}}

// ofKind are, for each kind of work, the fields only it has (own) and those it must have (must).
var ofKind = []struct {
	kind generate.Kind
	own  []string
	must []string
}{
	{generate.Random, []string{"jobs_per_day", "mean_gpus", "burst", "sizes", "run_median", "run_p95", "run_mean", "run_min", "run_max", "limit_over", "limit_modal", "slack"}, []string{"sizes", "run_median"}},
	{generate.Steady, []string{"gpus", "busy_share"}, []string{"gpus"}},
	{generate.Service, []string{"replicas"}, []string{"replicas"}},
}

// checkClass checks the fields of a class together.
func checkClass(c *generate.Class, o *strict.Object) {
	for _, k := range ofKind {
		if k.kind == c.Kind {
			o.Require(k.must...)
			continue
		}
		o.FaultEach(k.own, "%s is of %s work; this class is %s", k.kind, c.Kind)
	}
	if c.Kind == generate.Random {
		o.FaultEach([]string{"job_gpus", "every"}, "%s is of steady and service work; this class is random")
		switch {
		case o.Has("jobs_per_day") == o.Has("mean_gpus"):
			o.FaultMissing("jobs_per_day", "give jobs_per_day or mean_gpus, one of the two")
		case o.Has("run_p95") && o.Has("run_mean"):
			o.FaultName("run_mean", "run_p95 and run_mean both say how long the long jobs are; leave one out")
		}
		order(o, "run_median", c.RunMedian, "run_p95", c.RunP95)
		order(o, "run_median", c.RunMedian, "run_mean", c.RunMean)
		order(o, "run_min", c.RunMin, "run_median", c.RunMedian)
		order(o, "run_median", c.RunMedian, "run_max", c.RunMax)
	}
	if o.Has("until") && c.Until > 0 && c.Until <= c.From {
		o.Fault("until", "until is not after from")
	}
	if c.JobGPUs > 0 && c.GPUs > 0 && c.GPUs%c.JobGPUs != 0 {
		o.Fault("job_gpus", "%d GPUs are no whole number of jobs of %d", c.GPUs, c.JobGPUs)
	}
}

// order reports a fault if the time hi is shorter than lo.
func order(o *strict.Object, low string, lo capcli.Seconds, high string, hi capcli.Seconds) {
	if o.Has(low) && o.Has(high) && lo > 0 && hi > 0 && hi < lo {
		o.Fault(high, "%s is %s, under %s of %s", high, hi, low, lo)
	}
}

// checkWorkload takes the generator's missing times from the period, and checks the generator.
func (s *Scenario) checkWorkload(o *strict.Object) {
	w := s.Jobs.Generate
	if w == nil {
		return
	}
	if !w.Start.IsKnown() {
		w.Start = s.Period.Start
	}
	if w.Span == 0 && s.Period.IsKnown() {
		w.Span = capcli.Seconds(s.Period.End - w.Start)
	}
	at := strict.Child(strict.Child(o.Node, "jobs"), "generate")
	if at == nil || o.Decoder.FaultCount() > 0 {
		return
	}
	switch {
	case !w.Start.IsKnown() || w.Span == 0:
		o.Decoder.Fault(at, "generate needs start and span, or a period to take them from")
	case w.Span < 0 || s.Period.IsKnown() && (w.Start < s.Period.Start || w.Start >= s.Period.End):
		o.Decoder.Fault(at, "generate starts outside the period")
	default:
		if err := w.Validate(); err != nil {
			o.Decoder.Fault(at, "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
}
