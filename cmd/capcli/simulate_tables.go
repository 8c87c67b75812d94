package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/play"
	"capcli/simulate/outcome"
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
	for p := range runs[0].Pools {
		of := func(get func(*outcome.Pool) any) any {
			return cellOf(runs, func(r *play.Run) any { return get(&r.Pools[p]) })
		}
		pool := &runs[0].Pools[p]
		t.Rows = append(t.Rows, []any{
			pool.Name, pool.Terms, pool.Model,
			of(func(x *outcome.Pool) any { return x.Offered }), of(func(x *outcome.Pool) any { return x.Used }),
			of(func(x *outcome.Pool) any { return x.Idle }), of(func(x *outcome.Pool) any { return x.Blocked }),
			of(func(x *outcome.Pool) any { return x.Down }),
			of(func(x *outcome.Pool) any { return knownCell(x.Cost) }), of(func(x *outcome.Pool) any { return knownCell(x.Stranded) }),
		})
	}
	return t
}

// tenantsShown is how many tenants people see; the rest are summed.
const tenantsShown = 10

// sumTenants returns the sum of some tenants of the run. Of several it has no waits.
func sumTenants(r *play.Run, names []string) outcome.Tenant {
	var out outcome.Tenant
	if r.Priced() { // one that did nothing in this run costs nothing
		out.Direct, out.Share, out.Cost = new(capcli.USD), new(capcli.USD), new(capcli.USD)
	}
	for i := range r.Tenants {
		t := &r.Tenants[i]
		if !slices.Contains(names, t.Name) {
			continue
		}
		if len(names) == 1 {
			return *t
		}
		out.Jobs += t.Jobs
		out.Used += t.Used
		if r.Priced() {
			*out.Direct += *t.Direct
			*out.Share += *t.Share
			*out.Cost += *t.Cost
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
		of := func(get func(*outcome.Tenant) any) any {
			return cellOf(runs, func(r *play.Run) any {
				sum := sumTenants(r, names)
				return get(&sum)
			})
		}
		t.Rows = append(t.Rows, []any{
			label,
			of(func(x *outcome.Tenant) any { return x.Jobs }),
			of(func(x *outcome.Tenant) any { return x.Used }),
			of(func(x *outcome.Tenant) any { return meanWait(&x.Waits) }),
			of(func(x *outcome.Tenant) any { return wait95(&x.Waits) }),
			of(func(x *outcome.Tenant) any { return knownCell(x.Direct) }),
			of(func(x *outcome.Tenant) any { return knownCell(x.Share) }),
			of(func(x *outcome.Tenant) any { return knownCell(x.Cost) }),
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
	all := map[int]outcome.Size{}
	for _, r := range runs {
		for _, size := range r.Sizes {
			all[size.Least] = size
		}
	}
	for _, least := range slices.Sorted(maps.Keys(all)) {
		of := func(get func(*outcome.Size) any) any {
			return cellOf(runs, func(r *play.Run) any {
				i := slices.IndexFunc(r.Sizes, func(s outcome.Size) bool { return s.Least == least })
				if i < 0 {
					return get(&outcome.Size{})
				}
				return get(&r.Sizes[i])
			})
		}
		text := fmt.Sprint(least)
		switch most := all[least].Most; {
		case most == nil:
			text += " or more"
		case *most > least:
			text += fmt.Sprintf(" to %d", *most)
		}
		t.Rows = append(t.Rows, []any{
			text,
			of(func(s *outcome.Size) any { return s.Jobs }),
			of(func(s *outcome.Size) any { return s.NeverStarted }),
			of(func(s *outcome.Size) any { return meanWait(&s.Waits) }),
			of(func(s *outcome.Size) any { return wait95(&s.Waits) }),
			of(func(s *outcome.Size) any {
				if s.Jobs == 0 {
					return nil
				}
				return report.MeanTime(s.JCTMean)
			}),
		})
	}
	return t
}

// knownCell is an amount for a table, nil where it is not known.
func knownCell(u *capcli.USD) any {
	if u == nil {
		return nil
	}
	return *u
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
		for i := range r.Loads {
			if k := (kind{r.Loads[i].Partition, r.Loads[i].Model}); !slices.Contains(all, k) {
				all = append(all, k)
			}
		}
	}
	slices.SortFunc(all, func(a, b kind) int {
		return cmp.Or(cmp.Compare(a.partition, b.partition), cmp.Compare(a.model, b.model))
	})
	for _, k := range all {
		of := func(get func(*outcome.Load) any) any {
			return cellOf(runs, func(r *play.Run) any {
				i := slices.IndexFunc(r.Loads, func(l outcome.Load) bool { return l.Partition == k.partition && l.Model == k.model })
				if i < 0 {
					return nil
				}
				return get(&r.Loads[i])
			})
		}
		t.Rows = append(t.Rows, []any{
			cmp.Or(k.partition, "(all)"), cmp.Or(k.model, "(all)"),
			of(func(l *outcome.Load) any { return l.Jobs }),
			of(func(l *outcome.Load) any { return l.Work }),
			of(func(l *outcome.Load) any { return int64(l.GPUs) }),
			of(func(l *outcome.Load) any {
				if l.Load == nil {
					return nil
				}
				return report.Ratio(*l.Load)
			}),
		})
	}
	return t
}

// contractTables says what was paid for commitments, what was used up of them
// and what is left of them.
func contractTables(runs []*play.Run) []report.Table {
	first := runs[0]
	if len(first.Contracts) == 0 {
		return nil
	}
	t := report.Table{Name: "contracts", Title: "Commitments: paid in the run, used up in it, and yet to come", Columns: []report.Column{
		{Name: "contract"},
		{Name: "kind"},
		{Name: "start", Priority: 4},
		{Name: "end", Priority: 1},
		{Name: "upfront_usd", Head: "up front", Priority: 2},
		{Name: "paid_usd", Head: "paid"},
		{Name: "used_up_usd", Head: "used up"},
		{Name: "utilisation", Head: "used"},
		{Name: "lock_in_usd", Head: "yet to expire"},
		{Name: "unpaid_usd", Head: "yet to pay", Priority: 3},
	}}
	for i := range first.Contracts {
		c := &first.Contracts[i]
		of := func(get func(*outcome.Contract) any) any {
			return cellOf(runs, func(r *play.Run) any { return get(&r.Contracts[i]) })
		}
		t.Rows = append(t.Rows, []any{
			c.Name, c.Kind, c.Start.Std().Format("2006-01-02"), c.End.Std().Format("2006-01-02"), c.Upfront,
			of(func(c *outcome.Contract) any { return c.Paid }), of(func(c *outcome.Contract) any { return c.UsedUp }),
			of(func(c *outcome.Contract) any {
				if c.Utilisation == nil {
					return nil
				}
				return report.Percent(*c.Utilisation)
			}),
			of(func(c *outcome.Contract) any { return c.Unexpired }), of(func(c *outcome.Contract) any { return c.Unpaid }),
		})
	}
	return []report.Table{t}
}

// owedNotes say which commitments outlast the run, of which it is charged its own
// time alone, and what of them remains.
func owedNotes(r *play.Run) []string {
	var out []string
	end := r.Start + capcli.Time(r.Ended)
	for i := range r.Owed {
		c := &r.Owed[i]
		if c.End <= end || c.Unexpired == 0 {
			continue
		}
		text := fmt.Sprintf("%s (%s) goes on until %s and is charged here for the time of the run alone: ", c.Name, c.Kind, c.End.Std().Format("2006-01-02"))
		switch c.Unpaid {
		case c.Unexpired:
			text += fmt.Sprintf("%s remains to be paid after it", c.Unpaid)
		case 0:
			text += fmt.Sprintf("%s of what is paid is for the time after it", c.Unexpired)
		default:
			text += fmt.Sprintf("%s is for the time after it, of which %s remains to be paid", c.Unexpired, c.Unpaid)
		}
		out = append(out, text)
	}
	return out
}
