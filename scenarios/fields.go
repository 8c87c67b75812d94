package scenarios

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/events"
	"capcli/scenarios/strict"
	"capcli/simulate"
	"capcli/simulate/choose"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// The tables of fields of a scenario's sections: each field's name, description and reader. The
// reader, its messages and the template are all based on these tables.

func topFields(s *Scenario) []strict.Field {
	return []strict.Field{
		{"capcli", "the form of this file: " + version, strict.Version},
		{"name", "what the plan is called; default: the file's name", strict.Name(&s.Name)},
		{"description", "one sentence", strict.Text(&s.Description, maxSentence)},
		{"period", "first and last day looked at, 2027-01-01 to 2027-12-31; default: all jobs", period(&s.Period)},
		{"seed", "random seed; default: 42", strict.Seed(&s.Seed)},
		{"jobs", "the jobs: a file, or {from: file} or {generate: …}", jobs(&s.Jobs)},
		{"trace", "the same as jobs: {from: file}", file(&s.Jobs.From)},
		{"kueue", "the jobs are the workloads of these Kubernetes objects, and Kueue's rules decide: a file, or {objects: […]}", readKueue(&s.Kueue)},
		{"services", "inference beside the jobs: replicas that hold GPUs and follow a load: [{name: chat, gpus: 1, mu: 600, load: […], scaler: {kind: hpa, …}}]", services(s)},
		{"campaigns", "training runs to come, as jobs beside the others; the fields are those of a campaign in a file of events: [{name: next, from: 2027-03-01, gpus: 512, parameters: 13B, tokens: 2T, gpu_model: H100, mfu: 40%}]", events.CampaignFields(&s.Campaigns)},
		{"speed", "jobs that run faster than their log says, to see what it is worth: [{classes: [training], busy: 60% -> 90%, because: input fixed}]", speedSection.List(&s.Speed, maxList, "entries")},
		{"stages", "workflows whose jobs depend on each other: [{name: llm, every: 30d, stages: [{name: pre-train, gpus: 64, run: 8d}, …]}]", readStages(s)},
		{"sweeps", "searches over hyper-parameters: [{name: tune, gpus: 1, run: 6h, trials: 64, max_parallel: 8, stop: halving}]", readSweeps(s)},
		{"prices", "file of your own prices, that go before the catalogue (capcli prices import)", file(&s.PriceFile)},
		{"capacity", "the pools of GPUs and what they cost", capacities(&s.Capacity)},
		{"commitments", "discounts on on-demand use: savings plans, reserved instances, committed use, as capcli bill reads them", discounts(s)},
		{"policy", "who starts first: " + strings.Join(policy.Catalog.Names(), ", "), readPolicy(&s.Policy)},
		{"shapes", "how jobs may run: widths, GPU models and what they do to the run time: [{name: llm, gpus: 8..64, scaling: {amdahl: 0.02}}]", shapeRules(s)},
		{"widths", "which of its ways a job with a shape takes: " + strings.Join(choose.Catalog.Names(), ", ") + "; or {rule: cheapest, wait: 2h}; default: asked", readChoosing(&s.Widths)},
		{"placement", "where jobs go: " + strings.Join(placement.Catalog.Names(), ", "), strict.Choice(&s.Placement, "placement", placement.Catalog.Names()...)},
		{"overflow", "when jobs go on from committed capacity to on-demand and spot", overflowSection.Reader(&s.Overflow)},
		{"places", "what lies between the places of capacity: {egress: 0.02, bandwidth: 10, latency: 80, copies: [{place: aws, gib: 50000}]}", placesSection.Pointer(&s.Places)},
		{"shift", "jobs that may start later, when carbon or prices are low: {by: carbon, most: 24h, classes: [batch]}, or a list", shifts(&s.Shift)},
		{"defragment", "moves of running jobs so that a waiting gang fits: {every: 1h, most_moves: 4}", defragmentSection.Reader(&s.Defragment)},
		{"preemption", "what a job loses when it loses its GPUs", preemption(s)},
		{"tenants", "who pays, with shares and quotas", tenants(&s.Tenants)},
		{"each_tenant", "caps of every tenant that states none: {running_jobs: 20}", capsSection.Reader(&s.EachTenant)},
		{"priority_classes", "named priorities, by kind of work, partition and tenant: [{name: prod, value: 1000, tenants: [web]}]", priorityClasses(&s.PriorityClasses)},
		{"limits", "bounds that the result should hold: {wait_p95: 30m, cost: 1.70M}", limits(&s.Limits)},
		{"budget", "what may be spent, with alerts at 80, 100 and 120 %: {monthly: 100k, tenants: {research: 40k}}", budget(&s.Budget)},
		{"approvals", "who must sign for how many GPUs: [{below: 10, by: team lead}, {by: board}]", approvals(&s.Approvals)},
		{"energy", "power and its carbon: {watts_held: 700, watts_idle: 90, pue: 1.3, price_kwh: 0.11, intensity: 400}", energySection.Pointer(&s.Energy)},
	}
}

