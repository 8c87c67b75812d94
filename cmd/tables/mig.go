package tables

import (
	"cmp"
	"strings"

	"capcli/cmd/report"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/simulate/mig"
)

// sliceTables shows what became of the slices of divided GPUs; none if there are none.
func sliceTables(runs []*play.Run) []report.Table {
	rows := partsOf(runs, func(r *play.Run) []outcome.Slices { return r.Slices })
	if len(rows[0]) == 0 {
		return nil
	}
	return []report.Table{fillRuns(report.Table{Name: "slices", Title: "Instances of divided GPUs (MIG), and slices in use by nobody that no instance could take"}, outcome.UsedSlices(rowsOf(rows)), []report.Field[*outcome.Slices]{
		{Name: "pool"},
		{Name: "profile", Cell: func(s *outcome.Slices) any { return cmp.Or(s.Profile, "(stranded)") }},
		{Name: "starts"},
		{Name: "instance_hours", Head: "instance h", Cell: func(s *outcome.Slices) any { return report.AsTenths(s.InstanceHours) }},
		{Name: "gpu_hours", Head: "GPU-hours"},
		{Name: "layout_changes", Head: "changes", Priority: 1},
	})}
}

// MigFitDoc is the report of which slices a GPU still takes.
func MigFitDoc(r *mig.Fit) report.Doc {
	return report.Doc{Lead: r.Lead(), Data: r, Notes: r.Notes, Tables: []report.Table{
		report.Fill(report.Table{Name: "orders"}, r.Orders(), []report.Field[mig.OrderRow]{
			{Name: "rule", Cell: func(o mig.OrderRow) any { return o.Rule }},
			{Name: "works", Head: "works", Cell: func(o mig.OrderRow) any { return o.Works }},
			{Name: "starts", Cell: func(o mig.OrderRow) any { return o.Starts }},
			{Name: "try", Head: "order that works", Cell: func(o mig.OrderRow) any { return o.Try }},
		}),
		report.Figures("figures", r, []report.Field[*mig.Fit]{
			{Name: "compute_slices", Head: "compute slices"},
			{Name: "memory_slices", Head: "memory slices"},
			{Name: "beside", Head: "one more of these fits", Cell: func(r *mig.Fit) any { return strings.Join(r.Beside, " ") }},
		}),
	}}
}

// MigFleetDoc is the report of how many GPUs a set of slices needs.
func MigFleetDoc(r *mig.Fleet) report.Doc {
	return report.Doc{Lead: r.Lead(), Data: r, Notes: r.Notes, Tables: []report.Table{
		report.Figures("figures", r, []report.Field[*mig.Fleet]{
			{Name: "min_gpus", Head: "fewest GPUs"},
			{Name: "proved", Head: "proved"},
			{Name: "largest_first", Head: "GPUs with the largest first"},
			{Name: "in_order", Head: "GPUs in the given order"},
			{Name: "whole_gpus", Head: "whole GPUs"},
			{Name: "compute_slices", Head: "compute slices used"},
			{Name: "free_compute_slices", Head: "compute slices free"},
			{Name: "stranded_compute_slices", Head: "of these stranded"},
			{Name: "free_memory_slices", Head: "memory slices free"},
		}),
		report.Fill(report.Table{Name: "layouts", Title: "One way to divide the fewest GPUs"}, r.Layouts, []report.Field[mig.Same]{
			{Name: "gpus", Head: "GPUs"},
			{Name: "instances", Cell: func(s mig.Same) any { return s.Spell() }},
		}),
	}}
}

// MigListDoc is the report of the profiles of slices.
func MigListDoc(r *mig.List) report.Doc {
	return report.Doc{Lead: r.Lead(), Data: r, Tables: []report.Table{
		report.Fill(report.Table{Name: "profiles"}, r.Profiles, []report.Field[mig.ProfileInfo]{
			{Name: "profile"},
			{Name: "compute_slices", Head: "compute"},
			{Name: "memory_slices", Head: "memory"},
			{Name: "usable_mib", Head: "usable MiB"},
			{Name: "max_instances", Head: "most"},
			{Name: "starts", Cell: func(p mig.ProfileInfo) any { return mig.Spelled(p.Starts) }},
			{Name: "driver_starts", Head: "driver's order", Priority: 1, Cell: func(p mig.ProfileInfo) any { return mig.Spelled(p.Driver) }},
			{Name: "id", Priority: 2},
		}),
		report.Fill(report.Table{Name: "full_mixes", Title: "Mixes to which no instance can be added", Most: 12}, r.FullMixes(), []report.Field[string]{
			{Name: "instances", Cell: func(s string) any { return s }},
		}),
	}}
}
