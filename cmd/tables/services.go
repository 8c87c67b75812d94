package tables

import (
	"capcli/cmd/report"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
)

// serviceTables show what became of the requests of each service, and what they cost; none without
// services.
func serviceTables(runs []*play.Run) []report.Table {
	if len(runs[0].Services) == 0 {
		return nil
	}
	services := rowsOf(partsOf(runs, func(r *play.Run) []outcome.Service { return r.Services }))
	micros := func(v *float64) any {
		if v == nil {
			return nil
		}
		return report.Micros(*v * 1e6)
	}
	quantile := func(times func(*outcome.Service) *outcome.Times) func(*outcome.Service) any {
		return func(s *outcome.Service) any { return micros(times(s).Slowest()) }
	}
	return []report.Table{
		fillRuns(report.Table{Name: "services", Title: "Services: what requests saw, p99, or the mean where only means are known"}, services, []report.Field[*outcome.Service]{
			{Name: "service"},
			{Name: "requests"},
			{Name: "late_requests", Head: "late", Priority: 3, Cell: func(s *outcome.Service) any { return s.Late }},
			{Name: "not_answered", Head: "not served", Cell: func(s *outcome.Service) any { return s.NotAnswered() }},
			{Name: "ttft_us", Head: "TTFT", Cell: quantile(func(s *outcome.Service) *outcome.Times { return s.TTFT })},
			{Name: "tpot_us", Head: "TPOT", Priority: 1, Cell: quantile(func(s *outcome.Service) *outcome.Times { return s.TPOT })},
			{Name: "e2e_us", Head: "E2E", Priority: 2, Cell: quantile(func(s *outcome.Service) *outcome.Times { return s.E2E })},
			{Name: "slo_share", Head: "in promise", As: report.AsPercent, Cell: func(s *outcome.Service) any {
				if s.Promise == nil || s.Promise.Share == nil {
					return nil
				}
				return report.AsPercent(*s.Promise.Share)
			}},
			{Name: "replicas_max", Head: "most replicas"},
			{Name: "level", Priority: 4},
		}),
		fillRuns(report.Table{Name: "service_costs", Title: "Services: what they held and cost"}, services, []report.Field[*outcome.Service]{
			{Name: "service"},
			{Name: "gpu_hours", Head: "GPU-hours"},
			{Name: "missing_gpu_hours", Head: "missing"},
			{Name: "replica_hours", Head: "replica-hours", Priority: 2},
			{Name: "bound_replica_hours", Head: "bound", Priority: 2},
			{Name: "jobs_displaced", Head: "displaced", Priority: 1},
			{Name: "work_repeated_gpu_hours", Head: "redone", Priority: 3},
			{Name: "cost_usd", Head: "cost"},
			{Name: "per_1000_requests_usd", Head: "1000 requests"},
			{Name: "per_mtok_usd", Head: "per Mtok", Priority: 1},
			{Name: "api_usd", Head: "by tokens", Priority: 2, Cell: func(s *outcome.Service) any {
				if s.API == nil {
					return nil
				}
				return s.API.Cost
			}},
		}),
	}
}
