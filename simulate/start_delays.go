package simulate

import (
	"fmt"

	"capcli"
)

// startAnswer is what a field of Config says of starts.
type startAnswer struct {
	Field string
	// Why returns why the field can put off the start of a job for which a pool has room, or take a job off its
	// GPUs for a time; "" where it does neither. Nil where it never does either.
	Why func(cfg *Config) string
	// Never is why it never does. It is "" where Why is not nil.
	Never string
}

// Delays returns why a run can put off the start of a job for which a pool has room; "" where it cannot. So
// whoever reasons about when jobs start need not know the features of a run. Patience, the lead time of a
// pool and the interval of Settings.Round are bounds that Config states itself; they are not named.
func (cfg *Config) Delays() string {
	for i := range answers {
		if a := &answers[i]; a.Why != nil {
			if why := a.Why(cfg); why != "" {
				return why
			}
		}
	}
	return ""
}

// answers are what all fields of Config say, in the order in which Delays asks them.
var answers = []startAnswer{
	{Field: "Delayer", Why: whyIf(func(cfg *Config) bool { return cfg.Delayer != nil }, "starts may be put off within the slack of jobs")},
	{Field: "Stages", Why: whyIf(func(cfg *Config) bool { return cfg.Stages != nil }, "some jobs wait for other jobs")},
	{Field: "Services", Why: servicesDelay},
	{Field: "Policy", Why: policyDrops},
	{Field: "EachTenant", Why: whyIf(func(cfg *Config) bool { return cfg.EachTenant.isSet() }, "a tenant's cap can keep its jobs waiting")},
	{Field: "Priorities", Why: whyIf(classCaps, "the cap of a priority class can keep its jobs waiting")},
	{Field: "Tenants", Why: whyIf(tenantLimits, "a tenant's quota, cap or budget can keep its jobs waiting")},
	{Field: "Guard", Why: whyIf(func(cfg *Config) bool { return cfg.Guard > 0 }, "a job that has waited for long closes pools to others")},
	{Field: "Defragment", Why: whyIf(func(cfg *Config) bool { return cfg.Defragment.Every > 0 }, "running jobs are moved, and stop for that")},
	{Field: "Retries", Why: whyIf(retriesDelay, "jobs wait after a failure, or are given up")},
	{Field: "Restarts", Never: "saving work makes a stay longer and puts no start off: see Restarts.Lengthens"},
	{Field: "Places", Never: "it concerns jobs with data alone, which are looked at one by one"},
	{Field: "Preempts", Never: "it only forbids what policies do, and a grace keeps GPUs that the job has"},
	{Field: "Coster", Never: "it orders the pools of a rank and leaves none out"},
	{Field: "Chooser", Never: "it concerns jobs with ways alone, which are looked at one by one"},
	{Field: "Placement", Never: "where a job fits is a matter of its pool"},
	{Field: "Overflow", Never: "patience is a stated bound, and the longest queue only ends it"},
	{Field: "Settings", Never: "the interval of a policy's decisions is a stated bound; what a policy drops it says itself"},
	{Field: "Pools", Never: "each pool is looked at by itself: see Pool.Delays"},
	{Field: "KillAtLimit", Never: "it only ends jobs"},
	{Field: "Seeded", Never: "jobs that run already start before all others"},
	{Field: "Start", Never: "a date"},
	{Field: "Until", Never: "it ends the run"},
	{Field: "Jobs", Never: "jobs are looked at one by one"},
	{Field: "List", Never: "jobs are looked at one by one"},
	{Field: "Charges", Never: "only budgets ask for prices"},
	{Field: "CPUJobs", Never: "jobs that want no GPU take none"},
	{Field: "Cuts", Never: "it divides the record"},
	{Field: "Observers", Never: "they only read"},
	{Field: "Hourly", Never: "it adds to the record"},
	{Field: "Timeline", Never: "it adds to the record"},
	{Field: "Zone", Never: "it adds to the record"},
}

// whyIf returns an answer that is why where a configuration has something.
func whyIf(has func(cfg *Config) bool, why string) func(cfg *Config) string {
	return func(cfg *Config) string {
		if has(cfg) {
			return why
		}
		return ""
	}
}

