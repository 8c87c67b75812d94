package serving

import (
	"cmp"
	"math"
	"slices"

	"capcli"
)

// Summary has the figures of a replay. Times are microseconds; null is a figure of no request. TTFT is the
// time to the first token, E2E that to the last one, TPOT the mean time of a token of an answer after the
// first; all three are of requests with status ok. A percentile p of n values is the ceil(p·n/100)-th
// smallest.
type Summary struct {
	Requests  int64 `json:"requests"`
	OK        int64 `json:"ok"`
	Rejected  int64 `json:"rejected"`
	Unserved  int64 `json:"unserved"`
	TokensIn  int64 `json:"tokens_in"`  // of requests with status ok
	TokensOut int64 `json:"tokens_out"` // of requests with status ok

	End         int64 `json:"end_us"` // the last finish
	Iterations  int64 `json:"iterations"`
	Busy        int64 `json:"busy_us"`
	PeakBlocks  int64 `json:"peak_blocks"` // the most that one replica held at the start of an iteration
	Preemptions int64 `json:"preemptions"`
	Moves       int64 `json:"moves"` // requests sent to another replica because theirs was lost

	TTFTP50  capcli.Figure `json:"ttft_p50"`
	TTFTP95  capcli.Figure `json:"ttft_p95"`
	TTFTP99  capcli.Figure `json:"ttft_p99"`
	TTFTMean capcli.Figure `json:"ttft_mean"`
	E2EP50   capcli.Figure `json:"e2e_p50"`
	E2EP95   capcli.Figure `json:"e2e_p95"`
	E2EP99   capcli.Figure `json:"e2e_p99"`
	E2EMean  capcli.Figure `json:"e2e_mean"`
	TPOTP50  capcli.Figure `json:"tpot_p50"`
	TPOTP95  capcli.Figure `json:"tpot_p95"`
	TPOTP99  capcli.Figure `json:"tpot_p99"`
	TPOTMean capcli.Figure `json:"tpot_mean"`

	SLOMet   int64         `json:"slo_met"`   // requests with status ok within each given limit
	SLOShare capcli.Figure `json:"slo_share"` // of all requests, rejected ones included

	Paid            int64         `json:"paid_replica_us"` // replica-time from cold to the end of each replica
	PaidGPU         int64         `json:"paid_gpu_us"`     // the same times the GPUs of each replica
	USD             capcli.Figure `json:"usd"`
	USDPerMtokOut   capcli.Figure `json:"usd_per_mtok_out"` // all cost over a million tokens of answers
	USDPerMtok      capcli.Figure `json:"usd_per_mtok"`     // all cost over a million tokens of prompts and answers
	USDPer1000      capcli.Figure `json:"usd_per_1000_requests"`
	USDPerMtokIn    capcli.Figure `json:"usd_per_mtok_in_apart"`  // the prompts' part of cost over a million of their tokens
	USDPerMtokApart capcli.Figure `json:"usd_per_mtok_out_apart"` // the answers' part of cost over a million of their tokens
	PromptShare     capcli.Figure `json:"prompt_share"`           // of busy time: what prompts added to the time that decoding alone takes

	BusyShare      capcli.Figure `json:"busy_share"`              // busy over paid replica-time
	TokensPerGPU   capcli.Figure `json:"tokens_per_second_a_gpu"` // of answers, over paid GPU-time
	GoodputPerGPU  capcli.Figure `json:"goodput_tokens_a_gpu"`    // the same of requests within the promise
	Goodput        capcli.Figure `json:"goodput_per_second"`      // requests within the promise a second, first arrival to end
	USDPer1000Good capcli.Figure `json:"usd_per_1000_within_slo"`
}

// Percentile returns the ceil(p·n/100)-th smallest of n sorted values; the zero of T where there are none.
func Percentile[T cmp.Ordered](sorted []T, p int) T {
	var none T
	if len(sorted) == 0 {
		return none
	}
	return sorted[max(0, capcli.NearestRank(p, len(sorted))-1)]
}

// Keeps reports whether a request was served within each limit that is given.
func (l *SLO) Keeps(w *Served) bool {
	return w.Status == OK &&
		(l.TTFT == 0 || w.FirstToken-w.Arrival <= l.TTFT) &&
		(l.TPOT == 0 || w.Finish-w.FirstToken <= l.TPOT*(w.Out-1)) &&
		(l.E2E == 0 || w.Finish-w.Arrival <= l.E2E)
}

// result sums the run up.
func (p *player) result() (*Result, error) {
	r := &Result{Served: p.served}
	for i := range p.fleet.servers {
		r.Replicas = append(r.Replicas, p.fleet.servers[i].use)
	}
	p.config.pay(r.Replicas, lastFinish(r.Served))
	r.Summary = Summarize(p.config, r.Served, r.Replicas)
	return r, nil
}

// lastFinish returns the end of a run.
func lastFinish(served []Served) int64 {
	end := int64(0)
	for i := range served {
		end = max(end, served[i].Finish)
	}
	return end
}

