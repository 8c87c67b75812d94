package tables

import (
	"cmp"
	"fmt"
	"slices"

	"capcli/cmd/report"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
)

// limitTable shows which limits of the scenario the run held.
func limitTable(r *play.Run) report.Table {
	t := report.Table{Name: "limits", Columns: []report.Column{{Name: "limit"}, {Name: "found"}, {Name: "held"}}}
	for k, c := range r.Case.Scenario.Limits {
		t.Rows = append(t.Rows, []any{c.String(), r.MetricText(c.Metric), heldCell([]*play.Run{r}, k)})
	}
	return t
}

// partsOf returns of(r) for each run r.
func partsOf[P any](runs []*play.Run, of func(*play.Run) []P) [][]P {
	out := make([][]P, len(runs))
	for i, r := range runs {
		out[i] = of(r)
	}
	return out
}

// rowsOf turns the parts of runs, which all have the same number, into one row for each part.
func rowsOf[P any](runs [][]P) [][]*P {
	out := make([][]*P, len(runs[0]))
	for i := range out {
		for _, parts := range runs {
			out[i] = append(out[i], &parts[i])
		}
	}
	return out
}

// poolTable shows how each pool's capacity was used.
func poolTable(runs []*play.Run) report.Table {
	pools := partsOf(runs, func(r *play.Run) []outcome.Pool { return r.Pools })
	return fillRuns(report.Table{Name: "pools", Title: "Capacity, in GPU-hours: offered = used + idle + blocked + down"}, rowsOf(pools), []report.Field[*outcome.Pool]{
		{Name: "pool"},
		{Name: "terms"},
		{Name: "gpu_model", Head: "model", Priority: 3},
		{Name: "offered_gpu_hours", Head: "offered"},
		{Name: "used_gpu_hours", Head: "used"},
		{Name: "idle_gpu_hours", Head: "idle"},
		{Name: "blocked_gpu_hours", Head: "blocked"},
		{Name: "down_gpu_hours", Head: "down", Priority: 2},
		{Name: "cost_usd", Head: "cost"},
		{Name: "stranded_usd", Head: "stranded", Priority: 1},
	})
}

// tenantsShown is the most tenants shown to people; the rest are summed.
const tenantsShown = 10

// tenantTable shows what each tenant pays, largest first. It includes the shares of unused
// capacity, so it sums to the invoice.
func tenantTable(runs []*play.Run, people bool) report.Table {
	most := 0
	if people {
		most = tenantsShown
	}
	return fillRuns(report.Table{Name: "tenants", Title: "Cost by tenant: GPU time held, plus a share of unused capacity"}, play.TenantsByCost(runs, most), []report.Field[*outcome.Tenant]{
		{Name: "tenant"},
		{Name: "jobs"},
		{Name: "used_gpu_hours", Head: "GPU-hours"},
		{Name: "wait_mean_s", Head: "mean wait", Cell: func(t *outcome.Tenant) any { return meanWait(&t.Waits) }},
		{Name: "wait_p95_s", Head: "wait p95", Cell: func(t *outcome.Tenant) any { return wait95(&t.Waits) }},
		{Name: "direct_usd", Head: "held", Priority: 1},
		{Name: "stranded_share_usd", Head: "share of unused", Priority: 2},
		{Name: "cost_usd", Head: "cost"},
	})
}

// tagTables shows what the jobs of each value of each tag pay. The values of a tag sum to the invoice.
func tagTables(runs []*play.Run, people bool) []report.Table {
	most := 0
	if people {
		most = tenantsShown
	}
	rows := play.TagsByCost(runs, most)
	if len(rows) == 0 {
		return nil
	}
	return []report.Table{fillRuns(report.Table{Name: "tags", Title: "Who pays, by tag: the values of each tag sum to the cost"}, rows, []report.Field[*play.TagLine]{
		{Name: "tag"},
		{Name: "value"},
		{Name: "jobs"},
		{Name: "used_gpu_hours", Head: "GPU-hours"},
		{Name: "wait_mean_s", Head: "mean wait", Cell: func(t *play.TagLine) any { return meanWait(&t.Waits) }},
		{Name: "wait_p95_s", Head: "wait p95", Cell: func(t *play.TagLine) any { return wait95(&t.Waits) }},
		{Name: "direct_usd", Head: "held", Priority: 1},
		{Name: "stranded_share_usd", Head: "share of unused", Priority: 2},
		{Name: "cost_usd", Head: "cost"},
	})}
}

// meanWait and wait95 are the cells of the mean and the 95th percentile of waits; nil where no job
// came.
func meanWait(w *outcome.Waits) any {
	if w.Came() == 0 {
		return nil
	}
	return report.MeanTime(w.WaitMean)
}

