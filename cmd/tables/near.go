package tables

import (
	"capcli/cmd/report"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
)

// nearTables show contention, over what jobs were spread and the room in domains; none where a run has none.
func nearTables(runs []*play.Run) (out []report.Table) {
	if runs[0].Shared != nil {
		rows := rowsOf(partsOf(runs, func(r *play.Run) []outcome.ContentionRow { return r.Shared.Rows }))
		out = append(out, fillRuns(report.Table{Name: "contention", Title: "Contention: what running jobs share beside GPUs"}, rows, []report.Field[*outcome.ContentionRow]{
			{Name: "pool"}, {Name: "resource"}, {Name: "stays"}, {Name: "slowed_stays", Head: "slowed"}, {Name: "short_s", Head: "short for"}, {Name: "contention_gpu_hours", Head: "lost"},
		}))
	}
	if runs[0].Near == nil {
		return out
	}
	if len(runs[0].Near.Spread) > 0 {
		rows := rowsOf(partsOf(runs, func(r *play.Run) []outcome.NearSpread { return r.Near.Spread }))
		out = append(out, fillRuns(report.Table{Name: "spread", Title: "Spread: starts by the narrowest level that held the whole job"}, rows, []report.Field[*outcome.NearSpread]{
			{Name: "shape", Cell: func(s *outcome.NearSpread) any {
				if s.Shape == "" {
					return "(others)"
				}
				return s.Shape
			}},
			{Name: "level"},
			{Name: "starts"},
			{Name: "gangs", Head: "over a node", Priority: 1},
			{Name: "gpu_hours", Head: "GPU-hours"},
			{Name: "slowdown_gpu_hours", Head: "lost to slowdown"},
		}))
	}
	if len(runs[0].Near.Domains) > 0 {
		rows := rowsOf(partsOf(runs, func(r *play.Run) []outcome.DomainRoom { return r.Near.Domains }))
		out = append(out, fillRuns(report.Table{Name: "domains", Title: "Room in domains, in GPUs: the largest gang that one had room for"}, rows, []report.Field[*outcome.DomainRoom]{
			{Name: "pool"},
			{Name: "level"},
			{Name: "domains", Head: "number", Priority: 1},
			{Name: "domain_gpus", Head: "GPUs of one"},
			{Name: "free_gpus_mean", Head: "free in pool", Cell: func(d *outcome.DomainRoom) any { return report.AsTenths(d.Free) }},
			{Name: "largest_gang_mean", Head: "gang, mean", Cell: func(d *outcome.DomainRoom) any { return report.AsTenths(d.Largest) }},
			{Name: "largest_gang_p50", Head: "gang, median", Priority: 2},
			{Name: "largest_gang_p5", Head: "gang, p5"},
			{Name: "stranded_gpus_mean", Head: "stranded", Cell: func(d *outcome.DomainRoom) any { return report.AsTenths(d.Stranded) }},
		}))
	}
	return out
}
