package capcli

import (
	"errors"
	"math"
	"math/bits"
	"slices"
	"time"
)

// Measure is what a series measures in a job log.
type Measure uint8

// The measures. LatentDemand is the unconstrained demand: GPUs wanted had nobody waited, each job
// from its submission for its run time. Usage and Queue are what the log recorded: GPUs held from
// start to end, and GPUs wanted from submission to start. Arrivals counts the jobs submitted in a
// step, and ArrivalHours sums their GPU-hours.
const (
	LatentDemand Measure = iota
	Usage
	Queue
	Arrivals
	ArrivalHours
)

// The errors of Demand.Add.
var (
	errTooManyCells = errors.New("too many steps times groups")
	ErrUnsorted     = errors.New("jobs are not in order of submit, which peaks need")
	ErrTooMuchTime  = errors.New("GPU time past 2^63 thousandths of a GPU-second")
)

// defaultCells is the default of MaxCells: 320 MB of sums.
const defaultCells = 20_000_000

// Demand sums a job log exactly into steps of time, for each group of jobs. GPU time is
// counted in thousandths of a GPU-second, and only Series divides. Memory grows with
// steps times groups and, with peaks, with the jobs that run at one time, but not with
// the jobs read.
type Demand struct {
	Measure  Measure
	Step     Step
	Zone     *time.Location // nil is UTC
	Peaks    bool           // keep the highest level in each step; jobs must come in order of submit
	MaxCells int            // most steps times groups; 0 is 20 million

	Unknown     int64   // GPU jobs left out because the log lacks the start or end that Measure needs
	UnknownWork GPUTime // GPU time of their run times, at most 2^63 - 1
	KnownWork   GPUTime // GPU time of the jobs that count, once for each job

	grid        Grid
	edges       []Time // edges[i] is the start of step base+i; there is one more edge than steps
	base        int
	groups      map[string]*levels
	names       []string
	first, last Time // first and last submission
	total       GPUTime
	settled     *[2]int // result of range0; nil after Add
}

// levels are the sums of one group, by step from Demand.base.
type levels struct {
	held  []int64 // change of the thousandths of a GPU held over whole steps from this step on
	parts []int64 // thousandths of a GPU times seconds held in part of a step; for arrivals, their sum
	peaks *peaks
}

// Add counts j in each of the groups. CPU jobs do not count.
func (d *Demand) Add(j *Job, groups ...string) error {
	if j.Milli() == 0 {
		return nil
	}
	d.settled = nil
	if d.groups == nil {
		d.groups = map[string]*levels{}
		d.grid = d.Step.Grid(j.Submit, d.Zone)
		d.first, d.last = j.Submit, j.Submit
		d.edges = []Time{d.grid.At(0)}
	}
	if d.Peaks && j.Submit < d.last {
		return ErrUnsorted
	}
	d.first, d.last = min(d.first, j.Submit), max(d.last, j.Submit)
	from, to, ok := d.span(j)
	if !ok {
		d.Unknown++
		if d.UnknownWork += j.Work(); d.UnknownWork < 0 {
			d.UnknownWork = math.MaxInt64
		}
	}
	if err := d.reach(j.Submit, max(to, j.Submit), len(groups)); err != nil {
		return err
	}
	if ok && to > from && len(groups) > 0 {
		d.KnownWork += GPUTime(j.Milli() * int64(to-from))
	}
	for _, name := range groups {
		l := d.group(name)
		switch d.Measure {
		case Arrivals:
			l.parts[d.index(j.Submit)]++
			continue
		case ArrivalHours:
			l.parts[d.index(j.Submit)] += int64(j.Work())
			to = from + Time(j.Run) // for the bound on the sum
		case LatentDemand, Usage, Queue:
		}
		if !ok || to <= from {
			continue
		}
		if err := d.count(j.Milli(), to-from); err != nil {
			return err
		}
		if d.Measure == ArrivalHours {
			continue
		}
		d.put(l, from, to, j.Milli())
		if d.Peaks {
			l.peak(d).add(j.Submit, from, to, j.Milli())
		}
	}
	return nil
}

// span returns the time for which j counts, and whether the log knows it.
func (d *Demand) span(j *Job) (from, to Time, ok bool) {
	switch d.Measure {
	case Usage:
		return j.Start, j.End, j.Start.IsKnown() && j.End.IsKnown()
	case Queue:
		if !j.Start.IsKnown() {
			return j.Submit, j.End, j.End.IsKnown() // a job that never started waited until it ended
		}
		return j.Submit, j.Start, true
	case LatentDemand:
		return j.Submit, j.Submit + Time(j.Run), true
	case Arrivals, ArrivalHours:
	}
	return j.Submit, j.Submit, true
}

// count adds to the sum of all GPU time and fails at 2^63, so that no step can
// overflow.
func (d *Demand) count(milli int64, length Time) error {
	hi, lo := bits.Mul64(uint64(milli), uint64(length))
	sum, carry := bits.Add64(lo, uint64(d.total), 0)
	if hi+carry > 0 || sum > 1<<63-1 {
		return ErrTooMuchTime
	}
	d.total = GPUTime(sum)
	return nil
}

func (d *Demand) group(name string) *levels {
	l := d.groups[name]
	if l == nil {
		l = &levels{}
		d.groups[name] = l
		d.names = append(d.names, name)
	}
	if n := len(d.edges) - 1 - len(l.held); n > 0 {
		l.held = append(l.held, make([]int64, n)...)
		l.parts = append(l.parts, make([]int64, n)...)
	}
	return l
}

