// Package invoice presents bills: the check of a bill in FOCUS, and amounts in the currency of a bill.
package invoice

import (
	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/money/focus"
)

// ShownGroups is how many tenants, services, accounts or tags a terminal shows.
const ShownGroups = 10

// SetCurrency converts the amounts in the cells of t to cells in the given currency.
func SetCurrency(t *report.Table, currency string) {
	for _, row := range t.Rows {
		for i, cell := range row {
			switch v := cell.(type) {
			case capcli.USD:
				row[i] = usdCell(v, currency)
			case focus.Amount:
				row[i] = amountCell(v, currency)
			}
		}
	}
}

// usdCell is the cell of an amount in the given currency.
func usdCell(u capcli.USD, currency string) any {
	if currency == "USD" {
		return u
	}
	return report.Money{Exact: u.Decimal(), Near: u, Currency: currency}
}

// amountCell is the cell of an amount in the given currency. An amount too large for USD is shown
// as its digits.
func amountCell(a focus.Amount, currency string) any {
	near, err := a.USD()
	if err != nil {
		return a.Decimal(2)
	}
	return report.Money{Exact: a.Decimal(2), Near: near, Currency: currency}
}
