package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/profile/demand"
	planning "capcli/simulate/plan"
)

// savingsOptions are the flags of capcli plan savings.
type savingsOptions struct {
	output outputOptions
	curve  planCurveOptions // for how the use is read
	skus   []string
}

func newPlanSavings(e *env) *cobra.Command {
	var o savingsOptions
	cmd := &cobra.Command{
		Use:   "savings USE",
		Short: "The best savings plan in dollars an hour for the use of several kinds of GPU",
		Long: "USE is a table (unique_id, ds, y) with the GPUs of each kind by the hour. A savings plan is so many dollars an hour,\n" +
			"used or lost each hour; it covers the kind with the highest discount first. Its best size is found exactly.",
		Example: "  capcli plan savings use.csv --sku h100=3.90:2.45 --sku a100=1.80:1.25",
		Args:    wantArgs("USE"),
		RunE:    func(cmd *cobra.Command, args []string) error { return runPlanSavings(cmd.Context(), e, &o, args[0]) },
	}
	addOutputFlags(cmd, &o.output)
	f := cmd.Flags()
	f.StringArrayVar(&o.skus, "sku", nil, "a series and its prices a GPU-hour, `NAME=ON_DEMAND:PLAN` (repeat)")
	h := &o.curve.history
	f.StringVar(&h.gaps, "gaps", "", "steps without a value: `WHAT`, error (default), zero, linear or previous")
	f.StringVar(&h.id, "id-col", "", "`NAME` of the column that tells series apart (unique_id)")
	f.StringVar(&h.time, "time-col", "", "`NAME` of the column of times (ds)")
	f.StringVar(&h.value, "value-col", "", "`NAME` of the column of values (y)")
	return cmd
}

// parseSKU reads h100=3.90:2.45.
func parseSKU(text string) (planning.SKU, error) {
	name, prices, ok := strings.Cut(text, "=")
	list, under, two := strings.Cut(prices, ":")
	if !ok || !two || strings.TrimSpace(name) == "" {
		return planning.SKU{}, &usageError{text: fmt.Sprintf("--sku wants NAME=ON_DEMAND:PLAN, found %q", text), hint: "--sku h100=3.90:2.45"}
	}
	var k keyedRates
	var err error
	s := planning.SKU{Name: strings.TrimSpace(name)}
	if s.OnDemand, err = k.parseRate("--sku "+s.Name, list); err != nil {
		return s, err
	}
	if s.Plan, err = k.parseRate("--sku "+s.Name, under); err == nil && s.Plan == 0 {
		err = &usageError{text: "--sku " + s.Name + ": what the plan covers has a price"}
	}
	return s, err
}

func runPlanSavings(ctx context.Context, e *env, o *savingsOptions, file string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	if len(o.skus) == 0 {
		return &usageError{text: "plan savings wants prices: --sku is missing", hint: "--sku h100=3.90:2.45"}
	}
	var skus []planning.SKU
	for _, text := range o.skus {
		s, err := parseSKU(text)
		if err != nil {
			return err
		}
		skus = append(skus, s)
	}
	h := &o.curve.history
	h.measure, h.whole = "demand", true
	if err := h.check(); err != nil {
		return err
	}
	hs, err := h.loadFile(ctx, e, file)
	if err != nil {
		return err
	}
	used, err := useOf(hs, skus)
	if err != nil {
		return err
	}
	best, err := planning.NewSavings(skus, used)
	if errors.Is(err, capcli.ErrOverflow) {
		return &capcli.InputError{File: file, Text: err.Error(), Hint: "check the units of the use and of the prices", Err: err}
	}
	if err != nil {
		return fmt.Errorf("planning %s: %w", file, err)
	}
	return emit(e, o.output, savingsDoc(best, hs))
}

// useOf gives the use of each hour, in the order of skus.
func useOf(hs *demand.Histories, skus []planning.SKU) ([][]int64, error) {
	if hs.Clock && hs.Step.Length() != capcli.Hour {
		return nil, &capcli.InputError{File: hs.Inputs[0], Text: fmt.Sprintf("expected the use of each hour, found steps of %s", hs.Step), Hint: "a savings plan is used or lost each hour"}
	}
	at := map[string]*demand.History{}
	for _, h := range hs.List {
		at[h.Name] = h
	}
	var used [][]int64
	var first *demand.History
	for i, s := range skus {
		h := at[s.Name]
		if h == nil {
			return nil, &usageError{text: fmt.Sprintf("--sku %s: %s has no such series", s.Name, hs.Inputs[0])}
		}
		if first == nil {
			first, used = h, make([][]int64, len(h.Values))
		}
		if len(h.Values) != len(used) || h.Stamp(0) != first.Stamp(0) {
			return nil, &capcli.InputError{File: hs.Inputs[0], Text: fmt.Sprintf("%s and %s do not cover the same hours", first.Name, h.Name), Hint: "give each a row for every hour"}
		}
		for t, v := range h.Values {
			if math.IsNaN(v) || v > 1e9 {
				return nil, &capcli.InputError{File: hs.Inputs[0], Field: "y", Text: fmt.Sprintf("%s, %s: expected 0 to 1000000000 GPUs, found %v", h.Name, h.StampText(t), v), Hint: "for gaps say --gaps zero, linear or previous"}
			}
			if i == 0 {
				used[t] = make([]int64, len(skus))
			}
			used[t][i] = int64(math.Round(v * 1000))
		}
	}
	return used, nil
}

// savingsJSON is the JSON of plan savings.
type savingsJSON struct {
	Schema      string     `json:"schema"`
	Currency    string     `json:"currency"`
	Hours       int        `json:"hours"`
	Commit      capcli.USD `json:"commitment_usd_per_hour"`
	Cost        capcli.USD `json:"cost_usd"`
	AllOnDemand capcli.USD `json:"all_on_demand_cost_usd"`
	Unused      capcli.USD `json:"unused_usd"`
	Utilisation *float64   `json:"utilisation"`
	Why         string     `json:"utilisation_why,omitempty"`
}

func savingsDoc(s *planning.Savings, hs *demand.Histories) report.Doc {
	paid := capcli.USD(int64(s.Commit) * int64(s.Hours)) // no more than the cost, which fits
	data := savingsJSON{Schema: "capcli/plan_savings/v1", Currency: "USD", Hours: s.Hours, Commit: s.Commit, Cost: s.Cost, AllOnDemand: s.AllOnDemand, Unused: max(0, paid-s.Used)}
	data.Utilisation, data.Why = shareOf(func() (float64, bool) { return s.Used.Float() / paid.Float(), paid > 0 }, "nothing is committed")
	t := newFigures("savings")
	t.add("commitment_usd_per_hour", "commit, an hour", s.Commit)
	t.add("cost_usd", "cost", s.Cost)
	t.add("all_on_demand_cost_usd", "all on demand", s.AllOnDemand)
	t.add("unused_usd", "of the commitment unused", data.Unused)
	if data.Utilisation != nil {
		t.add("utilisation", "utilisation", report.Percent(*data.Utilisation))
	}
	return report.Doc{
		Lead:   fmt.Sprintf("Commit %s an hour: %s over %s hours, %s all on demand; no other commitment costs less.", s.Commit, s.Cost, grouped(int64(s.Hours)), s.AllOnDemand),
		Tables: []report.Table{t.Table}, Data: data, Notes: hs.Notes,
	}
}
