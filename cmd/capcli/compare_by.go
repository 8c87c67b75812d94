package main

import (
	"maps"
	"slices"

	"capcli"
	"capcli/cmd/report"
	"capcli/simulate/outcome"
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

// compareBy splits the cost of each plan, in the mean of its runs. The parts of one
// run sum to its cost, to the millionth.
func compareBy(plans []savedPlan, by string) report.Doc {
	data := &compareByJSON{Schema: "capcli/compare_by/v1", By: by, Rows: []compareByRow{}}
	t := report.Table{Name: "by_" + by, Columns: []report.Column{
		{Name: "plan"},
		{Name: by},
		{Name: "cost_usd", Head: "cost"},
		{Name: "share"},
	}}
	most := 1
	for i := range plans {
		p := &plans[i]
		most = max(most, len(p.runs))
		parts, total := map[string][]capcli.USD{}, capcli.USD(0)
		for k := range p.runs {
			for name, usd := range costParts(&p.runs[k], by) {
				if parts[name] == nil {
					parts[name] = make([]capcli.USD, len(p.runs))
				}
				parts[name][k] = usd
			}
			if u := p.runs[k].Cost.Total; u != nil {
				total += *u
			}
		}
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			var sum capcli.USD
			var all []outcome.Figure
			for _, usd := range parts[name] {
				sum += usd
				all = append(all, outcome.Figure{Value: usd.Float()})
			}
			share, n := 0.0, capcli.USD(len(all))
			if total != 0 {
				share = sum.Float() / total.Float()
			}
			mean := (sum + n/2) / n
			cell := any(mean)
			if s, _ := outcome.SpreadOver(all); n > 1 {
				cell = report.Range{Mid: mean, Lo: moneyCell(s.Lo.Value), Hi: moneyCell(s.Hi.Value)}
			}
			data.Rows = append(data.Rows, compareByRow{p.name, name, mean, share})
			t.Rows = append(t.Rows, []any{p.name, name, cell, report.Percent(share)})
		}
	}
	d := report.Doc{Title: "capcli compare", Tables: []report.Table{t}, Data: data}
	if most > 1 {
		d.Notes = append(d.Notes, "costs are the means of the runs of each plan; ranges hold 90% of them")
	}
	d.Notes = append(d.Notes, lengthsNote(plans))
	return d
}

// costParts are the cost of a run by tenant, pool, tier or month.
func costParts(r *outcome.Outcome, by string) map[string]capcli.USD {
	out := map[string]capcli.USD{}
	switch by {
	case "tenant":
		maps.Copy(out, r.Cost.ByTenant)
		if u := r.Cost.Unallocated; u != nil && *u != 0 {
			out["(nobody)"] += *u
		}
	case "tier":
		maps.Copy(out, r.Cost.ByTier)
	case "month":
		maps.Copy(out, r.Cost.ByMonth)
	default:
		for _, p := range r.Pools {
			if p.Cost != nil {
				out[p.Name] += *p.Cost
			}
		}
	}
	return out
}