// reach extends the steps to cover [from, to]. more is the number of groups at least. It fails if
// steps times groups would exceed MaxCells.
func (d *Demand) reach(from, to Time, more int) error {
	most := d.MaxCells
	if most == 0 {
		most = defaultCells
	}
	groups := max(len(d.names), more)
	if from < d.edges[0] {
		n := d.base - d.grid.Index(from)
		if (n+len(d.edges))*groups > most {
			return errTooManyCells
		}
		n = min(max(n, len(d.edges)/2), most/groups-len(d.edges)+1) // at least half as many again, so that going back in time stays cheap
		d.prepend(max(n, d.base-d.grid.Index(from)))
	}
	if to < d.edges[len(d.edges)-1] {
		return nil
	}
	upto := d.grid.Index(to) + 1
	if (upto-d.base)*groups > most {
		return errTooManyCells
	}
	for i := d.base + len(d.edges); i <= upto; i++ {
		d.edges = append(d.edges, d.grid.At(i))
	}
	return nil
}

func (d *Demand) prepend(n int) {
	edges := make([]Time, n, n+len(d.edges))
	for i := range edges {
		edges[i] = d.grid.At(d.base - n + i)
	}
	d.edges, d.base = append(edges, d.edges...), d.base-n
	for _, l := range d.groups {
		l.held = append(make([]int64, n), l.held...)
		l.parts = append(make([]int64, n), l.parts...)
	}
}

// index returns the index of the step that holds t.
func (d *Demand) index(t Time) int {
	if d.Step.Days == 0 && d.Step.Months == 0 {
		return int(t-d.edges[0]) / int(d.Step.Seconds)
	}
	i, found := slices.BinarySearch(d.edges, t)
	if !found {
		i--
	}
	return i
}

// put adds milli thousandths of a GPU over [from, to).
func (d *Demand) put(l *levels, from, to Time, milli int64) {
	a, b := d.index(from), d.index(to)
	if a == b {
		l.parts[a] += milli * int64(to-from)
		return
	}
	l.parts[a] += milli * int64(d.edges[a+1]-from)
	l.parts[b] += milli * int64(to-d.edges[b])
	l.held[a+1] += milli
	l.held[b] -= milli
}

// Names returns the groups in order.
func (d *Demand) Names() []string {
	out := slices.Clone(d.names)
	slices.Sort(out)
	return out
}

// Grid returns the steps. Step 0 is the first value of each series.
func (d *Demand) Grid() Grid {
	g := d.grid
	if len(d.edges) > 0 {
		skip, _ := d.range0()
		g.Origin = d.edges[skip]
	}
	return g
}

// range0 returns the range of steps from the first submission to the last end.
func (d *Demand) range0() (from, to int) {
	if d.settled == nil {
		from, to = d.findRange()
		d.settled = &[2]int{from, to}
	}
	return d.settled[0], d.settled[1]
}

func (d *Demand) findRange() (from, to int) {
	from, to = d.index(d.first), len(d.edges)-1
	for _, name := range d.names {
		d.group(name) // extends each group to all steps
	}
	for to > from+1 {
		for _, name := range d.names {
			if l := d.groups[name]; l.held[to-1] != 0 || l.parts[to-1] != 0 {
				return from, to
			}
		}
		to--
	}
	return from, to
}

// Work returns the exact GPU time of one group in each step, and its sum. With Arrivals
// it counts jobs.
func (d *Demand) Work(name string) (steps []GPUTime, sum GPUTime) {
	if len(d.edges) == 0 {
		return nil, 0
	}
	l := d.group(name)
	from, to := d.range0()
	var held int64
	steps = make([]GPUTime, 0, to-from)
	for i := range to {
		held += l.held[i]
		v := GPUTime(held*int64(d.edges[i+1]-d.edges[i]) + l.parts[i])
		sum += v
		if i >= from {
			steps = append(steps, v)
		}
	}
	return steps, sum
}

// WholeSteps returns the range of steps that the log covers in full. A step that starts before the
// first submission or ends after the last lacks jobs; it counts as full if at most a twentieth of
// it is missing.
func (d *Demand) WholeSteps() (from, to int) {
	if len(d.edges) == 0 {
		return 0, 0
	}
	base, _ := d.range0()
	near := func(i int) Time { return (d.edges[i+1] - d.edges[i]) / 20 }
	first, last := base, d.index(d.last)
	if d.first > d.edges[first]+near(first) {
		first++
	}
	if d.last >= d.edges[last+1]-1-near(last) {
		last++
	}
	return first - base, max(last, first) - base
}

// Series returns the series of one group over all steps: the mean GPUs in each step, or with Peaks
// the highest level.
func (d *Demand) Series(name string) Series {
	out := Series{Name: name, Unit: "GPUs", Start: d.Grid().Origin, Step: d.Step.Length()}
	if len(d.edges) == 0 {
		return out
	}
	steps, _ := d.Work(name)
	out.Values = make([]float64, len(steps))
	from, to := d.range0()
	var highest []int64
	if d.Peaks && d.Measure <= Queue {
		highest = d.group(name).peak(d).finish(to)
	}
	for i, v := range steps {
		switch {
		case d.Measure == Arrivals:
			out.Unit, out.Values[i] = "jobs", float64(v)
		case d.Measure == ArrivalHours:
			out.Unit, out.Values[i] = "GPU-hours", v.Hours()
		case highest != nil:
			out.Values[i] = float64(highest[from+i]) / 1000
		default:
			out.Values[i] = float64(v) / float64(1000*(d.edges[from+i+1]-d.edges[from+i]))
		}
	}
	return out
}
