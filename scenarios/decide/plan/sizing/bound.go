package sizing

import (
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/simulate/serving"
)

// Bound is a proven lower bound on the number of replicas, and the requests that prove it.
//
// Every iteration takes at least C0 + b + s·T + seq·S + kv·KV + pa·PA picoseconds, for each pair [b, s]
// of the roofline. T is at most max_tokens, S at most max_seqs, and the blocks held are at most those of
// the cache. So the fixed part C0 + b can be shared out by tokens, by sequences or by blocks without
// exceeding it, and the work of a request is a sum that no batch can lower. What arrives from a to b and
// must be done within a time d of its arrival has n·(b − a + d) of replica time, which bounds n; as many
// of the largest requests are left out as may miss the promise.
//
// A promise on the first token bounds the whole work too. Requests are admitted from the front of the
// queue, and those preempted are put there. So a replica never has more than max_seqs requests that are
// started and unfinished; all others whose first token is due are finished by then.
type Bound struct {
	Replicas int     `json:"replicas"`
	By       string  `json:"by,omitempty"` // what is short: tokens, sequences or memory
	Promise  string  `json:"promise,omitempty"`
	From     float64 `json:"from_s"` // arrivals of the window
	To       float64 `json:"to_s"`
	Requests int     `json:"requests"` // in the window
	Says     string  `json:"says"`
}

// duty is work that must be done within a time of each request's arrival, but for misses requests.
type duty struct {
	promise     string
	first, each int64 // microseconds: first + each·(tokens out - 1)
	answer      bool  // the whole answer, not the prompt alone
	open        bool  // a replica may have left max_seqs requests unfinished
	misses      int64
}

// slack returns the time in which the work of a request must be done.
func (d *duty) slack(r *serving.Request) int64 { return d.first + d.each*(r.Out-1) }

// wholeWork returns the duty on the whole work that follows from one on the first token.
func (d *duty) wholeWork() duty {
	out := *d
	out.answer, out.open = true, true
	return out
}

// duties returns what promises and the SLO make a duty of n requests.
func duties(promises []Promise, slo *serving.SLO, n int64) []duty {
	var out []duty
	misses := func(ppm int64) int64 { return n - (ppm*n+whole-1)/whole }
	var prompt, token *duty
	for i := range promises {
		p := &promises[i]
		d := duty{promise: p.Text, first: p.limit, answer: p.of == e2e, misses: misses(p.ppm)}
		if p.ppm == 0 { // no more than half of all are over twice the mean
			d.first, d.misses = 2*p.limit, n/2
		}
		switch p.of {
		case ttft:
			out, prompt = append(out, d, d.wholeWork()), &d
		case e2e:
			out = append(out, d)
		case tpot:
			token = &d
		case sloShare:
			out = append(out, sloDuties(p, slo, misses(p.limit))...)
		case rejectedShare, replicaCount, gpuCount:
		}
	}
	if prompt != nil && token != nil {
		out = append(out, duty{
			promise: prompt.promise + ", " + token.promise, first: prompt.first, each: token.first, answer: true, misses: prompt.misses + token.misses,
		})
	}
	return out
}

func sloDuties(p *Promise, slo *serving.SLO, misses int64) []duty {
	var out []duty
	if slo.TTFT > 0 {
		d := duty{promise: p.Text, first: slo.TTFT, misses: misses}
		out = append(out, d, d.wholeWork())
	}
	if slo.TTFT > 0 && slo.TPOT > 0 {
		out = append(out, duty{promise: p.Text, first: slo.TTFT, each: slo.TPOT, answer: true, misses: misses})
	}
	if slo.E2E > 0 {
		out = append(out, duty{promise: p.Text, first: slo.E2E, answer: true, misses: misses})
	}
	return out
}

// measure is one way to sum the work of requests, for one pair of the roofline.
type measure struct {
	by    string
	line  [2]int64
	token float64 // picoseconds of the fixed part for each token of a prompt
	made  float64 // the same for each token that is made
	seq   float64 // the same for each sequence in an iteration
	block float64 // the same for each token in the cache in an iteration
}