// servicesDelay says whether replicas of services take what jobs could start on. Replicas that are taken
// back beside those that follow them hold more than Most.
func servicesDelay(cfg *Config) string {
	for i := range cfg.Services {
		switch s := &cfg.Services[i]; {
		case s.Displaces:
			return fmt.Sprintf("the service %s takes the GPUs of jobs", s.Name)
		case s.Most == 0 && s.Scaler != nil, s.Drain > 0:
			return fmt.Sprintf("replicas of the service %s may hold the on-demand capacity", s.Name)
		}
	}
	return ""
}

func policyDrops(cfg *Config) string {
	if d, ok := cfg.Policy(cfg.Settings).(Dropper); ok {
		return d.Drops()
	}
	return ""
}

func classCaps(cfg *Config) bool {
	for i := range cfg.Priorities {
		if c := &cfg.Priorities[i]; c.Caps.isSet() || c.EachTenant.isSet() {
			return true
		}
	}
	return false
}

func tenantLimits(cfg *Config) bool {
	for i := range cfg.Tenants {
		if cfg.Tenants[i].Limited() {
			return true
		}
	}
	return false
}

func retriesDelay(cfg *Config) bool {
	if cfg.Retries.Backoff == 0 && cfg.Retries.Most == 0 {
		return false
	}
	for i := range cfg.Pools {
		if cfg.Pools[i].Supply != nil {
			return true
		}
	}
	return false
}

// Lengthens reports whether a stay may take longer than the work that it does.
func (r *Restarts) Lengthens() bool {
	for i := range r.Classes {
		if c := &r.Classes[i]; c.Interval > 0 && c.Cost > 0 || c.isOpen() {
			return true
		}
	}
	return false
}

// Delays returns why a job that wants no more GPUs than are free of p may not start there; "" where it always
// may. until is the end of the run; 0 is none.
func (p *Pool) Delays(until capcli.Seconds) string {
	for i := range poolAnswers {
		if a := &poolAnswers[i]; a.When != nil && a.When(p, until) {
			return fmt.Sprintf(a.Why, p.Name)
		}
	}
	return ""
}

// poolAnswer is what fields of Pool, by name, say of starts: when they can put one off and why, with the name of the
// pool, or why they never do.
type poolAnswer struct {
	Fields string
	When   func(p *Pool, until capcli.Seconds) bool
	Why    string
	Never  string
}

// poolAnswers are what all fields of Pool say, in the order in which Delays asks them.
var poolAnswers = []poolAnswer{
	{Fields: "Buy", When: func(p *Pool, _ capcli.Seconds) bool { return p.Buy != nil }, Why: "the nodes of %s are bought, and come when they can be had"},
	{Fields: "Supply", When: func(p *Pool, _ capcli.Seconds) bool { return p.Supply != nil }, Why: "the capacity of %s comes and goes"},
	{Fields: "From Until", When: func(p *Pool, until capcli.Seconds) bool {
		return p.From > 0 || p.Until > 0 && (until == 0 || p.Until < until)
	}, Why: "%s is not there all the time"},
	{Fields: "Windows Withheld", When: func(p *Pool, _ capcli.Seconds) bool { return len(p.Windows)+len(p.Withheld) > 0 }, Why: "a part of %s is not there for all the time"},
	{Fields: "MIG Sharing", When: func(p *Pool, _ capcli.Seconds) bool { return p.MIG != nil || p.Sharing != nil }, Why: "the GPUs of %s are divided or shared"},
	{Fields: "Nodes CPUMilli MemMiB", When: func(p *Pool, _ capcli.Seconds) bool { return p.Nodes != 1 || p.CPUMilli+p.MemMiB > 0 }, Why: "%s is of nodes, on which a job may not fit"},
	{Fields: "GPUsPerNode Lead Rank", Never: "free GPUs of one node can all be had; the lead time and patience are stated bounds"},
	{Fields: "Name GPUModel Partition GPUMemMiB Capability Interconnect", Never: "which jobs a pool serves is asked before"},
	{Fields: "Terms MachineGPUs MinBilling PaidLead", Never: "it concerns what is billed"},
	{Fields: "MTBF Notice RackMTBF RackNodes", Never: "what it says of losses, Supply does"},
	{Fields: "Domains Place Shared Scattered", Never: "it concerns how fast a job runs, or jobs with shapes and data alone, which are looked at one by one"},
}
