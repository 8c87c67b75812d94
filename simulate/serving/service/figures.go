package service

import (
	"math"
	"slices"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
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

// Holding says which capacity of a scenario the replicas of a service may hold, and on whose account.
type Holding struct {
	Tenant    string // who pays; "" is the service's own name
	Partition string
	Tags      *capcli.Tags
	Pools     []string // in order of preference; nil is all: committed ones, then the others in order of overflow
	Displaces bool     // whether replicas take the GPUs of running jobs
	Spares    int      // jobs of this priority or a higher one keep their GPUs; 0 spares none
	GPUMilli  int      // a replica wants this share of one GPU, in thousandths; 0 is whole GPUs
	CPUs      float64  // of a replica
	MemGB     float64
	DrainTime capcli.Seconds // a ready replica that is taken back holds its GPUs for so long
	Detail    string         // how closely requests are looked at: LevelAuto, LevelRequests or LevelMeans; "" is LevelAuto
	API       APIPrice
}

// APIPrice is what a provider asks for a million tokens, to compare with. Nothing is known if both are 0.
type APIPrice struct{ In, Out float64 }

// IsKnown reports whether a price was stated.
func (p APIPrice) IsKnown() bool { return p.In > 0 || p.Out > 0 }

func (s *Spec) holdingFields() []strict.Field {
	return []strict.Field{
		{"tenant", "who pays; default: the service's name", strict.Name(&s.Tenant)},
		{"partition", "virtual cluster or queue whose pools it may use", strict.Name(&s.Partition)},
		{"tags", "tags of its use: {cost_center: R42}", strict.Tags(&s.Tags)},
		{"pools", "pools that may hold replicas, in order of preference; default: all, committed ones first", strict.Names(&s.Pools, "names of pools")},
		{"displaces", "a replica without room in a pool takes the GPUs of running jobs there, by the rules of preemption, before it goes to the next pool", strict.Bool(&s.Displaces)},
		{"spares_priority", "with displaces: jobs of this priority or a higher one keep their GPUs", strict.Integer(&s.Spares, -1_000_000, 1_000_000)},
		{"gpu_share", "a replica wants a part of one GPU: 0.25", s.readShare},
		{"cpus", "CPUs of a replica", strict.Number(&s.CPUs, 0, 1e5)},
		{"mem_gb", "memory of a replica in GiB", strict.Number(&s.MemGB, 0, 1e6)},
		{"drain_time", "a ready replica that is taken back holds its GPUs for so long, to finish what it has", strict.Duration(&s.DrainTime, 0)},
		{"level", "how closely requests are looked at after the run: requests (each one), means (by step), auto (each, up to a million); default: auto", strict.Choice(&s.Detail, "level", LevelAuto, LevelRequests, LevelMeans)},
		{"api_price", "what a provider asks for a million tokens, to compare with: {in: 0.50, out: 1.50}", apiSection.Reader(&s.API)},
	}
}

var apiSection = strict.Section[APIPrice]{Name: "api_price", Fields: func(p *APIPrice) []strict.Field {
	return []strict.Field{
		{"in", "US dollars for a million tokens of prompts", strict.Number(&p.In, 0, 1e6)},
		{"out", "US dollars for a million tokens of answers", strict.Number(&p.Out, 0, 1e6)},
	}
}}

// readShare reads a part of a GPU in thousandths.
func (s *Spec) readShare(d *strict.Decoder, n *yaml.Node) {
	share := 0.0
	if strict.Number(&share, 0.001, 1)(d, n); share > 0 {
		s.GPUMilli = int(math.Round(share * 1000))
	}
}

func (s *Spec) checkHolding(o *strict.Object) {
	if o.Has("spares_priority") && !s.Displaces {
		o.FaultName("spares_priority", "spares_priority is for a service with displaces: true")
	}
	if s.GPUMilli > 0 && s.Config.GPUs > 1 {
		o.Fault("gpu_share", "gpu_share is a part of one GPU, and a replica has %d", s.Config.GPUs)
	}
	if o.Has("api_price") && !s.API.IsKnown() {
		o.Fault("api_price", "api_price states no price: {in: 0.50, out: 1.50}")
	}
}
