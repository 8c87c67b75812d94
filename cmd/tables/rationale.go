package tables

import (
	"fmt"
	"slices"
	"strings"

	"capcli/cmd/report"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/decide/plan/rationale"
)

// RationaleDoc is the report of the explanation of a plan.
func RationaleDoc(d *rationale.Answer) report.Doc {
	out := report.Doc{Data: d, Lead: rationaleLead(d), Tables: []report.Table{
		report.Fill(report.Table{Name: "why", Title: "Why this plan"}, d.Why, []report.Field[string]{
			{Name: "reason", Cell: func(why string) any { return why }},
		}),
		report.Fill(report.Table{Name: "others", Title: "Other plans, and what they cost more", Most: 12}, d.Others, []report.Field[rationale.Other]{
			{Name: "plan"},
			{Name: "cost_usd", Head: "cost*"},
			{Name: "loses_usd", Head: "loses*"},
			{Name: "why", Head: " "},
		}),
		report.Fill(report.Table{Name: "terms", Title: "The terms on offer"}, d.Terms, []report.Field[rationale.Term]{
			{Name: "term"},
			{Name: "usd_per_gpu_hour", Head: "$/GPU-hour*"},
			{Name: "break_even_utilisation", Head: "break-even use", As: report.AsPercent},
			{Name: "gpus_bought", Head: "GPUs bought"},
			{Name: "cost_usd", Head: "cost*"},
		}),
		report.Fill(report.Table{Name: "one_more", Title: "Marginal value of one more GPU on each term, at its best start"}, d.Candidates, []report.Field[rationale.Candidate]{
			{Name: "term"},
			{Name: "start"},
			{Name: "cost_usd", Head: "cost*"},
			{Name: "saves_usd", Head: "saves*"},
			{Name: "loses_usd", Head: "loses*"},
		}),
		report.Fill(report.Table{Name: "moves", Title: "Sensitivity of the cost"}, d.Swings, []report.Field[mix.Swing]{
			{Name: "change"},
			{Name: "difference_usd", Head: "cost*", Cell: func(w mix.Swing) any { return report.Change{Of: w.Difference} }},
			{Name: "held_share", Head: "limits held", As: report.AsPercent},
		}),
	}}
	out.Tables = append(out.Tables[:1], slices.DeleteFunc(out.Tables[1:], func(t report.Table) bool { return len(t.Rows) == 0 })...)
	for _, u := range d.Unknown {
		out.Notes = append(out.Notes, "not known: "+u)
	}
	for _, a := range d.Assumed {
		out.Notes = append(out.Notes, "* "+a)
	}
	return out
}

func rationaleLead(d *rationale.Answer) string {
	var parts []string
	if d.Cost != nil {
		parts = append(parts, fmt.Sprintf("%s costs %s*", d.Subject, d.Cost))
	}
	if d.Next != "" {
		parts = append(parts, d.Next)
	}
	if d.Binding != nil {
		parts = append(parts, "the limit that binds is "+*d.Binding)
	}
	if len(parts) == 0 {
		return d.Subject + "."
	}
	return strings.Join(parts, "; ") + "."
}
