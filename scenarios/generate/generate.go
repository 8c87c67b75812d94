// Package generate makes jobs up: a Workload is a recipe of classes of work that
// come side by side, at random with a day and a week, in steady waves or as the
// replicas of a service. The same seed gives the same jobs.
package generate

import (
	"strconv"

	"capcli"
)

// Workload is a recipe for jobs: classes of work that come side by side, each
// with chance of its own. Adding a class, or changing one, moves no job of the
// others.
type Workload struct {
	Start   capcli.Time    // jobs are submitted from then on
	Span    capcli.Seconds // for so long
	Scale   float64        // all random classes come so many times as often; 0 is 1
	Mix     string         // name of a fitted mix of Mixes, whose classes come before Classes; "" is none
	Classes []Class
}

// Kind is how the jobs of a class come about.
type Kind string

// The kinds of work.
const (
	// Random comes by chance: arrivals with a day and a week, sizes and run
	// times drawn. It is what an empty Kind means.
	Random Kind = "random"
	// Steady holds a number of GPUs for a share of the time, to the second:
	// jobs of equal length, one after another.
	Steady Kind = "steady"
	// Service is replicas of a service that follow the day: for each step of
	// time as many equal jobs as the hour asks for.
	Service Kind = "service"
)

// Class is jobs of one kind. All times of day and week are UTC. Tenants of
// random work are drawn for each job, with one for all of a burst; among the
// jobs of steady work and of a service, which have no chance, they are in
// proportion to their weights.
type Class struct {
	Name      string // becomes the jobs' class and the stem of their ids; no two alike
	Kind      Kind
	Tenants   []Tenant // who pays; none: Name does
	GPUModel  string   // model wanted; "" is any
	Partition string   // where they are sent; "" is the common queue
	Priority  int      // larger is more urgent
	From      capcli.Seconds
	Until     capcli.Seconds // the class lasts over [From, Until) after Workload.Start; 0 is to the end

	// The day and the week, for random and service.
	DaySwing float64 // busiest over quietest instant of the day; 0 and 1 are flat
	PeakHour float64 // when it is busiest, 0 to 24
	Weekend  float64 // Saturday and Sunday against a weekday; 0 is 1

	// How much comes, for random: one of the two.
	JobsPerDay float64 // jobs a day, on average over whole weeks
	MeanGPUs   float64 // as many as keep so many GPUs busy, on average over whole weeks
	Burst      float64 // mean of the jobs that come together, alike but for their length (geometric); 0 is 1

	// What comes, for random.
	Sizes     []Size         // GPUs of a job
	RunMedian capcli.Seconds // run times are log-normal with this median
	RunP95    capcli.Seconds // and this 95th percentile,
	RunMean   capcli.Seconds // or this mean; neither: all run RunMedian
	RunMin    capcli.Seconds // none shorter (the distribution is cut, not heaped up); 0 is a second
	RunMax    capcli.Seconds // none longer; 0 is without limit

	// What users say, for random.
	LimitOver  float64 // limit is the run time times 1 to LimitOver, evenly (Mu'alem and Feitelson 2001); 0 is no limit
	LimitModal bool    // rounded up to lengths that people name: 15 min, 1 h, 12 h … (Tsafrir et al. 2005)
	Slack      float64 // deadline is submission plus Slack times the run time; 0 is no deadline

	// What each GPU comes with.
	CPUsPerGPU float64 // 0 is not known
	MemPerGPU  float64 // GiB; 0 is not known

	// Steady work and replicas.
	GPUs      int            // steady: GPUs held at once
	BusyShare float64        // steady: share of each Every that they are held; 0 is all
	JobGPUs   int            // GPUs of a job or replica; 0 is 1, and for steady all
	Every     capcli.Seconds // length of a steady cycle or a service step; 0 is an hour
	Replicas  int            // service: replicas at the peak hour; DaySwing sets the quietest
}

// Tenant is a tenant of a class and how much of the class is its.
type Tenant struct {
	Name   string
	Weight float64 // against the others'; 0 is 1
}

// Size is a number of GPUs and how often jobs have it.
type Size struct {
	GPUs   int
	Weight float64 // against the others'; 0 is 1
}

// Jobs is the stream of jobs, in order of submission, those of one second in
// order of their classes. It holds no more than one job of each class at a
// time. The same seed gives the same jobs. Where Validate finds a fault the
// stream is that error.
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

// classes are those of the mix and the workload's own.
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

// source makes the jobs of one class, one after another.
type source interface {
	next() (j capcli.Job, ok bool)
}

func (w *Workload) source(c *Class, seed capcli.Seed) source {
	end := w.Span
	if c.Until > 0 {
		end = min(end, c.Until)
	}
	t := recipe{c: c, start: w.Start, from: c.From, end: end, stem: append(make([]byte, 0, len(c.Name)+24), c.Name+"-"...)}
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

// Expected is the number of jobs to come, about: random classes vary by chance
// and by the weekdays of the span. It is 0 for a workload with a fault.
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

// merge brings the jobs of several sources into one order: submission, then
// class.
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

// recipe is what all jobs of a class have in common.
type recipe struct {
	c         *Class
	start     capcli.Time
	from, end capcli.Seconds // since start
	stem      []byte         // of ids
	made      int
}

// job makes the next job of the class.
func (t *recipe) job(at capcli.Seconds, gpus int, run capcli.Seconds) capcli.Job {
	t.made++
	c := t.c
	return capcli.Job{
		ID: string(strconv.AppendInt(t.stem, int64(t.made), 10)), Tenant: c.Name, Partition: c.Partition, GPUModel: c.GPUModel, Class: c.Name,
		GPUs: gpus, CPUMilli: int64(c.CPUsPerGPU*1000*float64(gpus) + 0.5), MemMiB: int64(c.MemPerGPU*1024*float64(gpus) + 0.5),
		Submit: t.start + capcli.Time(at), Start: capcli.NoTime, End: capcli.NoTime, Run: run,
		Priority: c.Priority, Deadline: capcli.NoTime,
	}
}
