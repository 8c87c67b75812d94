package trace

import (
	"capcli"
)

func init() {
	Formats.Add("pai2020", "Alibaba PAI 2020 in its simulator's columns (Weng et al., NSDI'22)",
		Format{Sniff: sniffPAI, Read: readPAI})
}

func sniffPAI(head []byte) bool {
	return headHas(head, "job_id", "submit_time", "num_gpu", "duration") && !headHas(head, "iterations")
}

type pai struct {
	r    *Reader
	t    *table
	zone *zoned
	ids  arena

	id, inst, submit, cpus, gpus, model, run, user int
	models, users                                  names
}

func readPAI(r *Reader) error {
	t, err := newTable(r, capcli.Fields{})
	if err != nil {
		return err
	}
	if err := t.need("job_id", "submit_time", "num_gpu", "duration"); err != nil {
		return err
	}
	p := &pai{
		r: r, t: t, zone: newZoned(r),
		id: t.col("job_id"), inst: t.col("num_inst"), submit: t.col("submit_time"), cpus: t.col("num_cpu"),
		gpus: t.col("num_gpu"), model: t.col("gpu_type"), run: t.col("duration"), user: t.col("user"),
	}
	for t.next() {
		job, field, bad := p.job()
		if !t.take(&job, field, bad) {
			return nil
		}
	}
	return nil
}

func (p *pai) job() (job capcli.Job, field string, bad flaw) {
	job.Start, job.End, job.Deadline = capcli.NoTime, capcli.NoTime, capcli.NoTime
	if job.Submit, bad = p.zone.read(p.t.cell(p.submit)); bad != flawless {
		return job, "submit_time", bad
	}
	run, _, bad := fixed(p.t.cell(p.run), 1)
	if bad != flawless {
		return job, "duration", bad
	}
	inst := int64(1)
	if cell := p.t.cell(p.inst); len(trim(cell)) > 0 {
		if inst, bad = count(cell); bad != flawless {
			return job, "num_inst", bad
		}
		inst = max(inst, 1)
	}
	if inst > maxGPUs {
		return job, "num_inst", "over 10 million"
	}
	milli, bad := optional(p.t.cell(p.gpus), 1000)
	if bad == flawless && milli > maxGPUs*1000 {
		bad = "over 10 million"
	}
	if bad != flawless {
		return job, "num_gpu", bad
	}
	cpus, bad := optional(p.t.cell(p.cpus), 1000)
	if bad == flawless && cpus > 1e12 {
		bad = tooLarge
	}
	if bad != flawless {
		return job, "num_cpu", bad
	}
	p.gang(&job, inst, milli)
	job.CPUMilli = cpus * inst
	job.Run = p.r.lift(capcli.Seconds(run))
	job.ID = p.ids.copyString(p.t.cell(p.id))
	job.Tenant = p.users.intern(p.t.cell(p.user))
	switch model := blankIfUnknown(p.t.cell(p.model)); string(model) {
	case "MISC": // one of several that were not named
		p.r.Assume("gpu_type MISC: taken as any model")
	case "CPU":
	default:
		job.GPUModel = p.models.intern(model)
	}
	return job, "", flawless
}

// gang sets the GPUs of inst instances of milli thousandths each. They start
// together, so they are one job. Shares of several instances are added up and
// rounded up to whole GPUs, for a job shares one GPU or none.
func (p *pai) gang(job *capcli.Job, inst, milli int64) {
	total := inst * milli
	switch {
	case total > 0 && total < 1000:
		job.GPUs, job.GPUMilli = 1, int(total)
	case total%1000 == 0:
		job.GPUs = int(total / 1000)
	default:
		job.GPUs = int((total + 999) / 1000)
		p.r.Assume("shares of GPUs over one GPU: rounded up to whole GPUs")
	}
}
