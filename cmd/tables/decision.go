// Package tables shows answers of the library as reports: their lead, tables and notes.
package tables

import (
	"fmt"
	"slices"
	"strings"

	"capcli/cmd/report"
	"capcli/scenarios/decide"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/decide/plan/rationale"
	"capcli/scenarios/kinds"
)

// Decision is the report of a decision: the answer, its alternatives, what is bought when, the same at
// other sellers, and the steps.
func Decision(r *decide.Result) report.Doc {
	d := report.Doc{Lead: r.Answer, Data: r, Notes: r.Remarks()}
	d.Tables = []report.Table{
		report.Fill(report.Table{Name: "plans", Title: "The plan and its alternatives, over " + r.Length.String()}, r.Alternatives, []report.Field[decide.Choice]{
			{Name: "plan"},
			{Name: "committed_gpus", Head: "GPUs"},
			{Name: "place_gpus", Head: "fenced", Omit: !r.Stacks()},
			{Name: "as", Priority: 2},
			{Name: "patience", Priority: 3},
			{Name: "cost_usd", Head: "cost"},
			{Name: "difference_usd", Head: "difference"},
			{Name: "cost_worst_5_percent_usd", Head: "worst 5%", Priority: 1},
			{Name: "on_demand_usd", Head: "on demand", Priority: 2},
			{Name: "stranded_usd", Head: "unused", Priority: 2},
			{Name: "unserved_share", Head: "not served", As: report.AsPercent, Priority: 2},
			{Name: "wait_mean_s", Head: "mean wait", As: report.AsSeconds, Priority: 1},
			{Name: "wait_p95_s", Head: "p95 wait", As: report.AsSeconds, Priority: 2},
			{Name: "held_share", Head: "limits held", As: report.AsPercent, Priority: 1},
		}),
		report.Fill(report.Table{Name: "purchases", Title: "What the plan buys, and when"}, r.Purchases(), []report.Field[market.Purchase]{
			{Name: "term"},
			{Name: "start", Cell: func(p market.Purchase) any { return p.Start.Cell() }},
			{Name: "end", Cell: func(p market.Purchase) any { return p.End.Cell() }},
			{Name: "gpus", Head: "GPUs"},
			{Name: "usd_per_gpu_hour", Head: "a GPU-hour"},
			{Name: "cost_usd", Head: "cost"},
		}),
		report.Fill(report.Table{Name: "sellers", Title: "The same work at the listed prices of other sellers"}, r.Sellers, []report.Field[decide.Seller]{
			{Name: "provider"},
			{Name: "on_demand_usd_per_gpu_hour", Head: "on demand"},
			{Name: "committed_gpus", Head: "GPUs"},
			{Name: "term", Priority: 1},
			{Name: "cost_usd", Head: "cost"},
			{Name: "difference_usd", Head: "difference"},
			{Name: "on_demand_key", Head: "price", Priority: 3},
		}),
		requestTable(r.Requests),
		report.Fill(report.Table{Name: "steps", Title: "The steps; each can be run alone"}, r.Steps, []report.Field[decide.Step]{
			{Name: "step"},
			{Name: "command"},
			{Name: "files", Priority: 3, Cell: func(s decide.Step) any { return strings.Join(s.Files, " ") }},
		}),
	}
	if r.Tiers != nil {
		showTiers(&d, r)
	}
	if r.Plan == nil && len(r.Ways) > 0 {
		d.Tables = []report.Table{report.Fill(report.Table{Name: "ways", Title: "What each way to count the log answers"}, r.Ways, []report.Field[decide.Way]{
			{Name: "as_if"},
			{Name: "futures_mean_gpus", Head: "GPUs in use"},
			{Name: "committed_gpus", Head: "GPUs"},
			{Name: "term", Priority: 1},
			{Name: "cost_usd", Head: "cost"},
			{Name: "counts", Head: "log", Priority: 2},
			{Name: "failure", Priority: 2},
		})}
	}
	return d
}

