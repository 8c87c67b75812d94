// Package queueing answers questions about services without playing requests: closed forms of queues, and
// an approximation of a replica that batches continuously, for steps of any length and for months.
//
// Every answer is a mean. No percentile follows from it: for those, play the requests (serving.Replay).
package queueing

import (
	"fmt"
	"math"

	"capcli"
)

// HoldsBelow is the load from which the approximation does not hold.
const HoldsBelow = 0.85

// Means are the means of one replica in steady state.
type Means struct {
	InSystem   float64 `json:"mean_in_system"`
	Running    float64 `json:"mean_running"`
	Waiting    float64 `json:"mean_waiting"`
	E2E        float64 `json:"mean_e2e_s"`  // seconds from arrival to the last token
	Wait       float64 `json:"mean_wait_s"` // seconds until it runs, for want of room
	TTFT       float64 `json:"mean_ttft_s"`
	TPOT       float64 `json:"mean_tpot_s"`    // seconds a token after the first
	Saturation float64 `json:"saturation_rps"` // requests a second that a full replica serves
	Load       float64 `json:"load"`           // arrivals over Saturation
	PWait      float64 `json:"p_wait"`         // probability that an arrival waits for room
	Holds      bool    `json:"holds"`
	Because    string  `json:"because,omitempty"` // why it does not hold
}

// sums are sums over the number present, weighted by its probability.
type sums struct {
	total, running, waiting, full float64 // full: that all places are taken
	prompt                        float64 // of the running, the part of their time that is their own prompt
}

// Means returns the means at lam arrivals a second, Poisson. From a load of 1 on there is no steady state;
// the numbers are then those of a queue that turns away whoever finds 20,000 present, and Because says so.
func (s *Station) Means(lam float64) (Means, error) {
	if err := checkPositive("rate", lam); err != nil {
		return Means{}, err
	}
	return s.means(lam), nil
}

func (s *Station) means(lam float64) Means {
	m := s.summarise(lam, s.occupancy(lam))
	m.judge(s)
	return m
}

// occupancy is who is in a replica, as means over time.
type occupancy struct {
	running, waiting, full float64 // full is the probability that all places are taken
	prompt                 float64 // of the running, those at work on their own prompt
}

// occupancy returns who is in the replica in steady state at lam arrivals a second.
func (s *Station) occupancy(lam float64) occupancy {
	p := s.probabilities(lam)
	return occupancy{p.running / p.total, p.waiting / p.total, min(1, p.full/p.total), p.prompt / p.total}
}

// summarise returns the means at lam arrivals a second of a replica with the given occupancy.
func (s *Station) summarise(lam float64, p occupancy) Means {
	m := Means{
		Running: p.running, Waiting: p.waiting, PWait: p.full, InSystem: p.running + p.waiting,
		Saturation: s.most, Load: lam / s.most,
	}
	m.split(s, lam, p.prompt)
	return m
}

// probabilities sums over the number n present, whose probability is p(n) ~ product of lam/mu(1..n). It
// works in logarithms, relative to the greatest, so that nothing overflows.
func (s *Station) probabilities(lam float64) sums {
	log := math.Log(lam)
	at, most := 0.0, 0.0
	for _, r := range s.logRate {
		at += log - r
		most = max(most, at)
	}
	n := len(s.logRate)
	step := log - math.Log(s.most) // of the logarithm, beyond N
	tail := 0
	if int64(n) == s.replica.Sequences {
		tail = mostPresent - n
		if step < 0 {
			tail = int(min(float64(tail), math.Ceil(fallen/step)))
		}
		most = max(most, at+float64(tail)*step)
	}
	p := sums{total: math.Exp(-most)}
	at = -most
	for i, r := range s.logRate {
		at += log - r
		if at < -740 {
			continue
		}
		w := math.Exp(at)
		p.total += w
		p.running += w * float64(i+1)
		p.prompt += w * float64(i+1) * s.prompt[i]
		p.full = w
	}
	if at < -740 {
		p.full = 0
	}
	p.addTail(s, at, step, tail)
	return p
}

