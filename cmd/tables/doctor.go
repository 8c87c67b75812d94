package tables

import (
	"fmt"
	"strings"

	"capcli/cmd/report"
	"capcli/profile/nvml"
)

// DoctorDoc is the report of what can be read of GPUs here.
func DoctorDoc(d *nvml.Document) report.Doc {
	out := report.Doc{Lead: fmt.Sprintf("%s: GPUs can be sampled.", d.Host), Data: d}
	if !d.OK {
		out.Lead = fmt.Sprintf("%s: no GPU can be sampled.", d.Host)
	}
	out.Tables = []report.Table{report.Fill(report.Table{Name: "checks"}, d.Checks, []report.Field[nvml.Check]{
		{Name: "name", Head: "", Align: report.Left},
		{Name: "state", Head: "", Align: report.Left, Cell: func(c nvml.Check) any { return report.Verdict{Text: string(c.State), Good: c.State == nvml.Good} }},
		{Name: "text", Head: "found", Align: report.Left},
		{Name: "fix", Head: "what to do", Align: report.Left, Priority: 1},
	})}
	if len(d.GPUs) > 0 {
		out.Tables = append(out.Tables, report.Fill(report.Table{Name: "gpus", Title: "metrics of each GPU", Most: shownGPUs}, d.GPUs, []report.Field[nvml.SeenGPU]{
			{Name: "gpu", Align: report.Left, Cell: func(g nvml.SeenGPU) any { return strings.TrimSpace(fmt.Sprintf("%d %s", g.GPU, g.Profile)) }},
			{Name: "gpu_model", Head: "model", Align: report.Left},
			{Name: "measured", Head: "metrics", Cell: func(g nvml.SeenGPU) any { return len(g.Measured) }},
			{Name: "missing", Align: report.Left, Cell: func(g nvml.SeenGPU) any { return TextCell(g.MissingText()) }},
		}))
	}
	return out
}
