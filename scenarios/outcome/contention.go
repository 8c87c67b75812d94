package outcome

import (
	"fmt"

	"capcli"
	"capcli/simulate"
)

// Contention is what running jobs lost because together they wanted more of a storage, of CPUs or of a
// network than there is.
type Contention struct {
	Rows []ContentionRow `json:"by_pool"`
	Jobs []ContendedJob  `json:"jobs"` // those that lost the most, at most 20
}

// ContentionRow is the contention for one kind in one pool.
type ContentionRow struct {
	Pool   string         `json:"pool"`
	Kind   string         `json:"resource"`             // as the pool states it, such as store_gib_per_s
	Stays  int64          `json:"stays"`                // times that a job that takes some of it got its GPUs
	Slowed int64          `json:"slowed_stays"`         // of these, those that lost time
	Short  capcli.Seconds `json:"short_s"`              // time in which jobs wanted more than there is, of one node or domain at least
	Lost   capcli.GPUTime `json:"contention_gpu_hours"` // held without progress
}

// ContendedJob is what one job lost.
type ContendedJob struct {
	ID     string         `json:"job_id"`
	Tenant string         `json:"tenant"`
	Kind   string         `json:"resource"` // for which it lost the most
	Lost   capcli.GPUTime `json:"contention_gpu_hours"`
}

// ContentionOf returns the contention of a run; nil if its pools share nothing.
func ContentionOf(res *simulate.Result) *Contention {
	if res.Contention == nil {
		return nil
	}
	out := &Contention{Rows: []ContentionRow{}, Jobs: []ContendedJob{}}
	for _, r := range res.Contention.Rows {
		out.Rows = append(out.Rows, ContentionRow{res.Record.Pools[r.Pool].Name, r.Kind.String(), r.Stays, r.Slowed, r.Short, r.Lost})
	}
	for _, j := range res.Contention.Jobs {
		out.Jobs = append(out.Jobs, ContendedJob{j.ID, j.Tenant, j.Kind.String(), j.Lost})
	}
	return out
}

// Notes tells what a reader of one run must know.
func (c *Contention) Notes() (out []string) {
	if c == nil {
		return nil
	}
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.Lost > 0 {
			out = append(out, fmt.Sprintf("contention: jobs on %s lost %.1f GPU-hours because they wanted more %s together than there is", r.Pool, r.Lost.Hours(), r.Kind))
		}
		if r.Stays == 0 {
			out = append(out, fmt.Sprintf("%s states %s, and no job that ran there says what it takes of it: see uses of shapes", r.Pool, r.Kind))
		}
	}
	if len(c.Jobs) > 0 {
		j := &c.Jobs[0]
		out = append(out, fmt.Sprintf("* job %s of %s lost the most to contention: %.1f GPU-hours, most of it for %s", j.ID, j.Tenant, j.Lost.Hours(), j.Kind))
	}
	return out
}

// hours returns the GPU-hours that contention cost; nil where nothing is shared.
func (c *Contention) hours() *float64 {
	if c == nil {
		return nil
	}
	var sum capcli.GPUTime
	for i := range c.Rows {
		sum += c.Rows[i].Lost
	}
	v := sum.Hours()
	return &v
}
