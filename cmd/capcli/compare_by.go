package main

import (
	"fmt"
	"maps"
	"slices"

	"capcli"
	"capcli/cmd/report"
)

// compareByJSON is what compare --by writes: schema capcli/compare_by/v1.
type compareByJSON struct {
	Schema string         `json:"schema"`
	By     string         `json:"by"`
	Rows   []compareByRow `json:"rows"`
}

type compareByRow struct {
	Plan  string     `json:"plan"`
	Part  string     `json:"part"`
	Cost  capcli.USD `json:"cost_usd"`
	Share float64    `json:"share"`
}

// compareBy splits the cost of each plan's first run. The parts of a plan sum to
// its cost, to the millionth.
func compareBy(plans []savedPlan, by string) report.Doc {
	data := &compareByJSON{Schema: "capcli/compare_by/v1", By: by, Rows: []compareByRow{}}
	t := report.Table{Name: "by_" + by, Columns: []report.Column{
		{Name: "plan"},
		{Name: by},
		{Name: "cost_usd", Head: "cost"},
		{Name: "share"},
	}}
	for i := range plans {
		r := &plans[i].runs[0]
		parts := map[string]capcli.USD{}
		switch by {
		case "tenant":
			maps.Copy(parts, r.Cost.ByTenant)
			if u := r.Cost.Unallocated; u != nil && *u != 0 {
				parts["(nobody)"] += *u
			}
		case "tier":
			maps.Copy(parts, r.Cost.ByTier)
		case "month":
			maps.Copy(parts, r.Cost.ByMonth)
		default:
			for _, p := range r.Pools {
				if p.Cost != nil {
					parts[p.Name] += *p.Cost
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			share := 0.0
			if t := r.Cost.Total; t != nil && *t != 0 {
				share = parts[name].Float() / t.Float()
			}
			data.Rows = append(data.Rows, compareByRow{plans[i].name, name, parts[name], share})
			t.Rows = append(t.Rows, []any{plans[i].name, name, parts[name], report.Percent(share)})
		}
	}
	d := report.Doc{Title: "capcli compare", Tables: []report.Table{t}, Data: data}
	for i := range plans {
		if n := len(plans[i].runs); n > 1 {
			d.Notes = append(d.Notes, fmt.Sprintf("%s: the split is of the first of its %d runs, seed %d, not of their mean", plans[i].name, n, plans[i].runs[0].Seed))
		}
	}
	return d
}
