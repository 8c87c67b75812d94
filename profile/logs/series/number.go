package series

import (
	"errors"
	"strconv"
	"strings"
)

// parseFloat parses a decimal number. It fails for hexadecimal numbers and underscores, which
// are numbers in Go but not in a table.
func parseFloat(text string) (float64, error) {
	if strings.ContainsAny(text, "_xXpP") {
		return 0, errors.New("not a decimal number")
	}
	return strconv.ParseFloat(text, 64)
}

// quote returns text in quotes, shortened to 60 characters, for a message.
func quote(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return strconv.Quote(text)
}
