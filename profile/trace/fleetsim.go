package trace

import (
	"capcli"
)

func init() {
	Formats.Add("fleetsim", "fleetsim's canonical table: submit_time in microseconds, num_chips, duration_s",
		Format{Sniff: sniffFleetsim, Read: readFleetsim})
}

func sniffFleetsim(head []byte) bool {
	return headHas(head, "job_id", "submit_time", "num_chips", "duration_s")
}

type fleetsim struct {
	r   *Reader
	t   *table
	ids arena

	id, user, tenant, class, submit, chips, model, run, limit, state int
	users, tenants, classes, models, states                          names
}

func readFleetsim(r *Reader) error {
	t, err := newTable(r, capcli.Fields{})
	if err != nil {
		return err
	}
	if err := t.need("job_id", "submit_time", "num_chips", "duration_s"); err != nil {
		return err
	}
	f := &fleetsim{
		r: r, t: t,
		id: t.col("job_id"), user: t.col("user"), tenant: t.col("tenant"), class: t.col("class"),
		submit: t.col("submit_time"), chips: t.col("num_chips"), model: t.col("chip_type"),
		run: t.col("duration_s"), limit: t.col("walltime_limit_s"), state: t.col("final_status"),
	}
	for t.next() {
		job, field, bad := f.job()
		if !t.take(&job, field, bad) {
			return nil
		}
	}
	return nil
}

// job reads the row at hand. What fleetsim calls a tenant is a virtual cluster
// with nodes of its own: our partition.
func (f *fleetsim) job() (job capcli.Job, field string, bad flaw) {
	job.Start, job.End, job.Deadline = capcli.NoTime, capcli.NoTime, capcli.NoTime
	micros, _, bad := fixed(f.t.cell(f.submit), 1)
	if bad != flawless {
		return job, "submit_time", bad
	}
	job.Submit = capcli.Time((micros + 500_000) / 1_000_000)
	if micros < 0 {
		return job, "submit_time", negative
	}
	run, _, bad := fixed(f.t.cell(f.run), 1)
	if bad != flawless {
		return job, "duration_s", bad
	}
	limit, bad := optional(f.t.cell(f.limit), 1)
	if bad != flawless {
		return job, "walltime_limit_s", bad
	}
	if job.GPUs, job.GPUMilli, bad = parseGPUs(f.t.cell(f.chips)); bad != flawless {
		return job, "num_chips", bad
	}
	job.Run, job.Limit = f.r.lift(capcli.Seconds(run)), capcli.Seconds(limit)
	job.ID = f.ids.copyString(f.t.cell(f.id))
	job.Tenant = f.users.intern(f.t.cell(f.user))
	job.Partition = f.tenants.intern(f.t.cell(f.tenant))
	job.Class = f.classes.intern(f.t.cell(f.class))
	job.GPUModel = f.models.intern(f.t.cell(f.model))
	if job.State = f.states.intern(f.t.cell(f.state)); job.State == "CANCELED" {
		job.State = "CANCELLED"
	}
	return job, "", flawless
}
