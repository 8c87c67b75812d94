package series

import (
	"errors"
	"strconv"
	"strings"
)

// parseFloat reads a decimal number. Go's own forms (hexadecimal, underscores)
// are not numbers in a table.
func parseFloat(text string) (float64, error) {
	if strings.ContainsAny(text, "_xXpP") {
		return 0, errors.New("not a decimal number")
	}
	return strconv.ParseFloat(text, 64)
}

// quote shortens text for a message.
func quote(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return strconv.Quote(text)
}