func jobsFields(j *Jobs) []strict.Field {
	return []strict.Field{
		{"from", "file of a job trace, relative to this file", file(&j.From)},
		{"format", "its format; default: detected", strict.Name(&j.Format)},
		{"tz", "zone of times that state none: Europe/Berlin", strict.Name(&j.TZ)},
		{"cpu_jobs", "run jobs that want no GPU too", strict.Bool(&j.CPUJobs)},
		{"any_model", "run jobs on GPUs of any model, whatever they want", strict.Bool(&j.AnyModel)},
		{"kill_at_limit", "end a job at its limit, as a strict scheduler does", strict.Bool(&j.KillAtLimit)},
		{"generate", "jobs made up by the generator", workloadSection.Pointer(&j.Generate)},
	}
}

func policyFields(p *Policy) []strict.Field {
	fields := []strict.Field{
		{"name", "the policy", strict.Choice(&p.Name, "policy", policy.Catalog.Names()...)},
		{"queue_limits", "las: borders between its queues, in GPU-seconds or as 1h of one GPU", queueLimits(&p.QueueLimits)},
	}
	for _, s := range policy.OwnSettings.All() {
		fields = append(fields, strict.Field{Name: s.Name, Doc: s.Doc, Read: ownSetting(&p.Own, s.Name, s.Value)})
	}
	for _, s := range policy.OwnChoices.All() {
		fields = append(fields, strict.Field{Name: s.Name, Doc: s.Doc, Read: ownChoice(&p.Choices, s.Name, s.Value)})
	}
	return append(fields, []strict.Field{
		{"slurm", "slurm: its weights, partitions and preemption", slurmSection.Pointer(&p.Slurm)},
		{"guard", "a job that has waited this long goes first, and its pools close to other jobs until it starts", strict.Duration(&p.Guard, 1)},
		{"round", "preemptive policies decide only at multiples of this", strict.Duration(&p.Round, 0)},
		{"skip", "pass over a job that does not fit", strict.Bool(&p.Skip)},
		{"by_gpus", "weigh times by GPUs (shortest service first)", strict.Bool(&p.ByGPUs)},
		{"perfect_estimates", "believe true run times in place of limits", strict.Bool(&p.Perfect)},
		{"predictions", "qssf: file of job_id,predicted_s in place of its own predictor", file(&p.Predictions)},
	}...)
}

// ownSetting reads a setting that a policy declares for itself.
func ownSetting(dst *map[string]capcli.Seconds, name string, least capcli.Seconds) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		var v capcli.Seconds
		strict.Duration(&v, least)(d, n)
		own := maps.Clone(*dst)
		if own == nil {
			own = map[string]capcli.Seconds{}
		}
		own[name] = v
		*dst = own
	}
}

// ownChoice reads a setting of words that a policy declares for itself.
func ownChoice(dst *map[string]string, name string, choices []string) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		var v string
		if on := false; slices.Contains(choices, "true") {
			strict.Bool(&on)(d, n)
			v = strconv.FormatBool(on)
		} else {
			strict.Choice(&v, name, choices...)(d, n)
		}
		own := maps.Clone(*dst)
		if own == nil {
			own = map[string]string{}
		}
		own[name] = v
		*dst = own
	}
}

// period reads "2027-01-01 to 2027-12-31", which includes the last day, or two instants
// in RFC 3339, where the end is the second instant.
func period(dst *Period) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		s, ok := d.ReadScalar(n, "a period such as 2027-01-01 to 2027-12-31")
		if !ok {
			return
		}
		from, to, two := strings.Cut(s, " to ")
		if !two {
			d.FaultWant(n, "a period such as 2027-01-01 to 2027-12-31")
			return
		}
		from, to = strings.TrimSpace(from), strings.TrimSpace(to)
		start, _, okFrom := instant(d, n, 0, from)
		end, day, okTo := instant(d, n, strings.LastIndex(s, to), to)
		if !okFrom || !okTo {
			return
		}
		switch {
		case end < start || end == start && !day:
			d.FaultWithin(n, strings.LastIndex(s, to), len(to), "period ends %s, before it starts %s", to, from)
			return
		case day:
			end += capcli.Time(capcli.Day)
		}
		if capcli.Seconds(end-start) > strict.Longest {
			d.Fault(n, "the period is over 50 years long")
			return
		}
		*dst = Period{start, end}
	}
}

// ParsePeriod reads a period as a scenario states it: "2027-01-01 to 2027-12-31".
func ParsePeriod(text string) (Period, error) {
	p, d := Period{capcli.NoTime, capcli.NoTime}, &strict.Decoder{}
	period(&p)(d, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: 1, Column: 1})
	if d.FaultCount() > 0 {
		return p, errors.New(d.Refusal("", "").List[0].Text)
	}
	return p, nil
}

