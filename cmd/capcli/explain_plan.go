package main

import (
	"fmt"
	"strings"

	"capcli"
	"capcli/cmd/report"
	"capcli/simulate/plan/rationale"
)

// explainPlan says of a plan that capcli plan wrote why it is the one.
func explainPlan(e *env, o *explainOptions, args []string, text []byte) error {
	d, err := whyPlan(args[0], text, args[1:])
	if err != nil {
		return err
	}
	return emit(e, o.output, rationaleDoc(d))
}

// whyPlan explains the plan in text; more are arguments after the file.
func whyPlan(file string, text []byte, more []string) (*rationale.Answer, error) {
	schema, err := rationale.ReadSchema(file, text)
	switch {
	case err != nil:
		return nil, err
	case schema == "capcli/simulate/v1":
		return nil, &lackError{
			text: file + " is a result without what it was made from, so it cannot be played again",
			hint: "capcli simulate … --out DIR leaves a folder that can: capcli explain DIR/plan " + orOne(more)[0],
		}
	case len(more) > 0 && rationale.IsPlan(schema):
		return nil, &usageError{text: fmt.Sprintf("a plan is explained as a whole, found also %q", more[0]), hint: "capcli explain " + file}
	}
	return rationale.Explain(file, text)
}

// rationaleDoc says the explanation of a plan.
func rationaleDoc(d *rationale.Answer) report.Doc {
	out := report.Doc{Data: d, Lead: rationaleLead(d)}
	why := report.Table{Name: "why", Title: "Why this plan", Columns: []report.Column{{Name: "reason"}}}
	for _, w := range d.Why {
		why.Rows = append(why.Rows, []any{w})
	}
	out.Tables = append(out.Tables, why)
	if len(d.Others) > 0 {
		t := report.Table{Name: "others", Title: "What other plans lose", Columns: []report.Column{
			{Name: "plan"}, {Name: "cost_usd", Head: "cost*"}, {Name: "loses_usd", Head: "loses*"}, {Name: "why", Head: " "},
		}, Most: 12}
		for _, o := range d.Others {
			t.Rows = append(t.Rows, []any{o.Name, usdCell(o.Cost), usdCell(o.Loses), o.Why})
		}
		out.Tables = append(out.Tables, t)
	}
	if len(d.Terms) > 0 {
		t := report.Table{Name: "terms", Title: "The terms on offer", Columns: []report.Column{
			{Name: "term"},
			{Name: "usd_per_gpu_hour", Head: "$/GPU-hour*"},
			{Name: "break_even_utilisation", Head: "pays from a use of"},
			{Name: "gpus_bought", Head: "GPUs bought"},
			{Name: "cost_usd", Head: "cost*"},
		}}
		for _, w := range d.Terms {
			t.Rows = append(t.Rows, []any{w.Term, w.Rate, report.Percent(w.BreakEven), w.GPUs, w.Cost})
		}
		out.Tables = append(out.Tables, t)
	}
	if len(d.Candidates) > 0 {
		t := report.Table{Name: "one_more", Title: "One more GPU, on each term at its best start", Columns: []report.Column{
			{Name: "term"}, {Name: "start"}, {Name: "cost_usd", Head: "cost*"}, {Name: "saves_usd", Head: "saves*"}, {Name: "loses_usd", Head: "loses*"},
		}}
		for _, c := range d.Candidates {
			t.Rows = append(t.Rows, []any{c.Term, c.Start, c.Cost, c.Saves, c.Loses})
		}
		out.Tables = append(out.Tables, t)
	}
	if len(d.Swings) > 0 {
		t := report.Table{Name: "moves", Title: "What moves the cost of this plan", Columns: []report.Column{
			{Name: "change"}, {Name: "difference_usd", Head: "cost*"}, {Name: "held_share", Head: "limits held"},
		}}
		for _, w := range d.Swings {
			var held any
			if w.Held != nil {
				held = report.Percent(*w.Held)
			}
			t.Rows = append(t.Rows, []any{w.What, report.Change{Of: w.Difference}, held})
		}
		out.Tables = append(out.Tables, t)
	}
	for _, u := range d.Unknown {
		out.Notes = append(out.Notes, "not known: "+u)
	}
	for _, a := range d.Assumed {
		out.Notes = append(out.Notes, "* "+a)
	}
	return out
}

func usdCell(u *capcli.USD) any {
	if u == nil {
		return nil
	}
	return *u
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
