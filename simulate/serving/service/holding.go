package service

import (
	"math"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
)

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
