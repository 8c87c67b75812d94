package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/prices"
)

func newPricesShow(e *env) *cobra.Command {
	var o priceOptions
	cmd := &cobra.Command{
		Use:   "show KEY",
		Short: "One machine on all terms: discount, break-even use, months to recover, history",
		Long: "KEY is provider/region/machine, with or without a term. A GPU model may stand for the machine where all\n" +
			"machines of it are meant.",
		Example: "  capcli prices show gcp/us-central1/a3-highgpu-8g\n" +
			"  capcli prices show aws/us-east-1/p5.48xlarge/on_demand -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneArg(cmd, args, "the key of a price"); err != nil {
				return err
			}
			return runPricesShow(e, &o, args[0])
		},
		ValidArgsFunction: completePrices,
	}
	addPriceFlags(cmd, &o)
	return cmd
}

func completePrices(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return priceKeys(), cobra.ShellCompDirectiveNoFileComp
}

// shownTerm is one line of show.
type shownTerm struct {
	listedPrice
	BreakEven *float64 `json:"break_even_utilisation"`
	Discount  *float64 `json:"discount"`
	Recover   *float64 `json:"recover_months"`
	WhyNone   string   `json:"break_even_utilisation_why,omitempty"`
}

// shownPrice is one price of the history.
type shownPrice struct {
	Key    string      `json:"key"`
	Date   string      `json:"date"`
	Hourly capcli.USD  `json:"machine_hour_usd"`
	PerGPU capcli.Rate `json:"gpu_hour_usd"`
	Change *float64    `json:"change"` // against the price before
	Source string      `json:"source"`
}

type shownJSON struct {
	Schema   string       `json:"schema"`
	Currency string       `json:"currency"`
	Terms    []shownTerm  `json:"terms"`
	History  []shownPrice `json:"history"`
	Notes    []string     `json:"notes,omitempty"`
}

func runPricesShow(e *env, o *priceOptions, key string) error {
	today, err := o.today(e)
	if err != nil {
		return err
	}
	list, err := readPrices(e, o.file)
	if err != nil {
		return err
	}
	of, err := list.Machine(key)
	if err != nil {
		return err
	}
	data := &shownJSON{Schema: "capcli/price/v1", Currency: "USD", Terms: []shownTerm{}, History: []shownPrice{}}
	var notes []string
	for _, machine := range prices.GroupByMachine(of) {
		for _, t := range prices.CompareTerms(machine) {
			s := shownTerm{listedPrice: describePrice(&t.Quote, today)}
			if t.Listed {
				s.BreakEven, s.Discount = &t.BreakEven, &t.Discount
			} else {
				s.WhyNone = "no on-demand price of this machine is known"
			}
			if t.RecoverMonths > 0 {
				s.Recover = &t.RecoverMonths
			}
			if s.AgeMonths >= o.maxAge {
				notes = append(notes, fmt.Sprintf("%s is dated %s, %d months ago: ask the provider before you decide on it", s.Key, s.Date, s.AgeMonths))
			}
			data.Terms = append(data.Terms, s)
			data.history(&t.Quote)
		}
	}
	data.Notes = notes
	return emit(e, o.output, report.Doc{
		Lead: data.lead(), Tables: data.tables(), Notes: notes, Data: data,
	})
}

// history adds the dates on which a price changed.
func (d *shownJSON) history(q *prices.Quote) {
	if len(q.History) < 2 {
		return
	}
	for i := range q.History {
		h := &q.History[i]
		p := shownPrice{Key: h.Key(), Date: dayOf(h.Date), Hourly: h.Hourly, PerGPU: h.PerGPU(), Source: h.Source}
		if i > 0 && q.History[i-1].Hourly > 0 {
			c := h.Hourly.Float()/q.History[i-1].Hourly.Float() - 1
			p.Change = &c
		}
		d.History = append(d.History, p)
	}
}

// lead says what the machine is, and from what use each contract pays.
func (d *shownJSON) lead() string {
	first := d.Terms[0]
	text := fmt.Sprintf("%s in %s (%s) has %d × %s", first.Machine, first.Region, first.Provider, first.GPUs, first.GPU)
	for _, t := range d.Terms[1:] {
		if t.Machine != first.Machine {
			return fmt.Sprintf("%s in %s (%s): several machines have it.", first.GPU, first.Region, first.Provider)
		}
	}
	var pays []string
	for _, t := range d.Terms {
		if t.BreakEven != nil && t.Term != "on_demand" && t.Term != "spot" {
			pays = append(pays, fmt.Sprintf("%s from %.1f%%", strings.TrimSuffix(t.Term+"-"+t.Payment, "-"), 100**t.BreakEven))
		}
	}
	if len(pays) > 0 {
		text += "; a GPU used for a larger share of the hours is cheaper committed: " + strings.Join(pays, ", ")
	}
	return text + "."
}

func (d *shownJSON) tables() []report.Table {
	terms := report.Table{Name: "terms", Columns: []report.Column{
		{Name: "key", Priority: 5},
		{Name: "machine", Priority: 6},
		{Name: "term"},
		{Name: "gpu_hour_usd", Head: "GPU-hour"},
		{Name: "machine_hour_usd", Head: "machine-hour", Priority: 1},
		{Name: "discount"},
		{Name: "break_even_utilisation", Head: "pays from"},
		{Name: "recover_months", Head: "months to recover", Priority: 2},
		{Name: "date", Priority: 1},
		{Name: "source", Priority: 4},
	}}
	for _, t := range d.Terms {
		terms.Rows = append(terms.Rows, []any{
			t.Key, t.Machine, strings.TrimSuffix(t.Term+"-"+t.Payment, "-"), t.PerGPU, t.Hourly, percentOr(t.Discount), percentOr(t.BreakEven), numberOr(t.Recover), t.Date, t.Source,
		})
	}
	if len(d.History) == 0 {
		return []report.Table{terms}
	}
	history := report.Table{Name: "history", Title: "Dated prices, the last at or before an instant holds", Most: 12, Columns: []report.Column{
		{Name: "key"},
		{Name: "date"},
		{Name: "gpu_hour_usd", Head: "GPU-hour"},
		{Name: "machine_hour_usd", Head: "machine-hour", Priority: 1},
		{Name: "change"},
		{Name: "source", Priority: 3},
	}}
	for _, h := range d.History {
		history.Rows = append(history.Rows, []any{h.Key, h.Date, h.PerGPU, h.Hourly, percentOr(h.Change), h.Source})
	}
	return []report.Table{terms, history}
}

func percentOr(f *float64) any {
	if f == nil {
		return nil
	}
	return report.Percent(*f)
}

func numberOr(f *float64) any {
	if f == nil {
		return nil
	}
	return report.Ratio(*f)
}
