package scenarios

import (
	"math"
	"slices"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate"
)

// maxGPUHours is the largest amount of GPU time that a scenario may state.
const maxGPUHours = 1e9

func gpuHours(dst *capcli.GPUTime) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		var hours float64
		if strict.Number(&hours, 0.001, maxGPUHours)(d, n); hours > 0 {
			*dst = capcli.GPUTime(math.Round(hours * float64(capcli.Hour) * float64(capcli.GPUSecond)))
		}
	}
}

var capsSection = strict.Section[simulate.Caps]{Name: "tenants.caps", Fields: func(c *simulate.Caps) []strict.Field {
	return []strict.Field{
		{"running_jobs", "most jobs that hold GPUs at once", strict.Integer(&c.RunningJobs, 1, 1_000_000_000)},
		{"gpus", "most GPUs held at once, with the tenants below", strict.Integer(&c.GPUs, 1, maxGPUs)},
		{"gpu_hours_ahead", "most GPU-hours that the running jobs may still need by their limits (GrpTRESRunMins)", gpuHours(&c.GPUTime)},
		{"pending_jobs", "most waiting jobs that are considered; more are held until one starts", strict.Integer(&c.PendingJobs, 1, 1_000_000_000)},
		{"hoard", "{gpus, for}: if a tenant holds more than gpus for longer than for, none of its jobs starts until it holds at most gpus", hoardSection.Reader(&c.Hoard)},
	}
}}

var hoardSection = strict.Section[simulate.Hoard]{Name: "tenants.caps.hoard", Needs: []string{"gpus", "for"}, Fields: func(h *simulate.Hoard) []strict.Field {
	return []strict.Field{
		{"gpus", "GPUs that the tenant may hold for as long as it likes", strict.Integer(&h.GPUs, 0, maxGPUs)},
		{"for", "how long it may hold more", strict.Duration(&h.For, 1)},
	}
}}

var (
	budgetPeriods = []string{"daily", "weekly", "monthly", "quarterly", "yearly"} // in the order of simulate.Every
	spentRules    = []string{"queue", "stop", "spot", "approval"}                 // in the order of simulate.WhenSpent
)

var (
	gpuBudgetSection = strict.Section[simulate.Budget]{
		Name: "tenants.gpu_budget", Start: simulate.Budget{Every: simulate.Monthly}, Needs: []string{"gpu_hours"},
		Fields: func(b *simulate.Budget) []strict.Field {
			return append([]strict.Field{{"gpu_hours", "GPU-hours that may be used in each period, apart from spot", gpuHours(&b.GPUTime)}}, spentFields(b)...)
		},
		Check: checkApproval,
	}
	usdBudgetSection = strict.Section[simulate.Budget]{
		Name: "tenants.usd_budget", Start: simulate.Budget{Every: simulate.Monthly}, Needs: []string{"usd"},
		Fields: func(b *simulate.Budget) []strict.Field {
			return append([]strict.Field{{"usd", "dollars that may be used in each period, apart from spot, at the price of the pool when a job starts: 40k", money(&b.Money)}}, spentFields(b)...)
		},
		Check: func(o *strict.Object, b *simulate.Budget) {
			if b.Money == 0 && o.IsClean("usd") && o.Has("usd") {
				o.Fault("usd", "a budget of 0 allows nothing; give quota or caps instead")
			}
			checkApproval(o, b)
		},
	}
)

func spentFields(b *simulate.Budget) []strict.Field {
	return []strict.Field{
		{"every", "the period, of the calendar in UTC: daily, weekly, monthly, quarterly, yearly; default: monthly", ordinal(&b.Every, "period", budgetPeriods)},
		{"then", "when it is spent: queue (jobs wait for the next period), stop (running jobs are preempted too), spot (jobs start on spot alone), approval (jobs wait until it may be passed); default: queue", ordinal(&b.Then, "rule", spentRules)},
		{"approval_takes", "then: approval: how long after the first job that is held back the budget may be passed, until the period ends", strict.Duration(&b.Approval, 0)},
		{"reserve", "start a job only if it can end within the budget, by its limit", strict.Bool(&b.Reserve)},
	}
}

