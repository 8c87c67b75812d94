package whatif

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
)

// Move returns the value of the knob n steps from a value, within the knob's range. A value without
// limit moves to the knob's largest, and a choice to a neighbour.
func (k *Knob) Move(value string, n int) string {
	if k.Kind == Choice {
		at := slices.Index(k.Choices, value)
		return k.Choices[max(0, min(at+n, len(k.Choices)-1))]
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		if n > 0 {
			return value
		}
		return k.text(k.Max)
	}
	steps := v/k.Step + float64(n)
	if n < 0 {
		steps = float64(int64(steps + 1 - 1e-9)) // to the next whole step
	} else {
		steps = float64(int64(steps + 1e-9))
	}
	return k.text(max(k.Min, min(steps*k.Step, max(k.Max, v))))
}

// text returns a value of the knob with as many decimal places as its step has.
func (k *Knob) text(v float64) string {
	_, decimals, _ := strings.Cut(strconv.FormatFloat(k.Step, 'f', -1, 64), ".")
	text := strconv.FormatFloat(v, 'f', len(decimals), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Accept returns the text that a user typed as a value of the knob, or an error that says what is
// wanted.
func (k *Knob) Accept(text string) (string, error) {
	text = strings.TrimSpace(text)
	if k.Kind == Choice && k.Path != patiencePath {
		return text, capcli.CheckChoice(k.Path, text, k.Choices)
	}
	if k.Kind == Number {
		if v, err := strconv.ParseFloat(text, 64); err != nil || !(v >= 0 && v <= 1e15) {
			return "", &capcli.RequestError{Field: k.Path, Text: fmt.Sprintf("wants a number, found %.40q", text)}
		}
	}
	if text == "" || strings.ContainsAny(text, "\n#{}[]") {
		return "", &capcli.RequestError{Field: k.Path, Text: fmt.Sprintf("wants a value, found %.40q", text)}
	}
	return text, nil
}
