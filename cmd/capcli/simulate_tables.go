package main

import (
	"cmp"
	"fmt"
	"slices"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/play"
	"capcli/simulate"
)

// limitTable says which limits of the scenario the run held.
func limitTable(r *play.Run) report.Table {
	t := report.Table{Name: "limits", Columns: []report.Column{{Name: "limit"}, {Name: "found"}, {Name: "held"}}}
	for k, c := range r.Case.Scenario.Limits {
		t.Rows = append(t.Rows, []any{c.String(), metricText(r, c.Metric), heldShare(r.Case, []*play.Run{r}, k)})
	}
	return t
}

// poolTable says what became of each pool's capacity.
func poolTable(runs []*play.Run) report.Table {
	t := report.Table{Name: "pools", Title: "Capacity, in GPU-hours: offered = used + idle + blocked + down", Columns: []report.Column{
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
	}}
	first := runs[0]
	for p := range first.Result.Record.Pools {
		pool := &first.Result.Record.Pools[p]
		time := func(of func(*simulate.Span) capcli.GPUTime) any {
			return cellOf(runs, func(r *play.Run) any { return of(&r.Invoice.ByPool[p].Time) })
		}
		t.Rows = append(t.Rows, []any{
			pool.Name, first.Pools[p].Terms, pool.GPUModel,
			time(func(s *simulate.Span) capcli.GPUTime { return s.Offered }), time(func(s *simulate.Span) capcli.GPUTime { return s.Used }),
			time(func(s *simulate.Span) capcli.GPUTime { return s.Idle }), time(func(s *simulate.Span) capcli.GPUTime { return s.Blocked }),
			time(func(s *simulate.Span) capcli.GPUTime { return s.Down }),
			cellOf(runs, func(r *play.Run) any { return knownCell(r, r.Invoice.ByPool[p].Cost) }),
			cellOf(runs, func(r *play.Run) any { return knownCell(r, r.Invoice.ByPool[p].Stranded()) }),
		})
	}
	return t
}

// tenantsShown is how many tenants people see; the rest are summed.
const tenantsShown = 10

// tenantRow is one tenant of one run, or several summed.
type tenantRow struct {
	jobs                int64
	used                capcli.GPUTime
	wait                *simulate.Stats // nil of several, and where none of its jobs came
	direct, share, cost capcli.USD
}

// sumTenants returns the sum of some tenants of the run.
func sumTenants(r *play.Run, names []string) tenantRow {
	var out tenantRow
	for i := range r.Result.Tenants {
		t, b := &r.Result.Tenants[i], &r.Invoice.ByTenant[i]
		if !slices.Contains(names, t.Name) {
			continue
		}
		out.jobs += t.Jobs
		out.used += b.Used
		out.direct, out.share, out.cost = out.direct+b.Direct, out.share+b.Share, out.cost+b.Total
		if len(names) == 1 && t.Jobs > 0 {
			out.wait = &t.Wait
		}
	}
	return out
}

// tenantTable says who pays what, largest first. Shares of what nobody held are
// in it, so it sums to the invoice.
func tenantTable(runs []*play.Run, people bool) report.Table {
	t := report.Table{Name: "tenants", Title: "Who pays: time held, and a share of what nobody held", Columns: []report.Column{
		{Name: "tenant"},
		{Name: "jobs"},
		{Name: "used_gpu_hours", Head: "GPU-hours"},
		{Name: "wait_mean_s", Head: "mean wait"},
		{Name: "wait_p95_s", Head: "wait p95"},
		{Name: "direct_usd", Head: "held", Priority: 1},
		{Name: "stranded_share_usd", Head: "share of unused", Priority: 2},
		{Name: "cost_usd", Head: "cost"},
	}}
	names := tenantsByCost(runs)
	shown := len(names)
	if people && shown > tenantsShown+1 {
		shown = tenantsShown
	}
	add := func(label string, names []string) {
		of := func(get func(*play.Run, *tenantRow) any) any {
			return cellOf(runs, func(r *play.Run) any {
				row := sumTenants(r, names)
				return get(r, &row)
			})
		}
		t.Rows = append(t.Rows, []any{
			label,
			of(func(_ *play.Run, x *tenantRow) any { return x.jobs }),
			of(func(_ *play.Run, x *tenantRow) any { return x.used }),
			of(func(_ *play.Run, x *tenantRow) any { return meanWait(x.wait) }),
			of(func(_ *play.Run, x *tenantRow) any { return wait95(x.wait) }),
			of(func(r *play.Run, x *tenantRow) any { return knownCell(r, x.direct) }),
			of(func(r *play.Run, x *tenantRow) any { return knownCell(r, x.share) }),
			of(func(r *play.Run, x *tenantRow) any { return knownCell(r, x.cost) }),
		})
	}
	for _, name := range names[:shown] {
		add(cmp.Or(name, "(none)"), []string{name})
	}
	if rest := names[shown:]; len(rest) > 0 {
		add(fmt.Sprintf("%d more", len(rest)), rest)
	}
	return t
}

