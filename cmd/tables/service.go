package tables

import (
	"fmt"
	"slices"

	"capcli/cmd/report"
	"capcli/profile/inference"
	"capcli/profile/logs/requests"
	"capcli/scenarios/decide/plan/sizing"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/simulate/serving/queueing"
	"capcli/simulate/serving/roofline"
	"capcli/simulate/serving/service"
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

// PlanServiceDoc is the report of the size of a service.
func PlanServiceDoc(r *sizing.Result) report.Doc {
	d := report.Doc{Lead: r.Says, Notes: r.Notes, Data: r, Tables: []report.Table{}}
	if len(r.TriedRows()) > 0 {
		d.Tables = append(d.Tables, triesTable(r))
	} else {
		d.Tables = append(d.Tables, nearestTable(r))
	}
	if len(r.Choices) > 1 {
		d.Tables = append([]report.Table{choicesTable(r.Choices)}, d.Tables...)
	}
	if len(r.Costs) > 0 && r.Costs[0].Rate > 0 {
		d.Tables = append(d.Tables, serviceCostTable(r.Costs))
	}
	if len(r.Growth) > 0 {
		d.Tables = append(d.Tables, growthTable(r.Growth))
	}
	if len(r.Hours) > 0 {
		d.Tables = append(d.Tables, report.Fill(report.Table{Name: "hours", Title: "By hour", Most: 48}, r.Hours, []report.Field[sizing.Hour]{
			{Name: "start_s", Head: "hour from"},
			{Name: "requests"},
			{Name: "requests_per_s", Head: "rate", As: report.AsRatio, Priority: 1},
			{Name: "replicas"},
			{Name: "gpus", Head: "GPUs"},
		}))
	}
	if s := r.Split; s != nil && len(s.Purchases) > 0 {
		d.Tables = append(d.Tables, purchaseTable(s.Purchases))
	}
	return d
}

// triesTable shows each number of replicas that was tried, with what the promises came to.
func triesTable(r *sizing.Result) report.Table {
	t := report.Table{Name: "tried", Title: "Replicas tried", Most: 30, Columns: []report.Column{{Name: "replicas"}, {Name: "slo_met", Head: "SLO met", Priority: 1}}}
	for _, c := range r.TriedMetrics() {
		t.Columns = append(t.Columns, report.Column{Name: c.Name, Align: report.Right})
	}
	t.Columns = append(t.Columns, report.Column{Name: "holds"})
	for _, x := range r.TriedRows() {
		row := []any{int64(x.Replicas), x.Met}
		for i, c := range r.TriedMetrics() {
			row = append(row, promiseCell(c, &x.Promises[i]))
		}
		t.Rows = append(t.Rows, append(row, yesNo(x.Holds)))
	}
	return t
}

// nearestTable shows what the promises come to where each request has a replica to itself.
func nearestTable(r *sizing.Result) report.Table {
	t := report.Table{Name: "nearest", Title: "Where no request waits for another", Columns: []report.Column{{Name: "metric"}, {Name: "value", Align: report.Right}, {Name: "holds"}}}
	for i, c := range r.TriedMetrics() {
		if alone := r.Choices[0].Alone; i < len(alone) {
			t.Rows = append(t.Rows, []any{c.Name, promiseCell(c, &alone[i]), yesNo(alone[i].Holds)})
		}
	}
	return t
}

// promiseCell is what came of a promise: a time or a share; nil where it is not known.
func promiseCell(c sizing.Column, k *sizing.Kept) any {
	switch {
	case k.Value == nil:
		return nil
	case c.Share:
		return report.AsPercent(*k.Value)
	}
	return report.AsMicros(*k.Value * 1e6)
}

func yesNo(yes bool) report.Verdict {
	if yes {
		return report.Verdict{Text: "yes", Good: true}
	}
	return report.Verdict{Text: "no"}
}

func choicesTable(list []sizing.Size) report.Table {
	return report.Fill(report.Table{Name: "choices", Title: "By GPU model, width and weights"}, list, []report.Field[sizing.Size]{
		{Name: "gpu_model", Head: "GPU model"},
		{Name: "tensor_parallel", Head: "width", Cell: func(s sizing.Size) any {
			if s.Tensor == 0 {
				return nil
			}
			return s.Tensor
		}},
		{Name: "weights"},
		{Name: "replicas"},
		{Name: "gpus", Head: "GPUs"},
		{Name: "usd_per_month", Head: "a month", Cell: func(s sizing.Size) any {
			if s.Cost == nil {
				return nil
			}
			return s.Cost.PerMonth
		}},
		{Name: "why", Head: "why not", Priority: 1, Cell: func(s sizing.Size) any { return s.WhyNot() }},
	})
}

func serviceCostTable(list []sizing.Cost) report.Table {
	return report.Fill(report.Table{Name: "costs", Title: "Cost by term, with all GPUs held all the time"}, list, []report.Field[sizing.Cost]{
		{Name: "term"},
		{Name: "usd_per_gpu_hour", Head: "$/GPU-hour"},
		{Name: "usd_per_month", Head: "a month"},
		{Name: "usd_per_year", Head: "a year"},
		{Name: "usd_per_million_tokens", Head: "$/Mtok"},
		{Name: "usd_per_million_tokens_out", Head: "$/Mtok out", Priority: 1},
		{Name: "usd_per_1000_requests", Head: "$/1000 requests", Priority: 2},
	})
}

func growthTable(list []sizing.Grown) report.Table {
	return report.Fill(report.Table{Name: "growth", Title: "If the load grows"}, list, []report.Field[sizing.Grown]{
		{Name: "load", Head: "load", As: report.AsRatio},
		{Name: "replicas"},
		{Name: "gpus", Head: "GPUs"},
		{Name: "usd_per_month", Head: "a month", Cell: func(g sizing.Grown) any {
			if g.Cost == nil {
				return nil
			}
			return g.Cost.PerMonth
		}},
		{Name: "holds_as_is", Head: "holds as is", Cell: func(g sizing.Grown) any { return yesNo(g.Holds) }},
		{Name: "why", Head: "why not", Priority: 1},
	})
}

// ServiceScaleDoc is the report of the runs.
func ServiceScaleDoc(r *service.ScaleResult) report.Doc {
	fields := []report.Field[service.ScaleRun]{
		{Name: "file", Align: report.Left, Priority: 4},
		{Name: "scaler", Align: report.Left},
		{Name: "late_share", Head: "late", As: report.AsPercent},
		{Name: "replica_hours", Head: "replica-hours", As: report.AsRatio},
		{Name: "bound_replica_hours", Head: "bound", As: report.AsRatio},
		{Name: "over_bound", Head: "over", As: report.AsPercent},
		{Name: "max_desired", Head: "most", Priority: 1},
		{Name: "max_backlog", Head: "most waiting", Priority: 2},
		{Name: "backlog_end", Head: "unserved", Priority: 3},
		{Name: "changes", Priority: 3},
	}
	if r.Runs[0].Cost != nil {
		fields = slices.Insert(fields, 6, report.Field[service.ScaleRun]{Name: "cost_usd", Head: "cost"})
	}
	t := report.Fill(report.Table{Name: "runs", Title: "By scaler, beside the bound of a plan that knows the future"}, r.Runs, fields)
	return report.Doc{Lead: r.Answer, Notes: r.Notes, Data: r, Tables: []report.Table{t}}
}

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

// ServiceReplayDoc is the report of requests that were played: a column for each service.
func ServiceReplayDoc(r *service.Replayed) report.Doc {
	t := report.Table{Name: "summary", Columns: []report.Column{{Name: "figure"}}}
	all := r.Variants()
	for _, v := range all {
		t.Columns = append(t.Columns, report.Column{Name: v.Service, Align: report.Right})
	}
	for _, f := range service.FiguresOf(all) {
		row := []any{report.Label{Name: f.Name, Head: f.Head}}
		for _, v := range all {
			row = append(row, figureCell(f, v))
		}
		t.Rows = append(t.Rows, row)
	}
	replicas := report.Fill(report.Table{Name: "replicas", Title: "By replica", Most: 10, Aside: len(r.Replicas) < 2}, r.ReplicaRows(), []report.Field[service.ReplicaRow]{
		{Name: "replica"},
		{Name: "requests"},
		{Name: "iterations", Priority: 2},
		{Name: "busy_share", Head: "busy", As: report.AsPercent},
		{Name: "peak_blocks", Head: "peak blocks", Priority: 1},
		{Name: "preemptions"},
		{Name: "paid_us", Head: "paid", Cell: func(x service.ReplicaRow) any { return report.Micros(x.Paid) }},
	})
	return report.Doc{Lead: r.Lead(), Notes: r.Notes, Data: r, Tables: []report.Table{t, replicas}}
}

// figureCell returns the cell of a figure in its unit; nil where it is unknown.
func figureCell(f service.Figure, v *service.Variant) any {
	x, ok := f.Value(v)
	if !ok {
		return nil
	}
	switch f.Unit {
	case service.Micros:
		return report.AsMicros(x)
	case service.Share:
		return report.AsPercent(x)
	case service.Dollars:
		return report.AsMoney(x)
	case service.Plain:
		return report.AsRatio(x)
	case service.Count:
	}
	return report.AsCount(x)
}

// ServiceAgentsDoc is the report of tasks.
func ServiceAgentsDoc(r *service.AgentsResult) report.Doc {
	tasks := report.Figures("tasks", r, []report.Field[*service.AgentsResult]{
		{Name: "tasks", Head: "tasks"},
		{Name: "calls", Head: "calls"},
		{Name: "mean", Head: "calls mean", As: report.AsRatio},
		{Name: "p50", Head: "calls p50"},
		{Name: "p90", Head: "calls p90"},
		{Name: "p99", Head: "calls p99"},
		{Name: "max", Head: "calls max"},
		{Name: "tokens_in", Head: "tokens in"},
		{Name: "tokens_out", Head: "tokens out"},
	})
	micros := func(us float64) any { return report.AsMicros(us) }
	plays := report.Fill(report.Table{Name: "plays", Title: "Played on the service"}, r.Plays, []report.Field[service.Play]{
		{Name: "workflows", Cell: func(p service.Play) any { return p.Count() }},
		{Name: "replicas"},
		{Name: "gpus", Head: "GPUs"},
		{Name: "slo_share", Head: "SLO met", As: report.AsPercent, Cell: func(p service.Play) any { return p.Promise.Found }},
		{Name: "task_mean", Head: "task mean", As: micros},
		{Name: "task_p99", Head: "task p99", As: micros},
		{Name: "calls_at_once_mean", Head: "calls at once", As: report.AsTenths, Priority: 2},
		{Name: "calls_at_once_peak", Head: "at once max", Priority: 3},
		{Name: "ttft_p99", Head: "TTFT p99", As: micros, Priority: 1, Cell: func(p service.Play) any { return p.Summary.TTFTP99 }},
		{Name: "failed", Priority: 4},
		{Name: "usd_per_task", Head: "cost per task", As: report.AsMoney, Priority: 3},
	})
	d := report.Doc{Lead: r.Lead(), Notes: r.Notes, Data: r, Tables: []report.Table{tasks}}
	if len(r.Plays) > 0 {
		d.Tables = []report.Table{plays, tasks}
	}
	return d
}

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

// ModelListDoc is the report of the known language models.
func ModelListDoc(l *roofline.ModelList) report.Doc {
	return report.Doc{
		Lead: fmt.Sprintf("%d models and %d kinds of GPUs are known; any other dense model by its numbers (--config, or model: {…} in a SPEC).", len(l.Models), len(l.GPUs)),
		Data: l,
		Tables: []report.Table{
			report.Fill(report.Table{Name: "models"}, l.Models, []report.Field[roofline.Model]{
				{Name: "name", Head: "model"},
				{Name: "parameters"},
				{Name: "layers", Priority: 1},
				{Name: "heads", Priority: 2},
				{Name: "kv_heads", Head: "KV heads", Priority: 1},
				{Name: "head_dim", Head: "size of a head", Priority: 3},
				{Name: "hidden", Priority: 3},
				{Name: "intermediate", Priority: 3},
				{Name: "vocabulary", Priority: 3},
				{Name: "source", Priority: 4},
			}),
			report.Fill(report.Table{Name: "gpus"}, l.GPUs, []report.Field[roofline.GPU]{{Name: "name", Head: "GPU"}, {Name: "bytes"}, {Name: "source", Priority: 4}}),
		},
	}
}

// ModelDoc is the report of a model on a GPU: times and room.
func ModelDoc(a *roofline.Estimate) report.Doc {
	return report.Doc{
		Lead: a.Summary(), Data: a, Notes: a.Remarks(),
		Tables: []report.Table{
			report.Fill(report.Table{Name: "concurrency", Title: "Requests at once, and the time of a step that decodes them"}, a.Room, []report.Field[roofline.Room]{
				{Name: "tokens", Head: "tokens of a request"}, {Name: "sequences", Head: "requests at once"}, {Name: "decode_us", Head: "decode step µs", Cell: decodeCell},
			}),
			report.Figures("figures", a, []report.Field[*roofline.Estimate]{
				{Name: "weight_bytes_per_gpu", Head: "bytes of weights on each GPU", Cell: func(a *roofline.Estimate) any { return a.Memory.WeightBytes }},
				{Name: "kv_bytes_per_token_per_gpu", Head: "bytes of KV cache of a token on each GPU", Cell: func(a *roofline.Estimate) any { return a.Memory.TokenBytes }},
				{Name: "blocks", Head: "blocks of the KV cache", Cell: func(a *roofline.Estimate) any { return a.Memory.Blocks }},
				{Name: "tokens", Head: "tokens in the KV cache", Cell: func(a *roofline.Estimate) any { return a.Memory.Tokens }},
				{Name: "decode_error_mean", Head: "error of decoding, mean", As: report.AsPercent, Cell: func(a *roofline.Estimate) any { return a.Origin.Decode.Mean }},
				{Name: "decode_error_p90", Head: "error of decoding, p90", As: report.AsPercent, Cell: func(a *roofline.Estimate) any { return a.Origin.Decode.P90 }},
				{Name: "prefill_error_mean", Head: "error of prefill, mean", As: report.AsPercent, Cell: func(a *roofline.Estimate) any { return a.Origin.Prefill.Mean }},
				{Name: "prefill_error_p90", Head: "error of prefill, p90", As: report.AsPercent, Cell: func(a *roofline.Estimate) any { return a.Origin.Prefill.P90 }},
			}),
			LinesTable(a.Lines()),
		},
	}
}

// decodeCell is empty where the time is not known.
func decodeCell(r roofline.Room) any {
	if r.Micros == 0 {
		return nil
	}
	return r.Micros
}

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

// LinesTable shows lines to paste into a SPEC.
func LinesTable(lines []string) report.Table {
	t := report.Table{Name: "spec", Title: "Lines of a SPEC", Columns: []report.Column{{Name: "line"}}}
	for _, l := range lines {
		t.Rows = append(t.Rows, []any{l})
	}
	return t
}

// FittedFields are the columns of measured rows beside what the fit says, of tables of this kind.
func FittedFields(kind string) []report.Field[roofline.Predicted] {
	what := []report.Field[roofline.Predicted]{{Name: "tokens"}, {Name: "batch", Head: "requests"}}
	if kind == "server" {
		what = []report.Field[roofline.Predicted]{
			{Name: "batch", Head: "requests"},
			{Name: "tokens_in", Head: "prompt tokens"},
			{Name: "tokens_out", Head: "answer tokens"},
			{Name: "present", Head: "requests that fit", Priority: 1},
		}
	}
	return append(what, report.Field[roofline.Predicted]{Name: "measured_ms", Head: "measured ms"}, report.Field[roofline.Predicted]{Name: "fitted_ms", Head: "fitted ms"},
		report.Field[roofline.Predicted]{Name: "deviation", As: report.AsPercent})
}
