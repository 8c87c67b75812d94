package scenarios

import (
	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate/policy"
)

const maxWeight = 4_294_967_295 // of slurm.conf

var slurmSection = strict.Section[policy.Slurm]{Name: "policy.slurm", Start: *policy.DefaultSlurm(), Fields: func(s *policy.Slurm) []strict.Field {
	return []strict.Field{
		{"weights", "PriorityWeight of each factor; age and fair_share are 1000 where all are left out", slurmWeights(&s.Weights)},
		{"max_age", "PriorityMaxAge: waiting longer adds no more; default: 7d", strict.Duration(&s.MaxAge, 1)},
		{"decay_half_life", "PriorityDecayHalfLife of usage; default: 7d, 0 forgets nothing", strict.Duration(&s.HalfLife, 0)},
		{"calc_period", "PriorityCalcPeriod: time between two computations; default: 5m", strict.Duration(&s.CalcPeriod, 1)},
		{"classic", "the classic fair-share factor in place of Fair Tree", strict.Bool(&s.Classic)},
		{"dampening", "FairShareDampeningFactor, of the classic factor", strict.Number(&s.Dampening, 0.001, 1e6)},
		{"favor_small", "PriorityFavorSmall", strict.Bool(&s.FavorSmall)},
		{"builtin", "no job passes the first that does not fit (sched/builtin); else EASY backfilling", strict.Bool(&s.Builtin)},
		{"partitions", "partitions: {name, factor, tier, max_time, max_gpus}", slurmPartitionSection.List(&s.Partitions, maxList, "partitions")},
		{"preempt", "who takes GPUs away: {by: partition or qos, mode: requeue or cancel, exempt_time}", slurmPreemptSection.Reader(&s.Preempt)},
	}
}}

// slurmWeights reads the weights. A weight that is left out is then 0.
func slurmWeights(dst *policy.SlurmWeights) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		*dst = policy.SlurmWeights{}
		slurmWeightSection.Read(d, n, dst)
	}
}

var slurmWeightSection = strict.Section[policy.SlurmWeights]{Name: "policy.slurm.weights", Fields: func(w *policy.SlurmWeights) []strict.Field {
	weight := func(dst *float64) strict.Reader { return strict.Number(dst, 0, maxWeight) }
	return []strict.Field{
		{"age", "of the wait, over max_age", weight(&w.Age)},
		{"fair_share", "of the fair-share factor of the tenant", weight(&w.FairShare)},
		{"job_size", "of the GPUs, over all GPUs", weight(&w.JobSize)},
		{"partition", "of the partition's factor", weight(&w.Partition)},
		{"qos", "of the value of the priority class", weight(&w.QOS)},
		{"gpu", "of the GPUs, over all GPUs (PriorityWeightTRES)", weight(&w.GPU)},
		{"cpu", "of the CPUs, over all CPUs", weight(&w.CPU)},
		{"mem", "of the memory, over all memory", weight(&w.Mem)},
		{"job", "of the job's own priority: 1 takes it as a site factor, or as less nice", weight(&w.Job)},
	}
}}

var slurmPartitionSection = strict.Section[policy.SlurmPartition]{
	Name: "policy.slurm.partitions", Start: policy.SlurmPartition{Tier: 1}, Needs: []string{"name"},
	Fields: func(p *policy.SlurmPartition) []strict.Field {
		return []strict.Field{
			{"name", "as in the trace", strict.Name(&p.Name)},
			{"factor", "PriorityJobFactor", strict.Integer(&p.Factor, 0, 65533)},
			{"tier", "PriorityTier: jobs of a higher one go first; default: 1", strict.Integer(&p.Tier, 0, 65533)},
			{"max_time", "longest limit of a job; jobs beyond it are dropped", strict.Duration(&p.MaxTime, 1)},
			{"max_gpus", "most GPUs of a job; larger jobs are dropped", strict.Integer(&p.MaxGPUs, 1, maxGPUs)},
		}
	},
}

var slurmPreemptSection = strict.Section[policy.SlurmPreempt]{Name: "policy.slurm.preempt", Needs: []string{"by"}, Fields: func(p *policy.SlurmPreempt) []strict.Field {
	return []strict.Field{
		{"by", "partition (a higher tier takes from a lower) or qos (a priority class takes from those that it preempts)", strict.Choice(&p.By, "preemption", "partition", "qos")},
		{"mode", "requeue (jobs wait again, as the section preemption says) or cancel (they are dropped); default: requeue", cancelMode(&p.Cancel)},
		{"exempt_time", "PreemptExemptTime: least run time of a job before it can be preempted", strict.Duration(&p.Exempt, 0)},
	}
}}

func cancelMode(dst *bool) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		var mode string
		strict.Choice(&mode, "mode", "requeue", "cancel")(d, n)
		*dst = mode == "cancel"
	}
}

// checkSlurm refuses a partition that is there twice. Settings of slurm beside another policy are
// not used, so that policies can be compared on one scenario.
func checkSlurm(o *strict.Object, p *Policy) {
	if o == nil || p.Slurm == nil {
		return
	}
	seen := map[string]bool{}
	for i := range p.Slurm.Partitions {
		name := p.Slurm.Partitions[i].Name
		if seen[name] {
			o.FaultName("slurm", "partition %s is there twice", capcli.Quoted(name))
		}
		seen[name] = true
	}
}
