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
	{Field: "Delayer", Why: whyIf((*Config).puts, "starts may be put off within the slack of jobs")},
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

func (cfg *Config) puts() bool { return cfg.Delayer != nil }

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

// poolAnswer is what a field of Pool says of starts: when it can put one off and why, with the name of the pool,
// or why it never does.
type poolAnswer struct {
	Field string
	When  func(p *Pool, until capcli.Seconds) bool
	Why   string
	Never string
}

const (
	notAlways   = "%s is not there all the time"
	notAll      = "a part of %s is not there for all the time"
	dividedGPUs = "the GPUs of %s are divided or shared"
	ofNodes     = "%s is of nodes, on which a job may not fit"

	onceLost = "what it says of losses, Supply does"
	toServe  = "which jobs a pool serves is asked before"
	priced   = "it concerns what is billed"
	placed   = "it concerns how fast a job runs, or jobs with shapes and data alone, which are looked at one by one"
)

// poolAnswers are what all fields of Pool say, in the order in which Delays asks them.
var poolAnswers = []poolAnswer{
	{Field: "Buy", When: func(p *Pool, _ capcli.Seconds) bool { return p.Buy != nil }, Why: "the nodes of %s are bought, and come when they can be had"},
	{Field: "Supply", When: func(p *Pool, _ capcli.Seconds) bool { return p.Supply != nil }, Why: "the capacity of %s comes and goes"},
	{Field: "From", When: func(p *Pool, _ capcli.Seconds) bool { return p.From > 0 }, Why: notAlways},
	{Field: "Until", When: func(p *Pool, until capcli.Seconds) bool { return p.Until > 0 && (until == 0 || p.Until < until) }, Why: notAlways},
	{Field: "Windows", When: func(p *Pool, _ capcli.Seconds) bool { return len(p.Windows) > 0 }, Why: notAll},
	{Field: "Withheld", When: func(p *Pool, _ capcli.Seconds) bool { return len(p.Withheld) > 0 }, Why: notAll},
	{Field: "MIG", When: func(p *Pool, _ capcli.Seconds) bool { return p.MIG != nil }, Why: dividedGPUs},
	{Field: "Sharing", When: func(p *Pool, _ capcli.Seconds) bool { return p.Sharing != nil }, Why: dividedGPUs},
	{Field: "Nodes", When: func(p *Pool, _ capcli.Seconds) bool { return p.Nodes != 1 }, Why: ofNodes},
	{Field: "CPUMilli", When: func(p *Pool, _ capcli.Seconds) bool { return p.CPUMilli > 0 }, Why: ofNodes},
	{Field: "MemMiB", When: func(p *Pool, _ capcli.Seconds) bool { return p.MemMiB > 0 }, Why: ofNodes},
	{Field: "GPUsPerNode", Never: "free GPUs of one node can all be had"},
	{Field: "Lead", Never: "the lead time is a stated bound"},
	{Field: "Rank", Never: "patience is a stated bound: see Overflow"},
	{Field: "Name", Never: toServe},
	{Field: "GPUModel", Never: toServe},
	{Field: "Partition", Never: toServe},
	{Field: "GPUMemMiB", Never: toServe},
	{Field: "Capability", Never: toServe},
	{Field: "Interconnect", Never: toServe},
	{Field: "Terms", Never: priced},
	{Field: "MachineGPUs", Never: priced},
	{Field: "MinBilling", Never: priced},
	{Field: "PaidLead", Never: priced},
	{Field: "MTBF", Never: onceLost},
	{Field: "Notice", Never: onceLost},
	{Field: "RackMTBF", Never: onceLost},
	{Field: "RackNodes", Never: onceLost},
	{Field: "Domains", Never: placed},
	{Field: "Place", Never: placed},
	{Field: "Shared", Never: placed},
	{Field: "Scattered", Never: placed},
}
