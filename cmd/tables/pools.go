package tables

import (
	"cmp"
	"fmt"
	"slices"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/simulate"
)

// limitTable shows which limits of the scenario the run held.
func limitTable(r *play.Run) report.Table {
	t := report.Table{Name: "limits", Columns: []report.Column{{Name: "limit"}, {Name: "found"}, {Name: "held"}}}
	for k, c := range r.Case.Scenario.Limits {
		t.Rows = append(t.Rows, []any{c.String(), r.MetricText(c.Metric), heldCell([]*play.Run{r}, k)})
	}
	return t
}

// partsOf returns of(r) for each run r.
func partsOf[P any](runs []*play.Run, of func(*play.Run) []P) [][]P { return capcli.Map(runs, of) }

// rowsOf turns the parts of runs, which all have the same number, into one row for each part.
func rowsOf[P any](runs [][]P) [][]*P {
	out := make([][]*P, len(runs[0]))
	for i := range out {
		for _, parts := range runs {
			out[i] = append(out[i], &parts[i])
		}
	}
	return out
}

// poolTable shows how each pool's capacity was used.
func poolTable(runs []*play.Run) report.Table {
	pools := partsOf(runs, func(r *play.Run) []outcome.Pool { return r.Pools })
	return fillRuns(report.Table{Name: "pools", Title: "Capacity, in GPU-hours: offered = used + idle + blocked + down"}, rowsOf(pools), []report.Field[*outcome.Pool]{
		{Name: "pool"},
		{Name: "terms"},
		{Name: "gpu_model", Head: "model", Priority: 3},
		{Name: "offered_gpu_hours", Head: "offered"},
		{Name: "used_gpu_hours", Head: "used"},
		{Name: "idle_gpu_hours", Head: "idle"},
		{Name: "blocked_gpu_hours", Head: "blocked"},
		{Name: "down_gpu_hours", Head: "down", Priority: 2},
		{Name: "cost_usd", Head: "cost"},
		{Name: "stranded_usd", Head: "stranded", Priority: 1},
	})
}

// tenantsShown is the most tenants shown to people; the rest are summed.
const tenantsShown = 10

// tenantTable shows what each tenant pays, largest first. It includes the shares of unused
// capacity, so it sums to the invoice.
func tenantTable(runs []*play.Run, people bool) report.Table {
	most := 0
	if people {
		most = tenantsShown
	}
	return fillRuns(report.Table{Name: "tenants", Title: "Cost by tenant: GPU time held, plus a share of unused capacity"}, play.TenantsByCost(runs, most), []report.Field[*outcome.Tenant]{
		{Name: "tenant"},
		{Name: "jobs"},
		{Name: "used_gpu_hours", Head: "GPU-hours"},
		{Name: "wait_mean_s", Head: "mean wait", Cell: func(t *outcome.Tenant) any { return meanWait(&t.Waits) }},
		{Name: "wait_p95_s", Head: "wait p95", Cell: func(t *outcome.Tenant) any { return wait95(&t.Waits) }},
		{Name: "direct_usd", Head: "held", Priority: 1},
		{Name: "stranded_share_usd", Head: "share of unused", Priority: 2},
		{Name: "cost_usd", Head: "cost"},
	})
}

// tagTables shows what the jobs of each value of each tag pay. The values of a tag sum to the invoice.
func tagTables(runs []*play.Run, people bool) []report.Table {
	most := 0
	if people {
		most = tenantsShown
	}
	rows := play.TagsByCost(runs, most)
	if len(rows) == 0 {
		return nil
	}
	return []report.Table{fillRuns(report.Table{Name: "tags", Title: "Who pays, by tag: the values of each tag sum to the cost"}, rows, []report.Field[*play.TagLine]{
		{Name: "tag"},
		{Name: "value"},
		{Name: "jobs"},
		{Name: "used_gpu_hours", Head: "GPU-hours"},
		{Name: "wait_mean_s", Head: "mean wait", Cell: func(t *play.TagLine) any { return meanWait(&t.Waits) }},
		{Name: "wait_p95_s", Head: "wait p95", Cell: func(t *play.TagLine) any { return wait95(&t.Waits) }},
		{Name: "direct_usd", Head: "held", Priority: 1},
		{Name: "stranded_share_usd", Head: "share of unused", Priority: 2},
		{Name: "cost_usd", Head: "cost"},
	})}
}

// meanWait and wait95 are the cells of the mean and the 95th percentile of waits; nil where no job
// came.
func meanWait(w *outcome.Waits) any {
	if w.Came() == 0 {
		return nil
	}
	return report.MeanTime(w.WaitMean)
}