// requestTable says what each planned event takes of the plan, and adds to its cost.
func requestTable(list []decide.Ask) report.Table {
	return report.Fill(report.Table{Name: "requests", Title: "What each request takes of the plan, and adds to its cost", Aside: len(list) == 0}, list, []report.Field[decide.Ask]{
		{Name: "event", Head: "request"},
		{Name: "team"},
		{Name: "gpu_hours", Head: "GPU-hours", As: report.AsCount},
		{Name: "committed_share", Head: "committed", As: report.AsPercent},
		{Name: "marginal_cost_usd", Head: "cost"},
		{Name: "fits", Priority: 1},
		{Name: "value_usd", Head: "value", Priority: 2},
		{Name: "without", Head: "without it", Priority: 3},
	})
}

// showTiers puts the tiers before the plan without them.
func showTiers(d *report.Doc, r *decide.Result) {
	d.Lead = strings.Join(r.Tiers.Sentences, " ")
	d.Tables[0].Title = "Without tiers, one rule for all jobs, over " + r.Length.String()
	d.Tables = append(tierTables(r.Tiers), d.Tables...)
	d.Notes = append(d.Notes, r.Tiers.Assumed...)
	for _, text := range r.Tiers.Kinds.CannotTell {
		d.Notes = append(d.Notes, "cannot be told: "+text)
	}
}

// tierTables are the tables of three tiers: what to get, what else costs, and the kinds of work with the rules that told
// them apart.
func tierTables(t *decide.Tiers) []report.Table {
	out := []report.Table{
		report.Fill(report.Table{Name: "tiers", Title: "The tiers, over " + t.Length.String()}, t.Tiers, []report.Field[decide.Tier]{
			{Name: "tier"},
			{Name: "first_gpus", Head: "GPUs"},
			{Name: "mean_gpus", Head: "mean"},
			{Name: "term"},
			{Name: "seller", Priority: 2},
			{Name: "share", As: report.AsPercent},
			{Name: "cost_usd", Head: "cost"},
			{Name: "usd_per_useful_hour", Head: "useful GPU-hour"},
			{Name: "stranded_usd", Head: "unused", Priority: 1},
			{Name: "restarts", Priority: 2},
			{Name: "redone_gpu_hours", Head: "redone", Priority: 1},
			{Name: "wait_p95_s", Head: "p95 wait", As: report.AsSeconds, Priority: 1},
		}),
		report.Fill(report.Table{Name: "totals", Title: "The same work in other ways"}, t.Totals, []report.Field[decide.TierTotal]{
			{Name: "plan"},
			{Name: "committed_gpus", Head: "GPUs"},
			{Name: "cost_usd", Head: "cost"},
			{Name: "difference_usd", Head: "difference"},
			{Name: "usd_per_useful_hour", Head: "useful GPU-hour"},
		}),
		report.Fill(report.Table{Name: "kinds", Title: "The work of the log by kind"}, t.Kinds.Kinds, []report.Field[kinds.KindRow]{
			{Name: "kind", Cell: func(k kinds.KindRow) any { return string(k.Kind) }}, {Name: "jobs"}, {Name: "gpu_hours", Head: "GPU-hours"}, {Name: "share", As: report.AsPercent}, {Name: "mean_gpus", Head: "GPUs"},
		}),
		report.Fill(report.Table{Name: "rules", Title: "Which rule told how much"}, usedRules(t.Kinds.Rules), []report.Field[kinds.RuleRow]{
			{Name: "rule"}, {Name: "kind", Cell: func(r kinds.RuleRow) any { return string(r.Kind) }}, {Name: "jobs"}, {Name: "gpu_hours", Head: "GPU-hours"}, {Name: "looks_at", Head: "looks at", Priority: 1}, {Name: "threshold", Priority: 2}, {Name: "because", Priority: 3},
		}),
	}
	if len(t.Kinds.Verdicts) > 0 {
		out = append(out, report.Fill(report.Table{Name: "verdicts", Title: "What recordings found"}, t.Kinds.Verdicts, []report.Field[kinds.VerdictRow]{
			{Name: "verdict"}, {Name: "jobs"}, {Name: "gpu_hours", Head: "GPU-hours"}, {Name: "left_out_gpus", Head: "GPUs not bought"}, {Name: "input_wait_gpus", Head: "GPUs waiting"}, {Name: "do", Priority: 2},
		}))
	}
	return out
}

// usedRules are the rules that fitted a job.
func usedRules(rules []kinds.RuleRow) []kinds.RuleRow {
	return slices.DeleteFunc(slices.Clone(rules), func(r kinds.RuleRow) bool { return r.Jobs == 0 })
}

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
