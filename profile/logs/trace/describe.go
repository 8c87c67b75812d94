package trace

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"capcli"
)

// Summary sums up a log. Every figure except Jobs and CPUOnlyJobs covers only the jobs that
// ask for GPUs. GPU-hours are GPUs times run time; a share of a GPU counts as that share.
type Summary struct {
	Jobs        int64       `json:"jobs"`
	CPUOnlyJobs int64       `json:"cpu_only_jobs"`
	FirstSubmit capcli.Time `json:"first_submit"`
	LastSubmit  capcli.Time `json:"last_submit"`
	SpanS       int64       `json:"span_s"` // last submit − first submit
	GPUHours    float64     `json:"gpu_hours"`

	Sizes      []Size     `json:"sizes"`               // by GPUs, ascending
	Run        Quantiles  `json:"run"`                 // run times
	RunClasses []RunClass `json:"run_classes"`         // by run time, ascending
	Wait       *Quantiles `json:"wait"`                // start − submit of the jobs with a start; nil if no job has one
	Hours      [24]int64  `json:"arrivals_by_hour"`    // jobs by hour of submit
	Weekdays   [7]int64   `json:"arrivals_by_weekday"` // jobs by weekday of submit, Monday first
	Zone       string     `json:"zone"`                // time zone of Hours and Weekdays

	Tenants    []Share `json:"tenants"` // most GPU-hours first, then most jobs, then by name; so are the next three
	Partitions []Share `json:"partitions"`
	GPUModels  []Share `json:"gpu_models"`
	States     []Share `json:"states"`

	Tags []TagShares `json:"tags,omitempty"` // in order of tag; nil if no job has tags

	Demand Level  `json:"demand"`   // GPUs that jobs would hold if none waited: each job from its submit for its run time
	Use    *Level `json:"use"`      // GPUs held from the start to the end of each job; nil if no job has both
	UsedBy int64  `json:"use_jobs"` // jobs with a start and an end, which Use counts
}

// Size sums up the jobs that ask for one number of GPUs.
type Size struct {
	GPUs     float64 `json:"gpus"` // GPUs of each job; below 1 the job shares a GPU
	Jobs     int64   `json:"jobs"`
	GPUHours float64 `json:"gpu_hours"`
	Part     float64 `json:"gpu_hours_share"` // share of all GPU-hours, 0..1
}

// RunClass sums up the jobs whose run time is at least FromS and under ToS seconds.
type RunClass struct {
	FromS    capcli.Seconds `json:"from_s"`
	ToS      capcli.Seconds `json:"to_s"` // 0 is no upper bound
	Jobs     int64          `json:"jobs"`
	GPUHours float64        `json:"gpu_hours"`
	Part     float64        `json:"gpu_hours_share"`
}

// Share sums up the jobs of one tenant, partition, GPU model or state.
type Share struct {
	Name     string  `json:"name"` // "" if the log gives no name
	Jobs     int64   `json:"jobs"`
	GPUHours float64 `json:"gpu_hours"`
	Part     float64 `json:"gpu_hours_share"`
}

// Quantiles are exact quantiles of a duration over jobs, by nearest rank: the smallest value
// with at least a share q of the jobs at or below it.
type Quantiles struct {
	MeanS float64        `json:"mean_s"`
	P50   capcli.Seconds `json:"p50_s"`
	P90   capcli.Seconds `json:"p90_s"`
	P95   capcli.Seconds `json:"p95_s"`
	P99   capcli.Seconds `json:"p99_s"`
	Max   capcli.Seconds `json:"max_s"`
}

// Level sums up a number of GPUs over time, by clock hours: the mean over the hours from the
// hour of the first submit to the hour of the last, and the hour with the highest mean.
type Level struct {
	MeanGPUs float64     `json:"mean_gpus"`
	PeakGPUs float64     `json:"peak_hour_gpus"`
	PeakAt   capcli.Time `json:"peak_hour"` // start of the hour with the highest mean; NoTime if there is none
}

// runBounds are the lower bounds of the classes of run time.
var runBounds = []capcli.Seconds{0, capcli.Minute, 10 * capcli.Minute, capcli.Hour, 6 * capcli.Hour, capcli.Day, 7 * capcli.Day}

// Description is the answer of trace describe: what was read of a job log, and its summary.
type Description struct {
	Schema string `json:"schema"`
	Input  string `json:"input"`
	Read   Report `json:"read"`
	Summary
}

// Describe sums up jobs, in any order, in one pass. Hours and weekdays are in zone; nil is
// UTC. Memory grows with the number of hours, tenants, and different sizes and durations, not
// with the number of jobs. It fails with the first error in jobs.
func Describe(jobs capcli.Jobs, zone *time.Location) (Summary, error) {
	zone = cmp.Or(zone, time.UTC)
	d := describer{
		zone: zone, sizes: map[int64]*tallied{},
		tags: map[*capcli.Tags]*tallied{}, tenants: map[string]*tallied{}, partitions: map[string]*tallied{}, models: map[string]*tallied{}, states: map[string]*tallied{},
		classes: make([]tallied, len(runBounds)),
		first:   capcli.NoTime, last: capcli.NoTime,
	}
	for job, err := range jobs {
		if err != nil {
			return Summary{}, err
		}
		d.add(&job)
	}
	s := d.summary()
	s.Tags = d.tagShares()
	return s, nil
}

