package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/tw"
)

func init() { Forms.Add("table", "for people, rounded, with units", writeTable) }

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
			for line := range strings.Lines(s) {
				b.WriteString(wrap(Strip(strings.TrimSpace(line)), o.Width, "") + "\n")
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
		b.WriteString(c.draw(o.Width, o.Color))
	}
	if len(d.Notes) > 0 {
		block()
		for _, n := range d.Notes {
			b.WriteString(wrap("note: "+Strip(n), o.Width, "      ") + "\n")
		}
	}
	_, err = b.WriteTo(w)
	return err
}

func tableBlock(b *bytes.Buffer, t Table, o Options) error {
	if t.Title != "" {
		b.WriteString(wrap(Strip(t.Title), o.Width, "") + "\n")
	}
	t, left := t.truncate(o)
	g, err := t.grid()
	if err != nil {
		return err
	}
	hidden := g.fit(o.Width)
	for i, part := range g.split(o.Width) {
		if i > 0 {
			b.WriteByte('\n')
		}
		if err := part.render(b, o.Color); err != nil {
			return err
		}
	}
	if left > 0 {
		b.WriteString(t.leftOutText(left) + "\n")
	}
	said := ""
	switch {
	case len(hidden) == 1:
		said = fmt.Sprintf("1 column hidden (%s), --columns all", hidden[0])
	case len(hidden) > 1:
		said = fmt.Sprintf("%d columns hidden (%s), --columns all", len(hidden), strings.Join(hidden, ", "))
	}
	if said != "" {
		b.WriteString(wrap(said, o.Width, "") + "\n")
	}
	return nil
}

// grid is a table as text.
type grid struct {
	name     []string
	head     []string
	right    []bool
	priority []int
	rows     [][]string // a cell may have several lines
	ranges   [][]bool   // whether a cell is a Range
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
		head := cmp.Or(c.Head, c.Name)
		name := head
		if strings.TrimSpace(head) == "" {
			name = c.Name
		}
		g.name = append(g.name, Strip(name)) // the name in the list of hidden columns
		g.head = append(g.head, Strip(head))
		g.right = append(g.right, c.Align == Right || c.Align == Auto && !t.textual(i))
		g.priority = append(g.priority, c.Priority)
	}
	for n, row := range t.Rows {
		cells, tones, ranges := make([]string, len(row)), make([]tone, len(row)), make([]bool, len(row))
		for i, cell := range row {
			text, err := human(cell)
			if err != nil {
				return nil, fmt.Errorf("table %q, row %d, %s: %w", t.Name, n+1, t.Columns[i].Name, err)
			}
			cells[i], tones[i] = text, toneOf(cell)
			_, ranges[i] = rangeOf(cell)
		}
		g.rows, g.tones, g.ranges = append(g.rows, cells), append(g.tones, tones), append(g.ranges, ranges)
	}
	return g, nil
}

