package validate

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"capcli"
)

// Past is what a job log tells of its queue.
type Past struct {
	Jobs         []Job       // with a recorded start, in the order of the queue
	Unit         string      // what Job.Units counts: GPUs, thousandths of a GPU, CPUs
	Scale        int64       // of the unit, in one GPU or CPU
	Eligible     int         // jobs of Jobs that were eligible later than they were submitted
	WithoutStart int         // jobs left out: the log records no start
	WithoutUnits int         // jobs left out: they hold nothing that is counted
	Partitions   []NamedJobs // most jobs first
	Models       []NamedJobs // GPU models that jobs want, likewise
	First        capcli.Time // the first submission of Jobs
	Fleet        int64       // GPUs or CPUs that there were; 0 is not known
}

// NamedJobs is a partition or a GPU model and how many jobs with a recorded start it has.
type NamedJobs struct {
	Name string
	Jobs int
}

// Collector gathers the recorded past from jobs, one by one.
type Collector struct {
	Partition string // only jobs of this partition; "" is all
	GPUModel  string // only jobs that want this GPU model; "" is all
	jobs      []capcli.Job
	parts     map[string]int
	models    map[string]int
	unstarted int
	gpus      int // jobs that hold GPUs
	shares    int // jobs that hold a share of a GPU
}

// Add adds a job.
func (c *Collector) Add(j *capcli.Job) {
	if !j.Start.IsKnown() {
		c.unstarted++
		return
	}
	if c.parts == nil {
		c.parts, c.models = map[string]int{}, map[string]int{}
	}
	c.parts[j.Partition]++
	if c.Partition != "" && c.Partition != j.Partition {
		return
	}
	if c.models[j.GPUModel]++; c.GPUModel != "" && c.GPUModel != j.GPUModel {
		return
	}
	c.jobs = append(c.jobs, *j)
	if j.GPUs > 0 {
		c.gpus++
	}
	if j.GPUMilli > 0 {
		c.shares++
	}
}

// History returns what was gathered. Jobs that hold no GPU are left out, unless no job holds one: then
// the CPUs are counted.
func (c *Collector) History() *Past {
	p := &Past{Unit: "GPUs", Scale: 1, WithoutStart: c.unstarted, First: capcli.NoTime}
	switch {
	case c.gpus == 0:
		p.Unit = "CPUs"
	case c.shares > 0:
		p.Unit, p.Scale = "thousandths of a GPU", 1000
	}
	p.Partitions, p.Models = byJobs(c.parts), byJobs(c.models)
	for i := range c.jobs {
		j := &c.jobs[i]
		units := j.Milli()
		switch {
		case c.gpus == 0:
			units = (j.CPUMilli + 999) / 1000
		case c.shares == 0:
			units = int64(j.GPUs)
		}
		if units <= 0 {
			p.WithoutUnits++
			continue
		}
		if p.First == capcli.NoTime || j.Submit < p.First {
			p.First = j.Submit
		}
		past := Job{
			ID: j.ID, Tenant: j.Tenant, Class: j.Class, Priority: j.Priority, Units: units, Limit: j.Limit,
			Queued: min(j.QueueTime(), j.Start), Start: j.Start, End: j.Start + capcli.Time(j.Run),
		}
		if past.Limit <= 0 {
			past.Limit = j.Run
		}
		if past.Queued > j.Submit {
			p.Eligible++
		}
		p.Jobs = append(p.Jobs, past)
	}
	sortQueue(p.Jobs)
	return p
}

// byJobs returns names with their jobs, most jobs first.
func byJobs(counts map[string]int) []NamedJobs {
	var out []NamedJobs
	for name, n := range counts {
		out = append(out, NamedJobs{name, n})
	}
	slices.SortFunc(out, func(a, b NamedJobs) int {
		return cmp.Or(cmp.Compare(b.Jobs, a.Jobs), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// sortQueue puts jobs in the order of the queue. Of jobs queued at the same second the smaller number
// comes first where all ids are numbers, perhaps after one common word; else their order stays.
func sortQueue(jobs []Job) {
	numbers := make(map[string]int64, len(jobs))
	stem := ""
	for i := range jobs {
		digits := len(jobs[i].ID) - len(strings.TrimRight(jobs[i].ID, "0123456789"))
		word, number := jobs[i].ID[:len(jobs[i].ID)-digits], jobs[i].ID[len(jobs[i].ID)-digits:]
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || i > 0 && word != stem {
			numbers = nil
			break
		}
		stem = word
		numbers[jobs[i].ID] = n
	}
	slices.SortStableFunc(jobs, func(a, b Job) int {
		return cmp.Or(cmp.Compare(a.Queued, b.Queued), cmp.Compare(numbers[a.ID], numbers[b.ID]))
	})
}