// tallied counts jobs and their work.
type tallied struct {
	jobs int64
	work capcli.GPUTime
}

func (t *tallied) add(work capcli.GPUTime) {
	t.jobs++
	t.work += work
}

// describer adds up a Summary.
type describer struct {
	zone                                *time.Location
	jobs, cpuOnly, used                 int64
	first, last                         capcli.Time
	work                                capcli.GPUTime
	sizes                               map[int64]*tallied // by thousandths of a GPU
	tenants, partitions, models, states map[string]*tallied
	tags                                map[*capcli.Tags]*tallied
	classes                             []tallied
	run, wait                           lengths
	demand, use                         levels
	hours                               [24]int64
	weekdays                            [7]int64
}

func (d *describer) add(job *capcli.Job) {
	d.jobs++
	if job.Milli() == 0 {
		d.cpuOnly++
		return
	}
	work := job.Work()
	d.work += work
	if !d.first.IsKnown() || job.Submit < d.first {
		d.first = job.Submit
	}
	d.last = max(d.last, job.Submit)
	addTally(d.sizes, job.Milli(), work)
	addTally(d.tenants, job.Tenant, work)
	addTally(d.partitions, job.Partition, work)
	addTally(d.models, job.GPUModel, work)
	addTally(d.states, job.State, work)
	addTally(d.tags, job.Tags, work)
	d.classes[runClass(job.Run)].add(work)
	d.run.add(job.Run)
	d.demand.add(job.Submit, job.Submit+capcli.Time(job.Run), job.Milli())
	if job.Start.IsKnown() {
		d.wait.add(max(0, capcli.Seconds(job.Start-job.Submit)))
		if job.End.IsKnown() {
			d.used++
			d.use.add(job.Start, job.End, job.Milli())
		}
	}
	at := job.Submit.Std().In(d.zone)
	d.hours[at.Hour()]++
	d.weekdays[(int(at.Weekday())+6)%7]++
}

func addTally[K comparable](m map[K]*tallied, key K, work capcli.GPUTime) {
	t := m[key]
	if t == nil {
		t = &tallied{}
		m[key] = t
	}
	t.add(work)
}

func runClass(run capcli.Seconds) int {
	i, exact := slices.BinarySearch(runBounds, run)
	if exact {
		return i
	}
	return i - 1
}

func (d *describer) summary() Summary {
	s := Summary{
		Jobs: d.jobs, CPUOnlyJobs: d.cpuOnly, FirstSubmit: d.first, LastSubmit: d.last,
		GPUHours: d.work.Hours(), Hours: d.hours, Weekdays: d.weekdays, Zone: d.zone.String(),
		Run: d.run.quantiles(), UsedBy: d.used,
		Tenants: d.shares(d.tenants), Partitions: d.shares(d.partitions),
		GPUModels: d.shares(d.models), States: d.shares(d.states),
		Sizes: []Size{},
	}
	if d.first.IsKnown() {
		s.SpanS = int64(d.last - d.first)
		s.Demand = d.demand.level(d.first, d.last)
	} else {
		s.Demand.PeakAt = capcli.NoTime
	}
	if d.used > 0 {
		use := d.use.level(d.first, d.last)
		s.Use = &use
	}
	if d.wait.n > 0 {
		wait := d.wait.quantiles()
		s.Wait = &wait
	}
	for milli, t := range d.sizes {
		s.Sizes = append(s.Sizes, Size{float64(milli) / 1000, t.jobs, t.work.Hours(), d.part(t.work)})
	}
	slices.SortFunc(s.Sizes, func(a, b Size) int { return cmp.Compare(a.GPUs, b.GPUs) })
	for i, t := range d.classes {
		class := RunClass{FromS: runBounds[i], Jobs: t.jobs, GPUHours: t.work.Hours(), Part: d.part(t.work)}
		if i+1 < len(runBounds) {
			class.ToS = runBounds[i+1]
		}
		s.RunClasses = append(s.RunClasses, class)
	}
	return s
}

// part returns work as a share of all work, 0..1; 0 where there is no work at all.
func (d *describer) part(work capcli.GPUTime) float64 {
	if d.work == 0 {
		return 0
	}
	return float64(work) / float64(d.work)
}

func (d *describer) shares(m map[string]*tallied) []Share {
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(m[b].work, m[a].work), cmp.Compare(m[b].jobs, m[a].jobs), cmp.Compare(a, b))
	})
	out := make([]Share, 0, len(names))
	for _, n := range names {
		out = append(out, Share{n, m[n].jobs, m[n].work.Hours(), d.part(m[n].work)})
	}
	return out
}
