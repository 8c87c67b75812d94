package market

import (
	"fmt"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios/prices"
)

// Keys reads prices that may be named by key, and remembers which were. The zero
// value knows no key.
type Keys struct {
	Prices  *prices.List        // that keys are looked up in
	Assumed []prices.Assumption // the prices that were named by key
}

// Notes returns the prices by key for people.
func (k *Keys) Notes() []string {
	var out []string
	for _, a := range k.Assumed {
		out = append(out, "* "+a.Text)
	}
	return out
}

// Rate reads a price of a GPU-hour: an amount, or the key of a price. 0 must be said
// in words, for it is more often a slip than a gift. where is the field of the
// request, and what of it; the error is a *capcli.RequestError that names it.
func (k *Keys) Rate(where, text string) (capcli.Rate, error) {
	text = strings.TrimSpace(text)
	if text == "free" {
		return 0, nil
	}
	if prices.IsKey(text) {
		return k.find(where, text)
	}
	r, err := capcli.ParseUSD(text)
	if err != nil {
		return 0, refuse(where, fmt.Sprintf(": %v", err), "prices are dollars for one GPU for an hour, at most six places")
	}
	if r == 0 {
		return 0, refuse(where, ": a price of 0 must be meant: write free", "")
	}
	return r, nil
}

// find looks the key of a price up and remembers where it comes from.
func (k *Keys) find(where, key string) (capcli.Rate, error) {
	rate, row, err := k.Prices.RateOf(key)
	if err != nil {
		return 0, refuse(where, ": "+err.Error(), "capcli prices list")
	}
	text := fmt.Sprintf("--%s $%s a GPU-hour is %s, %s", where, rate.Decimal(), row.Key(), row.Origin())
	k.Assumed = append(k.Assumed, row.Assume("", "--"+where, text))
	return rate, nil
}

// ParseShare reads 10% or 0.1, of a field of a request.
func ParseShare(where, text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(v >= 0 && v <= 1000) {
		return 0, refuse(where, fmt.Sprintf(" wants a share, 10%% or 0.1, found %q", text), "")
	}
	if percent {
		v /= 100
	}
	return v, nil
}

// parseMilli reads a number of GPUs in thousandths.
func parseMilli(where, text string) (int64, error) {
	u, err := capcli.ParseUSD(text) // six places, and no dollar sign is one of a number
	if err != nil || u%1000 != 0 || strings.HasPrefix(text, "$") {
		return 0, refuse(where, fmt.Sprintf(" wants a number of GPUs, at most three places, found %q", text), "")
	}
	return int64(u / 1000), nil
}

// refuse returns the error of a wrong request. where is the field, and after a space
// what of it is wrong; text begins with a colon or a space.
func refuse(where, text, hint string) error {
	field, part, _ := strings.Cut(where, " ")
	if part != "" || field == "" {
		text = part + text
	}
	return &capcli.RequestError{Field: field, Text: strings.TrimPrefix(text, " "), Hint: hint}
}
