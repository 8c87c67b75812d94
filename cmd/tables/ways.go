package tables

import (
	"cmp"

	"capcli/cmd/report"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
)

// wayTable shows in which ways the jobs with shapes ran; nil if there are none.
func wayTable(runs []*play.Run) []report.Table {
	rows := outcome.WaysOfRuns(partsOf(runs, func(r *play.Run) []outcome.Way { return r.Ways }))
	if len(rows) == 0 {
		return nil
	}
	return []report.Table{fillRuns(report.Table{Name: "ways", Title: "Jobs with a shape, by the way that they took; work in GPU-hours as asked"}, rows, []report.Field[*outcome.Way]{
		{Name: "shape"},
		{Name: "gpu_model", Head: "model", Cell: func(w *outcome.Way) any { return cmp.Or(w.GPUModel, "(any)") }},
		{Name: "gpus", Head: "GPUs"},
		{Name: "starts"},
		{Name: "finished_jobs", Head: "ended"},
		{Name: "held_gpu_hours", Head: "held"},
		{Name: "work_gpu_hours", Head: "work"},
		{Name: "lost_gpu_hours", Head: "lost", Priority: 2},
		{Name: "work_per_gpu_hour", Head: "work/held"},
	})}
}
