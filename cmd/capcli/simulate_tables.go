package main

import (
	"cmp"
	"fmt"
	"slices"

	"capcli"
	"capcli/cmd/report"
)

// limitTable says which limits of the scenario the run held.
func (r *outcome) limitTable() report.Table {
	t := report.Table{Name: "limits", Columns: []report.Column{{Name: "limit"}, {Name: "found"}, {Name: "held"}}}
	for k, c := range r.plan.scenario.Limits {
		t.Rows = append(t.Rows, []any{c.String(), r.figure(c.Metric), heldShare(r.plan, []*outcome{r}, k)})
	}
	return t
}

// poolTable says what became of each pool's capacity.
func (r *outcome) poolTable() report.Table {
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
	for p := range r.result.Record.Pools {
		pool, l := &r.result.Record.Pools[p], &r.invoice.ByPool[p]
		t.Rows = append(t.Rows, []any{
			pool.Name, r.terms(p), pool.GPUModel, l.Time.Offered, l.Time.Used, l.Time.Idle, l.Time.Blocked, l.Time.Down, r.cell(l.Cost), r.cell(l.Stranded()),
		})
	}
	return t
}

// tenantsShown is how many tenants people see; the rest are summed.
const tenantsShown = 10

// tenantTable says who pays what, largest first. Shares of what nobody held are
// in it, so it sums to the invoice.
func (r *outcome) tenantTable(people bool) report.Table {
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
	order := make([]int, len(r.result.Tenants))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &r.invoice.ByTenant[a], &r.invoice.ByTenant[b]
		return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(y.Used, x.Used), cmp.Compare(x.Name, y.Name))
	})
	var rest struct {
		n, jobs             int64
		used                capcli.GPUTime
		direct, share, cost capcli.USD
	}
	for k, i := range order {
		tr, b := &r.result.Tenants[i], &r.invoice.ByTenant[i]
		if people && k >= tenantsShown && len(order) > tenantsShown+1 {
			rest.n++
			rest.jobs += tr.Jobs
			rest.used += b.Used
			rest.direct, rest.share, rest.cost = rest.direct+b.Direct, rest.share+b.Share, rest.cost+b.Total
			continue
		}
		t.Rows = append(t.Rows, []any{
			cmp.Or(tr.Name, "(none)"), tr.Jobs, b.Used, report.MeanTime(tr.Wait.Mean), tr.Wait.P95, r.cell(b.Direct), r.cell(b.Share), r.cell(b.Total),
		})
	}
	if rest.n > 0 {
		t.Rows = append(t.Rows, []any{fmt.Sprintf("%d more", rest.n), rest.jobs, rest.used, nil, nil, r.cell(rest.direct), r.cell(rest.share), r.cell(rest.cost)})
	}
	return t
}

// cell is an amount for a table, unknown where prices are missing.
func (r *outcome) cell(u capcli.USD) any {
	if !r.priced() {
		return nil
	}
	return u
}

// loadTable sets the work that came against the committed capacity.
func (r *outcome) loadTable() report.Table {
	t := report.Table{Name: "load", Title: "Work that came against committed capacity, over the time of the arrivals", Columns: []report.Column{
		{Name: "partition"},
		{Name: "gpu_model", Head: "model"},
		{Name: "jobs"},
		{Name: "work_gpu_hours", Head: "work"},
		{Name: "committed_gpus", Head: "GPUs"},
		{Name: "offered_load", Head: "load"},
	}}
	for i := range r.result.Loads {
		l := &r.result.Loads[i]
		var load any
		if l.Capacity > 0 {
			load = report.Ratio(l.Offered())
		}
		t.Rows = append(t.Rows, []any{cmp.Or(l.Partition, "(all)"), cmp.Or(l.GPUModel, "(all)"), l.Jobs, l.Work, int64(l.GPUs), load})
	}
	return t
}
