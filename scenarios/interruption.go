package scenarios

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate"
)

var restartModes = []string{"suspend", "checkpoint", "restart"}

// preemption reads what a job loses with its GPUs.
func preemption(s *Scenario) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		mode := restartModes[0]
		o := d.ReadObject(n, "preemption", preemptionFields(&mode, s))
		dst := &s.Preemption
		dst.Mode = simulate.Mode(slices.Index(restartModes, mode))
		saves := slices.ContainsFunc(dst.Classes, func(c simulate.RestartClass) bool { return c.Interval > 0 || c.Auto })
		if o != nil && dst.Mode == simulate.Checkpoint && !saves && o.IsClean("mode", "classes") {
			o.Fault("mode", "no class has checkpoint_every, so there is no checkpoint to go back to and all work would be lost: "+
				"write classes: [{checkpoint_every: 30m}], or mode: restart if that is meant")
		}
	}
}

func preemptionFields(mode *string, s *Scenario) []strict.Field {
	return []strict.Field{
		{"mode", "what a policy's preemption does: suspend keeps the work, checkpoint goes back to the last one, restart loses it", strict.Choice(mode, "mode", restartModes...)},
		{"classes", "how jobs save their work, the first that matches", restartSection.List(&s.Preemption.Classes, maxList, "classes")},
		{"grace", "a job that a policy preempts keeps its GPUs for this time, and may save its work in it", strict.Duration(&s.Preempts.Grace, 0)},
		{"near_end", "a job believed to end within this is not preempted", strict.Duration(&s.Preempts.Spare, 0)},
		{"per_job", "most preemptions of one job by policies; default: any number", strict.Integer(&s.Preempts.PerJob, 1, 1_000_000)},
		{"per_tenant_hour", "most preemptions of a tenant's jobs in any hour", strict.Integer(&s.Preempts.PerTenant, 1, 1_000_000)},
		{"per_hour", "most preemptions in any hour", strict.Integer(&s.Preempts.PerHour, 1, 1_000_000)},
		{"retries", "how often a job tries again after failures: {most: 6, backoff: 10s, max_backoff: 6m}; default: for ever, at once", retrySection.Reader(&s.Retries)},
		{"storage_price", "US dollars for a GB of checkpoints in storage for a month", money(&s.Storage)},
	}
}

var retrySection = strict.Section[simulate.Retries]{Name: "preemption.retries", Fields: func(r *simulate.Retries) []strict.Field {
	return []strict.Field{
		{"most", "after more failures than this a job fails for good; default: any number", strict.Integer(&r.Most, 1, 1_000_000)},
		{"backoff", "wait before the first retry, doubled each time; default: none", strict.Duration(&r.Backoff, 1)},
		{"max_backoff", "and no longer than this", strict.Duration(&r.MaxBackoff, 1)},
	}
}}

var defragmentSection = strict.Section[simulate.Defragment]{Name: "defragment", Start: simulate.Defragment{MostMoves: 1}, Needs: []string{"every"}, Fields: func(f *simulate.Defragment) []strict.Field {
	return []strict.Field{
		{"every", "how often jobs are moved so that the first waiting job fits", strict.Duration(&f.Every, 1)},
		{"most_moves", "most jobs moved at once; default: 1", strict.Integer(&f.MostMoves, 1, 1000)},
	}
}}

var restartSection = strict.Section[simulate.RestartClass]{
	Name: "preemption.classes", Check: checkRestart,
	Fields: func(c *simulate.RestartClass) []strict.Field {
		return []strict.Field{
			{"class", "kind of work, as in the trace; default: any", strict.Name(&c.Class)},
			{"max_gpus", "for jobs of at most this many GPUs; default: any", strict.Integer(&c.MaxGPUs, 1, maxGPUs)},
			{"checkpoint_every", "work between checkpoints, or auto: the best for the losses that no notice announces in time; default: none", readInterval(c)},
			{"checkpoint_cost", "pause for each", strict.Duration(&c.Cost, 0)},
			{"checkpoint_write", "time after the pause in which it is written while the job works on", strict.Duration(&c.Write, 0)},
			{"gb_per_gpu", "state of each GPU in GB; cost and write then follow from the rates", strict.Number(&c.Shards.GB, 1e-6, 1e6)},
			{"gpu_gb_per_s", "GB a second that each GPU writes", strict.Number(&c.Shards.GPURate, 1e-6, 1e6)},
			{"store_gb_per_s", "GB a second that the storage takes from one job", strict.Number(&c.Shards.StoreRate, 1e-6, 1e9)},
			{"background", "share of the writing that is done while the job works on; default: 0%", portion(&c.Shards.Background)},
			{"keep", "checkpoints kept in storage for each job; default: 1", strict.Integer(&c.Shards.Keep, 1, 1000)},
			{"restart", "time to get going again", strict.Duration(&c.Restart, 0)},
		}
	},
}

// readInterval reads the work between two checkpoints, or auto.
func readInterval(c *simulate.RestartClass) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		d.Accepts(n, "auto")
		if n.Kind == yaml.ScalarNode && n.Value == "auto" {
			c.Auto = true
			return
		}
		strict.Duration(&c.Interval, 1)(d, n)
	}
}

// portion reads a share as a number of 0 to 1.
func portion(dst *float64) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		millionths := int64(-1)
		if share(&millionths)(d, n); millionths >= 0 {
			*dst = float64(millionths) / 1e6
		}
	}
}

// checkRestart checks the fields of a class together.
func checkRestart(o *strict.Object, c *simulate.RestartClass) {
	sized := o.Has("gb_per_gpu")
	switch {
	case sized && !o.Has("gpu_gb_per_s") && !o.Has("store_gb_per_s"):
		o.FaultMissing("gpu_gb_per_s", "how fast the checkpoint is written is missing: give gpu_gb_per_s, store_gb_per_s or both")
	case sized:
		for _, name := range []string{"checkpoint_cost", "checkpoint_write"} {
			if o.Has(name) {
				o.FaultName(name, "%s follows from gb_per_gpu and the rates; leave one out", name)
			}
		}
	default:
		o.FaultEach([]string{"gpu_gb_per_s", "store_gb_per_s", "background", "keep"}, "%s goes with gb_per_gpu, the size of the checkpoint")
	}
	saves := o.Has("checkpoint_every")
	if !saves {
		o.FaultEach([]string{"checkpoint_write", "gb_per_gpu"}, "%s has no effect without checkpoint_every")
	}
	if saves && !c.Auto && c.Write > c.Interval && c.Interval > 0 {
		o.Fault("checkpoint_write", "a checkpoint takes %s to write and the next begins %s after it: one is written at a time", c.Write, c.Interval)
	}
}

// mtbf returns the mean time until one node of the pool is lost; 0 if nothing says it. For a
// recorded history it is the time of all nodes that were up over the number of losses.
func (c *Capacity) mtbf(files *files, p *simulate.Pool) capcli.Seconds {
	nodes := p.Nodes
	switch {
	case c.Failures != nil:
		return c.Failures.meanUp(p.GPUsPerNode)
	case c.Hazard != nil:
		return c.Hazard.MeanUp
	case c.Trace != nil:
		a := files.availability[c.Trace.key()]
		if c.Trace.Scale {
			nodes = a.Size()
		}
		return a.MeanUp(nodes)
	}
	return 0
}

// notice returns how long before its loss a node of the pool drains; 0 is no notice.
func (c *Capacity) notice() capcli.Seconds {
	switch {
	case c.Failures != nil:
	case c.Hazard != nil:
		return c.Hazard.Notice
	case c.Trace != nil:
		return c.Trace.Notice
	}
	return 0
}
