package spend

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/money/billing"
)

// Budget is the most that one value of a key, or everything, may cost in a month.
type Budget struct {
	By, Name string // "all", "all" is everything
	Amount   capcli.USD
}

// ParseBudgets parses budgets of a month: an amount for everything ("100k"), and KEY:VALUE=AMOUNT
// ("project:search=40k"). keys are the keys by which the cost is grouped. It fails with a
// *capcli.RequestError.
func ParseBudgets(texts, keys []string) ([]Budget, error) {
	var out []Budget
	seen := map[Budget]bool{}
	for _, text := range texts {
		bad := func(why string) error {
			return &capcli.RequestError{Field: "budget", Text: fmt.Sprintf("wants an amount such as 100k, or KEY:VALUE=AMOUNT such as project:search=40k, found %q: %s", text, why)}
		}
		b := Budget{By: "all", Name: "all"}
		amount := text
		if i := strings.LastIndexByte(text, '='); i >= 0 {
			key, name, ok := strings.Cut(text[:i], ":")
			if !ok || name == "" {
				return nil, bad("the key or the value is missing")
			}
			if !slices.Contains(keys, key) {
				return nil, bad("--by does not have the key " + capcli.Quoted(key))
			}
			b, amount = Budget{By: key, Name: name}, text[i+1:]
		}
		if seen[b] {
			return nil, bad("it is there twice")
		}
		seen[b] = true
		u, err := parseAmount(amount)
		if err != nil {
			return nil, bad(err.Error())
		}
		b.Amount = u
		out = append(out, b)
	}
	return out, nil
}

// parseAmount parses an amount of dollars above 0, with k or M for thousands or millions.
func parseAmount(text string) (capcli.USD, error) {
	rest, times := capcli.CutMagnitude(strings.TrimSpace(text))
	u, err := capcli.ParseUSD(rest)
	if err != nil {
		return 0, err
	}
	if u <= 0 || u > 1<<62/capcli.USD(times) {
		return 0, fmt.Errorf("%s is not above 0, or too large", capcli.Quoted(text))
	}
	return u * capcli.USD(times), nil
}

// ReadBudgets sets the budgets: those of texts (see ParseBudgets) or, where there are none, the
// monthly ones of a portfolio: that of everything, and those of tenants. notes say what of them is
// not compared with the month.
func (r *Request) ReadBudgets(texts, keys []string, stated *billing.Budget) (notes []string, err error) {
	if len(texts) > 0 || stated == nil {
		r.Budgets, err = ParseBudgets(texts, keys)
		return nil, err
	}
	if stated.Every != billing.Monthly {
		return []string{fmt.Sprintf("the %s budget of the portfolio is not compared with the month", stated.Every)}, nil
	}
	if stated.Amount > 0 {
		r.Budgets = append(r.Budgets, Budget{"all", "all", stated.Amount})
	}
	for _, t := range stated.Tenants {
		r.Budgets = append(r.Budgets, Budget{"tenant", t.Name, t.Amount})
	}
	return nil, nil
}
