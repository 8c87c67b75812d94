package service

import (
	"slices"

	"capcli"
	"capcli/simulate/serving"
)

// Unit is the unit of a figure.
type Unit uint8

// The units.
const (
	Count Unit = iota
	Micros
	Share
	Dollars
	Plain
)

// Figure is a figure of a replay: its name in JSON, what people call it, and its unit.
type Figure struct {
	Name, Head string
	Unit       Unit
	Value      func(*Variant) (v float64, isKnown bool)
}

// FiguresOf returns the figures that are known of a kind of service in the replay: without tokens there are fewer.
func FiguresOf(all []*Variant) []Figure {
	return slices.DeleteFunc(Figures(), func(f Figure) bool {
		return !slices.ContainsFunc(all, func(v *Variant) bool { return v.hasFigure(f.Name) })
	})
}

// Figures returns the figures of a replay in the order in which people read them: the promise, what was
// not served, times, work, money.
func Figures() []Figure {
	count := func(name, head string, of func(*serving.Summary) int64) Figure {
		return Figure{name, head, Count, func(v *Variant) (float64, bool) { return float64(of(&v.Summary)), true }}
	}
	figure := func(name, head string, unit Unit, of func(*serving.Summary) capcli.Figure) Figure {
		return Figure{name, head, unit, func(v *Variant) (float64, bool) { x := of(&v.Summary); return float64(x), x.IsKnown() }}
	}
	promised := func(f Figure) Figure {
		value := f.Value
		f.Value = func(v *Variant) (float64, bool) {
			x, ok := value(v)
			return x, ok && v.Promise.HasLimit()
		}
		return f
	}
	type sum = serving.Summary
	return []Figure{
		promised(figure("slo_share", "requests within the promise", Share, func(z *sum) capcli.Figure { return z.SLOShare })),
		count("requests", "requests", func(z *sum) int64 { return z.Requests }),
		count("rejected", "rejected", func(z *sum) int64 { return z.Rejected }),
		count("unserved", "never served", func(z *sum) int64 { return z.Unserved }),
		figure("ttft_mean", "TTFT mean", Micros, func(z *sum) capcli.Figure { return z.TTFTMean }),
		figure("ttft_p50", "TTFT p50", Micros, func(z *sum) capcli.Figure { return z.TTFTP50 }),
		figure("ttft_p95", "TTFT p95", Micros, func(z *sum) capcli.Figure { return z.TTFTP95 }),
		figure("ttft_p99", "TTFT p99", Micros, func(z *sum) capcli.Figure { return z.TTFTP99 }),
		figure("tpot_mean", "TPOT mean", Micros, func(z *sum) capcli.Figure { return z.TPOTMean }),
		figure("tpot_p50", "TPOT p50", Micros, func(z *sum) capcli.Figure { return z.TPOTP50 }),
		figure("tpot_p95", "TPOT p95", Micros, func(z *sum) capcli.Figure { return z.TPOTP95 }),
		figure("tpot_p99", "TPOT p99", Micros, func(z *sum) capcli.Figure { return z.TPOTP99 }),
		figure("e2e_mean", "E2E mean", Micros, func(z *sum) capcli.Figure { return z.E2EMean }),
		figure("e2e_p50", "E2E p50", Micros, func(z *sum) capcli.Figure { return z.E2EP50 }),
		figure("e2e_p95", "E2E p95", Micros, func(z *sum) capcli.Figure { return z.E2EP95 }),
		figure("e2e_p99", "E2E p99", Micros, func(z *sum) capcli.Figure { return z.E2EP99 }),
		count("tokens_in", "tokens of prompts", func(z *sum) int64 { return z.TokensIn }),
		count("tokens_out", "tokens of answers", func(z *sum) int64 { return z.TokensOut }),
		count("preemptions", "preemptions", func(z *sum) int64 { return z.Preemptions }),
		count("moves", "moves after a loss", func(z *sum) int64 { return z.Moves }),
		figure("busy_share", "busy", Share, func(z *sum) capcli.Figure { return z.BusyShare }),
		figure("prompt_share", "part of it for prompts", Share, func(z *sum) capcli.Figure { return z.PromptShare }),
		figure("tokens_per_second_a_gpu", "answer tokens a second a GPU", Plain, func(z *sum) capcli.Figure { return z.TokensPerGPU }),
		promised(figure("goodput_tokens_a_gpu", "the same within the promise", Plain, func(z *sum) capcli.Figure { return z.GoodputPerGPU })),
		promised(figure("goodput_per_second", "requests a second within the promise", Plain, func(z *sum) capcli.Figure { return z.Goodput })),
		figure("usd", "cost", Dollars, func(z *sum) capcli.Figure { return z.USD }),
		{"api_usd", "the same tokens at api_price", Dollars, func(v *Variant) (float64, bool) { return float64(v.APIUSD), v.APIUSD.IsKnown() }},
		figure("usd_per_1000_requests", "cost of 1,000 requests", Dollars, func(z *sum) capcli.Figure { return z.USDPer1000 }),
		promised(figure("usd_per_1000_within_slo", "cost of 1,000 within the promise", Dollars, func(z *sum) capcli.Figure { return z.USDPer1000Good })),
		{"usd_per_user", "cost of a user", Dollars, func(v *Variant) (float64, bool) { return float64(v.UserUSD), v.UserUSD.IsKnown() }},
		figure("usd_per_mtok", "cost of 1M tokens in and out", Dollars, func(z *sum) capcli.Figure { return z.USDPerMtok }),
		figure("usd_per_mtok_in_apart", "cost of 1M tokens in", Dollars, func(z *sum) capcli.Figure { return z.USDPerMtokIn }),
		figure("usd_per_mtok_out_apart", "cost of 1M tokens out", Dollars, func(z *sum) capcli.Figure { return z.USDPerMtokApart }),
	}
}

// ReplicaRow is a replica of a replay.
type ReplicaRow struct {
	Replica int `json:"replica"`
	serving.Use
	BusyShare capcli.Figure `json:"busy_share"` // of paid time
}

// ReplicaRows returns the replicas of the first service.
func (v *Variant) ReplicaRows() []ReplicaRow {
	out := make([]ReplicaRow, len(v.Replicas))
	for i, u := range v.Replicas {
		out[i] = ReplicaRow{Replica: i, Use: u, BusyShare: capcli.Figure(float64(u.Busy) / float64(u.Paid))}
	}
	return out
}

// Variants returns the services in their order.
func (r *Replayed) Variants() []*Variant {
	out := []*Variant{&r.Variant}
	for i := range r.Others {
		out = append(out, &r.Others[i])
	}
	return out
}
