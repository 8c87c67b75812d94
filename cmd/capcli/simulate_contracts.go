package main

import (
	"fmt"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/play"
	"capcli/simulate/outcome"
)

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
