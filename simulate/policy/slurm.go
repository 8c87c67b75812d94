package policy

import (
	"cmp"
	"math"
	"slices"

	"capcli/simulate"

	"capcli"
)

func init() {
	Catalog.Add("slurm", "Slurm's multifactor priority with backfill, and preemption by partition or QOS", func(s simulate.Settings) simulate.Policy {
		rules, _ := s.Rules.(*Slurm)
		if rules == nil {
			rules = DefaultSlurm()
		}
		p := &slurm{rules: rules, tree: newShareTree(rules.HalfLife), next: noBorder}
		if rules.Preempt.By != "" {
			return &slurmPreempt{slurm: p}
		}
		return p
	})
}

// Slurm are the settings of the policy slurm, named after those of slurm.conf. GPUs stand for the
// nodes and CPUs of its formulas.
type Slurm struct {
	Weights    SlurmWeights
	MaxAge     capcli.Seconds // PriorityMaxAge
	HalfLife   capcli.Seconds // PriorityDecayHalfLife; 0 never forgets
	CalcPeriod capcli.Seconds // PriorityCalcPeriod
	Classic    bool           // the classic fair-share factor in place of Fair Tree
	Dampening  float64        // FairShareDampeningFactor, of the classic factor
	FavorSmall bool           // PriorityFavorSmall
	Builtin    bool           // sched/builtin: no job passes the first that does not fit
	Partitions []SlurmPartition
	Preempt    SlurmPreempt
}

// SlurmWeights are the weights of the factors, each 0 to 1.
type SlurmWeights struct {
	Age, FairShare, JobSize, Partition, QOS, GPU, CPU, Mem float64
	Job                                                    float64 // of the job's own priority, which is no factor: a site factor or less nice
}

// SlurmPartition is a partition of slurm.conf. A job of a partition that is not named has tier 1,
// factor 0 and no limit.
type SlurmPartition struct {
	Name    string
	Factor  int            // PriorityJobFactor
	Tier    int            // PriorityTier: jobs of a higher tier go before all others
	MaxTime capcli.Seconds // longest limit; 0 is none. Jobs beyond it are dropped
	MaxGPUs int            // most GPUs of a job; 0 is without limit. Larger jobs are dropped
}

// SlurmPreempt says which waiting jobs take GPUs away from which running jobs.
type SlurmPreempt struct {
	By     string         // "partition": from jobs of a lower tier; "qos": from jobs of the classes in PriorityClass.Preempts; "" is never
	Cancel bool           // PreemptMode=CANCEL: the jobs are dropped; else they wait again, and the run's Restarts say what they lose
	Exempt capcli.Seconds // PreemptExemptTime: a job runs so long before it can be preempted
}

// DefaultSlurm returns the settings that slurm.conf has where it says nothing, with the weights of
// age and fair share at 1000.
func DefaultSlurm() *Slurm {
	return &Slurm{Weights: SlurmWeights{Age: 1000, FairShare: 1000}, MaxAge: 7 * capcli.Day, HalfLife: 7 * capcli.Day, CalcPeriod: 5 * capcli.Minute, Dampening: 1}
}

// slurm starts jobs in order of the tier of their partition, then of
//
//	priority = wAge*age + wFairShare*fairshare + wJobSize*size + wPartition*partition + wQOS*qos
//	         + wGPU*gpus + wCPU*cpus + wMem*mem + wJob*(the job's own)
//
// (Slurm, "Multifactor Priority Plugin"). The factors are 0 to 1: age = min(1, wait / MaxAge);
// fairshare by Fair Tree or the classic formula, see shareTree; size = GPUs / all GPUs, or 1 less
// that; partition and qos = their value / the largest value; GPUs, CPUs and memory as parts of all.
// The QOS of a job is its priority class. Priorities are computed when a job joins the queue and
// every CalcPeriod, and when a new user comes. Jobs that do not fit are passed as in EASY backfilling, or wait.
type slurm struct {
	rules *Slurm
	tree  *shareTree
	easy  easy
	all   drf // for its count of the queue's capacity
	turn  *simulate.Turn
	next  capcli.Seconds // time of the next computation
	jobs  []*simulate.Live
	top   int // largest factor of a partition
	users int // users at the last computation
}

