package market

import (
	"fmt"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios/money/prices"
)

// Keys parses prices that may be given by key, and remembers those that were. The zero value knows
// no key.
type Keys struct {
	Prices  *prices.List        // the list in which keys are looked up
	Assumed []prices.Assumption // the prices that were given by key
}

// Notes returns a readable note for each price that was given by key.
func (k *Keys) Notes() []string {
	var out []string
	for _, a := range k.Assumed {
		out = append(out, "* "+a.Text)
	}
	return out
}

// Rate parses a price of a GPU-hour: an amount, or the key of a price. A price of 0 must be written
// "free", for it is more often a mistake than meant. where is the field of the request, and after a
// space the part of it; the error is a *capcli.RequestError that names it.
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

// find returns the price of a key, and records it in Assumed.
func (k *Keys) find(where, key string) (capcli.Rate, error) {
	rate, row, err := k.Prices.RateOf(key)
	if err != nil {
		return 0, refuse(where, ": "+err.Error(), "capcli prices list")
	}
	text := fmt.Sprintf("--%s $%s a GPU-hour is %s, %s", where, rate.Decimal(), row.Key(), row.Origin())
	k.Assumed = append(k.Assumed, row.Assume("", "--"+where, text))
	return rate, nil
}

// ParseShare parses 10% or 0.1, in a field of a request. It fails with *capcli.RequestError.
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

// parseMilli parses a number of GPUs into thousandths.
func parseMilli(where, text string) (int64, error) {
	u, err := capcli.ParseUSD(text) // an amount too has six places, but here it may have no dollar sign
	if err != nil || u%1000 != 0 || strings.HasPrefix(text, "$") {
		return 0, refuse(where, fmt.Sprintf(" wants a number of GPUs, at most three places, found %q", text), "")
	}
	return int64(u / 1000), nil
}

// refuse returns the error of a wrong request. where is the field, and after a space the part of it
// that is wrong; text starts with a colon or a space.
func refuse(where, text, hint string) error {
	field, part, _ := strings.Cut(where, " ")
	if part != "" || field == "" {
		text = part + text
	}
	return &capcli.RequestError{Field: field, Text: strings.TrimPrefix(text, " "), Hint: hint}
}
