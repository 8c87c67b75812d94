package billing

import (
	"bufio"
	"io"
	"strings"
)

// FocusWriter writes a bill as CSV with every column of FOCUS 1.2: numbers exact,
// null as an empty field.
type FocusWriter struct {
	w     *bufio.Writer
	begun bool
	guard func(string) string
}

// WriteFOCUS begins a bill. guard may change a text that a spreadsheet would
// take for a formula; nil changes none. Numbers and instants are never changed.
func WriteFOCUS(w io.Writer, guard func(string) string) *FocusWriter {
	if guard == nil {
		guard = func(s string) string { return s }
	}
	return &FocusWriter{w: bufio.NewWriterSize(w, 1<<16), guard: guard}
}

// Write adds one row.
func (f *FocusWriter) Write(r *FOCUS) {
	f.head()
	for i := range focusColumns {
		c := &focusColumns[i]
		if i > 0 {
			_ = f.w.WriteByte(',') // the writer keeps its first error for Flush
		}
		switch {
		case c.text != nil:
			if s := *c.text(r); s != "" {
				f.text(f.guard(s))
			}
		case c.number != nil:
			if n := c.number(r); n.Known {
				places := 0
				if c.money {
					places = 2
				}
				_, _ = f.w.WriteString(n.Decimal(places))
			}
		default:
			_, _ = f.w.WriteString(c.time(r).String())
		}
	}
	_ = f.w.WriteByte('\n')
}

// Flush ends the bill and gives what went wrong, if anything; a bill without
// rows has a header too.
func (f *FocusWriter) Flush() error {
	f.head()
	return f.w.Flush()
}

func (f *FocusWriter) head() {
	if !f.begun {
		_, _ = f.w.WriteString(strings.Join(allFocusColumns(), ",") + "\n")
		f.begun = true
	}
}

// text writes a field, in quotes where it needs them.
func (f *FocusWriter) text(s string) {
	if !strings.ContainsAny(s, ",\"\r\n") && s[0] != ' ' && s[len(s)-1] != ' ' {
		_, _ = f.w.WriteString(s)
		return
	}
	_ = f.w.WriteByte('"')
	_, _ = f.w.WriteString(strings.ReplaceAll(s, `"`, `""`))
	_ = f.w.WriteByte('"')
}
