package main

import (
	"capcli"
	"capcli/cmd/report"
	"capcli/simulate/billing"
	planning "capcli/simulate/plan"
)

// payment is what of a purchase is paid at once, and then in each month.
func (r *curvePlan) payment(p planning.Purchase) (upfront, monthly any) {
	pay, ok := r.paymentOf(p)
	if !ok {
		return nil, nil
	}
	upfront, monthly = pay.Upfront, capcli.USD(0)
	if len(pay.Monthly) > 0 {
		monthly = pay.Monthly[0]
	}
	return upfront, monthly
}

// paymentOf is the cash of a purchase; false where it does not fit an amount.
func (r *curvePlan) paymentOf(p planning.Purchase) (billing.Payment, bool) {
	one, err := billing.NewPayment(p.Rate, p.To-p.From, r.demand.curve.MonthsOf(p.From, p.To), r.market.Terms[p.Term].Upfront)
	if err != nil {
		return one, false
	}
	all, err := one.Times(p.Milli)
	return all, err == nil
}

// terms says of each term, bought at the start, what it takes to pay off.
type termFacts struct {
	rate      capcli.Rate
	breakEven *float64
	recover   *float64
	payment   billing.Payment
	present   float64
}

func (r *curvePlan) facts(i int) (termFacts, error) {
	c, t := r.demand.curve, &r.market.Terms[i]
	to := c.After(0, t.Length)
	out := termFacts{rate: t.Rate.At(0)}
	var err error
	if out.payment, err = billing.NewPayment(out.rate, to, c.MonthsOf(0, to), t.Upfront); err != nil {
		return out, err
	}
	out.present = out.payment.PresentValue(r.market.Discount)
	if p := r.market.OnDemand.At(0); p > 0 {
		share, months := out.payment.BreakEven(p), out.payment.Recover(p)
		out.breakEven, out.recover = &share, &months
	}
	return out, nil
}

// termTable says what each term costs and how much it must be used.
func (r *curvePlan) termTable() report.Table {
	t := report.Table{Name: "terms", Title: "The terms, for a GPU bought at the start", Columns: []report.Column{
		{Name: "term", Align: report.Left},
		{Name: "length", Priority: 2},
		{Name: "usd_per_gpu_hour", Head: "$/GPU-hour"},
		{Name: "break_even_utilisation", Head: "break-even use"},
		{Name: "months_to_recover", Head: "months to recover", Priority: 1},
		{Name: "upfront_usd", Head: "upfront", Priority: 3},
		{Name: "total_usd", Head: "total", Priority: 1},
		{Name: "present_value_usd", Head: "worth today", Priority: 3},
	}}
	for i := range r.market.Terms {
		f, err := r.facts(i)
		if err != nil {
			continue // Solve would have failed with the same overflow
		}
		row := []any{r.market.Terms[i].Name, r.market.Terms[i].Length.String(), f.rate, nil, nil, f.payment.Upfront, f.payment.Total(), capcli.USDOf(f.present)}
		if f.breakEven != nil {
			row[3], row[4] = report.Percent(*f.breakEven), report.Ratio(*f.recover)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
