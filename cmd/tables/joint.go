package tables

import (
	"capcli/cmd/report"
	"capcli/scenarios/decide/plan/joint"
)

// JointDoc is the report of a joint plan.
func JointDoc(r *joint.Result) report.Doc {
	return report.Doc{Lead: r.Lead(), Data: r, Notes: r.Notes, Tables: append(jointUse(r),
		report.Figures("totals", r, []report.Field[*joint.Result]{
			{Name: "cost_usd", Head: "cost"},
			{Name: "cost_usd_per_year", Head: "a year"},
			{Name: "commitments_usd", Head: "commitments"},
			{Name: "on_demand_usd", Head: "on demand"},
			{Name: "all_on_demand_cost_usd", Head: "all on demand"},
			{Name: "bound_usd", Head: "lower bound"},
			{Name: "gap", Head: "optimality gap, at most", As: report.AsPercent},
		}),
	)}
}

func jointPurchases(list []joint.Purchase) report.Table {
	return report.Fill(report.Table{Name: "purchases", Title: "What to buy"}, list, []report.Field[joint.Purchase]{
		{Name: "start"},
		{Name: "end"},
		{Name: "offer"},
		{Name: "product", Priority: 2},
		{Name: "gpu_model", Head: "model"},
		{Name: "gpus", Head: "GPUs"},
		{Name: "commitment_usd_per_hour", Head: "$/hour"},
		{Name: "cost_usd", Head: "cost"},
		{Name: "ended_early", Head: "ended early", Priority: 3},
		{Name: "extended", Priority: 3},
	})
}

// jointUse returns the tables of what is bought, what moves, and what serves each model.
func jointUse(r *joint.Result) []report.Table {
	fields, tables := []report.Field[joint.Model]{
		{Name: "gpu_model", Head: "model"},
		{Name: "wanted_gpu_hours", Head: "demand"},
		{Name: "reserved_gpu_hours", Head: "reservations"},
		{Name: "plan_gpu_hours", Head: "savings plans"},
		{Name: "on_demand_gpu_hours", Head: "on demand"},
	}, []report.Table{jointPurchases(r.Purchases)}
	if len(r.Moves) > 0 {
		fields = append(fields, []report.Field[joint.Model]{{Name: "moved_out_gpu_hours", Head: "moved out"}, {Name: "moved_in_gpu_hours", Head: "moved in"}}...)
		tables = append(tables, report.Fill(report.Table{Name: "moves", Title: "GPU-hours that move, between changes of what is bought"}, r.Moves, []report.Field[joint.Moved]{
			{Name: "start"},
			{Name: "end"},
			{Name: "from_gpu_model", Head: "from"},
			{Name: "to_gpu_model", Head: "to"},
			{Name: "may_move_gpu_hours", Head: "may move"},
			{Name: "moved_gpu_hours", Head: "moved"},
			{Name: "arrived_gpu_hours", Head: "as hours of to"},
			{Name: "moving_hours", Head: "in hours"},
		}))
	}
	return append(tables, report.Fill(report.Table{Name: "gpu_models", Title: "GPU-hours of each model, by what serves them"}, r.Models, fields))
}
