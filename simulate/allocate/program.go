// Package allocate divides the time of GPUs of several models among jobs: the policies of Gavel as
// linear programs (Narayanan et al., "Heterogeneity-Aware Cluster Scheduling Policies for Deep Learning
// Workloads", OSDI 2020, section 4), the rounds that play an allocation (section 5), and the marginal
// gain of one GPU more (Peng et al., "Optimus", EuroSys 2018). It knows nothing of a run: package policy
// asks it.
package allocate

import (
	"fmt"
	"math"

	"capcli"
)

// Job is a job, or several equal ones, of a Problem.
type Job struct {
	Throughput []float64 // steps a second on each type, with all its GPUs; 0 does not run there
	GPUs       int
	Count      int     // number of equal jobs; 0 is one
	Weight     float64 // las: share of the cluster relative to others; 0 is 1

	Steps    float64 // finish_time_fairness: steps left
	Elapsed  float64 // finish_time_fairness: seconds since the job came
	Isolated float64 // finish_time_fairness: seconds that it would have had by now in a cluster of its own share
}

// Problem asks for an allocation X: X[m][j] is the share of time that each job m has on type j.
//
//	X >= 0, sum over j of X[m][j] <= 1 for each job,
//	sum over m of Count[m] GPUs[m] X[m][j] <= Workers[j] for each type,
//	X[m][j] = 0 where Throughput[m][j] = 0.
type Problem struct {
	Workers []int // GPUs of each type
	Jobs    []Job
}

// Result is an allocation. Objective is unique, X is not.
type Result struct {
	Objective float64
	X         [][]float64
	// Duals prove the objective: the worth of all GPUs of each type, as share of the whole. Where no
	// type is short, they are nil: then a job that has its best type all the time is the limit.
	Duals []float64
}

// limits keep sums within what a float counts exactly enough.
const (
	maxTypes  = 64
	MostCount = 1 << 30
)

// Check refuses a problem that has no meaning.
func (p *Problem) Check() error {
	fail := func(field, format string, args ...any) error {
		return &capcli.RequestError{Field: field, Text: fmt.Sprintf(format, args...)}
	}
	if len(p.Workers) == 0 || len(p.Workers) > maxTypes {
		return fail("workers", "%d types of GPU, want 1 to %d", len(p.Workers), maxTypes)
	}
	if len(p.Jobs) == 0 {
		return fail("jobs", "no jobs, want at least one")
	}
	for j, n := range p.Workers {
		if n < 1 || n > MostCount {
			return fail("workers", "type %d has %d GPUs, want 1 to %d", j, n, MostCount)
		}
	}
	for m := range p.Jobs {
		if text := p.Jobs[m].fault(len(p.Workers)); text != "" {
			return fail("jobs", "job %d: %s", m, text)
		}
	}
	return nil
}

// fault returns what is wrong with a job; "" if nothing is.
func (b *Job) fault(types int) string {
	switch {
	case len(b.Throughput) != types:
		return fmt.Sprintf("throughput on %d types, want %d", len(b.Throughput), types)
	case b.GPUs < 1 || b.GPUs > MostCount:
		return fmt.Sprintf("%d GPUs, want 1 to %d", b.GPUs, MostCount)
	case b.Count < 0 || b.Count > MostCount:
		return fmt.Sprintf("a count of %d, want 0 to %d", b.Count, MostCount)
	case b.topSpeed() == 0:
		return "it runs on no type"
	}
	for _, x := range b.Throughput {
		if !isAmount(x) {
			return fmt.Sprintf("a throughput of %v, want 0 or more", x)
		}
	}
	for _, x := range []float64{b.Weight, b.Steps, b.Elapsed, b.Isolated} {
		if !isAmount(x) {
			return fmt.Sprintf("%v, want 0 or more", x)
		}
	}
	return ""
}

func isAmount(x float64) bool { return x >= 0 && !math.IsInf(x, 1) }

// topSpeed returns the highest throughput.
func (b *Job) topSpeed() float64 {
	most := 0.0
	for _, x := range b.Throughput {
		most = max(most, x)
	}
	return most
}

func (b *Job) count() float64 { return float64(max(1, b.Count)) }

// size returns the number of jobs.
func (p *Problem) size() float64 {
	n := 0.0
	for m := range p.Jobs {
		n += p.Jobs[m].count()
	}
	return n
}

// entitled returns the share of the GPUs that each type has.
func (p *Problem) entitled() []float64 {
	sum, out := 0, make([]float64, len(p.Workers))
	for _, n := range p.Workers {
		sum += n
	}
	for j, n := range p.Workers {
		out[j] = float64(n) / float64(sum)
	}
	return out
}

// IsolatedThroughput returns the throughput of job m if each job had the same share of each type.
func (p *Problem) IsolatedThroughput(m int) float64 {
	b, jobs := &p.Jobs[m], p.size()
	sum, thr := 0.0, 0.0
	for j, n := range p.Workers {
		x := float64(n) / (jobs * float64(b.GPUs))
		sum += x
		thr += x * b.Throughput[j]
	}
	return thr / max(1, sum)
}

// Throughput returns the steps a second of job m under an allocation.
func (p *Problem) Throughput(m int, x []float64) float64 {
	sum := 0.0
	for j, t := range p.Jobs[m].Throughput {
		sum += t * x[j]
	}
	return sum
}

// Excess returns by how much x breaks the most broken of the constraints, as a share of what is there;
// 0 or less where it keeps them all.
func (p *Problem) Excess(x [][]float64) float64 {
	worst, used := math.Inf(-1), make([]float64, len(p.Workers))
	for m := range p.Jobs {
		sum := 0.0
		for j, v := range x[m] {
			worst = max(worst, -v)
			if p.Jobs[m].Throughput[j] == 0 {
				worst = max(worst, v)
			}
			sum += v
			used[j] += v * float64(p.Jobs[m].GPUs) * p.Jobs[m].count()
		}
		worst = max(worst, sum-1)
	}
	for j, n := range p.Workers {
		worst = max(worst, used[j]/float64(n)-1)
	}
	return worst
}