// Believes declares that it uses estimates of run times.
func (*slurm) Believes() {}

// Drops tells of jobs beyond the limits of their partition, and of those that are cancelled for others.
func (p *slurm) Drops() string {
	for i := range p.rules.Partitions {
		if part := &p.rules.Partitions[i]; part.MaxTime > 0 || part.MaxGPUs > 0 {
			return "the policy drops jobs beyond the limits of their partition"
		}
	}
	if p.rules.Preempt.Cancel {
		return "the policy cancels jobs to start others"
	}
	return ""
}

// Observe tracks what users hold in all queues.
func (p *slurm) Observe(e simulate.Event, _ *simulate.Cluster) {
	switch e.Kind {
	case simulate.Start:
		p.tree.hold(p.user(e.Job), e.Job.Milli(), e.At)
	case simulate.Finish, simulate.Preempt:
		p.tree.hold(p.user(e.Job), -e.Job.Milli(), e.At)
	default:
	}
}

// user returns the user of a job. Its weight is that of its tenant, and that of an account of the
// tenant called so, if the run states one.
func (p *slurm) user(l *simulate.Live) *shareNode {
	return p.tree.add(l.Tenant, func(name string) float64 {
		switch {
		case name == l.Tenant:
			return l.Holder().Weight
		case p.turn != nil && p.turn.Tenant(name) != nil:
			return p.turn.Tenant(name).Weight
		}
		return 1
	})
}

// Key is the order of tiers, then of priorities, in thousandths.
func (p *slurm) Key(l *simulate.Live) int64 { return p.order(l, l.Since) }

func (p *slurm) order(l *simulate.Live, now capcli.Seconds) int64 {
	const perTier = int64(1) << 48
	priority := math.Round(1000 * p.priority(l, now))
	return -int64(p.partition(l).Tier)*perTier - int64(max(-(1<<47), min(priority, 1<<47-1)))
}

// defaultPartition holds for a partition that is not named.
var defaultPartition = SlurmPartition{Tier: 1}

// partition returns the settings of a job's partition.
func (p *slurm) partition(l *simulate.Live) *SlurmPartition {
	for i := range p.rules.Partitions {
		if s := &p.rules.Partitions[i]; s.Name == l.Partition {
			return s
		}
	}
	return &defaultPartition
}

// priority returns the priority of l, which waits.
func (p *slurm) priority(l *simulate.Live, now capcli.Seconds) float64 {
	w, all := &p.rules.Weights, &p.all.total
	part := func(have int64, of float64) float64 {
		if of <= 0 {
			return 0
		}
		return min(1, float64(have)/of)
	}
	size := part(l.Milli(), all[0])
	sum := w.GPU*size + w.CPU*part(l.CPUMilli, all[1]) + w.Mem*part(l.MemMiB, all[2])
	if p.rules.FavorSmall {
		size = 1 - size
	}
	sum += w.JobSize*size + w.Age*part(int64(now-l.Submitted), float64(max(1, p.rules.MaxAge))) + w.FairShare*p.user(l).factor
	if p.top > 0 {
		sum += w.Partition * float64(p.partition(l).Factor) / float64(p.top)
	}
	if class, top := l.PriorityClass(); class != nil && top > 0 {
		sum += w.QOS * float64(max(0, class.Value)) / float64(top)
	}
	return sum + w.Job*float64(l.Priority)
}

func (p *slurm) Schedule(t *simulate.Turn) {
	p.prepare(t)
	if p.rules.Builtin {
		startInOrder(t, false)
	} else {
		p.easy.Schedule(t)
	}
	if t.Waiting() > 0 && p.next < noBorder {
		t.WakeAt(p.next)
	}
}

