package play

import (
	"context"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
	"capcli/simulate"
	"capcli/simulate/serving"
	"capcli/simulate/serving/service"
)

// serviceFigures works out the figures of the services of the run.
func (r *Run) serviceFigures(ctx context.Context, services []simulate.Service, so scenarios.Options) (err error) {
	r.services, r.Levels, err = ServiceFigures(ctx, r.Case.Scenario, r.Result, services, r.Invoice, r.Priced(), so)
	return err
}

// ServiceFigures returns the figures of the services of a run of a scenario, and what their requests saw.
// Without priced they have no cost.
func ServiceFigures(ctx context.Context, s *scenarios.Scenario, res *simulate.Result, services []simulate.Service, inv *billing.Invoice, priced bool, so scenarios.Options) ([]outcome.Service, []*service.Level, error) {
	if len(services) == 0 {
		return nil, nil, nil
	}
	list, levels := make([]outcome.Service, len(services)), make([]*service.Level, len(services))
	costs := inv.ByPayers(res.Record)
	for i := range services {
		run, out := &res.Services[i], &list[i]
		*out = outcome.ServiceOf(run, &services[i], res.Record, res.Ended)
		if i >= len(s.Services) { // of the generator
			out.Level, levels[i] = service.LevelSteps, &service.Level{}
			if c := costOf(costs, run, priced); c != nil {
				out.SetCost(c.Direct, c.Share)
			}
			continue
		}
		v := &s.Services[i]
		load, err := s.ServiceLoad(v, so)
		if err != nil {
			return nil, nil, err
		}
		out.Notes = append(out.Notes, load.Notes...)
		if hours, ok := v.Bound(services[i].Load, services[i].PerReplica, services[i].Cold); ok {
			out.BoundHours = &hours
		}
		src, err := s.Traffic(v, so, nil)
		if err != nil {
			return nil, nil, err
		}
		level, err := v.Watch(ctx, src, run, res.Ended)
		if err != nil {
			return nil, nil, err
		}
		levels[i] = level
		out.Latency = latencyOf(v, level, run)
		if out.TokensOut != nil && out.Held > 0 {
			rate := *out.TokensOut / (out.Held.Hours() * 3600)
			out.TokensPerGPU = &rate
		}
		if c := costOf(costs, run, priced); c != nil {
			out.SetCost(c.Direct, c.Share)
		}
		if v.API.IsKnown() {
			out.CompareAPI(v.API.In, v.API.Out)
		}
	}
	return list, levels, nil
}

// costOf returns what a service cost; nil if it is not known, as where it shares its tags with jobs.
func costOf(costs []billing.TagCost, run *simulate.ServiceRun, priced bool) *billing.TagCost {
	if !priced || run.Payer == 0 {
		return nil
	}
	return &costs[run.Payer-1]
}

// latencyOf returns what requests saw.
func latencyOf(v *service.Spec, l *service.Level, run *simulate.ServiceRun) outcome.Latency {
	out := outcome.Latency{Level: l.Kind, Why: l.Why, Users: l.Users, Promise: promiseOf(v)}
	switch l.Kind {
	case service.LevelRequests:
		z := &l.Replay.Summary
		in, tokens := float64(z.TokensIn), float64(z.TokensOut)
		out.OK, out.Rejected, out.Unserved, out.TokensIn, out.TokensOut = &z.OK, &z.Rejected, &z.Unserved, &in, &tokens
		out.TTFT = timesOf(z.TTFTMean, z.TTFTP50, z.TTFTP95, z.TTFTP99)
		out.TPOT = timesOf(z.TPOTMean, z.TPOTP50, z.TPOTP95, z.TPOTP99)
		out.E2E = timesOf(z.E2EMean, z.E2EP50, z.E2EP95, z.E2EP99)
		out.PromptShare = knownFigure(float64(z.PromptShare))
		if p := out.Promise; p != nil {
			out.Goodput = knownFigure(float64(z.Goodput))
			kept := z.Requests > 0 && z.SLOMet*1000 >= v.Share*z.Requests
			p.Share, p.Kept = knownFigure(float64(z.SLOShare)), &kept
		}
	case service.LevelMeans:
		m := l.Means
		unserved := run.Backlog
		out.Unserved, out.TokensIn, out.TokensOut, out.Holds = &unserved, &m.TokensIn, &m.TokensOut, &m.HoldsShare
		if m.Served > 0 {
			out.TTFT, out.TPOT, out.E2E = &outcome.Times{Mean: &m.TTFT}, &outcome.Times{Mean: &m.TPOT}, &outcome.Times{Mean: &m.E2E}
		}
		if m.Because != "" {
			out.Why += "; " + m.Because
		}
	}
	if v.HasBatchTime() {
		out.TTFT, out.TPOT, out.TokensIn, out.TokensOut, out.PromptShare = nil, nil, nil, nil, nil
	}
	return out
}

// promiseOf returns the promise of a service; nil if it has none.
func promiseOf(v *service.Spec) *outcome.Promise {
	p := &v.Config.SLO
	if *p == (serving.SLO{}) {
		return nil
	}
	out := &outcome.Promise{Wanted: float64(v.Share) / 1000}
	for _, x := range []struct {
		us int64
		to **float64
	}{{p.TTFT, &out.TTFT}, {p.TPOT, &out.TPOT}, {p.E2E, &out.E2E}} {
		if x.us > 0 {
			*x.to = knownFigure(float64(x.us) / 1e6)
		}
	}
	return out
}

// timesOf returns times in microseconds as seconds.
func timesOf(mean, p50, p95, p99 capcli.Figure) *outcome.Times {
	if !mean.IsKnown() {
		return nil
	}
	return &outcome.Times{Mean: knownFigure(float64(mean) / 1e6), P50: knownFigure(float64(p50) / 1e6), P95: knownFigure(float64(p95) / 1e6), P99: knownFigure(float64(p99) / 1e6)}
}

// knownFigure returns v; nil if it is no number.
func knownFigure(v float64) *float64 {
	if f := capcli.Figure(v); !f.IsKnown() {
		return nil
	}
	return &v
}