func wait95(w *outcome.Waits) any {
	switch {
	case w.Came() == 0:
		return nil
	case w.WaitP95 != nil:
		return *w.WaitP95
	}
	return report.AtLeast{Of: *w.WaitP95From}
}

// sizeTable shows waits and turnaround by the GPUs that a job wants. A run without jobs of some
// size counts as 0 jobs.
func sizeTable(runs []*play.Run) report.Table {
	all := partsOf(runs, func(r *play.Run) []outcome.Size { return r.Sizes })
	sizes, parts := outcome.ByKey(all, func(s *outcome.Size) int { return s.Least })
	var rows [][]*outcome.Size
	for _, least := range slices.Sorted(slices.Values(sizes)) {
		row := parts[least]
		for len(row) < len(runs) {
			row = append(row, &outcome.Size{Least: least, Most: row[0].Most})
		}
		rows = append(rows, row)
	}
	return fillRuns(report.Table{Name: "sizes", Title: "Waits and turnaround (submission to end), by job size"}, rows, []report.Field[*outcome.Size]{
		{Name: "gpus", Head: "GPUs", Cell: func(s *outcome.Size) any {
			switch {
			case s.Most == nil:
				return fmt.Sprintf("%d or more", s.Least)
			case *s.Most > s.Least:
				return fmt.Sprintf("%d to %d", s.Least, *s.Most)
			}
			return fmt.Sprint(s.Least)
		}},
		{Name: "jobs"},
		{Name: "never_started_jobs", Head: "never started"},
		{Name: "wait_mean_s", Head: "mean wait", Cell: func(s *outcome.Size) any { return meanWait(&s.Waits) }},
		{Name: "wait_p95_s", Head: "wait p95", Cell: func(s *outcome.Size) any { return wait95(&s.Waits) }},
		{Name: "jct_mean_s", Head: "turnaround", Cell: func(s *outcome.Size) any {
			if s.Jobs == 0 {
				return nil
			}
			return report.MeanTime(s.JCTMean)
		}},
	})
}

// loadTable compares the offered load with the committed capacity.
func loadTable(runs []*play.Run) report.Table {
	type kind struct{ partition, model string }
	all := partsOf(runs, func(r *play.Run) []outcome.Load { return r.Loads })
	kinds, parts := outcome.ByKey(all, func(l *outcome.Load) kind { return kind{l.Partition, l.Model} })
	slices.SortFunc(kinds, func(a, b kind) int {
		return cmp.Or(cmp.Compare(a.partition, b.partition), cmp.Compare(a.model, b.model))
	})
	rows := capcli.Map(kinds, func(k kind) []*outcome.Load { return parts[k] })
	return fillRuns(report.Table{Name: "load", Title: "Offered load against committed capacity"}, rows, []report.Field[*outcome.Load]{
		{Name: "partition", Cell: func(l *outcome.Load) any { return cmp.Or(l.Partition, "(all)") }},
		{Name: "gpu_model", Head: "model", Cell: func(l *outcome.Load) any { return cmp.Or(l.Model, "(all)") }},
		{Name: "jobs"},
		{Name: "work_gpu_hours", Head: "work"},
		{Name: "committed_gpus", Head: "GPUs"},
		{Name: "offered_load", Head: "load", As: report.AsRatio},
	})
}

// contractTables shows, for each commitment, what was paid, what was used up and what is left.
func contractTables(runs []*play.Run) []report.Table {
	if len(runs[0].Contracts) == 0 {
		return nil
	}
	contracts := partsOf(runs, func(r *play.Run) []outcome.Contract { return r.Contracts })
	return []report.Table{fillRuns(report.Table{Name: "contracts", Title: "Commitments: paid and used up in the run, and what is left"}, rowsOf(contracts), []report.Field[*outcome.Contract]{
		{Name: "contract"},
		{Name: "kind"},
		{Name: "start", Priority: 4, Cell: func(c *outcome.Contract) any { return c.Start.Date() }},
		{Name: "end", Priority: 1, Cell: func(c *outcome.Contract) any { return c.End.Date() }},
		{Name: "upfront_usd", Head: "up front", Priority: 2, Cell: func(c *outcome.Contract) any { return sameInAll{c.Upfront} }},
		{Name: "paid_usd", Head: "paid"},
		{Name: "used_up_usd", Head: "used up"},
		{Name: "utilisation", Head: "used", As: report.AsPercent},
		{Name: "lock_in_usd", Head: "lock-in"},
		{Name: "unpaid_usd", Head: "unpaid", Priority: 3},
	})}
}