// tenantsByCost are the tenants of all runs, those that pay most first.
func tenantsByCost(runs []*play.Run) []string {
	cost, used := map[string]capcli.USD{}, map[string]capcli.GPUTime{}
	var names []string
	for _, r := range runs {
		for i := range r.Invoice.ByTenant {
			name := r.Result.Tenants[i].Name
			if _, known := cost[name]; !known {
				names = append(names, name)
			}
			cost[name] += r.Invoice.ByTenant[i].Total
			used[name] += r.Invoice.ByTenant[i].Used
		}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(cost[b], cost[a]), cmp.Compare(used[b], used[a]), cmp.Compare(a, b))
	})
	return names
}

// meanWait and wait95 are cells of waits, nil where no job came.
func meanWait(w *simulate.Stats) any {
	if w == nil || w.Jobs == 0 {
		return nil
	}
	return report.MeanTime(w.Mean)
}

func wait95(w *simulate.Stats) any {
	switch {
	case w == nil || w.Jobs == 0:
		return nil
	case w.Known(95):
		return w.P95
	}
	return report.AtLeast{Of: w.P95}
}

// sizeTable says how long jobs waited and took, by the GPUs that they want.
func sizeTable(runs []*play.Run) report.Table {
	t := report.Table{Name: "sizes", Title: "Waits and turnaround (submission to end), by the GPUs that a job wants", Columns: []report.Column{
		{Name: "gpus", Head: "GPUs"},
		{Name: "jobs"},
		{Name: "never_started_jobs", Head: "never started"},
		{Name: "wait_mean_s", Head: "mean wait"},
		{Name: "wait_p95_s", Head: "wait p95"},
		{Name: "jct_mean_s", Head: "turnaround"},
	}}
	type bounds struct{ least, most int }
	var all []bounds
	for _, r := range runs {
		for i := range r.Result.Sizes {
			if b := (bounds{r.Result.Sizes[i].Least, r.Result.Sizes[i].Most}); !slices.Contains(all, b) {
				all = append(all, b)
			}
		}
	}
	slices.SortFunc(all, func(a, b bounds) int { return cmp.Compare(a.least, b.least) })
	for _, b := range all {
		of := func(get func(*simulate.SizeResult) any) any {
			return cellOf(runs, func(r *play.Run) any {
				i := slices.IndexFunc(r.Result.Sizes, func(s simulate.SizeResult) bool { return s.Least == b.least })
				if i < 0 {
					return get(&simulate.SizeResult{})
				}
				return get(&r.Result.Sizes[i])
			})
		}
		text := fmt.Sprint(b.least)
		switch {
		case b.least == 0:
		case b.most == 0:
			text += " or more"
		case b.most > b.least:
			text += fmt.Sprintf(" to %d", b.most)
		}
		t.Rows = append(t.Rows, []any{
			text,
			of(func(s *simulate.SizeResult) any { return s.Jobs }),
			of(func(s *simulate.SizeResult) any { return s.Wait.Never() }),
			of(func(s *simulate.SizeResult) any { return meanWait(&s.Wait) }),
			of(func(s *simulate.SizeResult) any { return wait95(&s.Wait) }),
			of(func(s *simulate.SizeResult) any {
				if s.Jobs == 0 {
					return nil
				}
				return report.MeanTime(s.MeanJCT)
			}),
		})
	}
	return t
}

// knownCell is an amount for a table, unknown where prices are missing.
func knownCell(r *play.Run, u capcli.USD) any {
	if !r.Priced() {
		return nil
	}
	return u
}

// loadTable sets the work that came against the committed capacity.
func loadTable(runs []*play.Run) report.Table {
	t := report.Table{Name: "load", Title: "Work that came against committed capacity, over the time of the arrivals", Columns: []report.Column{
		{Name: "partition"},
		{Name: "gpu_model", Head: "model"},
		{Name: "jobs"},
		{Name: "work_gpu_hours", Head: "work"},
		{Name: "committed_gpus", Head: "GPUs"},
		{Name: "offered_load", Head: "load"},
	}}
	type kind struct{ partition, model string }
	var all []kind
	for _, r := range runs {
		for i := range r.Result.Loads {
			if k := (kind{r.Result.Loads[i].Partition, r.Result.Loads[i].GPUModel}); !slices.Contains(all, k) {
				all = append(all, k)
			}
		}
	}
	slices.SortFunc(all, func(a, b kind) int {
		return cmp.Or(cmp.Compare(a.partition, b.partition), cmp.Compare(a.model, b.model))
	})
	for _, k := range all {
		of := func(get func(*simulate.Load) any) any {
			return cellOf(runs, func(r *play.Run) any {
				i := slices.IndexFunc(r.Result.Loads, func(l simulate.Load) bool { return l.Partition == k.partition && l.GPUModel == k.model })
				if i < 0 {
					return nil
				}
				return get(&r.Result.Loads[i])
			})
		}
		t.Rows = append(t.Rows, []any{
			cmp.Or(k.partition, "(all)"), cmp.Or(k.model, "(all)"),
			of(func(l *simulate.Load) any { return l.Jobs }),
			of(func(l *simulate.Load) any { return l.Work }),
			of(func(l *simulate.Load) any { return int64(l.GPUs) }),
			of(func(l *simulate.Load) any {
				if l.Capacity == 0 {
					return nil
				}
				return report.Ratio(l.Offered())
			}),
		})
	}
	return t
}
