// Package memo writes a paper as Markdown, for a pull request or a ticket: the answer, each figure as
// a sentence with its data as a line of blocks or a picture, the tables, assumptions and inputs.
package memo

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"capcli"
	"capcli/cmd/report"
	"capcli/cmd/report/paper"
	"capcli/scenarios/figure"
)

// Options are what a memo has beside its paper.
type Options struct {
	// Picture returns the file with the picture of a figure; "" or nil draws a line of blocks.
	Picture func(id string) string
}

const (
	mostRows   = 40
	sparkWidth = 60
)

// Write writes p as Markdown. Names that users gave cannot start markup.
func Write(w io.Writer, p *paper.Paper, o Options) error {
	var b bytes.Buffer
	text := report.EscapeMarkdown
	fmt.Fprintf(&b, "# %s\n\n**%s**\n\n", text(p.Title), text(p.Answer.Sentence))
	for _, d := range slices.Concat(p.Answer.Details, p.Warnings) {
		fmt.Fprintf(&b, "%s\n\n", text(d))
	}
	for _, h := range p.Answer.Heads {
		fmt.Fprintf(&b, "* %s: **%s**", text(h.Name), text(h.Text))
		if h.About != "" {
			fmt.Fprintf(&b, " (%s)", text(h.About))
		}
		b.WriteString("\n")
	}
	for i := range p.Figures {
		writeFigure(&b, &p.Figures[i], &o)
	}
	for i := range p.Tables {
		writeTable(&b, &p.Tables[i])
	}
	list := func(title string, n int, line func(i int) string) {
		if n > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n", title)
		}
		for i := range n {
			fmt.Fprintf(&b, "* %s\n", line(i))
		}
	}
	list("Assumptions", len(p.Assumptions), func(i int) string {
		a := p.Assumptions[i]
		return text(strings.Join(filled(a.Text, a.Source, a.Date), "; "))
	})
	list("Notes", len(p.Notes), func(i int) string { return text(p.Notes[i]) })
	list("Words", len(p.Glossary), func(i int) string { return text(p.Glossary[i].Name) + ": " + text(p.Glossary[i].Text) })
	list("Inputs", len(p.Inputs), func(i int) string {
		in := p.Inputs[i]
		return fmt.Sprintf("%s `%.12s`", text(in.File), strings.Trim(in.SHA256, "`"))
	})
	fmt.Fprintf(&b, "\ncapcli %s, seed %d. Made by `%s`\n", text(p.Version), p.Seed, strings.ReplaceAll(report.Strip(p.Command), "`", "'"))
	_, err := w.Write(b.Bytes())
	return err
}

// filled returns the texts that are not empty.
func filled(list ...string) []string {
	var out []string
	for _, t := range list {
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}

func writeFigure(b *bytes.Buffer, f *figure.Figure, o *Options) {
	text := report.EscapeMarkdown
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", text(f.Title), text(f.Sentence))
	if o.Picture != nil && o.Picture(f.ID) != "" {
		fmt.Fprintf(b, "![%s](%s)\n", strings.Trim(text(f.Title), "]"), o.Picture(f.ID))
	} else {
		writeSparks(b, f)
	}
	for _, n := range f.Notes {
		fmt.Fprintf(b, "* %s\n", text(n))
	}
}

// writeSparks writes each series of lines and areas as a line of blocks, and the data of other kinds
// as a table.
func writeSparks(b *bytes.Buffer, f *figure.Figure) {
	if f.Kind != figure.Lines && f.Kind != figure.Stack {
		t := f.Table()
		heads, units := []string{}, []figure.Unit{}
		for _, c := range t.Columns {
			heads, units = append(heads, c.Name+c.Unit.Suffix()), append(units, c.Unit)
		}
		writeGrid(b, heads, units, t.Rows, mostRows)
		return
	}
	b.WriteString("```text\n")
	wide := 0
	for i := range f.Series {
		wide = max(wide, len([]rune(f.Series[i].Name)))
	}
	for i := range f.Series {
		s := &f.Series[i]
		line, least, most := sparks(s.Y, sparkWidth)
		if line == "" {
			continue
		}
		fmt.Fprintf(b, "%-*s %s %s to %s\n", wide, report.Strip(s.Name), line, f.Y.Unit.Text(least), f.Y.Unit.Text(most))
	}
	b.WriteString("```\n")
}

// sparks returns values as blocks of eight heights, at most so many: of more values each block is the
// mean of some. It also returns the least and the largest value; "" without known values.
func sparks(values []figure.Number, width int) (text string, least, most figure.Number) {
	known := 0
	for _, v := range values {
		if !v.IsKnown() {
			continue
		}
		if known == 0 || v < least {
			least = v
		}
		if known == 0 || v > most {
			most = v
		}
		known++
	}
	if known == 0 {
		return "", 0, 0
	}
	var out strings.Builder
	n := min(len(values), width)
	for k := range n {
		var sum figure.Number
		count := 0
		for _, v := range values[k*len(values)/n : (k+1)*len(values)/n] {
			if v.IsKnown() {
				sum, count = sum+v, count+1
			}
		}
		switch {
		case count == 0:
			out.WriteRune(' ')
		case most == least:
			out.WriteRune('▄')
		default:
			level := int((sum/figure.Number(count) - least) / (most - least) * 7.999)
			out.WriteRune([]rune("▁▂▃▄▅▆▇█")[min(7, max(0, level))])
		}
	}
	return out.String(), least, most
}

func writeTable(b *bytes.Buffer, t *paper.Table) {
	text := report.EscapeMarkdown
	fmt.Fprintf(b, "\n## %s\n\n", text(t.Title))
	if t.Sentence != "" {
		fmt.Fprintf(b, "%s\n\n", text(t.Sentence))
	}
	heads, units := []string{}, []figure.Unit{}
	for _, c := range t.Columns {
		heads, units = append(heads, c.Name+c.Unit.Suffix()), append(units, c.Unit)
	}
	writeGrid(b, heads, units, t.Rows, mostRows)
}

// writeGrid writes a table. Of more than most rows it writes the first and the last, which may be the
// total, and how many are left out.
func writeGrid(b *bytes.Buffer, heads []string, units []figure.Unit, rows [][]any, most int) {
	text := report.EscapeMarkdown
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	cells := capcli.Map(heads, text)
	line(cells)
	for i, u := range units {
		if cells[i] = "--:"; u == figure.Name {
			cells[i] = ":--"
		}
	}
	line(cells)
	left := 0
	if len(rows) > most {
		left = len(rows) - most
		rows = append(append([][]any{}, rows[:most-1]...), rows[len(rows)-1])
	}
	for _, row := range rows {
		for i := range heads {
			cells[i] = ""
			if i < len(row) {
				cells[i] = text(cellText(row[i], units[i]))
			}
		}
		line(cells)
	}
	if left > 0 {
		fmt.Fprintf(b, "\n%d rows are left out.\n", left)
	}
}

// cellText writes a cell of a table for people; "" for nil.
func cellText(v any, u figure.Unit) string {
	switch v := v.(type) {
	case figure.Number:
		return u.Text(v)
	case string:
		return v
	}
	return ""
}
