package strict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"capcli"
)

// Fault is a fault of a file, with its place.
type Fault struct {
	Line, Col int    // from 1; Line 0 is the file as a whole
	Len       int    // characters to underline; 0 underlines one
	Set       string // the override with the fault, "capacity[0].gpus=72"; "" is the file
	Path      string // "capacity[0].gpus"
	Text      string // what is wrong and what to write
}

// Faults is the error with all faults of a file.
type Faults struct {
	File    string
	List    []Fault // overrides first, then by line and column; at most 1000
	More    int     // number of faults not in List
	Allowed string  // last line of the error: the fields allowed in the section with an unknown field
	lines   []string
	form    *Form
}

// Refusal returns the faults as an error. allowed is its last line if no field was unknown.
func (d *Decoder) Refusal(file, allowed string) *Faults {
	f := &Faults{File: file, List: d.faults, More: d.more, Allowed: cmp.Or(d.allowed, allowed), lines: d.Lines, form: d.Form}
	f.sort()
	return f
}

// shown is the number of faults that Error shows in full.
const shown = 20

// Error returns the first twenty faults with their places and lines, a mark under each, and the
// number of the others.
func (f *Faults) Error() string {
	var b strings.Builder
	n, plural := len(f.List)+f.More, "s"
	if n == 1 {
		plural = ""
	}
	fmt.Fprintf(&b, "%s has %d problem%s; nothing was run\n\n", Printable(f.File), n, plural)
	for i := range f.List[:min(shown, len(f.List))] {
		f.write(&b, &f.List[i])
	}
	if more := n - shown; more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	b.WriteString("\n" + Printable(f.Allowed))
	return b.String()
}

// Unwrap returns the first fault as a *capcli.InputError.
func (f *Faults) Unwrap() error {
	in := &capcli.InputError{File: f.File, Text: "not " + f.form.What}
	if len(f.List) > 0 {
		in.Line, in.Field, in.Text = f.List[0].Line, f.List[0].Path, f.List[0].Text
	}
	return in
}

func (f *Faults) sort() {
	slices.SortStableFunc(f.List, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(b.Set, a.Set), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), strings.Compare(a.Text, b.Text))
	})
	f.List = slices.Compact(f.List)
}

func (f *Faults) write(b *strings.Builder, x *Fault) {
	switch {
	case x.Set != "":
		fmt.Fprintf(b, "--set %s  %s\n", Printable(x.Set), Printable(x.Text))
		return
	case x.Line < 1 || x.Line > len(f.lines):
		fmt.Fprintf(b, "%s  %s\n", Printable(f.File), Printable(x.Text))
		return
	}
	fmt.Fprintf(b, "%s:%d:%d  %s\n", Printable(f.File), x.Line, max(x.Col, 1), Printable(x.Text))
	line, col := window(f.lines[x.Line-1], max(x.Col, 1))
	number := fmt.Sprintf("%3d", x.Line)
	mark := strings.Repeat("^", max(1, min(x.Len, utf8.RuneCountInString(line)-col+1)))
	fmt.Fprintf(b, "%s | %s\n%s | %s%s\n", number, line, strings.Repeat(" ", len(number)), strings.Repeat(" ", col-1), mark)
}

const (
	widest = 120 // characters of a source line that are shown
	before = 60  // characters shown before the fault
)

// Printable replaces each control character by a space, so that a text stays on its
// line and its characters keep their places.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// window shortens a long line around column col. It returns the column in the shortened line.
func window(line string, col int) (string, int) {
	r := []rune(Printable(line))
	if len(r) <= widest {
		return string(r), min(col, len(r)+1)
	}
	from := max(0, min(col-before, len(r)-widest))
	out := string(r[from:min(len(r), from+widest)])
	if from+widest < len(r) {
		out += "…"
	}
	if from > 0 {
		return "…" + out, col - from + 1
	}
	return out, col
}
