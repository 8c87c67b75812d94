package tables

import (
	"capcli/cmd/report"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/simulate"
)

// placeTables shows where jobs ran, what moved, what they were kept out of, and starts that were put off;
// none where the runs have none of it.
func placeTables(runs []*play.Run) []report.Table {
	var out []report.Table
	if runs[0].Places != nil {
		out = append(out, placesTable(runs), movesTable(runs))
		kept := linesByKey(partsOf(runs, func(r *play.Run) []simulate.Barred { return r.Places.Kept }), func(b *simulate.Barred) string { return b.Pool })
		if len(kept) > 0 {
			out = append(out, fillRuns(report.Table{Name: "kept_out", Title: "Pools that jobs could not use for where their data may be, or for latency"}, kept, []report.Field[*simulate.Barred]{
				{Name: "pool"},
				{Name: "place"},
				{Name: "jobs_kept_out_by_residency", Head: "jobs: residency"},
				{Name: "jobs_kept_out_by_latency", Head: "latency"},
			}))
		}
	}
	if runs[0].PutOff != nil {
		out = append(out, shiftTable(runs))
	}
	return out
}

func placesTable(runs []*play.Run) report.Table {
	places := partsOf(runs, func(r *play.Run) []outcome.PlaceUse { return r.Places.Places })
	return fillRuns(report.Table{Name: "places", Title: "Places: finished jobs, and the data that moved for them"}, rowsOf(places), []report.Field[*outcome.PlaceUse]{
		{Name: "place", Cell: func(p *outcome.PlaceUse) any { return tenantName(p.Place) }},
		{Name: "finished_jobs", Head: "jobs"},
		{Name: "used_gpu_hours", Head: "GPU-hours"},
		{Name: "transfers"},
		{Name: "moved_in_gib", Head: "GiB in", Cell: func(p *outcome.PlaceUse) any { return report.AsTenths(p.In) }},
		{Name: "moved_back_gib", Head: "GiB back", Cell: func(p *outcome.PlaceUse) any { return report.AsTenths(p.Out) }, Priority: 1},
		{Name: "transfer_s", Head: "waited for data", Cell: func(p *outcome.PlaceUse) any { return report.AsSeconds(float64(p.Time)) }},
		{Name: "copies_found", Head: "found", Priority: 1},
		{Name: "copies_dropped", Head: "dropped", Priority: 2},
	})
}

func movesTable(runs []*play.Run) report.Table {
	moves := linesByKey(partsOf(runs, func(r *play.Run) []outcome.DataMove { return r.Places.Moves }), func(m *outcome.DataMove) [2]string { return [2]string{m.From, m.To} })
	return fillRuns(report.Table{Name: "moves", Title: "Data moved between regions, without storage"}, moves, []report.Field[*outcome.DataMove]{
		{Name: "from"},
		{Name: "to"},
		{Name: "transfers"},
		{Name: "gib", Head: "GiB", Cell: func(m *outcome.DataMove) any { return report.AsTenths(m.GiB) }},
		{Name: "moved_usd", Head: "cost"},
	})
}

func shiftTable(runs []*play.Run) report.Table {
	rules := partsOf(runs, func(r *play.Run) []outcome.Shift { return r.PutOff.Rules })
	return fillRuns(report.Table{Name: "shift", Title: "Starts put off: what their jobs would have emitted or cost at once, and did"}, rowsOf(rules), []report.Field[*outcome.Shift]{
		{Name: "rule"},
		{Name: "finished_jobs", Head: "jobs"},
		{Name: "at_once_co2e_kg", Head: "kg at once", Cell: func(s *outcome.Shift) any { return kilograms(s.AtOnce) }},
		{Name: "co2e_kg", Head: "kg", Cell: func(s *outcome.Shift) any { return kilograms(s.Done) }},
		{Name: "least_co2e_kg", Head: "least", Cell: func(s *outcome.Shift) any { return kilograms(s.Least) }, Priority: 1},
		{Name: "at_once_usd", Head: "$ at once", Priority: 1},
		{Name: "usd", Head: "$", Priority: 1},
		{Name: "saved_share", Head: "saved", Cell: func(s *outcome.Shift) any { return orNothing(s.Saved, report.AsPercent) }},
		{Name: "saved_share_bound", Head: "at most", Cell: func(s *outcome.Shift) any { return orNothing(s.Bound, report.AsPercent) }},
	})
}

// kilograms returns the cell of an amount of carbon, or nil if it is none.
func kilograms(c *billing.Carbon) any {
	if c == nil {
		return nil
	}
	return c.Kg()
}
