package vary

import (
	"fmt"
	"math"

	"capcli"
	"capcli/scenarios/whatif"
)

// judge says which limits hold.
func (q *numbers) judge(out *Answer) {
	f := &out.Figures
	in := func(share float64) string {
		n := int(math.Round(share * float64(q.w.Count)))
		if n == q.w.Count {
			return fmt.Sprintf("all %d futures", n)
		}
		return fmt.Sprintf("%d of %d futures", n, q.w.Count)
	}
	for i, c := range q.limits {
		x := Limit{Limit: c.String(), Holds: f.Each[i] >= q.w.Hold, Text: "holds in " + in(f.Each[i])}
		if !x.Holds {
			x.Text = "DOES NOT HOLD: only in " + in(f.Each[i])
		}
		out.Limits = append(out.Limits, x)
	}
	text := "The limits hold together in " + in(f.Held)
	if f.Held < q.w.Hold {
		text = "The limits DO NOT HOLD: together they do in " + in(f.Held)
	}
	out.Notes = append(out.Notes, fmt.Sprintf("%s; %.0f%% of them are wanted.", text, 100*q.w.Hold))
}

// place adds the cheapest of the sizes of fenced GPUs that were played, within the limits.
func (q *numbers) place(out *Answer) {
	if len(q.w.Places) == 0 {
		return
	}
	head := whatif.Headline{Name: "fenced", Label: "cheapest fenced size that was played", Unit: "usd", Text: "none is within the limits"}
	var best *Place
	var cost capcli.USD
	wait, budget := limit(q.limits, "wait_p95"), limit(q.limits, "cost")
	unserved := limit(q.limits, "unserved_share")
	for i := range q.w.Places {
		p := &q.w.Places[i]
		c := q.priceOf(p)
		within := p.Held >= q.w.Hold
		if q.limited {
			within = !(p.WaitP95 > wait) && !(c.Float() > budget) && !(p.Unserved > unserved)
		}
		if within && (best == nil || c < cost) {
			best, cost = p, c
		}
	}
	if best != nil {
		v := cost.Float()
		bill := ""
		if best.Bills > 0 {
			bill = " and a bill on what overflows"
		}
		head.Value, head.Text = &v, fmt.Sprintf("%s: %s GPUs%s, patience %s, 95%% wait at most %.0f min", cost, capcli.Grouped(int64(best.GPUs)), bill, best.Patience, best.WaitP95/60)
	}
	out.Heads = append(out.Heads, head)
	if q.limited {
		out.Notes = append(out.Notes, "Of fenced sizes the mean of the futures' 95% waits, and their mean cost, is held against the limit; capcli decide --max wait_p95=… holds each future's.")
	}
}

// priceOf returns the cost of a size that was played, at other prices: what is committed is paid whatever is used. A bill
// beside it stays as it was bought.
func (q *numbers) priceOf(p *Place) capcli.USD {
	onDemand := q.bill().OnDemand
	bill, _ := q.w.firstTerm()
	if q.fenced == q.w.Fenced.Rate && onDemand == q.w.OnDemand.Rate && (!q.priced || p.Bills == 0) {
		return p.Cost
	}
	times := func(v capcli.USD, is, was capcli.Rate) capcli.USD {
		if was == 0 {
			return v
		}
		return capcli.USDOf(v.Float() * float64(is) / float64(was))
	}
	bills := p.Bills
	if q.priced {
		bills = times(bills, q.rate, bill.Rate)
	}
	return bills + times(p.Cost-p.OnDemand-p.Bills, q.fenced, q.w.Fenced.Rate) + times(p.OnDemand, onDemand, q.w.OnDemand.Rate)
}
