package tables

import (
	"capcli/cmd/report"
	"capcli/profile"
)

// worthTable shows what each job is worth knowing by.
func worthTable(r *profile.Result) report.Table {
	rate := func(r *profile.RateResult, get func(*profile.RateResult) any) any {
		if r == nil {
			return nil
		}
		return get(r)
	}
	return report.Fill(report.Table{Name: "worth", Aside: true}, r.JobsWorth(), []report.Field[profile.JobResult]{
		{Name: "job_id", Head: "job", Align: report.Left},
		{Name: "tenant", Align: report.Left, Priority: 3},
		{Name: "gpus", Head: "GPUs"},
		{Name: "tokens_per_s_p50", Head: "tok/s", Cell: func(j profile.JobResult) any {
			return rate(j.Worth.Tokens, func(r *profile.RateResult) any { return r.P50 })
		}},
		{Name: "tokens_per_s_p5", Head: "tok/s p5", Priority: 2, Cell: func(j profile.JobResult) any {
			return rate(j.Worth.Tokens, func(r *profile.RateResult) any { return r.P5 })
		}},
		{Name: "samples_per_s_p50", Head: "samples/s", Priority: 2, Cell: func(j profile.JobResult) any {
			return rate(j.Worth.Samples, func(r *profile.RateResult) any { return r.P50 })
		}},
		{Name: "tokens_per_gpu_hour", Head: "tok/GPUh", Priority: 1, Cell: func(j profile.JobResult) any { return j.Worth.TokensPerGPUHour }},
		{Name: "usd_per_million_tokens", Head: "$/Mtok", Priority: 1, Cell: func(j profile.JobResult) any { return j.Worth.USDPerMTokens }},
		{Name: "mfu", Head: "MFU", As: Hundredths, Cell: func(j profile.JobResult) any { return j.Worth.MFU }},
		{Name: "mfu_at_most", Head: "MFU ≤", As: Hundredths, Cell: func(j profile.JobResult) any { return j.Worth.MFUAtMost }},
		{Name: "step_s", Head: "step s", Cell: func(j profile.JobResult) any { return j.Worth.Step.Seconds }},
		{Name: "step_source", Head: "by", Align: report.Left, Priority: 2, Cell: func(j profile.JobResult) any { return TextCell(j.Worth.Step.Source) }},
		{Name: "speed_if_input_kept_up", Head: "input ×", Priority: 1, Cell: func(j profile.JobResult) any { return j.Worth.InputKeptUp }},
		{Name: "straggler", Align: report.Left, Cell: func(j profile.JobResult) any { return TextCell(j.Worth.Straggler.Label()) }},
		{Name: "straggler_lost_gpu_hours", Head: "lost GPUh", Priority: 1, Cell: func(j profile.JobResult) any {
			if j.Worth.Straggler == nil {
				return nil
			}
			return j.Worth.Straggler.Lost
		}},
	})
}

// rankRow is a rank of a job.
type rankRow struct {
	job string
	profile.RankResult
}

// rankTable shows what each job did on each of its GPUs.
func rankTable(r *profile.Result) report.Table {
	var rows []rankRow
	for _, j := range r.Jobs {
		for _, x := range j.Worth.Ranks {
			rows = append(rows, rankRow{j.ID, x})
		}
	}
	return report.Fill(report.Table{Name: "ranks", Aside: true}, rows, []report.Field[rankRow]{
		{Name: "job_id", Head: "job", Align: report.Left, Cell: func(x rankRow) any { return x.job }},
		{Name: "host", Align: report.Left, Cell: func(x rankRow) any { return x.Host }},
		{Name: "gpu", Cell: func(x rankRow) any { return x.GPU }},
		{Name: "held_hours", Head: "held h", Priority: 1, Cell: func(x rankRow) any { return x.Held }},
		{Name: "mem_max_gib", Head: "mem max GiB", Cell: func(x rankRow) any { return x.MemMax / (1 << 30) }},
		{Name: "util_gpu", Head: "busy", As: Hundredths, Cell: func(x rankRow) any { return x.Util }},
		{Name: "sm_active", Head: "SM", As: Hundredths, Cell: func(x rankRow) any { return x.SM }},
		{Name: "tensor_active", Head: "tensor", As: Hundredths, Priority: 1, Cell: func(x rankRow) any { return x.Tensor }},
		{Name: "wait", As: Hundredths, Cell: func(x rankRow) any { return x.Wait }},
	})
}
