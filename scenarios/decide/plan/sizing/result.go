package sizing

import (
	"fmt"
	"strings"

	"capcli"
	"capcli/simulate/serving"
)

// Schema is the schema of the document of a Result.
const Schema = "capcli/plan_service/v1"

// Result is the size of a service: the least replicas that keep its promises, and what they cost.
type Result struct {
	Schema   string    `json:"schema"`
	Currency string    `json:"currency"`
	Service  string    `json:"service"`
	Input    string    `json:"input"`
	Says     string    `json:"says"`
	Promises []Promise `json:"promises"`
	Search   string    `json:"search"`
	Traffic  Traffic   `json:"traffic"`

	// Those of the best choice; null and empty where none keeps the promises.
	Replicas *int       `json:"replicas"`
	GPUs     *int64     `json:"gpus"`
	Tried    [][2]int64 `json:"tried"` // replicas, and requests within the SLO
	Bound    Bound      `json:"bound"`
	Best     *int       `json:"best"` // index in Choices

	Choices   []Size           `json:"choices"`
	Costs     []Cost           `json:"costs"`
	Growth    []Grown          `json:"growth"`
	Headroom  *Headroom        `json:"headroom"`
	Hours     []Hour           `json:"hours"`
	Split     *Split           `json:"split"`
	BreakEven *BreakEven       `json:"break_even"`
	Summary   *serving.Summary `json:"summary"` // of the best choice
	Replays   int64            `json:"replays"` // fleets that were played
	Notes     []string         `json:"notes"`
}

// Size is the answer of one choice.
type Size struct {
	Choice
	Replicas *int       `json:"replicas"` // null where no number keeps the promises
	GPUs     *int64     `json:"gpus"`
	Tried    [][2]int64 `json:"tried"`
	Tries    []Try      `json:"tries"`
	Bound    Bound      `json:"bound"`
	Rejected int64      `json:"rejected"` // requests
	Binds    string     `json:"binds"`    // the promise that fewer replicas break, or that nothing can keep
	Proven   bool       `json:"proven"`   // it is proven that no number of replicas keeps the promises
	Alone    []Kept     `json:"alone"`    // what the promises come to where no request waits for another
	Enough   int        `json:"enough"`   // from so many replicas on none does; 0 is not known
	Cost     *Cost      `json:"cost"`
	Why      string     `json:"why"`

	summary *serving.Summary
}

// Column is a promise over requests in the tables of tries.
type Column struct {
	Name  string // of the metric
	Share bool   // whether its value is a share rather than seconds
}

// TriedMetrics returns the promises that the tries have values of, in their order.
func (r *Result) TriedMetrics() []Column {
	var out []Column
	for i := range r.Promises {
		if p := &r.Promises[i]; p.Unit != "count" {
			out = append(out, Column{p.Metric, p.Unit == "share"})
		}
	}
	return out
}

// TriedRows returns the tries of the best choice; of the first where none keeps the promises.
func (r *Result) TriedRows() []Try {
	if r.Best != nil {
		return r.Choices[*r.Best].Tries
	}
	return r.Choices[0].Tries
}

// WhyNot returns in a few words why the choice has no size; "" where it has one.
func (s *Size) WhyNot() string {
	switch {
	case s.Fault != "":
		return "cannot run: see the notes"
	case s.Replicas == nil && s.Proven:
		return s.Binds + ": proven"
	case s.Replicas == nil:
		return s.Binds
	}
	return ""
}

func (s *Size) fill(z *sizer, f *found, t *Traffic) {
	s.Tried, s.Tries = [][2]int64{}, f.tries
	for i := range f.tries {
		s.Tried = append(s.Tried, [2]int64{int64(f.tries[i].Replicas), f.tries[i].Met})
	}
	s.Bound, s.Alone, s.Enough, s.Proven = f.bound, f.limits.alone.Promises, f.limits.enough, f.limits.impossible
	for i := range z.load {
		if z.config.Rejects(z.load[i]) {
			s.Rejected++
		}
	}
	if f.best == nil {
		s.Binds = z.brokenAlone(f)
		s.Why = z.whyNot(s, f)
		return
	}
	n := f.best.Replicas
	gpus := int64(n) * max(1, s.Config.GPUs)
	s.Replicas, s.GPUs, s.summary = &n, &gpus, f.best.summary
	cost := costOf(onDemand, s.Rate, gpus, t)
	s.Cost, s.Binds = &cost, z.binding(f)
	if why := z.overSize(gpus, n); why != "" {
		s.Replicas, s.GPUs, s.Cost = nil, nil, nil
		s.Binds, s.Why = why, fmt.Sprintf("%s %s (%d %s) keep the other promises, and %s binds", capcli.Grouped(int64(n)), capcli.Plural(int64(n), "replica"), gpus, gpuWord(gpus), why)
	}
}

