package tables

import (
	"fmt"
	"strings"

	"capcli/cmd/report"
	"capcli/cmd/report/paper"
)

// CheckDoc is the report of a check.
func CheckDoc(name string, c *paper.Recheck) report.Doc {
	lead := fmt.Sprintf("%s is what its %d inputs make, to the byte.", name, len(c.Inputs))
	if !c.Same {
		var changed []string
		for _, in := range c.Inputs {
			if in.State != "same" {
				changed = append(changed, in.File+" is "+in.State)
			}
		}
		if len(changed) == 0 {
			changed = []string{"no input changed"}
		}
		lead = fmt.Sprintf("%s is NOT what its inputs make: %s.", name, strings.Join(changed, ", "))
	}
	d := report.Doc{Lead: lead, Data: c, Notes: c.Differs, Tables: []report.Table{
		report.Fill(report.Table{Name: "inputs", Title: "Inputs"}, c.Inputs, []report.Field[paper.CheckedInput]{
			{Name: "file", Cell: func(in paper.CheckedInput) any { return in.File }},
			{Name: "state", Cell: func(in paper.CheckedInput) any { return report.Verdict{Text: in.State, Good: in.State == "same"} }},
			{Name: "sha256", Cell: func(in paper.CheckedInput) any { return in.SHA256[:min(12, len(in.SHA256))] }},
		}),
	}}
	if c.Version != c.Now {
		d.Notes = append(d.Notes, fmt.Sprintf("it was made by capcli %s, this is %s", c.Version, c.Now))
	}
	return d
}
