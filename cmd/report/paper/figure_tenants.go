package paper

import (
	"cmp"
	"fmt"
	"slices"

	"capcli"
	"capcli/scenarios/figure"
	"capcli/scenarios/outcome"
)

// What each tenant pays: the time it held, and its share of what nobody held.
func init() {
	register(Drawing{ID: "tenants", Rank: 100, Needs: "a priced run with tenants", Draw: drawTenants})
}

// mostTenants is the most tenants with a bar of their own.
const mostTenants = 15

// tenantBill is the mean bill of a tenant.
type tenantBill struct {
	name         string
	direct, rest capcli.USD
}

func drawTenants(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	for i := range m.trials {
		if len(out) == mostPlans {
			break
		}
		t := &m.trials[i]
		bills, ok := tenantBills(t, mostTenants)
		if !ok {
			continue
		}
		f := tenantsFigure(bills)
		if len(m.trials) > 1 {
			f.Title += ": " + m.name(t)
		}
		if len(t.Runs) > 1 {
			f.Notes = append(f.Notes, fmt.Sprintf("means of %s", runsText(len(t.Runs))))
		}
		f.Notes = append(f.Notes, "amounts are for "+lengthText(t.Runs[0].Ended))
		out = append(out, f)
	}
	return number1(out), ""
}

// payer is a tenant, or a value of a tag, in a run.
type payer struct {
	name         string
	direct, rest *capcli.USD
}

// tenantBills returns the mean bill of each tenant: see meanBills.
func tenantBills(t *trial, most int) ([]tenantBill, bool) {
	return meanBills(t, most, "(no tenant)", func(o *outcome.Outcome) []payer {
		var out []payer
		for i := range o.Tenants {
			x := &o.Tenants[i]
			out = append(out, payer{cmp.Or(x.Name, "(without a name)"), x.Direct, x.Share})
		}
		return out
	})
}

// meanBills returns the mean bill of each payer over the runs of a plan: the largest first and those
// beyond most in one, and under the name nobody what none of them pays. It reports false where an
// amount is not known, or there is no payer.
func meanBills(t *trial, most int, nobody string, payers func(o *outcome.Outcome) []payer) ([]tenantBill, bool) {
	total, ok := t.meanUSD(func(o *outcome.Outcome) *capcli.USD { return o.Cost.Total })
	if !ok {
		return nil, false
	}
	n := capcli.USD(len(t.Runs))
	sums := map[string]*tenantBill{}
	for i := range t.Runs {
		for _, x := range payers(&t.Runs[i]) {
			if x.direct == nil || x.rest == nil {
				return nil, false
			}
			b := sums[x.name]
			if b == nil {
				b = &tenantBill{name: x.name}
				sums[x.name] = b
			}
			b.direct, b.rest = b.direct+*x.direct, b.rest+*x.rest
		}
	}
	if len(sums) == 0 {
		return nil, false
	}
	var out []tenantBill
	left := total
	for _, b := range sums {
		b.direct, b.rest = b.direct/n, b.rest/n
		left -= b.direct + b.rest
		out = append(out, *b)
	}
	slices.SortFunc(out, func(a, b tenantBill) int {
		return cmp.Or(cmp.Compare(b.direct+b.rest, a.direct+a.rest), cmp.Compare(a.name, b.name))
	})
	if len(out) > most {
		more := tenantBill{name: fmt.Sprintf("%d more", len(out)-most+1)}
		for _, b := range out[most-1:] {
			more.direct, more.rest = more.direct+b.direct, more.rest+b.rest
		}
		out = append(out[:most-1], more)
	}
	if abs := max(left, -left); abs > capcli.USD(len(sums)+1) { // more than the rounding of the means
		out = append(out, tenantBill{name: nobody, rest: left})
	} else {
		out[0].rest += left
	}
	return out, true
}

func tenantsFigure(bills []tenantBill) figure.Figure {
	f := figure.Figure{
		ID: "tenants", Title: "Who pays", Kind: figure.Bars,
		X: figure.Axis{Label: "Tenant", Unit: figure.Name}, Y: figure.Axis{Label: "Cost", Unit: figure.USD},
	}
	parts := make([]capcli.USD, 0, 2*len(bills))
	for _, b := range bills {
		f.X.Names = append(f.X.Names, b.name)
		parts = append(parts, b.direct, b.rest)
	}
	total, cents := wholeCents(parts)
	held, rest := figure.Series{Name: "Time held"}, figure.Series{Name: "Share of what nobody held", Pile: true}
	for i := range bills {
		held.Y, rest.Y = append(held.Y, dollars(cents[2*i])), append(rest.Y, dollars(cents[2*i+1]))
	}
	f.Series = []figure.Series{held, rest}
	largest := cents[0] + cents[1]
	text := fmt.Sprintf("the largest bill is that of %s: %s", f.X.Names[0], largest)
	if total > 0 {
		text += fmt.Sprintf(", %s of the %s that are paid in all", share(dollars(largest)/dollars(total)), total)
	}
	f.Sentence = sentence(text)
	return f
}
