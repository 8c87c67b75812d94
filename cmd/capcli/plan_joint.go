package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/profile/demand"
	"capcli/scenarios"
	"capcli/scenarios/play"
	planning "capcli/simulate/plan"
)

// jointOptions are the flags of capcli plan joint.
type jointOptions struct {
	output outputOptions
	curve  planCurveOptions // for how the demand is read
	market string
}

func newPlanJoint(e *env) *cobra.Command {
	var o jointOptions
	cmd := &cobra.Command{
		Use:   "joint DEMAND",
		Short: "One plan over several GPU models and products: reservations, blocks, machines, savings plans",
		Long: "DEMAND is a table (unique_id, ds, y) with the GPUs of each model. The market says what each model costs on demand\n" +
			"and what can be bought: reservations, capacity blocks with dates, machines, and plans that commit to money and that\n" +
			"all models share. The plan is the cheapest that was found, with a bound that no plan can go under.",
		Example: "  capcli plan joint demand.csv --market market.yaml\n" +
			"  capcli plan joint jobs.parquet --by gpu_model --step 1h --market market.yaml -o json",
		Args: wantArgs("DEMAND"),
		RunE: func(cmd *cobra.Command, args []string) error { return runPlanJoint(cmd.Context(), e, &o, args[0]) },
	}
	addOutputFlags(cmd, &o.output)
	f := cmd.Flags()
	f.StringVar(&o.market, "market", "", "what can be bought: YAML `FILE`; see the README")
	h := &o.curve.history
	f.StringSliceVar(&h.by, "by", nil, "a series of a job log for each `KEY`: gpu_model")
	f.StringVar(&h.step, "step", "", "`STEP` between values: 15m, 1h, 1d (default: as in a table; else 1h)")
	addDemandFlags(cmd, h)
	return cmd
}