// textual reports whether column i of t holds text, by its first known cell.
func (t *Table) textual(i int) bool {
	for _, row := range t.Rows {
		if plainValue(row[i]) != nil {
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

// fit makes g at most width columns wide, as far as possible, and returns the names of the
// columns it hides. First it folds ranges under their figures, then long heads. Then it hides
// columns, the largest priority first and from the right; columns of priority 0 stay. At last it
// folds long texts between words. It never cuts a cell.
func (g *grid) fit(width int) []string {
	if width <= 0 || g.width() <= width {
		return nil
	}
	g.foldRanges()
	if g.width() > width {
		g.foldHeads()
	}
	var hidden []string
	for g.width() > width {
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
	g.foldTexts(width)
	return hidden
}

// foldRanges moves the interval of a Range, such as (17 to 29), to the line under its figure.
func (g *grid) foldRanges() {
	for n, row := range g.rows {
		for i, cell := range row {
			if g.ranges[n][i] {
				row[i] = strings.Replace(cell, " (", "\n(", 1)
			}
		}
	}
}

// foldHeads breaks heads between words where they are wider than the cells of their column, and
// than 6.
func (g *grid) foldHeads() {
	for i, h := range g.head {
		under := 6
		for _, row := range g.rows {
			under = max(under, lineWidth(row[i]))
		}
		g.head[i] = wrap(h, under, "")
	}
}

// leastText is the least width to which a column of texts is folded.
const leastText = 16

// foldTexts breaks the texts of the widest left-aligned columns between words until g fits into
// width or all these columns are leastText wide.
func (g *grid) foldTexts(width int) {
	for over := g.width() - width; over > 0; over = g.width() - width {
		widest, at := leastText, -1
		for i := range g.head {
			if w := g.columnWidth(i); !g.right[i] && w > widest {
				widest, at = w, i
			}
		}
		if at < 0 {
			return
		}
		to := max(leastText, widest-over)
		g.head[at] = wrap(g.head[at], to, "")
		for _, row := range g.rows {
			row[at] = wrap(row[at], to, "")
		}
		if g.columnWidth(at) >= widest {
			return // a word is longer than that
		}
	}
}

func (g *grid) width() int {
	total := gap * (len(g.head) - 1)
	for i := range g.head {
		total += g.columnWidth(i)
	}
	return total
}

// columnWidth returns the width of the widest line in a column, head included.
func (g *grid) columnWidth(i int) int {
	widest := lineWidth(g.head[i])
	for _, row := range g.rows {
		widest = max(widest, lineWidth(row[i]))
	}
	return widest
}

func lineWidth(text string) int {
	widest := 0
	for line := range strings.Lines(text) {
		widest = max(widest, twwidth.Width(strings.TrimRight(line, "\n")))
	}
	return widest
}

// split divides g into grids that fit into width, each with the first column of g. A column that
// is still too wide has a grid of its own. Where the first column is wider than half of width, g
// is not divided.
func (g *grid) split(width int) []*grid {
	if width <= 0 || g.width() <= width || len(g.head) < 3 || g.columnWidth(0) > width/2 {
		return []*grid{g}
	}
	var out []*grid
	for from := 1; from < len(g.head); {
		total := g.columnWidth(0) + gap + g.columnWidth(from)
		to := from + 1
		for ; to < len(g.head); to++ {
			if total += gap + g.columnWidth(to); total > width {
				break
			}
		}
		out = append(out, g.part(from, to))
		from = to
	}
	return out
}

// part returns g with its first column and the columns from from to before to.
func (g *grid) part(from, to int) *grid {
	out := &grid{head: pickCells(g.head, from, to), right: pickCells(g.right, from, to)}
	for n := range g.rows {
		out.rows = append(out.rows, pickCells(g.rows[n], from, to))
		out.tones = append(out.tones, pickCells(g.tones[n], from, to))
	}
	return out
}

func pickCells[T any](cells []T, from, to int) []T {
	return append([]T{cells[0]}, cells[from:to]...)
}

func (g *grid) remove(i int) {
	g.name = append(g.name[:i], g.name[i+1:]...)
	g.head = append(g.head[:i], g.head[i+1:]...)
	g.right = append(g.right[:i], g.right[i+1:]...)
	g.priority = append(g.priority[:i], g.priority[i+1:]...)
	for n := range g.rows {
		g.rows[n] = append(g.rows[n][:i], g.rows[n][i+1:]...)
		g.ranges[n] = append(g.ranges[n][:i], g.ranges[n][i+1:]...)
		g.tones[n] = append(g.tones[n][:i], g.tones[n][i+1:]...)
	}
}

// render writes g to b without lines or borders. Header formatting of tablewriter is off: it
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
	heads := linesOf(g.head)
	table.Header(heads[0])
	for _, more := range heads[1:] {
		if err := table.Append(more); err != nil {
			return fmt.Errorf("draw a table: %w", err)
		}
	}
	for n, row := range g.rows {
		for _, cells := range linesOf(row) {
			for i, c := range cells {
				cells[i] = paint(c, g.tones[n][i], color)
			}
			if err := table.Append(cells); err != nil {
				return fmt.Errorf("draw a table: %w", err)
			}
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

// linesOf returns the cells of a row as rows of one line each.
func linesOf(cells []string) [][]string {
	out := [][]string{make([]string, len(cells))}
	for i, cell := range cells {
		for k, line := range strings.Split(cell, "\n") {
			if k == len(out) {
				out = append(out, make([]string, len(cells)))
			}
			out[k][i] = line
		}
	}
	return out
}

func paint(s string, t tone, color bool) string {
	switch {
	case !color || t == toneless || s == "":
		return s
	case t == good:
		return "\x1b[32m" + s + "\x1b[0m"
	}
	return "\x1b[31m" + s + "\x1b[0m"
}
