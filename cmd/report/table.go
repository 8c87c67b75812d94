package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/tw"
)

func init() {
	Forms.Add("table", "for people, rounded, with units", writeTable)
}

func writeTable(w io.Writer, d Doc, o Options) error {
	tables, err := d.chosen(o)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	blocks := 0
	block := func() {
		if blocks++; blocks > 1 {
			b.WriteByte('\n')
		}
	}
	if d.Title+d.Lead != "" {
		block()
		for _, s := range []string{d.Title, d.Lead} {
			if s != "" {
				b.WriteString(Strip(s) + "\n")
			}
		}
	}
	for _, t := range tables {
		block()
		if err := tableBlock(&b, t, o); err != nil {
			return err
		}
	}
	for _, c := range d.Charts {
		block()
		b.WriteString(c.Draw(o.Width))
	}
	if len(d.Notes) > 0 {
		block()
		for _, n := range d.Notes {
			b.WriteString("note: " + Strip(n) + "\n")
		}
	}
	_, err = b.WriteTo(w)
	return err
}

func tableBlock(b *bytes.Buffer, t Table, o Options) error {
	if t.Title != "" {
		b.WriteString(Strip(t.Title) + "\n")
	}
	t, left := t.short(o)
	g, err := t.grid()
	if err != nil {
		return err
	}
	hidden := g.fit(o.Width)
	if err := g.render(b, o.Color); err != nil {
		return err
	}
	if left > 0 {
		b.WriteString(t.more(left) + "\n")
	}
	switch {
	case len(hidden) == 1:
		fmt.Fprintf(b, "1 column hidden (%s), --wide\n", hidden[0])
	case len(hidden) > 1:
		fmt.Fprintf(b, "%d columns hidden (%s), --wide\n", len(hidden), strings.Join(hidden, ", "))
	}
	return nil
}

// grid is a table as text.
type grid struct {
	name     []string
	head     []string
	right    []bool
	priority []int
	rows     [][]string
	tones    [][]tone
}

// tone is the color that a cell may have.
type tone uint8

const (
	toneless tone = iota
	good
	bad
)

const gap = 2 // spaces between columns

func (t *Table) grid() (*grid, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	g := &grid{}
	for i, c := range t.Columns {
		head := c.Head
		if head == "" {
			head = c.Name
		}
		name := head
		if strings.TrimSpace(head) == "" {
			name = c.Name
		}
		g.name = append(g.name, Strip(name)) // what a hidden column is called
		g.head = append(g.head, Strip(head))
		g.right = append(g.right, c.Align == Right || c.Align == Auto && !t.textual(i))
		g.priority = append(g.priority, c.Priority)
	}
	for n, row := range t.Rows {
		cells, tones := make([]string, len(row)), make([]tone, len(row))
		for i, cell := range row {
			text, err := human(cell)
			if err != nil {
				return nil, fmt.Errorf("table %q, row %d, %s: %w", t.Name, n+1, t.Columns[i].Name, err)
			}
			cells[i], tones[i] = text, toneOf(cell)
		}
		g.rows, g.tones = append(g.rows, cells), append(g.tones, tones)
	}
	return g, nil
}

// textual tells whether column i of t holds words.
func (t *Table) textual(i int) bool {
	for _, row := range t.Rows {
		if plain(row[i]) != nil {
			return isText(row[i])
		}
	}
	return len(t.Rows) == 0
}

func toneOf(cell any) tone {
	v, ok := cell.(Verdict)
	switch {
	case !ok:
		return toneless
	case v.Good:
		return good
	}
	return bad
}

// fit takes out whole columns, the largest priority first and from the right,
// until g fits into width; it gives the names of those it took. Columns of
// priority 0 stay, and no cell is ever cut.
func (g *grid) fit(width int) []string {
	var hidden []string
	for width > 0 && g.width() > width {
		drop := -1
		for i, p := range g.priority {
			if p > 0 && (drop < 0 || p >= g.priority[drop]) {
				drop = i
			}
		}
		if drop < 0 {
			break
		}
		hidden = append(hidden, g.name[drop])
		g.remove(drop)
	}
	return hidden
}

func (g *grid) width() int {
	total := gap * (len(g.head) - 1)
	for i, h := range g.head {
		widest := twwidth.Width(h)
		for _, row := range g.rows {
			widest = max(widest, twwidth.Width(row[i]))
		}
		total += widest
	}
	return total
}

func (g *grid) remove(i int) {
	g.name = append(g.name[:i], g.name[i+1:]...)
	g.head = append(g.head[:i], g.head[i+1:]...)
	g.right = append(g.right[:i], g.right[i+1:]...)
	g.priority = append(g.priority[:i], g.priority[i+1:]...)
	for n := range g.rows {
		g.rows[n] = append(g.rows[n][:i], g.rows[n][i+1:]...)
		g.tones[n] = append(g.tones[n][:i], g.tones[n][i+1:]...)
	}
}

// render writes g without lines or borders. Header formatting is off, for it
// would turn "p95 wait" into "P 95 WAIT".
func (g *grid) render(b *bytes.Buffer, color bool) error {
	align := make(tw.Alignment, len(g.right))
	for i, right := range g.right {
		align[i] = tw.AlignLeft
		if right {
			align[i] = tw.AlignRight
		}
	}
	var text bytes.Buffer
	table := tablewriter.NewTable(&text,
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithAlignment(align),
		tablewriter.WithPadding(tw.Padding{Right: strings.Repeat(" ", gap), Overwrite: true}),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithRendition(tw.Rendition{
			Borders:  tw.BorderNone,
			Settings: tw.Settings{Lines: tw.LinesNone, Separators: tw.SeparatorsNone},
		}))
	table.Header(g.head)
	for n, row := range g.rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = paint(c, g.tones[n][i], color)
		}
		if err := table.Append(cells); err != nil {
			return fmt.Errorf("draw a table: %w", err)
		}
	}
	if err := table.Render(); err != nil {
		return fmt.Errorf("draw a table: %w", err)
	}
	for line := range strings.Lines(text.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return nil
}

func paint(s string, t tone, color bool) string {
	switch {
	case !color || t == toneless:
		return s
	case t == good:
		return "\x1b[32m" + s + "\x1b[0m"
	}
	return "\x1b[31m" + s + "\x1b[0m"
}
