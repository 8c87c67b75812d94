package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

func init() {
	Forms.Add("md", "Markdown, rounded as the table is, to paste into a page", writeMarkdown)
}

// writeMarkdown does not use the Markdown of tablewriter, which does not escape a bar in a cell.
func writeMarkdown(w io.Writer, d Doc, o Options) error {
	tables, err := d.chosen(o)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if d.Title != "" {
		fmt.Fprintf(&b, "# %s\n\n", EscapeMarkdown(d.Title))
	}
	if d.Lead != "" {
		fmt.Fprintf(&b, "%s\n\n", EscapeMarkdown(d.Lead))
	}
	for _, t := range tables {
		if err := markdownTable(&b, t, o); err != nil {
			return err
		}
	}
	for _, c := range d.Charts {
		fmt.Fprintf(&b, "```text\n%s```\n\n", c.Draw(o.Width))
	}
	for _, n := range d.Notes {
		fmt.Fprintf(&b, "* %s\n", EscapeMarkdown(n))
	}
	_, err = w.Write(append(bytes.TrimRight(b.Bytes(), "\n"), '\n'))
	return err
}

func markdownTable(b *bytes.Buffer, t Table, o Options) error {
	t, left := t.truncate(o)
	g, err := t.grid()
	if err != nil {
		return err
	}
	if t.Title != "" {
		fmt.Fprintf(b, "## %s\n\n", EscapeMarkdown(t.Title))
	}
	row := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + EscapeMarkdown(c) + " ")
		}
		b.WriteString("|\n")
	}
	row(g.head)
	for _, right := range g.right {
		if right {
			b.WriteString("| --: ")
		} else {
			b.WriteString("| :-- ")
		}
	}
	b.WriteString("|\n")
	for _, cells := range g.rows {
		row(cells)
	}
	if left > 0 {
		b.WriteString("\n" + t.leftOutText(left) + "\n")
	}
	b.WriteString("\n")
	return nil
}

// markdownEscapes escapes all that would end a cell or start HTML, a link, code or emphasis.
var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, `|`, `\|`, "`", "\\`", `*`, `\*`, `[`, `\[`, `<`, `&lt;`, `&`, `&amp;`)

// EscapeMarkdown returns a text for Markdown: without control characters, and so that nothing in it
// ends a cell or starts HTML, a link, code or emphasis.
func EscapeMarkdown(s string) string { return markdownEscapes.Replace(Strip(s)) }
