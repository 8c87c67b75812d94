package tables

import (
	"capcli/cmd/report"
	"capcli/profile/inference"
)

// UsageDoc is the report of what servers tell of their traffic.
func UsageDoc(u *inference.Usage) report.Doc {
	seconds := func(v float64) any { return report.Micros(v * 1e6) }
	quantiles := func(name, unit string, list []inference.NamedQuantiles, as func(float64) any) report.Table {
		fields := []report.Field[inference.NamedQuantiles]{{Name: "what", Head: " "}}
		for _, q := range []string{"mean", "p50", "p90", "p95", "p99"} {
			fields = append(fields, report.Field[inference.NamedQuantiles]{Name: q + unit, Head: q, As: as, Cell: quantileCell(q)})
		}
		return report.Fill(report.Table{Name: name, Aside: len(list) == 0}, list, fields)
	}
	notes := u.Notes
	if u.Service != "" {
		notes = append(notes, "for a service, with --curve-out curve.csv: "+u.Service)
	}
	return report.Doc{Lead: u.Answer, Notes: notes, Data: u, Tables: []report.Table{
		report.Figures("figures", u, []report.Field[*inference.Usage]{
			{Name: "requests", Head: "requests", As: report.AsRatio},
			{Name: "failed", Head: "failed requests", As: report.AsRatio},
			{Name: "requests_per_s", Head: "requests a second", As: report.AsRatio},
			{Name: "peak_requests_per_s", Head: "in the busiest step", As: report.AsRatio},
			{Name: "peak_at", Head: "busiest step"},
			{Name: "tokens_in_mean", Head: "tokens in a request", As: report.AsRatio},
			{Name: "tokens_out_mean", Head: "tokens out a request", As: report.AsRatio},
			{Name: "cached_share", Head: "cached of tokens in", As: report.AsPercent},
			{Name: "running_mean", Head: "requests running", As: report.AsRatio, Cell: func(u *inference.Usage) any { return u.Running.Mean }},
			{Name: "waiting_mean", Head: "requests waiting", As: report.AsRatio, Cell: func(u *inference.Usage) any { return u.Waiting.Mean }},
			{Name: "cache_use_mean", Head: "use of the KV cache", As: report.AsPercent, Cell: func(u *inference.Usage) any { return u.CacheUse.Mean }},
		}),
		quantiles("times", "_us", u.Times(), seconds),
		quantiles("lengths", "", u.Lengths(), report.AsRatio),
		report.Fill(report.Table{Name: "steps", Aside: true}, u.Steps, []report.Field[inference.Step]{
			{Name: "at"},
			{Name: "requests_per_s", As: report.AsRatio},
			{Name: "tokens_in_per_s"},
			{Name: "tokens_out_per_s"},
			{Name: "running"},
			{Name: "waiting"},
			{Name: "cache_use"},
			{Name: "ttft_p99_s"},
			{Name: "tpot_p99_s"},
			{Name: "e2e_p99_s"},
		}),
	}}
}

// quantileCell returns the cell of a quantile.
func quantileCell(name string) func(q inference.NamedQuantiles) any {
	return func(q inference.NamedQuantiles) any {
		switch name {
		case "p50":
			return q.P50
		case "p90":
			return q.P90
		case "p95":
			return q.P95
		case "p99":
			return q.P99
		}
		return q.Mean
	}
}
