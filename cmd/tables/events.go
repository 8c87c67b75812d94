package tables

import (
	"fmt"

	"capcli"
	"capcli/cmd/report"
	"capcli/forecast/outlook"
	"capcli/scenarios/events"
)

// eventSize returns what an event adds: GPUs, with their 80 % range where it is known, or a share
// of the forecast.
func eventSize(e *outlook.Event) (gpus, share any) {
	switch {
	case e.Share != nil:
		return sizeCells(*e.Share, true)
	case e.GPUs != nil && e.SD > 0:
		return report.Range{Mid: *e.GPUs, Lo: e.Lo, Hi: e.Hi}, nil
	case e.GPUs != nil:
		return sizeCells(*e.GPUs, false)
	}
	return nil, nil
}

// sizeCells returns the cell of a size, in GPUs or as a share.
func sizeCells(size float64, relative bool) (gpus, share any) {
	if relative {
		return nil, report.Percent(size)
	}
	return size, nil
}

// EventsDoc lists the events of a plan, and those that are requests again with what is said of them.
func EventsDoc(plan *events.Plan, list []outlook.Event) report.Doc {
	t := report.Table{Name: "events", Columns: []report.Column{
		{Name: "event"},
		{Name: "kind"},
		{Name: "from", Align: report.Left},
		{Name: "to", Align: report.Left},
		{Name: "gpus", Head: "GPUs"},
		{Name: "share"},
		{Name: "gpu_hours", Head: "GPU-hours"},
		{Name: "probability", Priority: 1},
	}}
	for i := range list {
		j := &list[i]
		gpus, share := eventSize(j)
		row := []any{j.Name, j.Kind, j.FirstDay, j.LastDay, gpus, share, nil, report.Percent(j.Probability)}
		if j.Days != "" {
			row[2], row[3] = j.Days, nil
		}
		switch {
		case j.Campaign != nil:
			row[6] = report.Range{Mid: j.Campaign.GPUHours, Lo: j.Campaign.Lo, Hi: j.Campaign.Hi}
		case j.GPUHours != nil:
			row[6] = *j.GPUHours
		}
		t.Rows = append(t.Rows, row)
	}
	asked := outlook.Requests(list)
	requests := report.Fill(report.Table{Name: "requests", Title: "Requests for capacity", Aside: len(asked) == 0}, asked, []report.Field[outlook.Event]{
		{Name: "team"}, {Name: "name", Head: "request"}, {Name: "asked_by", Priority: 2}, {Name: "reason"}, {Name: "without", Head: "without it"}, {Name: "value_usd", Head: "value", Priority: 1},
	})
	return report.Doc{Lead: fmt.Sprintf("%s: %d %s.", plan.File, len(list), capcli.Plural(int64(len(list)), "event")), Tables: []report.Table{t, requests}, Data: outlook.EventList{Schema: "capcli/forecast_events/v1", Events: list}, Notes: plan.Notes}
}

// CostsDoc shows what campaigns cost.
func CostsDoc(list *events.CostList) report.Doc {
	all := report.Table{Name: "campaigns", Columns: []report.Column{
		{Name: "campaign"},
		{Name: "from", Align: report.Left},
		{Name: "gpus", Head: "GPUs"},
		{Name: "days"},
		{Name: "flops", Head: "operations", Priority: 2},
		{Name: "gpu_hours", Head: "GPU-hours"},
		{Name: "cost_usd", Head: "cost"},
		{Name: "probability", Priority: 1},
	}}
	terms := report.Table{Name: "terms", Title: "What it is for", Columns: []report.Column{{Name: "campaign"}, {Name: "term"}, {Name: "gpu_hours", Head: "GPU-hours"}, {Name: "cost_usd", Head: "cost"}}}
	models := report.Table{Name: "models", Title: "On as many GPUs of other models, at the same MFU", Columns: []report.Column{
		{Name: "campaign"}, {Name: "gpu_model", Head: "model"}, {Name: "peak_tflops", Head: "TFLOPS"}, {Name: "gpu_hours", Head: "GPU-hours"}, {Name: "days"}, {Name: "cost_usd", Head: "cost"}, {Name: "price_key", Head: "price", Priority: 1}, {Name: "unknown_why", Head: "not known", Priority: 2},
	}}
	d := report.Doc{Lead: list.Lead(), Data: list}
	for i := range list.Campaigns {
		c := &list.Campaigns[i]
		var cost any
		if t := c.Total; t != nil {
			cost = report.Range{Mid: t.USD, Lo: t.Lo, Hi: t.Hi}
		}
		all.Rows = append(all.Rows, []any{c.Name, c.From, c.GPUs, report.Ratio(c.Hours / 24), events.ShortCount(c.FLOPs), report.Range{Mid: c.GPUHours, Lo: c.Lo, Hi: c.Hi}, cost, report.Percent(c.Probability)})
		for _, p := range c.Parts {
			terms.Rows = append(terms.Rows, []any{c.Name, p.Name, p.GPUHours, nil})
		}
		for _, t := range c.Terms {
			terms.Rows = append(terms.Rows, []any{c.Name, t.Name, nil, report.Range{Mid: t.USD, Lo: t.Lo, Hi: t.Hi}})
		}
		for _, m := range c.Models {
			row := []any{c.Name, m.Model, m.Peak, nil, nil, nil, m.Key, m.Why}
			if m.GPUHours > 0 {
				row[3], row[4] = report.Range{Mid: m.GPUHours, Lo: m.Lo, Hi: m.Hi}, report.Ratio(m.Hours/24)
			}
			if m.USD != nil {
				row[5] = report.Range{Mid: *m.USD, Lo: *m.USDLo, Hi: *m.USDHi}
			}
			models.Rows = append(models.Rows, row)
		}
		if l := c.Law; l != nil {
			d.Notes = append(d.Notes, fmt.Sprintf("campaign %s: %s tokens a parameter; as many operations reach the least loss with %s parameters and %s tokens (%.3f against %.3f; Hoffmann et al. 2022), and a smaller model trained for longer is cheaper to serve",
				c.Name, capcli.BriefNumber(l.PerParameter), events.ShortCount(l.OptimalParameters), events.ShortCount(l.OptimalTokens), l.OptimalLoss, l.Loss))
		}
	}
	d.Tables = []report.Table{all, terms}
	if len(models.Rows) > 0 {
		d.Tables = append(d.Tables, models)
	}
	return d
}