// prepare drops the jobs that their partition does not take, and gives the waiting jobs their
// priorities when these are due.
func (p *slurm) prepare(t *simulate.Turn) {
	now := t.Now()
	p.turn = t
	first := p.all.pools != len(t.AllPools())
	if first {
		p.all.count(t)
		for i := range p.rules.Partitions {
			p.top = max(p.top, p.rules.Partitions[i].Factor)
		}
	}
	p.jobs = p.jobs[:0]
	for l := range t.Fresh() {
		part := p.partition(l)
		if part.MaxTime > 0 && l.Estimate() > part.MaxTime || part.MaxGPUs > 0 && l.GPUs > part.MaxGPUs {
			p.jobs = append(p.jobs, l)
		}
		p.user(l)
	}
	for _, l := range p.jobs {
		t.Preemption().Drop(l)
	}
	if now < p.next && p.next < noBorder && !first && p.users == p.tree.count {
		return
	}
	p.next, p.users = now+max(1, p.rules.CalcPeriod), p.tree.count
	p.weigh(now)
	p.jobs = p.jobs[:0]
	for w := t.Scan(); w.HasMore(); w.Next() {
		p.jobs = append(p.jobs, w.Job())
	}
	for _, l := range p.jobs {
		if l.Waiting() {
			t.Rekey(l, p.order(l, now))
		}
	}
}

// weigh computes the fair-share factors.
func (p *slurm) weigh(now capcli.Seconds) {
	if p.rules.Classic {
		p.tree.classic(now, p.rules.Dampening)
	} else {
		p.tree.fairTree(now)
	}
}

// slurmPreempt is slurm with preemption for the first job that does not fit.
type slurmPreempt struct {
	*slurm
	victims []*simulate.Live
}

// Preempts declares that it takes GPUs away from running jobs.
func (*slurmPreempt) Preempts() {}

func (p *slurmPreempt) Schedule(t *simulate.Turn) {
	p.prepare(t)
	for l := range t.Queue() {
		if t.Start(l) {
			continue
		}
		if !p.makeRoom(t, l) || !t.Start(l) {
			break
		}
	}
	p.slurm.Schedule(t)
}

// makeRoom takes GPUs away from jobs that l may preempt, if that gives it room: those of the lowest
// tier and priority first, then the youngest.
func (p *slurmPreempt) makeRoom(t *simulate.Turn, l *simulate.Live) bool {
	p.victims = p.victims[:0]
	for v := range t.Running() {
		if t.Preemption().Preemptible(v) && v.Since < t.Now() && t.Now()-v.Since >= p.rules.Preempt.Exempt && p.mayPreempt(l, v) {
			p.victims = append(p.victims, v)
		}
	}
	slices.SortFunc(p.victims, func(a, b *simulate.Live) int {
		return cmp.Or(cmp.Compare(p.partition(a).Tier, p.partition(b).Tier), cmp.Compare(a.Priority, b.Priority),
			cmp.Compare(b.Since, a.Since), cmp.Compare(b.Index(), a.Index()))
	})
	w := t.Planning().WhatIf()
	for i, v := range p.victims {
		w.Release(v)
		if !slices.ContainsFunc(t.Planning().Pools(l), func(pool int) bool { return t.Planning().FitsWindows(l, pool) && len(w.Find(l, []int{pool})) > 0 }) {
			continue
		}
		for _, v := range p.victims[:i+1] {
			if p.rules.Preempt.Cancel {
				t.Preemption().Drop(v)
			} else {
				t.Preemption().Preempt(v)
			}
		}
		return true
	}
	return false
}

// mayPreempt reports whether l may take the GPUs of v.
func (p *slurmPreempt) mayPreempt(l, v *simulate.Live) bool {
	if p.rules.Preempt.By == "partition" {
		return p.partition(l).Tier > p.partition(v).Tier
	}
	by, _ := l.PriorityClass()
	of, _ := v.PriorityClass()
	return by != nil && of != nil && slices.Contains(by.Preempts, of.Name)
}
