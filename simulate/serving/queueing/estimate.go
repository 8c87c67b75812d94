package queueing

import (
	"context"
	"fmt"
	"math"

	"capcli"
)

// Step is one step of a long time.
type Step struct {
	Rate  float64 // requests that arrive in a second
	In    float64 // mean tokens of a prompt; 0 takes those of the request
	Out   float64 // mean tokens of an answer; 0 takes those of the request
	Ready int64   // replicas that serve
}

// Request asks for the means of a service over a long time, step by step.
type Request struct {
	Replica Replica
	Lengths Lengths // of requests, where a step has no others
	Length  float64 // seconds of a step
	Steps   []Step
	GPUs    int64   // of a replica; 0 is 1
	Price   float64 // US dollars of a GPU-hour
}

// maxSteps limits the steps of a request: over five years of seconds.
const maxSteps = 200_000_000

// Check returns an error that names the first wrong field.
func (q *Request) Check() error {
	if _, err := newOutline(q.Replica, q.Lengths); err != nil {
		return err
	}
	if err := checkPositive("step", q.Length); err != nil {
		return err
	}
	if len(q.Steps) == 0 || len(q.Steps) > maxSteps {
		return &capcli.RequestError{Field: "load", Text: fmt.Sprintf("wants between 1 and %d steps, found %d", maxSteps, len(q.Steps))}
	}
	for i := range q.Steps {
		s := &q.Steps[i]
		if !(s.Rate >= 0 && s.Rate <= 1e12) {
			return &capcli.RequestError{Field: "rate", Text: fmt.Sprintf("wants requests a second, 0 or more, found %v in step %d", s.Rate, i)}
		}
		if s.Ready < 0 {
			return &capcli.RequestError{Field: "ready", Text: fmt.Sprintf("wants replicas, 0 or more, found %d in step %d", s.Ready, i)}
		}
	}
	return nil
}

// StepMeans are the means of one step, over the requests that it served.
type StepMeans struct {
	Step    int     `json:"step"`
	Rate    float64 `json:"rps"`
	Ready   int64   `json:"ready"`
	Load    float64 `json:"load"`    // what was to be served over what could be, backlog included
	Served  float64 `json:"served"`  // requests
	Backlog float64 `json:"backlog"` // requests, at the end
	Running float64 `json:"mean_running"`
	E2E     float64 `json:"mean_e2e_s"`
	TTFT    float64 `json:"mean_ttft_s"`
	TPOT    float64 `json:"mean_tpot_s"`
	Wait    float64 `json:"mean_wait_s"`
	Holds   bool    `json:"holds"`
}

// Result is the means of a service over a long time.
type Result struct {
	Seconds     float64 `json:"seconds"`
	Requests    float64 `json:"requests"`
	Served      float64 `json:"served"`
	Backlog     float64 `json:"unserved"` // at the end
	TokensIn    float64 `json:"tokens_in"`
	TokensOut   float64 `json:"tokens_out"` // of requests served
	E2E         float64 `json:"mean_e2e_s"`
	TTFT        float64 `json:"mean_ttft_s"`
	TPOT        float64 `json:"mean_tpot_s"`
	Wait        float64 `json:"mean_wait_s"`
	Utilisation float64 `json:"utilisation"` // requests served over what ready replicas could have served
	PeakLoad    float64 `json:"peak_load"`   // the greatest load of a step with ready replicas
	PeakStep    int     `json:"peak_step"`

	ReplicaHours float64 `json:"replica_hours"`
	GPUHours     float64 `json:"gpu_hours"`
	USD          float64 `json:"usd,omitempty"`

	StepsOver  int     `json:"steps_over"`  // steps that could not serve what came and had waited
	StepsDense int     `json:"steps_dense"` // of the others, those in which the approximation does not hold
	HoldsShare float64 `json:"holds_share"` // of the requests served, those of steps in which it holds
	Evaluated  int     `json:"evaluated"`   // steady states that were worked out
	GridError  float64 `json:"grid_error"`  // relative error of means from a grid of loads; 0 is none
	Holds      bool    `json:"holds"`       // in all steps
	Because    string  `json:"because,omitempty"`

	Steps []StepMeans `json:"-"`
}

