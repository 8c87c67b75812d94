// Package generate makes jobs up. A Workload consists of classes of work that come side by side: at
// random with a daily and weekly rhythm, in steady waves, or as the replicas of a service. The same
// seed gives the same jobs.
package generate

import (
	"strconv"

	"capcli"
)

// Workload is a recipe for jobs: classes of work that come side by side, each with its own random
// stream. Adding or changing a class moves no job of another.
type Workload struct {
	Start   capcli.Time    // start of submissions
	Span    capcli.Seconds // length of the time with submissions
	Scale   float64        // factor on the rate of all random classes; 0 is 1
	Mix     string         // name of a fitted mix of Mixes, whose classes come before Classes; "" is none
	Classes []Class
}

// Kind is the way in which the jobs of a class arise.
type Kind string

// The kinds of work.
const (
	// Random work arrives at random with a daily and weekly rhythm; sizes and run times are drawn.
	// An empty Kind means Random.
	Random Kind = "random"
	// Steady work holds a number of GPUs for a share of the time, exact to the second: jobs of
	// equal length, one after another.
	Steady Kind = "steady"
	// Service is the replicas of a service that follow the day: in each step, as many equal jobs as
	// its first instant asks for. In a scenario they are no jobs but one holder: see Fleets.
	Service Kind = "service"
)

// Class is jobs of one kind. All times of day and week are in UTC. Tenants of random work are drawn
// for each burst. Steady work and services involve no chance: their jobs are divided among the
// tenants in proportion to the weights.
type Class struct {
	Name      string // the jobs' class and the prefix of their ids; must be unique
	Kind      Kind
	Tenants   []Tenant // tenants; none uses Name
	GPUModel  string   // model wanted; "" is any
	Partition string   // where they are sent; "" is the common queue
	Shape     string   // name of how they may run, for the caller; "" is as they are
	Priority  int      // larger is more urgent
	Tags      *capcli.Tags
	From      capcli.Seconds
	Until     capcli.Seconds // the class lasts over [From, Until) after Workload.Start; 0 is the end

	// The daily and weekly rhythm, for random and service.
	DaySwing float64 // ratio of the busiest to the quietest instant of the day; 0 and 1 are flat
	PeakHour float64 // hour of the busiest instant, 0 to 24
	Weekend  float64 // rate on Saturday and Sunday relative to a weekday; 0 is 1

	// The rate, for random: one of JobsPerDay and MeanGPUs.
	JobsPerDay float64 // jobs a day, on average over whole weeks
	MeanGPUs   float64 // GPUs that the jobs keep busy, on average over whole weeks
	Burst      float64 // mean size (geometric) of bursts, whose jobs differ only in length; 0 is 1

	// Sizes and run times, for random.
	Sizes     []Size         // GPUs of a job
	RunMedian capcli.Seconds // median of the log-normal run times
	RunP95    capcli.Seconds // their 95th percentile; 0 is not given
	RunMean   capcli.Seconds // or their mean; if neither is given, all run RunMedian
	RunMin    capcli.Seconds // shortest run time; the distribution is truncated there. 0 is a second
	RunMax    capcli.Seconds // longest run time, where it is truncated; 0 is no limit

	// Limits and deadlines, for random.
	LimitOver  float64 // the limit is the run time times a uniform factor of 1 to LimitOver (Mu'alem and Feitelson 2001); 0 is no limit
	LimitModal bool    // round limits up to usual values: 15 min, 1 h, 12 h … (Tsafrir et al. 2005)
	Slack      float64 // the deadline is submission plus Slack times the run time; 0 is no deadline

	// CPUs and memory.
	CPUsPerGPU float64 // 0 is unknown
	GPUMem     float64 // GiB that a job takes on each GPU; 0 is unknown
	MemPerGPU  float64 // GiB; 0 is unknown

	// Steady work and replicas.
	GPUs      int            // steady: GPUs held at once
	BusyShare float64        // steady: share of each cycle in which they are held; 0 is all
	JobGPUs   int            // GPUs of a job or replica; 0 is 1, for steady GPUs
	Every     capcli.Seconds // length of a steady cycle or a service step; 0 is an hour
	Replicas  int            // service: replicas at the peak hour; DaySwing gives the quietest
}

// Tenant is a tenant of a class with its share of the class.
type Tenant struct {
	Name   string
	Weight float64      // relative to the others'; 0 is 1
	Tags   *capcli.Tags // tags of its jobs, before those of the class
}

// Size is a number of GPUs with its frequency.
type Size struct {
	GPUs   int
	Weight float64 // relative to the others'; 0 is 1
}

