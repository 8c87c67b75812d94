package trace

import (
	"capcli"
)

func init() {
	Formats.Add("helios", "SenseTime Helios cluster_log.csv (Hu et al., SC'21), and tables with its column names",
		Format{Sniff: sniffHelios, Read: readHelios})
}

func sniffHelios(head []byte) bool {
	return headHas(head, "gpu_num", "submit_time", "duration")
}

type helios struct {
	r    *Reader
	t    *table
	zone *zoned
	ids  arena

	id, user, vc, gpus, cpus, state, submit, start, end, run int
	users, vcs, states                                       names
}

func readHelios(r *Reader) error {
	t, err := newTable(r, capcli.Fields{})
	if err != nil {
		return err
	}
	if err := t.need("gpu_num", "submit_time", "duration"); err != nil {
		return err
	}
	h := &helios{
		r: r, t: t, zone: newZoned(r),
		id: t.col("job_id", "jobname"), user: t.col("user"), vc: t.col("vc"),
		gpus: t.col("gpu_num"), cpus: t.col("cpu_num"), state: t.col("state"),
		submit: t.col("submit_time"), start: t.col("start_time"), end: t.col("end_time"), run: t.col("duration"),
	}
	for t.next() {
		if !h.row() {
			return nil
		}
	}
	return nil
}

func (h *helios) row() bool {
	job, field, bad := h.job()
	return h.t.take(&job, field, bad)
}

func (h *helios) job() (job capcli.Job, field string, bad flaw) {
	job.Deadline = capcli.NoTime
	if job.Submit, bad = h.zone.read(h.t.cell(h.submit)); bad != flawless {
		return job, "submit_time", bad
	}
	if job.Start, bad = h.zone.read(blankIfUnknown(h.t.cell(h.start))); bad != flawless {
		return job, "start_time", bad
	}
	if job.End, bad = h.zone.read(blankIfUnknown(h.t.cell(h.end))); bad != flawless {
		return job, "end_time", bad
	}
	run, _, bad := fixed(h.t.cell(h.run), 1)
	if bad != flawless {
		return job, "duration", bad
	}
	if job.GPUs, job.GPUMilli, bad = parseGPUs(h.t.cell(h.gpus)); bad != flawless {
		return job, "gpu_num", bad
	}
	if job.CPUMilli, bad = optional(h.t.cell(h.cpus), 1000); bad != flawless {
		return job, "cpu_num", bad
	}
	job.Run = h.r.lift(capcli.Seconds(run))
	job.Tenant = h.users.intern(h.t.cell(h.user))
	job.Partition = h.vcs.intern(h.t.cell(h.vc))
	job.State = h.states.intern(h.t.cell(h.state))
	if job.ID = h.ids.copyString(h.t.cell(h.id)); job.ID == "" {
		job.ID = h.ids.number(h.t.rows)
	}
	return job, "", flawless
}

// blankIfUnknown returns an empty value for a word that means unknown, else b.
func blankIfUnknown(b []byte) []byte {
	switch string(trim(b)) {
	case "None", "NaN", "nan", "NaT", "null", "NULL", "Unknown", "N/A", "-":
		return nil
	}
	return b
}