// Estimate works out the means of a service step by step: the steady state of each step by Station, with
// requests spread evenly over the ready replicas. What a step cannot serve waits for the next one, first
// come, first served.
//
// Arrivals at each replica are taken as Poisson. A router at random makes them so; round robin and least
// loaded spread arrivals more evenly, so requests then wait less than is said here.
//
// At a load near 1 a queue takes long to grow. The number that waits by chance is at most that of the step
// before and what chance adds in one step, 2·sqrt(arrivals/π), the mean of a reflected random walk.
func Estimate(ctx context.Context, q *Request, done func(n, total int64)) (*Result, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	e := &estimate{request: q, outlines: map[Lengths]*Station{}}
	if err := e.flow(); err != nil {
		return nil, err
	}
	if err := e.evaluate(ctx, done); err != nil {
		return nil, err
	}
	return e.result(), nil
}

// estimate is the work of Estimate.
type estimate struct {
	request  *Request
	outlines map[Lengths]*Station
	flows    []flow
	states   states
	gridFrom int // rates of one law of lengths from which a grid is used; 0 is lastLoad
}

// flow is what a step serves.
type flow struct {
	station  *Station
	rate     float64 // arrivals a second at each replica, where it is not full
	full     float64 // part of the step in which there is a backlog
	before   float64 // requests of earlier steps that wait
	after    float64 // requests that wait at the end
	served   float64
	capacity float64 // requests that it can serve
}

// flow passes the requests through the steps.
func (e *estimate) flow() error {
	q := e.request
	e.flows = make([]flow, len(q.Steps))
	backlog := 0.0
	for i := range q.Steps {
		s := &q.Steps[i]
		station, err := e.outline(s)
		if err != nil {
			return err
		}
		f := &e.flows[i]
		*f = flow{station: station, before: backlog, capacity: float64(s.Ready) * station.most * q.Length}
		arrive := s.Rate * q.Length
		f.served = min(backlog+arrive, f.capacity)
		backlog = backlog + arrive - f.served
		if backlog < 1e-9*arrive {
			backlog = 0
		}
		f.after = backlog
		switch {
		case backlog > 0 || f.capacity == 0:
			f.full = 1
		case f.before > 0:
			f.full = min(1, f.before/(f.capacity-arrive))
		}
		if s.Ready > 0 {
			f.rate = s.Rate / float64(s.Ready)
		}
	}
	return nil
}

func (e *estimate) outline(s *Step) (*Station, error) {
	l := e.request.Lengths
	if s.In > 0 {
		l.Cached = min(l.Cached*s.In/l.In, s.In)
		l.In = s.In
	}
	if s.Out > 0 {
		l.Out = s.Out
	}
	if known := e.outlines[l]; known != nil {
		return known, nil
	}
	station, err := newOutline(e.request.Replica, l)
	e.outlines[l] = station
	return station, err
}

// result sums the steps up.
func (e *estimate) result() *Result {
	q := e.request
	out := &Result{
		Steps: make([]StepMeans, len(q.Steps)), Seconds: q.Length * float64(len(q.Steps)),
		Evaluated: e.states.evaluated, GridError: e.states.gridError,
	}
	var t total
	for i := range q.Steps {
		out.Steps[i] = e.step(i, &t)
		out.add(q, &e.flows[i], &out.Steps[i])
	}
	out.Backlog = e.flows[len(e.flows)-1].after
	out.finish(q, &t)
	return out
}

// total has sums over time in requests times seconds, and over requests in seconds.
type total struct {
	system, wait, ttft, tpot float64
	capacity, holds          float64
	waiting                  float64 // that wait by chance at one replica, of the step before
}

