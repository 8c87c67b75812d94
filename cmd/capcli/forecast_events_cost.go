package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/profile/accelerator"
	"capcli/scenarios/events"
	"capcli/scenarios/prices"
)

func newEventsCost(e *env) *cobra.Command {
	var (
		o      outputOptions
		tz     string
		models []string
		own    string
	)
	cmd := &cobra.Command{
		Use:   "cost FILE…",
		Short: "What the campaigns of files cost: GPU-hours and dollars by term, by GPU model",
		Example: "  capcli forecast events cost events.yaml\n" +
			"  capcli forecast events cost events.yaml --gpu H100,A100-80GB,TPU-v5p --table models",
		RunE: func(cmd *cobra.Command, args []string) error {
			plan, err := readEvents(cmd, e, args, tz)
			if err != nil {
				return err
			}
			list, err := ownPrices(e, own)
			if err != nil {
				return err
			}
			costs, err := events.Costs(plan, models, list.Override(prices.Catalogue()))
			if err != nil {
				return err
			}
			return emit(e, o, costsDoc(costs))
		},
	}
	cmd.Flags().StringVar(&tz, "tz", "", "`ZONE` of days and times that state none, where the file names none")
	cmd.Flags().StringSliceVar(&models, "gpu", nil, "also on these GPU `models`, at the same MFU: H100,MI300X,TPU-v5p")
	addPricesFlag(cmd, &own)
	completeList(cmd, "gpu", accelerator.Names)
	addOutputFlags(cmd, &o)
	return cmd
}

// costsDoc shows what campaigns cost.
func costsDoc(list *events.CostList) report.Doc {
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
