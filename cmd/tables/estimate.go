package tables

import (
	"capcli/cmd/report"
	"capcli/simulate/serving/queueing"
	"capcli/simulate/serving/service"
)

// ServiceEstimateDoc is the report of an estimate.
func ServiceEstimateDoc(r *service.Estimate) report.Doc {
	d := report.Doc{Lead: r.Lead(), Notes: r.Notes, Data: r}
	if r.Curve == nil {
		fields := []report.Field[*service.Estimate]{
			{Name: "load", Head: "load", As: report.AsPercent},
			{Name: "saturation_rps", Head: "saturation of a replica", As: report.AsRatio},
			{Name: "fewest_replicas", Head: "least replicas so that this holds"},
			{Name: "usd_per_mtok", Head: "cost per Mtok", As: report.AsMoney},
			{Name: "usd_per_hour", Head: "cost per hour", As: report.AsMoney},
		}
		if r.IsSteady() {
			fields = append(fields, []report.Field[*service.Estimate]{
				{Name: "mean_ttft_s", Head: "TTFT mean", As: report.AsShortTime},
				{Name: "mean_tpot_s", Head: "TPOT mean", As: report.AsShortTime},
				{Name: "mean_e2e_s", Head: "E2E mean", As: report.AsShortTime},
				{Name: "mean_wait_s", Head: "wait mean", As: report.AsShortTime},
				{Name: "p_wait", Head: "waiting requests", As: report.AsPercent},
				{Name: "mean_running", Head: "running requests, mean", As: report.AsTenths},
			}...)
		}
		d.Tables = []report.Table{report.Figures("means", r, fields)}
		return d
	}
	c := r.Curve
	figures := report.Figures("means", c, []report.Field[*queueing.Result]{
		{Name: "requests", Head: "requests", As: report.AsCount},
		{Name: "unserved", Head: "unserved at the end", As: report.AsCount},
		{Name: "steps_over", Head: "steps over saturation"},
		{Name: "steps_dense", Head: "steps beyond what holds"},
		{Name: "holds_share", Head: "requests for what holds", As: report.AsPercent},
		{Name: "mean_ttft_s", Head: "TTFT mean", As: report.AsShortTime},
		{Name: "mean_tpot_s", Head: "TPOT mean", As: report.AsShortTime},
		{Name: "mean_e2e_s", Head: "E2E mean", As: report.AsShortTime},
		{Name: "mean_wait_s", Head: "wait mean", As: report.AsShortTime},
		{Name: "utilisation", Head: "utilisation", As: report.AsPercent},
		{Name: "peak_load", Head: "load max", As: report.AsPercent},
		{Name: "tokens_out", Head: "tokens out", As: report.AsCount},
		{Name: "gpu_hours", Head: "GPU-hours", As: report.AsCount},
		{Name: "usd", Head: "cost", As: report.AsMoney},
		{Name: "usd_per_mtok", Head: "cost per Mtok", As: report.AsMoney, Cell: func(*queueing.Result) any { return r.USDPerM }},
	})
	d.Tables = []report.Table{figures}
	return d
}