// pay sets the time for which each replica is paid in a run that ends at end.
func (c *Config) pay(replicas []Use, end int64) {
	for i := range replicas {
		u := &replicas[i]
		u.GPUs = c.GPUs
		u.Paid = c.Replicas[i].paidTime(c.Cold, end, u.LastFinish)
	}
}

// paidTime returns the time for which a replica is paid: from the start of its load to the end of the run; with
// a drain until its last request is finished; never beyond its loss.
func (r Replica) paidTime(cold, end, last int64) int64 {
	if r.Drain >= 0 {
		end = max(r.Drain, last)
	}
	if r.Down >= 0 {
		end = min(end, r.Down)
	}
	return max(0, end-max(0, r.Ready-cold))
}

// Summarize returns the figures of served requests and of the replicas that served them.
func Summarize(c *Config, served []Served, replicas []Use) Summary {
	z := Summary{Requests: int64(len(served))}
	var ttft, e2e []int64
	var tpot []float64
	goodTokens := int64(0)
	for i := range served {
		w := &served[i]
		z.Preemptions += w.Preemptions
		z.Moves += w.Moves
		switch w.Status {
		case Rejected:
			z.Rejected++
			continue
		case Waiting:
			z.Unserved++
			continue
		case OK:
		}
		z.OK++
		z.TokensIn += w.In
		z.TokensOut += w.Out
		z.End = max(z.End, w.Finish)
		ttft, e2e = append(ttft, w.FirstToken-w.Arrival), append(e2e, w.Finish-w.Arrival)
		if w.Out > 1 {
			tpot = append(tpot, float64(w.Finish-w.FirstToken)/float64(w.Out-1))
		}
		if c.SLO.Keeps(w) {
			z.SLOMet++
			goodTokens += w.Out
		}
	}
	z.TTFTP50, z.TTFTP95, z.TTFTP99, z.TTFTMean = spread(ttft)
	z.E2EP50, z.E2EP95, z.E2EP99, z.E2EMean = spread(e2e)
	z.TPOTP50, z.TPOTP95, z.TPOTP99, z.TPOTMean = spread(tpot)
	z.SLOShare = ratio(float64(z.SLOMet), float64(z.Requests))
	prompts := int64(0)
	for _, u := range replicas {
		z.Iterations += u.Iterations
		z.Busy += u.Busy
		z.PeakBlocks = max(z.PeakBlocks, u.Peak)
		z.Paid += u.Paid
		z.PaidGPU += u.Paid * u.GPUs
		prompts += u.Prompts
	}
	z.price(c, prompts)
	z.rates(served, goodTokens)
	return z
}

// price sets the figures in money. The cost of paid time, idle time included, is divided between prompts
// and answers as busy time is.
func (z *Summary) price(c *Config, prompts int64) {
	usd := float64(z.PaidGPU) * c.Price / 3.6e9
	z.USD = capcli.Figure(usd)
	z.USDPerMtokOut = ratio(usd*1e6, float64(z.TokensOut))
	z.USDPerMtok = ratio(usd*1e6, float64(z.TokensIn+z.TokensOut))
	z.USDPer1000 = ratio(usd*1000, float64(z.OK))
	z.USDPer1000Good = ratio(usd*1000, float64(z.SLOMet))
	z.PromptShare = ratio(float64(prompts), float64(z.Busy))
	z.USDPerMtokIn = ratio(usd*1e6*float64(z.PromptShare), float64(z.TokensIn))
	z.USDPerMtokApart = ratio(usd*1e6*(1-float64(z.PromptShare)), float64(z.TokensOut))
}

// rates sets the figures by time.
func (z *Summary) rates(served []Served, goodTokens int64) {
	gpuSeconds := float64(z.PaidGPU) / 1e6
	z.BusyShare = ratio(float64(z.Busy), float64(z.Paid))
	z.TokensPerGPU = ratio(float64(z.TokensOut), gpuSeconds)
	z.GoodputPerGPU = ratio(float64(goodTokens), gpuSeconds)
	if len(served) > 0 {
		z.Goodput = ratio(float64(z.SLOMet), float64(z.End-served[0].Arrival)/1e6)
	}
}

// spread sorts values and returns percentiles and their mean; NaN where there are none.
func spread[T int64 | float64](values []T) (p50, p95, p99, mean capcli.Figure) {
	if len(values) == 0 {
		none := capcli.Figure(math.NaN())
		return none, none, none, none
	}
	slices.Sort(values)
	sum := T(0)
	for _, v := range values {
		sum += v
	}
	return capcli.Figure(Percentile(values, 50)), capcli.Figure(Percentile(values, 95)), capcli.Figure(Percentile(values, 99)),
		capcli.Figure(float64(sum) / float64(len(values)))
}

// ratio returns a/b, NaN where b is not above 0.
func ratio(a, b float64) capcli.Figure {
	if b <= 0 {
		return capcli.Figure(math.NaN())
	}
	return capcli.Figure(a / b)
}