func (e *estimate) step(i int, t *total) StepMeans {
	q, f := e.request, &e.flows[i]
	s := &q.Steps[i]
	m := StepMeans{Step: i, Rate: s.Rate, Ready: s.Ready, Served: f.served, Backlog: f.after}
	if f.capacity > 0 {
		m.Load = (f.before + s.Rate*q.Length) / f.capacity
	}
	area := (f.before + f.after) / 2 * f.full * q.Length // of the backlog, over time
	if f.after > 0 || f.capacity == 0 {
		area = (f.before + f.after) / 2 * q.Length
	}
	t.wait += area
	t.system += area
	t.capacity += f.capacity
	if f.served == 0 {
		t.waiting = 0
		m.Holds = f.after == 0
		return m
	}
	var sum Means // weighted by requests
	if f.full > 0 {
		full := f.station.summarise(f.station.most, f.station.fullOccupancy())
		sum.add(&full, min(f.served, f.full*f.capacity))
	}
	t.waiting = min(t.waiting+2*math.Sqrt(f.rate*q.Length/math.Pi), 1e12)
	if rest := f.served - f.full*f.capacity; f.needsState() && rest > 0 {
		p := e.states.occupancy(f.station, f.rate)
		p.waiting = min(p.waiting, t.waiting)
		t.waiting = p.waiting
		steady := f.station.summarise(f.rate, p)
		steady.judge(f.station)
		m.Holds = f.full == 0 && steady.Holds
		sum.add(&steady, rest)
	}
	m.Running = sum.Running / f.served
	m.Wait = (area + sum.Wait) / f.served
	m.E2E = (area + sum.E2E) / f.served
	m.TTFT = (area + sum.TTFT) / f.served
	m.TPOT = sum.TPOT / f.served
	t.wait += sum.Wait
	t.system += sum.E2E
	t.ttft += area + sum.TTFT
	t.tpot += sum.TPOT
	if m.Holds {
		t.holds += f.served
	}
	return m
}

func (m *Means) add(o *Means, n float64) {
	m.Running += o.Running * n
	m.Wait += o.Wait * n
	m.E2E += o.E2E * n
	m.TTFT += o.TTFT * n
	m.TPOT += o.TPOT * n
}

func (r *Result) add(q *Request, f *flow, m *StepMeans) {
	r.Requests += m.Rate * q.Length
	r.Served += m.Served
	r.TokensIn += m.Served * f.station.lengths.In
	r.TokensOut += m.Served * f.station.lengths.Out
	r.ReplicaHours += float64(m.Ready) * q.Length / 3600
	if m.Load > r.PeakLoad {
		r.PeakLoad, r.PeakStep = m.Load, m.Step
	}
	switch {
	case f.after > 0:
		r.StepsOver++
	case !m.Holds:
		r.StepsDense++
	}
}

// finish works out the means over all requests served.
func (r *Result) finish(q *Request, t *total) {
	r.GPUHours = r.ReplicaHours * float64(max(1, q.GPUs))
	r.USD = r.GPUHours * q.Price
	if t.capacity > 0 {
		r.Utilisation = r.Served / t.capacity
	}
	if r.Served > 0 {
		r.E2E, r.Wait, r.TTFT, r.TPOT = t.system/r.Served, t.wait/r.Served, t.ttft/r.Served, t.tpot/r.Served
		r.HoldsShare = min(1, t.holds/r.Served)
	}
	r.Holds = r.StepsOver+r.StepsDense == 0
	steps := len(r.Steps)
	switch {
	case r.StepsOver > 0:
		r.Because = fmt.Sprintf("%d of %d steps could not serve what came; what waited was served later, or not at all", r.StepsOver, steps)
	case r.StepsDense > 0:
		r.Because = fmt.Sprintf("%d of %d steps are too busy for the approximation (load %.2g and more); play the requests of the busiest (capcli service replay)", r.StepsDense, steps, HoldsBelow)
	}
}