func gpuWord(n int64) string { return capcli.Plural(n, "GPU") }

// overSize returns the limit on the size that n replicas break; "" is none.
func (z *sizer) overSize(gpus int64, n int) string {
	for i := range z.promises {
		p := &z.promises[i]
		if p.of == gpuCount && gpus > p.limit || p.of == replicaCount && int64(n) > p.limit {
			return p.Text
		}
	}
	return ""
}

// binding returns the promise that the most replicas tried before the answer break; "" where fewer were
// not tried.
func (z *sizer) binding(f *found) string {
	last := ""
	for i := range f.tries {
		t := &f.tries[i]
		if t.Holds || t.Replicas > f.best.Replicas {
			continue
		}
		last = strings.Join(z.broken(t.Promises), ", ")
	}
	return last
}

// broken returns the promises that are not kept, in words.
func (z *sizer) broken(kept []Kept) []string {
	var out []string
	k := 0
	for i := range z.promises {
		if p := &z.promises[i]; p.overRequests() {
			if !kept[k].Holds {
				out = append(out, p.Text)
			}
			k++
		}
	}
	return out
}

func (z *sizer) brokenAlone(f *found) string {
	if list := z.broken(f.limits.alone.Promises); len(list) > 0 {
		return strings.Join(list, ", ")
	}
	if n := len(f.tries); n > 0 {
		return strings.Join(z.broken(f.tries[n-1].Promises), ", ")
	}
	return ""
}

// whyNot says why no number of replicas keeps the promises, and what the nearest is.
func (z *sizer) whyNot(s *Size, f *found) string {
	if f.capped {
		n := f.tries[len(f.tries)-1].Replicas
		return fmt.Sprintf("no number of replicas up to %s keeps %s", capcli.Grouped(int64(n)), s.Binds)
	}
	var near []string
	k := 0
	for i := range z.promises {
		p := &z.promises[i]
		if !p.overRequests() {
			continue
		}
		if kept := &f.limits.alone.Promises[k]; !kept.Holds {
			near = append(near, fmt.Sprintf("the nearest to %s is %s", p.Text, p.text(kept)))
		}
		k++
	}
	text := fmt.Sprintf("no number of replicas keeps %s: even a request that has a replica to itself is too slow or rejected; %s", s.Binds, strings.Join(near, "; "))
	if s.Rejected > 0 {
		text += fmt.Sprintf("; %s of %s requests are rejected: longer than max_len (%s tokens) or than the KV cache of a replica",
			capcli.Grouped(s.Rejected), capcli.Grouped(int64(len(z.load))), capcli.Grouped(z.config.MaxLen))
	}
	return text
}

// text formats what came of a promise: 1.24 s, 99.2%.
func (p *Promise) text(k *Kept) string {
	switch {
	case k.Value == nil:
		return "a request that is never served"
	case p.latency():
		return capcli.MicrosText(float64(k.micros))
	case p.overRequests():
		return fmt.Sprintf("%.4g%%", 100**k.Value)
	}
	return fmt.Sprintf("%g", *k.Value)
}

// NoPlan returns a *capcli.ResultError where no choice keeps the promises: which limit binds and the
// nearest that can be kept. It returns nil where there is an answer.
func (r *Result) NoPlan() error {
	if r.Best != nil {
		return nil
	}
	var parts []string
	for i := range r.Choices {
		s := &r.Choices[i]
		text := s.Why
		if len(r.Choices) > 1 {
			text = s.Name() + ": " + text
		}
		parts = append(parts, text)
	}
	return &capcli.ResultError{
		Kind: capcli.NoPlan, Text: strings.Join(parts, "; "),
		Hint: "loosen the promise that binds, or change what one request takes: a faster GPU, more GPUs a replica, fewer bits a weight, a larger max_len",
	}
}