// measures returns the ways that hold for c. Pairs whose fixed part is negative prove nothing.
func measures(c *serving.Config) []measure {
	var out []measure
	for _, l := range c.Time.Lin {
		fixed := float64(c.Time.C0 + l[0])
		if fixed < 0 || l[1] < 0 || c.Time.Seq < 0 || c.Time.KV < 0 || c.Time.PA < 0 {
			continue
		}
		made := float64(c.MaxTokens)
		if c.Policy != "chunked" { // an iteration that decodes is not limited in tokens
			made = float64(max(c.MaxTokens, c.MaxSeqs))
		}
		out = append(out,
			measure{by: "tokens", line: l, token: fixed / made, made: fixed / made},
			measure{by: "sequences", line: l, seq: fixed / float64(c.MaxSeqs)},
			measure{by: "memory", line: l, block: fixed / (float64(c.BlockSize) * float64(c.Blocks))})
	}
	return out
}

// work returns the least work of a request in nanoseconds, rounded down.
func (m *measure) work(c *serving.Config, r *serving.Request, answer bool) int64 {
	prompt := r.In - min(r.Cached, r.In-1)
	pieces := (prompt + c.MaxTokens - 1) / c.MaxTokens
	there := float64(r.In - prompt)
	tokens, seqs := float64(prompt), float64(pieces)
	ps := m.token*tokens + m.block*float64(r.In) + float64(c.Time.PA)*tokens*(2*there+tokens+1)/2
	if answer && r.Out > 1 {
		n := float64(r.Out - 1)
		kv := n*float64(r.In) + n*(n+1)/2
		ps += m.made*n + (m.block+float64(c.Time.KV))*kv
		tokens, seqs = tokens+n, seqs+n
	}
	ps += m.seq*seqs + float64(m.line[1])*tokens + float64(c.Time.Seq)*seqs
	return int64(ps / 1000 * (1 - 1e-12)) // a rounded sum must not exceed the exact one
}

// bounder finds the window that proves most.
type bounder struct {
	config *serving.Config
	best   Bound
	work   []int64           // of list, nanoseconds
	list   []serving.Request // those that are not rejected and whose slack is short enough
}

// leastReplicas returns the best bound of all duties and windows.
func leastReplicas(c *serving.Config, load []serving.Request, promises []Promise) Bound {
	b := bounder{config: c, best: Bound{Replicas: 1, Says: "no bound above one replica is proven"}}
	if !plainEngine(c) || len(load) == 0 {
		return b.best
	}
	rejected := int64(0)
	for i := range load {
		if c.Rejects(load[i]) {
			rejected++
		}
	}
	for _, d := range duties(promises, &c.SLO, int64(len(load))) {
		if d.misses -= rejected; d.misses < 0 {
			continue // the promise cannot be kept at all
		}
		for _, limit := range slackLimits(&d, load) {
			b.list = b.list[:0]
			for i := range load {
				if r := &load[i]; !c.Rejects(*r) && d.slack(r) <= limit {
					b.list = append(b.list, *r)
				}
			}
			for _, m := range measures(c) {
				b.try(&d, &m, limit)
			}
		}
	}
	return b.best
}

// slackLimits returns the slacks to cut the requests at: a few quantiles where they differ.
func slackLimits(d *duty, load []serving.Request) []int64 {
	if d.each == 0 {
		return []int64{d.first}
	}
	all := make([]int64, len(load))
	for i := range load {
		all[i] = d.slack(&load[i])
	}
	slices.Sort(all)
	out := capcli.Map([]int{50, 75, 90, 100}, func(percent int) int64 { return all[(len(all)*percent+99)/100-1] })
	return slices.Compact(out)
}

