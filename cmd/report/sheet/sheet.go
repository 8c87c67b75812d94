// Package sheet writes a paper as a workbook for a spreadsheet: each table and the data of each figure
// on a sheet of its own, with totals as formulas. Text is always a text cell, so that no name can be
// a formula.
package sheet

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"capcli"
	"capcli/cmd/report"
	"capcli/cmd/report/paper"
	"capcli/scenarios/figure"
)

// Limits of the format.
const (
	maxName = 31
	maxText = 32_000
	maxRows = 1_000_000
)

// book is a workbook that is being written.
type book struct {
	*excelize.File
	styles map[figure.Unit]int
	bold   int
	names  map[string]bool
	err    error
}

// Write writes p as a workbook. It fails where a table has more rows than a sheet can hold.
func Write(w io.Writer, p *paper.Paper) error {
	b := &book{File: excelize.NewFile(), styles: map[figure.Unit]int{}, names: map[string]bool{}}
	defer func() { _ = b.Close() }()
	b.makeStyles()
	b.answer(p)
	for i := range p.Tables {
		t := &p.Tables[i]
		b.grid(t.ID, t.Title, t.Columns, t.Rows, t.Total)
	}
	for i := range p.Figures {
		f := &p.Figures[i]
		t := f.Table()
		columns := capcli.Map(t.Columns, func(c figure.Column) paper.Column { return paper.Column{Name: c.Name, Unit: c.Unit} })
		b.grid(f.ID, f.Title+". "+f.Sentence, columns, t.Rows, false)
	}
	text := func(names ...string) []paper.Column {
		return capcli.Map(names, func(n string) paper.Column { return paper.Column{Name: n, Unit: figure.Name} })
	}
	rows := capcli.Map(p.Assumptions, func(a paper.Assumption) []any { return []any{a.Text, a.Source, a.Date} })
	b.grid("assumptions", "Assumptions", text("Assumption", "Source", "Date"), rows, false)
	rows = nil
	for _, t := range p.Glossary {
		rows = append(rows, []any{t.Name, t.Text})
	}
	b.grid("words", "Words", text("Word", "Meaning"), rows, false)
	rows = nil
	for _, in := range p.Inputs {
		rows = append(rows, []any{in.File, in.SHA256, in.Of})
	}
	b.grid("inputs", "Inputs", text("File", "SHA-256", "Made into"), rows, false)
	if b.err != nil {
		return fmt.Errorf("write the workbook: %w", b.err)
	}
	return b.Write(w)
}

// keep keeps the first error.
func (b *book) keep(err error) {
	if b.err == nil {
		b.err = err
	}
}

// formats are the number formats of units.
var formats = map[figure.Unit]string{
	figure.USD: `#,##0.00`, figure.Share: `0.00%`, figure.Count: `#,##0.###`, figure.GPUHours: `#,##0.0`, figure.Seconds: `#,##0`,
}

func (b *book) makeStyles() {
	for _, u := range figure.Units {
		format, ok := formats[u]
		if !ok {
			continue
		}
		id, err := b.NewStyle(&excelize.Style{CustomNumFmt: &format})
		b.styles[u] = id
		b.keep(err)
	}
	id, err := b.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}})
	b.bold = id
	b.keep(err)
}

// sheet adds a sheet and returns its name: that of id, made unique and short enough.
func (b *book) sheet(id string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`[]:*?/\'`, r) || r < ' ' {
			return '-'
		}
		return r
	}, id)
	if name == "" {
		name = "sheet"
	}
	short := func(n int) string { return string([]rune(name)[:min(n, utf8.RuneCountInString(name))]) }
	unique := short(maxName)
	for k := 2; b.names[strings.ToLower(unique)]; k++ {
		end := fmt.Sprintf("-%d", k)
		unique = short(maxName-len(end)) + end
	}
	b.names[strings.ToLower(unique)] = true
	if len(b.names) == 1 {
		b.keep(b.SetSheetName("Sheet1", unique))
		return unique
	}
	_, err := b.NewSheet(unique)
	b.keep(err)
	return unique
}

