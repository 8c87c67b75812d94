package trace

import (
	"capcli"
)

func init() {
	Formats.Add("openb", "Alibaba openb 2023 pod list (Weng et al., ATC'23): pods with shares of GPUs",
		Format{Sniff: sniffOpenb, Read: readOpenb})
}

func sniffOpenb(head []byte) bool {
	return headHas(head, "name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
}

type openb struct {
	r    *Reader
	t    *table
	zone *zoned
	ids  arena

	name, cpu, mem, gpus, milli, spec, qos, phase int
	created, deleted, scheduled                   int
	specs, classes, states                        names
}

func readOpenb(r *Reader) error {
	t, err := newTable(r, capcli.Fields{})
	if err != nil {
		return err
	}
	if t.col("creation_time") < 0 && t.col("deletion_time") < 0 {
		return r.fault(t.line, "", "this pod list has no times (creation_time, deletion_time, scheduled_time), so it cannot be replayed; it has "+t.headerText(),
			"use the variant of the list with eleven columns")
	}
	if err := t.need("name", "num_gpu", "gpu_milli", "creation_time", "deletion_time", "scheduled_time"); err != nil {
		return err
	}
	o := &openb{
		r: r, t: t, zone: newZoned(r),
		name: t.col("name"), cpu: t.col("cpu_milli"), mem: t.col("memory_mib"), gpus: t.col("num_gpu"), milli: t.col("gpu_milli"),
		spec: t.col("gpu_spec"), qos: t.col("qos"), phase: t.col("pod_phase"),
		created: t.col("creation_time"), deleted: t.col("deletion_time"), scheduled: t.col("scheduled_time"),
	}
	for t.next() {
		job, reason := o.job()
		if !t.take(&job, "", flaw(reason)) {
			return nil
		}
	}
	return nil
}

func (o *openb) job() (job capcli.Job, reason string) {
	job.Deadline = capcli.NoTime
	if reason = o.times(&job); reason != "" {
		return job, reason
	}
	var bad flaw
	if job.GPUs, job.GPUMilli, bad = parseGPUs(o.t.cell(o.gpus)); bad != flawless {
		return job, "num_gpu: " + string(bad)
	}
	milli, bad := optional(o.t.cell(o.milli), 1)
	if bad != flawless {
		return job, "gpu_milli: " + string(bad)
	}
	if job.GPUs == 1 && milli > 0 && milli < 1000 {
		job.GPUMilli = int(milli)
	}
	if job.CPUMilli, bad = optional(o.t.cell(o.cpu), 1); bad != flawless {
		return job, "cpu_milli: " + string(bad)
	}
	if job.MemMiB, bad = optional(o.t.cell(o.mem), 1); bad != flawless {
		return job, "memory_mib: " + string(bad)
	}
	job.ID = o.ids.copyString(o.t.cell(o.name))
	job.GPUModel = o.specs.intern(o.t.cell(o.spec))
	job.Class = o.classes.intern(o.t.cell(o.qos))
	job.State = o.states.intern([]byte(podState(o.t.cell(o.phase))))
	return job, ""
}

// times sets when a pod came, ran and went. A pod that is still pending, or was
// not yet deleted when the list was made, has no run time.
func (o *openb) times(job *capcli.Job) (reason string) {
	var bad flaw
	if job.Submit, bad = o.zone.read(blankIfUnknown(o.t.cell(o.created))); bad != flawless {
		return "creation_time: " + string(bad)
	}
	if job.Start, bad = o.zone.read(blankIfUnknown(o.t.cell(o.scheduled))); bad != flawless {
		return "scheduled_time: " + string(bad)
	}
	if job.End, bad = o.zone.read(blankIfUnknown(o.t.cell(o.deleted))); bad != flawless {
		return "deletion_time: " + string(bad)
	}
	switch {
	case !job.Start.IsKnown() && string(o.t.cell(o.phase)) == "Pending":
		return "never scheduled"
	case !job.End.IsKnown():
		return "not deleted yet: run time unknown"
	case !job.Start.IsKnown():
		job.Start = job.Submit
		o.r.Assume("no scheduled_time: ran from its creation")
	}
	if job.Submit.IsKnown() && job.End < job.Start {
		return "end before start"
	}
	if !isOutOfRange(job.Start) && !isOutOfRange(job.End) {
		job.Run = capcli.Seconds(job.End - job.Start)
	}
	return ""
}

// podState turns a Kubernetes phase into Slurm's word; Running says nothing of
// how a pod ended.
func podState(phase []byte) string {
	switch string(phase) {
	case "Succeeded":
		return "COMPLETED"
	case "Failed":
		return "FAILED"
	}
	return ""
}
