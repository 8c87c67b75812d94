package capcli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
)

// In JSON, money is an exact decimal string, an instant is RFC 3339 in UTC (null when unknown), GPU
// time is a number of GPU-hours, and a length of time is a whole number of seconds (the default
// encoding of Seconds).

// Figure is a number that may be unknown: NaN and the infinities are null in JSON.
type Figure float64

// IsKnown reports whether f is a finite value.
func (f Figure) IsKnown() bool { return !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0) }

// MarshalJSON returns null for an unknown figure.
func (f Figure) MarshalJSON() ([]byte, error) {
	if !f.IsKnown() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// UnmarshalJSON reads what MarshalJSON writes: null is NaN.
func (f *Figure) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		*f = Figure(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(f))
}

// WriteJSON writes a document as commands do: indented by two spaces, without the escapes of HTML.
func WriteJSON(w io.Writer, document any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(document)
}

// MarshalJSON returns u as an exact decimal string: "1695168.00".
func (u USD) MarshalJSON() ([]byte, error) { return []byte(`"` + u.Decimal() + `"`), nil }

// UnmarshalJSON reads what MarshalJSON writes.
func (u *USD) UnmarshalJSON(b []byte) error {
	text, err := strconv.Unquote(string(b))
	if err != nil {
		return fmt.Errorf("%s is not an amount of dollars; want a string such as \"2.10\"", b)
	}
	sign := USD(1)
	if len(text) > 0 && text[0] == '-' {
		sign, text = -1, text[1:]
	}
	v, err := ParseUSD(text)
	*u = sign * v
	return err
}

// MarshalJSON returns t in RFC 3339, or null for NoTime.
func (t Time) MarshalJSON() ([]byte, error) {
	if !t.IsKnown() {
		return []byte("null"), nil
	}
	return []byte(`"` + t.String() + `"`), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Time) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		*t = NoTime
		return nil
	}
	var std time.Time
	if err := json.Unmarshal(b, &std); err != nil {
		return fmt.Errorf("%s is not an instant in RFC 3339: %w", b, err)
	}
	*t = TimeOf(std)
	return nil
}

// MarshalJSON returns t in GPU-hours, in the fewest digits that identify it.
func (t GPUTime) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, t.Hours(), 'f', -1, 64), nil
}

// UnmarshalJSON reads GPU-hours, to the nearest thousandth of a GPU-second.
func (t *GPUTime) UnmarshalJSON(b []byte) error {
	hours, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsNaN(hours) || math.Abs(hours) > math.MaxInt64/4e6 {
		return fmt.Errorf("%s is not a number of GPU-hours", b)
	}
	*t = GPUTime(math.Round(hours * 1000 * 3600))
	return nil
}