func wait95(w *outcome.Waits) any {
	switch {
	case w.Came() == 0:
		return nil
	case w.WaitP95 != nil:
		return *w.WaitP95
	}
	return report.AtLeast{Of: *w.WaitP95From}
}

// sizeTable shows waits and turnaround by the GPUs that a job wants. A run without jobs of some
// size counts as 0 jobs.
func sizeTable(runs []*play.Run) report.Table {
	all := partsOf(runs, func(r *play.Run) []outcome.Size { return r.Sizes })
	sizes, parts := outcome.ByKey(all, func(s *outcome.Size) int { return s.Least })
	var rows [][]*outcome.Size
	for _, least := range slices.Sorted(slices.Values(sizes)) {
		row := parts[least]
		for len(row) < len(runs) {
			row = append(row, &outcome.Size{Least: least, Most: row[0].Most})
		}
		rows = append(rows, row)
	}
	return fillRuns(report.Table{Name: "sizes", Title: "Waits and turnaround (submission to end), by job size"}, rows, []report.Field[*outcome.Size]{
		{Name: "gpus", Head: "GPUs", Cell: func(s *outcome.Size) any {
			switch {
			case s.Most == nil:
				return fmt.Sprintf("%d or more", s.Least)
			case *s.Most > s.Least:
				return fmt.Sprintf("%d to %d", s.Least, *s.Most)
			}
			return fmt.Sprint(s.Least)
		}},
		{Name: "jobs"},
		{Name: "never_started_jobs", Head: "never started"},
		{Name: "wait_mean_s", Head: "mean wait", Cell: func(s *outcome.Size) any { return meanWait(&s.Waits) }},
		{Name: "wait_p95_s", Head: "wait p95", Cell: func(s *outcome.Size) any { return wait95(&s.Waits) }},
		{Name: "jct_mean_s", Head: "turnaround", Cell: func(s *outcome.Size) any {
			if s.Jobs == 0 {
				return nil
			}
			return report.MeanTime(s.JCTMean)
		}},
	})
}

// loadTable compares the offered load with the committed capacity.
func loadTable(runs []*play.Run) report.Table {
	type kind struct{ partition, model string }
	all := partsOf(runs, func(r *play.Run) []outcome.Load { return r.Loads })
	kinds, parts := outcome.ByKey(all, func(l *outcome.Load) kind { return kind{l.Partition, l.Model} })
	slices.SortFunc(kinds, func(a, b kind) int {
		return cmp.Or(cmp.Compare(a.partition, b.partition), cmp.Compare(a.model, b.model))
	})
	var rows [][]*outcome.Load
	for _, k := range kinds {
		rows = append(rows, parts[k])
	}
	return fillRuns(report.Table{Name: "load", Title: "Offered load against committed capacity"}, rows, []report.Field[*outcome.Load]{
		{Name: "partition", Cell: func(l *outcome.Load) any { return cmp.Or(l.Partition, "(all)") }},
		{Name: "gpu_model", Head: "model", Cell: func(l *outcome.Load) any { return cmp.Or(l.Model, "(all)") }},
		{Name: "jobs"},
		{Name: "work_gpu_hours", Head: "work"},
		{Name: "committed_gpus", Head: "GPUs"},
		{Name: "offered_load", Head: "load", As: report.AsRatio},
	})
}

// contractTables shows, for each commitment, what was paid, what was used up and what is left.
func contractTables(runs []*play.Run) []report.Table {
	if len(runs[0].Contracts) == 0 {
		return nil
	}
	contracts := partsOf(runs, func(r *play.Run) []outcome.Contract { return r.Contracts })
	return []report.Table{fillRuns(report.Table{Name: "contracts", Title: "Commitments: paid and used up in the run, and what is left"}, rowsOf(contracts), []report.Field[*outcome.Contract]{
		{Name: "contract"},
		{Name: "kind"},
		{Name: "start", Priority: 4, Cell: func(c *outcome.Contract) any { return c.Start.Date() }},
		{Name: "end", Priority: 1, Cell: func(c *outcome.Contract) any { return c.End.Date() }},
		{Name: "upfront_usd", Head: "up front", Priority: 2, Cell: func(c *outcome.Contract) any { return sameInAll{c.Upfront} }},
		{Name: "paid_usd", Head: "paid"},
		{Name: "used_up_usd", Head: "used up"},
		{Name: "utilisation", Head: "used", As: report.AsPercent},
		{Name: "lock_in_usd", Head: "lock-in"},
		{Name: "unpaid_usd", Head: "unpaid", Priority: 3},
	})}
}