// checkApproval refuses an approval without the time that it takes, and the other way round.
func checkApproval(o *strict.Object, b *simulate.Budget) {
	switch {
	case b.Then == simulate.AskApproval && !o.Has("approval_takes"):
		o.FaultMissing("approval_takes", "approval_takes is missing: then: approval wants the time that it takes, such as 8h")
	case b.Then != simulate.AskApproval && o.Has("approval_takes") && o.IsClean("then"):
		o.FaultName("approval_takes", "approval_takes goes with then: approval")
	}
}

// ordinal reads one of words as its place among them.
func ordinal[T ~uint8](dst *T, kind string, words []string) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		var word string
		strict.Choice(&word, kind, words...)(d, n)
		for i, w := range words {
			if w == word {
				*dst = T(i)
			}
		}
	}
}

var priorityClassSection = strict.Section[simulate.PriorityClass]{Name: "priority_classes", Needs: []string{"name", "value"}, Fields: func(c *simulate.PriorityClass) []strict.Field {
	return []strict.Field{
		{"name", "what the class is called", strict.Name(&c.Name)},
		{"value", "the priority of its jobs; larger is more urgent", strict.Integer(&c.Value, -1_000_000_000, 1_000_000_000)},
		{"never_preempts", "its jobs take no GPUs away from others", strict.Bool(&c.NeverPreempts)},
		{"preempts", "slurm: names of the classes from whose jobs its jobs may take GPUs", strict.Names(&c.Preempts, "priority classes")},
		{"caps", "limits of all its jobs together, as of a tenant (GrpTRES, GrpJobs)", capsSection.Reader(&c.Caps)},
		{"each_tenant", "limits of its jobs of one tenant (MaxTRESPU, MaxJobsPU)", capsSection.Reader(&c.EachTenant)},
		{"classes", "kinds of work that it is for; default: all", strict.Names(&c.Classes, "kinds of work")},
		{"partitions", "partitions that it is for; default: all", strict.Names(&c.Partitions, "partitions")},
		{"tenants", "tenants that it is for, with those below them; default: all", strict.Names(&c.Tenants, "tenants")},
	}
}}

// priorityClasses reads the priority classes. It refuses repeated names, and a class that is never
// reached because an earlier one takes all jobs.
func priorityClasses(dst *[]simulate.PriorityClass) strict.Reader {
	lines := map[string]int{}
	all := ""
	section := priorityClassSection
	section.Check = func(o *strict.Object, c *simulate.PriorityClass) {
		if !o.IsClean("name") || c.Name == "" {
			return
		}
		switch line, twice := lines[c.Name]; {
		case twice:
			o.Fault("name", "class %s is there twice, first in line %d", capcli.Quoted(c.Name), line)
		case all != "":
			o.Fault("name", "class %s is never reached: %s takes all jobs; put it last", capcli.Quoted(c.Name), capcli.Quoted(all))
		}
		lines[c.Name] = o.Node.Line
		if len(c.Classes)+len(c.Partitions)+len(c.Tenants) == 0 {
			all = c.Name
		}
	}
	list := section.List(dst, maxList, "priority classes")
	return func(d *strict.Decoder, n *yaml.Node) {
		list(d, n)
		for i := range *dst {
			for _, name := range (*dst)[i].Preempts {
				if _, known := lines[name]; !known {
					d.Fault(n, "class %s preempts %s, and no class is called so", capcli.Quoted((*dst)[i].Name), capcli.Quoted(name))
				}
			}
		}
	}
}

func (s *Scenario) spendsMoney() bool {
	return slices.ContainsFunc(s.Tenants, func(t simulate.Tenant) bool { return t.Budget != nil && t.Budget.Money > 0 })
}

// charges returns the prices that budgets of money count: those of the pools, which may change in time;
// nil where no tenant has such a budget.
func (s *Scenario) charges(files *files) func(pool int, at capcli.Time) capcli.Rate {
	if !s.spendsMoney() {
		return nil
	}
	rates := s.rates(files)
	return func(pool int, at capcli.Time) capcli.Rate { return rates[pool].At(at).Price }
}
