package tables

import (
	"capcli"
	"capcli/cmd/report"
	"capcli/profile/scaling"
)

// scalingRow is a point of a curve.
type scalingRow struct {
	*scaling.Curve
	scaling.Point
}

// ScalingDoc is the report of how jobs scale over GPUs.
func ScalingDoc(r *scaling.Result) report.Doc {
	var rows []scalingRow
	for i := range r.Curves {
		for _, p := range r.Curves[i].Points {
			rows = append(rows, scalingRow{&r.Curves[i], p})
		}
	}
	share := func(v capcli.Figure) any { return report.Percent(float64(v)) }
	points := report.Fill(report.Table{Name: "curves"}, rows, []report.Field[scalingRow]{
		{Name: "job_type", Head: "job", Align: report.Left, Cell: func(x scalingRow) any { return x.Name }},
		{Name: "gpu_model", Align: report.Left, Cell: func(x scalingRow) any { return x.Model }},
		{Name: "gpus", Head: "GPUs", Cell: func(x scalingRow) any { return x.GPUs }},
		{Name: "steps_per_s", Head: "a second", Cell: func(x scalingRow) any { return x.PerS }},
		{Name: "unit", Align: report.Left, Cell: func(x scalingRow) any { return x.Unit }},
		{Name: "low", Priority: 1, Cell: func(x scalingRow) any { return x.Low }},
		{Name: "high", Priority: 1, Cell: func(x scalingRow) any { return x.High }},
		{Name: "runs", Cell: func(x scalingRow) any { return x.Runs }},
		{Name: "speedup", Cell: func(x scalingRow) any { return x.Speedup }},
		{Name: "efficiency", Cell: func(x scalingRow) any { return share(x.Efficiency) }},
	})
	left := report.Fill(report.Table{Name: "left_out", Aside: true}, r.Left, []report.Field[scaling.LeftOut]{
		{Name: "job_id", Head: "job", Align: report.Left},
		{Name: "why", Align: report.Left},
	})
	return report.Doc{Lead: r.Lead(), Notes: r.Notes(), Data: r, Tables: []report.Table{points, left}}
}