// nearTables show contention, over what jobs were spread and the room in domains; none where a run has none.
func nearTables(runs []*play.Run) (out []report.Table) {
	if runs[0].Shared != nil {
		rows := rowsOf(partsOf(runs, func(r *play.Run) []outcome.ContentionRow { return r.Shared.Rows }))
		out = append(out, fillRuns(report.Table{Name: "contention", Title: "Contention: what running jobs share beside GPUs"}, rows, []report.Field[*outcome.ContentionRow]{
			{Name: "pool"}, {Name: "resource"}, {Name: "stays"}, {Name: "slowed_stays", Head: "slowed"}, {Name: "short_s", Head: "short for"}, {Name: "contention_gpu_hours", Head: "lost"},
		}))
	}
	if runs[0].Near == nil {
		return out
	}
	if len(runs[0].Near.Spread) > 0 {
		rows := rowsOf(partsOf(runs, func(r *play.Run) []outcome.NearSpread { return r.Near.Spread }))
		out = append(out, fillRuns(report.Table{Name: "spread", Title: "Spread: starts by the narrowest level that held the whole job"}, rows, []report.Field[*outcome.NearSpread]{
			{Name: "shape", Cell: func(s *outcome.NearSpread) any {
				if s.Shape == "" {
					return "(others)"
				}
				return s.Shape
			}},
			{Name: "level"},
			{Name: "starts"},
			{Name: "gangs", Head: "over a node", Priority: 1},
			{Name: "gpu_hours", Head: "GPU-hours"},
			{Name: "slowdown_gpu_hours", Head: "lost to slowdown"},
		}))
	}
	if len(runs[0].Near.Domains) > 0 {
		rows := rowsOf(partsOf(runs, func(r *play.Run) []outcome.DomainRoom { return r.Near.Domains }))
		out = append(out, fillRuns(report.Table{Name: "domains", Title: "Room in domains, in GPUs: the largest gang that one had room for"}, rows, []report.Field[*outcome.DomainRoom]{
			{Name: "pool"},
			{Name: "level"},
			{Name: "domains", Head: "number", Priority: 1},
			{Name: "domain_gpus", Head: "GPUs of one"},
			{Name: "free_gpus_mean", Head: "free in pool", Cell: func(d *outcome.DomainRoom) any { return report.AsTenths(d.Free) }},
			{Name: "largest_gang_mean", Head: "gang, mean", Cell: func(d *outcome.DomainRoom) any { return report.AsTenths(d.Largest) }},
			{Name: "largest_gang_p50", Head: "gang, median", Priority: 2},
			{Name: "largest_gang_p5", Head: "gang, p5"},
			{Name: "stranded_gpus_mean", Head: "stranded", Cell: func(d *outcome.DomainRoom) any { return report.AsTenths(d.Stranded) }},
		}))
	}
	return out
}

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

// boughtTables shows the pools of bought nodes; none if there are none.
func boughtTables(runs []*play.Run) []report.Table {
	pools := partsOf(runs, func(r *play.Run) []outcome.Bought { return r.Bought })
	if len(pools[0]) == 0 {
		return nil
	}
	return []report.Table{fillRuns(report.Table{Name: "bought", Title: "Bought nodes: node-hours are billed whole; waits are job-hours"}, rowsOf(pools), []report.Field[*outcome.Bought]{
		{Name: "pool"},
		{Name: "nodes_ordered", Head: "ordered"},
		{Name: "nodes_max", Head: "most", Priority: 1},
		{Name: "node_hours", Head: "node-hours", Cell: func(b *outcome.Bought) any { return report.AsTenths(b.NodeHours) }},
		{Name: "utilisation", Head: "used", Cell: func(b *outcome.Bought) any { return orNothing(b.Utilisation, report.AsPercent) }},
		{Name: "lead_mean_s", Head: "lead", Priority: 1, Cell: func(b *outcome.Bought) any { return orNothing(b.LeadMean, report.AsSeconds) }},
		{Name: "orders_refused", Head: "refused"},
		{Name: "nodes_lost", Head: "lost", Priority: 2},
		{Name: "jobs_moved", Head: "moved", Priority: 2},
		{Name: "wait_for_lead_job_hours", Head: "wait: lead", Cell: func(b *outcome.Bought) any { return report.AsTenths(b.LeadWait) }},
		{Name: "wait_for_shortage_job_hours", Head: "shortage", Cell: func(b *outcome.Bought) any { return report.AsTenths(b.ShortWait) }},
	})}
}

// orNothing returns the cell of a figure, or nil if it is unknown.
func orNothing(v *float64, as func(float64) any) any {
	if v == nil {
		return nil
	}
	return as(*v)
}

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
