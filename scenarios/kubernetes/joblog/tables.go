package joblog

import (
	"strconv"
)

// Rows returns the jobs as a table, under a header. Times are RFC 3339 in UTC; unknown values are empty.
func (h *History) Rows() [][]string {
	rows := [][]string{{
		"job_id", "tenant", "team", "queue", "cluster_queue", "priority_class", "priority", "flavor", "pods", "gpus", "mig", "submit",
		"reserved", "start", "first_container", "end", "state", "preemptions", "evictions", "earlier_seconds", "gpu_seconds",
	}}
	for i := range h.Jobs {
		j := &h.Jobs[i]
		held := ""
		if n, ok := j.GPUSeconds(); ok {
			held = strconv.FormatInt(n, 10)
		}
		number := func(n int64) string { return strconv.FormatInt(n, 10) }
		rows = append(rows, []string{
			j.ID, j.Tenant, j.Team, j.Queue, j.ClusterQueue, j.PriorityClass, number(j.Priority), j.Flavor, number(j.Pods), number(j.GPUs),
			migText(j.MIG), j.Submit.String(), j.Reserved.String(), j.Start.String(), j.FirstContainer.String(), j.End.String(), j.State,
			number(j.Preemptions), number(j.Evictions), number(int64(j.Earlier)), held,
		})
	}
	return rows
}

// RunRows returns the runs as a table, under a header.
func (h *History) RunRows() [][]string {
	rows := [][]string{{"job_id", "admitted", "stopped", "why"}}
	for _, r := range h.Runs {
		rows = append(rows, []string{r.ID, r.Admitted.String(), r.Stopped.String(), r.Why})
	}
	return rows
}

// lastRun returns the last run of each job, by job.
func (h *History) lastRun() map[string]Run {
	out := map[string]Run{}
	for _, r := range h.Runs {
		out[r.ID] = r
	}
	return out
}
