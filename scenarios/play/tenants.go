package play

import (
	"cmp"
	"fmt"
	"slices"

	"capcli"
	"capcli/scenarios/outcome"
)

// TenantsByCost returns the tenants of several runs, highest cost first, each with its figures in
// each run. Tenants after the first most are summed in one row named by their number; most 0 lists
// all.
func TenantsByCost(runs []*Run, most int) [][]*outcome.Tenant {
	names := tenantNames(runs)
	shown := len(names)
	if most > 0 && shown > most+1 {
		shown = most
	}
	var out [][]*outcome.Tenant
	add := func(label string, names []string) {
		var row []*outcome.Tenant
		for _, r := range runs {
			sum := r.sumTenants(names)
			sum.Name = label
			row = append(row, &sum)
		}
		out = append(out, row)
	}
	for _, name := range names[:shown] {
		add(cmp.Or(name, "(none)"), []string{name})
	}
	if rest := names[shown:]; len(rest) > 0 {
		add(fmt.Sprintf("%d more", len(rest)), rest)
	}
	return out
}

// tenantNames returns the names of the tenants of all runs, highest cost first.
func tenantNames(runs []*Run) []string {
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

// sumTenants sums the tenants of the run with the given names. A sum of several has no waits.
func (r *Run) sumTenants(names []string) outcome.Tenant {
	var out outcome.Tenant
	if r.Priced() { // a tenant without jobs in this run costs nothing
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