// Jobs returns the stream of jobs in order of submission; jobs of the same second are in order of
// their classes. It holds at most one job of each class at a time. The same seed gives the same
// jobs. If Validate finds a fault, the stream is that error.
func (w Workload) Jobs(seed capcli.Seed) capcli.Jobs {
	return func(yield func(capcli.Job, error) bool) {
		classes, err := w.classes()
		if err == nil {
			err = w.Validate()
		}
		if err != nil {
			yield(capcli.Job{}, err)
			return
		}
		m := merge{}
		for i := range classes {
			m.add(w.source(&classes[i], seed))
		}
		for {
			j, ok := m.next()
			if !ok || !yield(j, nil) {
				return
			}
		}
	}
}

// classes returns the classes of the mix, then the workload's own.
func (w *Workload) classes() ([]Class, error) {
	if w.Mix == "" {
		return w.Classes, nil
	}
	mix, err := Mixes.Get(w.Mix)
	if err != nil {
		return nil, err
	}
	return append(mix(), w.Classes...), nil
}

// source yields the jobs of one class in order.
type source interface {
	next() (j capcli.Job, ok bool)
}

// recipeOf returns what the jobs of a class have in common.
func (w *Workload) recipeOf(c *Class) recipe {
	end := w.Span
	if c.Until > 0 {
		end = min(end, c.Until)
	}
	t := recipe{c: c, start: w.Start, from: c.From, end: end, stem: append(make([]byte, 0, len(c.Name)+24), c.Name+"-"...)}
	for i := range c.Tenants {
		t.tags = append(t.tags, c.Tenants[i].Tags.Merge(c.Tags))
	}
	return t
}

func (w *Workload) source(c *Class, seed capcli.Seed) source {
	t := w.recipeOf(c)
	switch c.Kind {
	case Steady:
		return newSteady(t)
	case Service:
		return newService(t)
	case Random:
	}
	return newRandom(t, w.scale(), seed)
}

func (w *Workload) scale() float64 {
	if w.Scale > 0 {
		return w.Scale
	}
	return 1
}

// Expected returns the approximate number of jobs: random classes vary by chance and by the
// weekdays of the span. It is 0 for an invalid workload.
func (w Workload) Expected() float64 {
	classes, err := w.classes()
	if err != nil || w.Validate() != nil {
		return 0
	}
	sum := 0.0
	for i := range classes {
		c := &classes[i]
		end := w.Span
		if c.Until > 0 {
			end = min(end, c.Until)
		}
		days := float64(max(0, end-c.From)) / float64(capcli.Day)
		steps := days * float64(capcli.Day) / float64(c.cycle())
		switch c.Kind {
		case Steady:
			sum += steps * float64(c.GPUs/c.gang())
		case Service:
			sum += steps * float64(c.Replicas) * (1 + 1/c.rhythm().swing) / 2
		default:
			sum += days * c.perDay() * w.scale()
		}
	}
	return sum
}

// merge merges the jobs of several sources in order of submission, then class.
type merge struct {
	sources []source
	heads   []capcli.Job
}

func (m *merge) add(s source) {
	if j, ok := s.next(); ok {
		m.sources, m.heads = append(m.sources, s), append(m.heads, j)
	}
}

func (m *merge) next() (capcli.Job, bool) {
	if len(m.heads) == 0 {
		return capcli.Job{}, false
	}
	first := 0
	for i := range m.heads {
		if m.heads[i].Submit < m.heads[first].Submit {
			first = i
		}
	}
	j := m.heads[first]
	next, ok := m.sources[first].next()
	if ok {
		m.heads[first] = next
	} else {
		m.heads = append(m.heads[:first], m.heads[first+1:]...)
		m.sources = append(m.sources[:first], m.sources[first+1:]...)
	}
	return j, true
}

// recipe is what the jobs of a class have in common.
type recipe struct {
	c         *Class
	start     capcli.Time
	from, end capcli.Seconds // since start
	stem      []byte         // of ids
	made      int
	tags      []*capcli.Tags // tags of the jobs of each tenant
}

// job returns the next job of the class, submitted at a time since the start.
func (t *recipe) job(at capcli.Seconds, gpus int, run capcli.Seconds) capcli.Job {
	t.made++
	c := t.c
	return capcli.Job{
		ID: string(strconv.AppendInt(t.stem, int64(t.made), 10)), Tenant: c.Name, Partition: c.Partition, GPUModel: c.GPUModel, Class: c.Name,
		GPUs: gpus, CPUMilli: int64(c.CPUsPerGPU*1000*float64(gpus) + 0.5), MemMiB: int64(c.MemPerGPU*1024*float64(gpus) + 0.5), GPUMemMiB: int64(c.GPUMem*1024 + 0.5),
		Submit: t.start + capcli.Time(at), Start: capcli.NoTime, End: capcli.NoTime, Run: run,
		Priority: c.Priority, Eligible: capcli.NoTime, Deadline: capcli.NoTime, Tags: c.Tags,
	}
}

func (t *recipe) setTenant(j *capcli.Job, i int) { j.Tenant, j.Tags = t.c.Tenants[i].Name, t.tags[i] }