// instant reads a date or an instant in RFC 3339. day reports a date. A fault points at s, which
// starts at offset in n's text.
func instant(d *strict.Decoder, n *yaml.Node, offset int, s string) (at capcli.Time, day, ok bool) {
	if t, err := time.Parse(time.DateOnly, s); err == nil && t.Year() >= 1970 {
		return capcli.TimeOf(t), true, true
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil && t.Year() >= 1970 {
		return capcli.TimeOf(t), false, true
	}
	d.FaultWithin(n, offset, max(1, len(s)), "%s is no date since 1970; write 2027-01-31 or 2027-01-31T08:00:00Z", capcli.Quoted(s))
	return 0, false, false
}

// jobs reads the name of a file, or the section.
func jobs(dst *Jobs) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		if n.Kind == yaml.ScalarNode {
			file(&dst.From)(d, n)
			return
		}
		o := d.ReadObject(n, "jobs", jobsFields(dst))
		switch {
		case o == nil:
			return
		case o.Has("from") && o.Has("generate"):
			o.FaultName("generate", "from and generate both say where the jobs come from; leave one out")
		case o.Has("generate") && (o.Has("format") || o.Has("tz")):
			o.Fault("generate", "format and tz are of files; generated jobs have neither")
		}
		if o.Has("tz") && o.IsClean("tz") {
			if _, err := time.LoadLocation(dst.TZ); err != nil {
				o.Fault("tz", "unknown time zone %s; write UTC or Europe/Berlin", capcli.Quoted(dst.TZ))
			}
		}
	}
}

// readPolicy reads the name of a policy, or the section.
func readPolicy(dst *Policy) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		if n.Kind == yaml.ScalarNode {
			strict.Choice(&dst.Name, "policy", policy.Catalog.Names()...)(d, n)
			return
		}
		checkSlurm(d.ReadObject(n, "policy", policyFields(dst)), dst)
	}
}

// queueLimits reads increasing amounts of GPU time: a number of GPU-seconds, or a length of time on
// one GPU.
func queueLimits(dst *[]capcli.GPUTime) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		d.ReadList(n, 64, "GPU-seconds", func(i int, n *yaml.Node) {
			var s capcli.Seconds
			before := d.FaultCount()
			strict.Duration(&s, 1)(d, n)
			v := capcli.GPUTime(s) * capcli.GPUSecond
			if d.FaultCount() > before {
				return
			}
			if k := len(*dst); k > 0 && v <= (*dst)[k-1] {
				d.Fault(n, "queue_limits must grow, but %s comes after a larger or equal one", n.Value)
				return
			}
			*dst = append(*dst, v)
		})
	}
}

// tenants reads the tenants and refuses repeated names.
func tenants(dst *[]simulate.Tenant) strict.Reader {
	lines := map[string]int{}
	section := tenantSection
	section.Check = func(o *strict.Object, t *simulate.Tenant) {
		if o.RequireWith("name", "a tenant needs a name"); !o.Has("name") {
			return
		}
		if o.Has("gpu_budget") && o.Has("usd_budget") {
			o.FaultName("usd_budget", "a tenant has one budget: gpu_budget or usd_budget; a tenant above it may have the other")
		}
		if line, twice := lines[t.Name]; twice && t.Name != "" {
			o.Fault("name", "tenant %s is there twice, first in line %d", capcli.Quoted(t.Name), line)
		} else {
			lines[t.Name] = o.Node.Line
		}
	}
	return section.List(dst, maxTenants, "tenants")
}

var tenantSection = strict.Section[simulate.Tenant]{Name: "tenants", Start: simulate.Tenant{Weight: 1}, Fields: func(t *simulate.Tenant) []strict.Field {
	return []strict.Field{
		{"name", "as in the trace", strict.Name(&t.Name)},
		{"weight", "share it is entitled to against the others'; default: 1", strict.Number(&t.Weight, 1e-6, 1e6)},
		{"quota", "most GPUs that it may hold at once", strict.Integer(&t.Quota, 1, maxGPUs)},
		{"caps", "further limits, for it and the tenants below it: {running_jobs, gpus, gpu_hours_ahead, pending_jobs, hoard}", capsSection.Reader(&t.Caps)},
		{"tags", "tags of its jobs, where they state none of that name: {cost_center: R42}", strict.Tags(&t.Tags)},
		{"gpu_budget", "GPU-hours that it may use in a period: {gpu_hours: 500, every: monthly, then: queue}", gpuBudgetSection.Pointer(&t.Budget)},
		{"usd_budget", "in its place, dollars that it may use in a period: {usd: 40k, every: monthly, then: queue}", usdBudgetSection.Pointer(&t.Budget)},
	}
}}
