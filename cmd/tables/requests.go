package tables

import (
	"capcli/cmd/report"
	"capcli/profile/logs/requests"
)

// RequestsDoc is the report of a trace.
func RequestsDoc(d *requests.Description) report.Doc {
	models := report.Table{Name: "models", Most: shownShares, Aside: len(d.Models) == 0}
	return report.Doc{Lead: d.Answer, Notes: d.Read.Remarks(), Data: d, Tables: []report.Table{
		report.Figures("figures", d, []report.Field[*requests.Description]{
			{Name: "requests", Head: "requests"},
			{Name: "first", Head: "first arrival"},
			{Name: "last", Head: "last arrival"},
			{Name: "span_s", Head: "time", As: report.AsSeconds},
			{Name: "requests_per_s", Head: "requests a second", As: report.AsRatio},
			{Name: "gap_cv", Head: "variation of gaps (1 is Poisson)", As: report.AsRatio},
			{Name: "gap_cv_within_minutes", Head: "variation of gaps in a minute", As: report.AsRatio},
			{Name: "tokens_in_total", Head: "tokens in"},
			{Name: "tokens_out_total", Head: "tokens out"},
			{Name: "cached_share", Head: "cached of tokens in", As: report.AsPercent},
			{Name: "users", Head: "users"},
			{Name: "top_user_share", Head: "share of the busiest users", As: report.AsPercent},
		}),
		report.Fill(report.Table{Name: "busiest"}, d.Busiest, []report.Field[requests.Busiest]{
			{Name: "window", Head: "busiest"}, {Name: "requests_per_s", Head: "requests a second", As: report.AsRatio}, {Name: "over_mean", Head: "times the mean", As: report.AsRatio}, {Name: "at", Head: "from"},
		}),
		report.Fill(report.Table{Name: "lengths"}, d.Lengths(), []report.Field[requests.NamedQuantiles]{
			{Name: "what", Head: "tokens"}, {Name: "mean", As: report.AsRatio}, {Name: "p50"}, {Name: "p90"}, {Name: "p95"}, {Name: "p99"}, {Name: "max"},
		}),
		report.Fill(models, d.Models, []report.Field[requests.ModelShare]{
			{Name: "model", Align: report.Left}, {Name: "requests"}, {Name: "share", As: report.AsPercent}, {Name: "tokens_in", Head: "tokens in"}, {Name: "tokens_out", Head: "tokens out"},
		}),
		report.Fill(report.Table{Name: "hours", Aside: true}, d.Hours, []report.Field[requests.HourShare]{{Name: "hour"}, {Name: "requests"}, {Name: "share", As: report.AsPercent}}),
	}}
}