// try improves the bound by the windows of one duty and measure.
func (b *bounder) try(d *duty, m *measure, slack int64) {
	n := len(b.list)
	if int64(n) <= d.misses {
		return
	}
	b.work = b.work[:0]
	for i := range b.list {
		b.work = append(b.work, m.work(b.config, &b.list[i], d.answer))
	}
	over := b.mostOver() - int64(b.best.Replicas)*slack*1000
	if over <= 0 {
		return
	}
	each := int64(0)
	if d.open {
		each = b.config.MaxSeqs
	}
	largest := b.largest()
	if over <= largest[min(int64(n), d.misses+int64(b.best.Replicas)*each)] {
		return
	}
	span := b.list[n-1].Arrival - b.list[0].Arrival
	for length := int64(0); ; length = max(2*length, slack/4+1) {
		first, sum := 0, int64(0)
		for i := range b.list {
			sum += b.work[i]
			for b.list[i].Arrival-b.list[first].Arrival > length {
				sum -= b.work[first]
				first++
			}
			time := (b.list[i].Arrival - b.list[first].Arrival + slack) * 1000
			need := int64(b.best.Replicas)
			for need*time < sum-largest[min(int64(n), d.misses+need*each)] {
				need++
			}
			if need > int64(b.best.Replicas) {
				b.keep(d, m, first, i, int(need))
			}
		}
		if length >= span {
			return
		}
	}
}

// mostOver returns the most by which the work of requests that come one after another is over what the replicas of the
// best bound do from the first arrival to the last. Where that proves no more, no window does. It is the largest sum of
// consecutive terms (Bentley, "Programming pearls: algorithm design techniques", CACM 1984).
func (b *bounder) mostOver() int64 {
	rate := 1000 * int64(b.best.Replicas)
	most, here := b.work[0], b.work[0]
	for i := 1; i < len(b.work); i++ {
		here = b.work[i] + max(0, here-rate*(b.list[i].Arrival-b.list[i-1].Arrival))
		most = max(most, here)
	}
	return most
}

// largest returns the sums of the work of the k largest requests, for each k.
func (b *bounder) largest() []int64 {
	sorted := slices.Clone(b.work)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	out := make([]int64, 1, len(sorted)+1)
	for i, w := range sorted {
		out = append(out, out[i]+w)
	}
	return out
}

func (b *bounder) keep(d *duty, m *measure, first, last, need int) {
	short := map[string]string{"tokens": "arithmetic and weights", "sequences": "sequences at once (max_seqs)", "memory": "KV cache"}[m.by]
	from, to := float64(b.list[first].Arrival)/1e6, float64(b.list[last].Arrival)/1e6
	n := last - first + 1
	b.best = Bound{Replicas: need, By: m.by, Promise: d.promise, From: from, To: to, Requests: n, Says: fmt.Sprintf(
		"%d %s are the least by arithmetic: %s %s from %.6g s to %.6g s leave no less for %s (%s)",
		need, capcli.Plural(int64(need), "replica"), capcli.Grouped(int64(n)), capcli.Plural(int64(n), "request"), from, to, d.promise, short)}
}

// leastFirstToken returns a time in microseconds that the first token of a request needs at least, on an
// idle replica and in any batch: each piece of its prompt has at most max_tokens.
func leastFirstToken(c *serving.Config, r *serving.Request) int64 {
	prompt := r.In - min(r.Cached, r.In-1)
	there := r.In - prompt
	pieces := (prompt + c.MaxTokens - 1) / c.MaxTokens
	best := float64(0)
	for _, l := range c.Time.Lin {
		if fixed := c.Time.C0 + c.Time.Seq + l[0]; fixed >= 0 && l[1] >= 0 && c.Time.PA >= 0 {
			ps := float64(fixed)*float64(pieces) + float64(l[1])*float64(prompt) + float64(c.Time.PA)*float64(prompt)*float64(2*there+prompt+1)/2
			best = max(best, ps)
		}
	}
	return max(pieces, int64(math.Ceil(best/1e6*(1-1e-12))))
}

// leastPerToken returns a time in microseconds that each further token of a request needs at least: an
// iteration with this one sequence in it, or its recomputation after a preemption.
func leastPerToken(c *serving.Config, r *serving.Request) int64 {
	t := &c.Time
	if t.KV < 0 || t.Seq < 0 || slices.ContainsFunc(t.Lin, func(l [2]int64) bool { return l[1] < 0 }) {
		return 1
	}
	return min(t.Micros(1, 1, r.In+1, 0), leastFirstToken(c, r))
}

// plainEngine reports whether a service works as the bounds assume.
func plainEngine(c *serving.Config) bool {
	return (c.Policy == "chunked" || c.Policy == "prefill_first") && c.MaxTokens > 0 && c.MaxSeqs > 0 && c.BlockSize > 0 && c.Blocks > 0
}
