package trace

import "capcli"

// A tenant of fleetsim is a virtual cluster with nodes of its own, which capcli calls a
// partition.
func init() {
	addTable("fleetsim", "fleetsim's canonical table: submit_time in microseconds, num_chips, duration_s", tableFormat{
		needs: []string{"job_id", "submit_time", "num_chips", "duration_s"}, lifts: true,
		columns: []column{
			{"submit_time", readMicroseconds},
			{"duration_s", readRun},
			{"walltime_limit_s", readLimit},
			{"num_chips", readGPUs},
			{"job_id", readID},
			{"user", readTenant},
			{"tenant", readPartition},
			{"class", readClass},
			{"chip_type", readModel},
			{"final_status", readStatus},
		},
	})
}

func readMicroseconds(_ *tableReader, job *capcli.Job, cell []byte) flaw {
	micros, _, bad := fixed(cell, 1)
	if bad == flawless && micros < 0 {
		bad = negative
	}
	job.Submit = capcli.Time((micros + 500_000) / 1_000_000)
	return bad
}

func readStatus(t *tableReader, job *capcli.Job, cell []byte) flaw {
	if job.State = t.intern(cell); job.State == "CANCELED" {
		job.State = "CANCELLED"
	}
	return flawless
}