// addTail adds the numbers present from n + 1 to n + tail. The logarithm of the probability is at for n and
// changes by step for each more.
func (p *sums) addTail(s *Station, at, step float64, tail int) {
	if tail == 0 {
		return
	}
	from, ratio, first, by := at+step, math.Exp(step), 1, 1
	if step > 0 { // begin with the greatest
		from, ratio, first, by = at+float64(tail)*step, math.Exp(-step), tail, -1
	}
	n, sum, waiting := float64(len(s.logRate)), 0.0, 0.0
	w := math.Exp(from)
	for j := 0; j < tail && w > 0; j++ {
		sum += w
		waiting += w * float64(first+by*j)
		w *= ratio
	}
	p.total += sum
	p.running += sum * n
	p.prompt += sum * n * s.prompt[len(s.prompt)-1]
	p.waiting += waiting
	p.full += sum
}

// split divides the time of a request: waiting for room, half an iteration until the next one begins, its
// prompt, and decoding. prompt is the mean number of those present that are at their own prompt's work.
func (m *Means) split(s *Station, lam, prompt float64) {
	n := max(1, m.Running)
	tbar, add := s.iteration(n)
	m.Wait = m.Waiting / lam
	m.E2E = m.InSystem/lam + tbar/2e6
	decodes := s.lengths.Out - 1
	if decodes <= 0 {
		m.TTFT = m.E2E
		return
	}
	steps := s.promptSteps(n)
	own := prompt / lam
	each := (m.Running/lam - own) / (steps + decodes) // of an iteration, without one's own prompt
	m.TTFT = m.Wait + tbar/2e6 + own + each*steps
	least := (tbar - n/s.lengths.Out*add) / 1e6 // of an iteration in which all decode
	room := m.E2E - m.TTFT - decodes*min(each, least)
	v := s.replica.gaps()
	meet := v*meetings(lam, tbar/1e6, add/1e6) - (1-v)*1.5*max(0, tbar/1e6-least)
	m.TTFT = max(min(m.TTFT, m.Wait+own+least), m.TTFT+min(room, meet))
	m.TPOT = max(0, m.E2E-m.TTFT) / decodes
}

// meetings returns the seconds that the first token waits longer because prompts meet. An arrival falls into
// a long iteration rather than a short one, and those that arrive in the same one have their prompts in the
// next one together. The number of prompts in an iteration is taken as Poisson, so its time t has the second
// moment tbar² + lam·tbar·add², and half of E[t²]/E[t] is left of it in the mean. Where requests come at
// even distances, prompts do not meet: neither this nor the prompts of others in the first iterations.
func meetings(lam, tbar, add float64) float64 {
	seen := tbar + lam*add*add // of the iteration into which an arrival falls
	return (seen-tbar)/2 + lam*(seen-tbar)*add
}

// judge says whether the approximation holds.
func (m *Means) judge(s *Station) {
	const play = "play the requests (capcli service replay)"
	switch {
	case !(m.Load < 1):
		m.Because = fmt.Sprintf("load %.3g: more comes than is served, so there is no steady state; add replicas", m.Load)
	case m.Load >= HoldsBelow:
		m.Because = fmt.Sprintf("load %.3g: from %.2g on means are wrong by more than 10 %%; %s", m.Load, HoldsBelow, play)
	case s.replica.mayJump() && m.Running+math.Sqrt(m.Running)*5 >= float64(s.replica.Chunk)/2:
		m.Because = "those that decode leave little of an iteration to prompts; " + play
	default:
		m.Holds = true
	}
}

// checkPositive returns an error that names the field unless x is a finite number above 0.
func checkPositive(field string, x float64) error {
	if !(x > 0) || math.IsInf(x, 1) {
		return &capcli.RequestError{Field: field, Text: fmt.Sprintf("wants a number above 0, found %v", x)}
	}
	return nil
}