func runPlanJoint(ctx context.Context, e *env, o *jointOptions, file string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	if o.market == "" {
		return &usageError{text: "plan joint wants what can be bought: --market is missing", hint: "--market market.yaml; see the README"}
	}
	text, err := readFile(e, o.market, play.ScenarioMax)
	if err != nil {
		return err
	}
	market, err := scenarios.ParseMarket(o.market, text)
	if err != nil {
		return err
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
	curves, notes, err := modelCurves(hs, market)
	if err != nil {
		return err
	}
	joint, err := market.Joint(curves)
	if err != nil {
		return err
	}
	best, err := joint.Solve(ctx)
	switch {
	case errors.Is(err, capcli.ErrOverflow), errors.Is(err, capcli.ErrTooMuchTime):
		return &capcli.InputError{File: file, Text: err.Error(), Hint: "check the units of the demand and of the prices", Err: err}
	case errors.Is(err, planning.ErrNotProven):
		return &capcli.AccountingError{Err: err}
	case err != nil:
		return fmt.Errorf("planning %s: %w", file, err)
	}
	d := &jointDoc{joint: joint, best: best, start: curves[0].Start, notes: slices.Concat(hs.Notes, notes)}
	if err := emit(e, o.output, d.doc()); err != nil || hs.Partial == "" {
		return err
	}
	return &partialError{text: hs.Partial}
}

// modelCurves gives the demand for each model of the market, and notes of the
// series that no model has.
func modelCurves(hs *demand.Histories, market *scenarios.Market) ([]*planning.Curve, []string, error) {
	names := capcli.Catalog[*demand.History]{Kind: "series"}
	for _, h := range hs.List {
		names.Add(h.Name, "", h)
	}
	var curves []*planning.Curve
	for _, g := range market.GPUs {
		h, err := names.Get(g.Model)
		if err != nil && len(hs.List) == 1 && len(market.GPUs) == 1 {
			h, err = hs.List[0], nil
		}
		if err != nil {
			return nil, nil, &capcli.InputError{File: market.File, Field: "gpus", Text: fmt.Sprintf("the demand has no series for it: %v", err), Hint: "gpu_model names a series of the demand (its unique_id)"}
		}
		start, step := capcli.NoTime, capcli.Step{Seconds: capcli.Hour}
		if hs.Clock {
			start, step = h.Grid.At(0), hs.Step
		}
		c, err := planning.NewCurve(start, step, h.Values)
		var at *planning.StepError
		if errors.As(err, &at) {
			return nil, nil, &capcli.InputError{File: hs.Inputs[0], Field: "y", Text: fmt.Sprintf("%s, %s: %s", h.Name, h.StampText(at.Step), at.Text), Hint: "a demand is GPUs, 0 or more; for gaps say --gaps zero, linear or previous"}
		}
		if err != nil {
			return nil, nil, err
		}
		curves = append(curves, c)
	}
	var notes []string
	for _, h := range hs.List {
		if len(hs.List) > 1 && !slices.ContainsFunc(market.GPUs, func(g scenarios.MarketGPU) bool { return g.Model == h.Name }) {
			notes = append(notes, fmt.Sprintf("the series %s is left out: the market has no such model", h.Name))
		}
	}
	return curves, notes, nil
}

// jointDoc is a joint plan on its way out.
type jointDoc struct {
	joint *planning.Joint
	best  *planning.JointPlan
	start capcli.Time
	notes []string
}

type jointPurchaseJSON struct {
	Offer    string     `json:"offer"`
	Product  string     `json:"product"`
	Model    *string    `json:"gpu_model"`
	Start    any        `json:"start"`
	End      any        `json:"end"`
	GPUs     *float64   `json:"gpus"`
	PerHour  *float64   `json:"commitment_usd_per_hour"`
	Cost     capcli.USD `json:"cost_usd"`
	Ended    bool       `json:"ended_early"`
	Extended bool       `json:"extended"`
}

type jointModelJSON struct {
	Model    string  `json:"gpu_model"`
	Wanted   float64 `json:"wanted_gpu_hours"`
	Reserved float64 `json:"reserved_gpu_hours"`
	Planned  float64 `json:"plan_gpu_hours"`
	OnDemand float64 `json:"on_demand_gpu_hours"`
}

type jointJSON struct {
	Schema      string              `json:"schema"`
	Currency    string              `json:"currency"`
	Cost        capcli.USD          `json:"cost_usd"`
	CostYear    capcli.USD          `json:"cost_usd_per_year"`
	Commitments capcli.USD          `json:"commitments_usd"`
	OnDemand    capcli.USD          `json:"on_demand_usd"`
	AllOnDemand capcli.USD          `json:"all_on_demand_cost_usd"`
	Bound       capcli.USD          `json:"bound_usd"`
	Gap         float64             `json:"gap"`
	Purchases   []jointPurchaseJSON `json:"purchases"`
	Models      []jointModelJSON    `json:"gpu_models"`
	Notes       []string            `json:"notes"`
}

// instant is a time from the start of the demand as it is written: a day, an
// instant, or seconds where the demand has no dates.
func (d *jointDoc) instant(at capcli.Seconds) any {
	if !d.start.Known() {
		return int64(at)
	}
	t := d.start + capcli.Time(at)
	if t%capcli.Time(capcli.Day) == 0 {
		return t.Std().Format("2006-01-02")
	}
	return t.String()
}

// doc is the plan as it is said.
func (d *jointDoc) doc() report.Doc {
	p, length := d.best, d.joint.Models[0].Curve.Len()
	data := jointJSON{
		Schema: "capcli/plan_joint/v1", Currency: "USD", Cost: p.Cost, Commitments: p.Commitments, OnDemand: p.OnDemand, AllOnDemand: p.AllOnDemand,
		Bound: p.Bound, Gap: p.Gap(), CostYear: yearly(p.Cost, length), Notes: append([]string{}, d.notes...), Purchases: []jointPurchaseJSON{},
	}
	t := newFigures("totals")
	t.add("cost_usd", "cost", p.Cost)
	t.add("cost_usd_per_year", "a year", data.CostYear)
	t.add("commitments_usd", "of it commitments", p.Commitments)
	t.add("on_demand_usd", "of it on demand", p.OnDemand)
	t.add("all_on_demand_cost_usd", "all on demand", p.AllOnDemand)
	t.add("bound_usd", "no plan costs less than", p.Bound)
	t.add("gap", "at most above the cheapest", report.Percent(data.Gap))
	return report.Doc{
		Lead:   d.lead(length),
		Tables: []report.Table{d.purchases(&data), d.models(&data), t.Table}, Data: &data, Notes: data.Notes,
	}
}

// yearly is an amount of some time for a year of 365 days.
func yearly(u capcli.USD, length capcli.Seconds) capcli.USD {
	v := new(big.Int).Mul(big.NewInt(int64(u)), big.NewInt(int64(365*capcli.Day)))
	if v.Quo(v, big.NewInt(int64(max(1, length)))); v.IsInt64() {
		return capcli.USD(v.Int64())
	}
	return 0
}

func (d *jointDoc) lead(length capcli.Seconds) string {
	p := d.best
	proof := "no plan costs less"
	switch g := p.Gap(); {
	case g > 0 && g <= 1e-6:
		proof = "no plan costs less by more than a millionth of it"
	case g > 0:
		proof = fmt.Sprintf("no plan costs under %s, so it is at most %.3g%% above the cheapest", p.Bound, 100*g)
	}
	if len(p.Purchases) == 0 {
		return fmt.Sprintf("Buy nothing: all on demand is %s over %s; %s.", p.Cost, length, proof)
	}
	return fmt.Sprintf("Make %d %s: %s over %s, %s a year; all on demand is %s; %s.", len(p.Purchases), plural(int64(len(p.Purchases)), "purchase"), p.Cost, length, yearly(p.Cost, length), p.AllOnDemand, proof)
}

func (d *jointDoc) purchases(data *jointJSON) report.Table {
	t := report.Table{Name: "purchases", Title: "What to buy", Columns: []report.Column{
		{Name: "start"},
		{Name: "end"},
		{Name: "offer"},
		{Name: "product", Priority: 2},
		{Name: "gpu_model", Head: "model"},
		{Name: "gpus", Head: "GPUs"},
		{Name: "commitment_usd_per_hour", Head: "$ an hour"},
		{Name: "cost_usd", Head: "cost"},
		{Name: "ended_early", Head: "ended early", Priority: 3},
		{Name: "extended", Priority: 3},
	}}
	for _, x := range d.best.Purchases {
		o := &d.joint.Offers[x.Offer]
		j := jointPurchaseJSON{Offer: o.Name, Product: o.Product, Start: d.instant(x.From), End: d.instant(x.To), Cost: x.Cost, Ended: x.Left, Extended: x.Extended}
		size := float64(x.Milli) / 1000
		row := []any{j.Start, j.End, o.Name, o.Product, nil, nil, nil, x.Cost, x.Left, x.Extended}
		if o.Model >= 0 {
			j.Model, j.GPUs = &d.joint.Models[o.Model].Name, &size
			row[4], row[5] = *j.Model, size
		} else {
			j.PerHour, row[6] = &size, size
		}
		data.Purchases = append(data.Purchases, j)
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (d *jointDoc) models(data *jointJSON) report.Table {
	t := report.Table{Name: "gpu_models", Title: "What serves each model, GPU-hours", Columns: []report.Column{
		{Name: "gpu_model", Head: "model"},
		{Name: "wanted_gpu_hours", Head: "wanted"},
		{Name: "reserved_gpu_hours", Head: "purchases of its own"},
		{Name: "plan_gpu_hours", Head: "under plans"},
		{Name: "on_demand_gpu_hours", Head: "on demand"},
	}}
	for m := range d.joint.Models {
		p := d.best
		j := jointModelJSON{
			Model: d.joint.Models[m].Name, Wanted: p.Wanted[m].Hours(), Reserved: p.Reserved[m].Hours(), Planned: p.Planned[m].Hours(),
			OnDemand: (p.Wanted[m] - p.Reserved[m] - p.Planned[m]).Hours(),
		}
		data.Models = append(data.Models, j)
		t.Rows = append(t.Rows, []any{j.Model, j.Wanted, j.Reserved, j.Planned, j.OnDemand})
	}
	return t
}
