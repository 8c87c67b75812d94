package focus

import (
	"bufio"
	"io"
	"strings"

	"capcli"
)

// Writer writes a bill as CSV with every column of FOCUS 1.2. Numbers are exact, and null is an
// empty field.
type Writer struct {
	w     *bufio.Writer
	begun bool // the header has been written
	guard func(string) string
}

// NewWriter returns a writer of a bill. guard changes texts that a spreadsheet would take for a
// formula; nil changes none. Numbers and instants are never changed.
func NewWriter(w io.Writer, guard func(string) string) *Writer {
	if guard == nil {
		guard = func(s string) string { return s }
	}
	return &Writer{w: bufio.NewWriterSize(w, 1<<16), guard: guard}
}

// Write writes one row. Flush reports its errors.
func (f *Writer) Write(r *Row) {
	f.head()
	for i := range columns {
		c := &columns[i]
		if i > 0 {
			_ = f.w.WriteByte(',') // the writer keeps its first error for Flush
		}
		switch v := c.cell(r).(type) {
		case *string:
			if *v != "" {
				f.text(f.guard(*v))
			}
		case *Number:
			if v.Known {
				_, _ = f.w.WriteString(v.Decimal(c.places))
			}
		case *capcli.Time:
			_, _ = f.w.WriteString(v.String())
		}
	}
	_ = f.w.WriteByte('\n')
}

// Flush completes the bill and returns the first error of any write. A bill without rows still
// gets its header.
func (f *Writer) Flush() error {
	f.head()
	return f.w.Flush()
}

// head writes the header once.
func (f *Writer) head() {
	if !f.begun {
		names := capcli.Map(columns, func(x column) string { return x.name })
		_, _ = f.w.WriteString(strings.Join(names, ",") + "\n")
		f.begun = true
	}
}

// text writes a field, in quotes where it needs them.
func (f *Writer) text(s string) {
	if !strings.ContainsAny(s, ",\"\r\n") && s[0] != ' ' && s[len(s)-1] != ' ' {
		_, _ = f.w.WriteString(s)
		return
	}
	_ = f.w.WriteByte('"')
	_, _ = f.w.WriteString(strings.ReplaceAll(s, `"`, `""`))
	_ = f.w.WriteByte('"')
}