// answer writes the first sheet: the answer, the large figures and the notes.
func (b *book) answer(p *paper.Paper) {
	name := b.sheet("answer")
	b.put(name, 1, 1, p.Title, figure.Name)
	b.keep(b.SetCellStyle(name, "A1", "A1", b.bold))
	b.put(name, 1, 2, p.Answer.Sentence, figure.Name)
	row := 3
	for _, d := range slices.Concat(p.Answer.Details, p.Warnings) {
		b.put(name, 1, row, d, figure.Name)
		row++
	}
	row++
	for _, h := range p.Answer.Heads {
		b.put(name, 1, row, h.Name, figure.Name)
		b.put(name, 2, row, h.Value, h.Unit)
		b.put(name, 3, row, string(h.Unit), figure.Name)
		b.put(name, 4, row, h.About, figure.Name)
		row++
	}
	row++
	for _, n := range p.Notes {
		b.put(name, 1, row, n, figure.Name)
		row++
	}
	b.put(name, 1, row+1, fmt.Sprintf("capcli %s, seed %d", p.Version, p.Seed), figure.Name)
	b.put(name, 1, row+2, p.Command, figure.Name)
	b.keep(b.SetColWidth(name, "A", "A", 40))
}

// grid writes a table on a sheet: its title, the heads, the rows, and where total is true the last
// row with sums as formulas.
func (b *book) grid(id, title string, columns []paper.Column, rows [][]any, total bool) {
	if len(rows) > maxRows {
		b.keep(fmt.Errorf("%s has %d rows, a sheet holds %d", id, len(rows), maxRows))
		return
	}
	name := b.sheet(id)
	b.put(name, 1, 1, title, figure.Name)
	for c, col := range columns {
		b.put(name, c+1, 3, col.Name+unitText(col.Unit), figure.Name)
	}
	last, err := excelize.CoordinatesToCellName(max(1, len(columns)), 3)
	b.keep(err)
	b.keep(b.SetCellStyle(name, "A3", last, b.bold))
	const first = 4
	for r, row := range rows {
		for c := range columns {
			if c >= len(row) {
				continue
			}
			b.put(name, c+1, first+r, row[c], columns[c].Unit)
			if total && r == len(rows)-1 && columns[c].Sum {
				b.sum(name, c+1, first, first+r)
			}
		}
	}
	end, err := excelize.ColumnNumberToName(max(1, len(columns)))
	b.keep(err)
	b.keep(b.SetColWidth(name, "A", end, 20))
	b.keep(b.SetPanes(name, &excelize.Panes{Freeze: true, YSplit: 3, TopLeftCell: "A4", ActivePane: "bottomLeft"}))
}

// sum makes the cell in a row the sum of those above it, from the row first.
func (b *book) sum(name string, column, first, row int) {
	letter, err := excelize.ColumnNumberToName(column)
	b.keep(err)
	b.keep(b.SetCellFormula(name, fmt.Sprintf("%s%d", letter, row), fmt.Sprintf("SUM(%s%d:%s%d)", letter, first, letter, row-1)))
}

// put writes a cell. Moments are text in RFC 3339, unknown values are empty.
func (b *book) put(name string, column, row int, v any, u figure.Unit) {
	at, err := excelize.CoordinatesToCellName(column, row)
	b.keep(err)
	switch v := v.(type) {
	case string:
		b.keep(b.SetCellStr(name, at, cleanText(v)))
	case figure.Number:
		switch {
		case !v.IsKnown():
			return
		case u == figure.Time:
			b.keep(b.SetCellStr(name, at, u.Exact(v)))
			return
		}
		b.keep(b.SetCellFloat(name, at, float64(v), -1, 64))
		if id, ok := b.styles[u]; ok {
			b.keep(b.SetCellStyle(name, at, at, id))
		}
	}
}

// unitText names the unit of a column whose cells are plain numbers.
func unitText(u figure.Unit) string {
	switch u {
	case figure.USD:
		return " (USD)"
	case figure.GPUHours:
		return " (GPU-hours)"
	case figure.Seconds:
		return " (s)"
	case figure.Time:
		return " (UTC)"
	case figure.Count, figure.Share, figure.Name:
	}
	return ""
}

// cleanText returns a text without control characters, and not longer than a cell holds.
func cleanText(text string) string {
	text = report.Strip(strings.ToValidUTF8(text, "\uFFFD"))
	if r := []rune(text); len(r) > maxText {
		return string(r[:maxText-1]) + "…"
	}
	return text
}
